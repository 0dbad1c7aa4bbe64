use super::*;
use crate::report::samples::{elements, many_files, seconds, span, two_files, with_device_spans, ODD_NAMES};

fn bars_filled(svg: &str, fill: &str) -> usize {
    elements(svg).iter().filter(|tag| tag.starts_with("rect") && tag.contains(&format!("fill=\"{fill}\""))).count()
}

#[test]
fn a_bar_for_each_piece_of_work_in_its_files_colour() {
    let svg = svg(&two_files(), "cuzk batch");
    // One more of each in the legend.
    assert_eq!(bars_filled(&svg, colour(0).0), 7 + 1, "{svg}");
    assert_eq!(bars_filled(&svg, colour(1).0), 5 + 1, "{svg}");
    assert_eq!((bars_filled(&svg, "url(#memory)"), bars_filled(&svg, "url(#output)")), (2, 2));
    for text in
        [">cuzk batch<", ">device<", ">25 %<", ">a.json<", ">b.json (failed)<", ">20 s<", "the device: busy 75 %"]
    {
        assert!(svg.contains(text), "{text}: {svg}");
    }
}

#[test]
fn work_on_several_partitions_has_a_colour_of_its_own() {
    let mut snapshot = two_files();
    assert!(!svg(&snapshot, "t").contains("together"));
    snapshot.spans.push(span(Stage::Device, Activity::Together { partitions: 3 }, 1.0, 4.0));
    let svg = svg(&snapshot, "t");
    assert_eq!(bars_filled(&svg, TOGETHER), 2, "{svg}");
    assert!(
        svg.contains("<title>3 partitions together: 3.00 s") && svg.contains(">several partitions together<"),
        "{svg}"
    );
}

#[test]
fn files_that_were_stopped_have_not_ended_and_waits_that_nobody_sees_are_not_explained() {
    let mut snapshot = two_files();
    snapshot.files[1].outcome = Outcome::Unfinished;
    snapshot.spans.retain(|span| span.activity != Activity::AwaitsMemory);
    let svg = svg(&snapshot, "t");
    assert!(svg.contains("1 of 2 files ended") && !svg.contains("waits for memory"), "{svg}");
    assert!(svg.contains("waits for the next stage"), "{svg}");
}

#[test]
fn what_devices_timed_is_drawn_below_the_stages() {
    assert!(!svg(&two_files(), "t").contains("kernels"));
    let svg = svg(&with_device_spans(), "t");
    elements(&svg);
    // One more of each in the legend.
    assert_eq!((bars_filled(&svg, KERNEL), bars_filled(&svg, COPY)), (1 + 1, 2 + 1), "{svg}");
    for text in [">stream 0.0<", ">stream 1.1<", ">95 %<", "<title>upload bases: 1.00 s from 4.00 s</title>"] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
}

#[test]
fn an_empty_run_is_a_picture_too() {
    let svg = svg(&Snapshot::default(), "t");
    elements(&svg);
    assert!(svg.contains("nothing was recorded"), "{svg}");
}

#[test]
fn odd_names_and_thousands_of_spans_make_a_small_valid_picture() {
    let snapshot = many_files(1000);
    let picture = svg(&snapshot, ODD_NAMES[2]);
    assert!(elements(&picture).len() < 3 * 1200, "{} elements", elements(&picture).len());
    assert!(picture.contains("+988 more"), "{picture}");
    for name in ODD_NAMES {
        let mut few = many_files(1);
        few.jobs.clear();
        few.files[0].name = name.to_owned();
        let picture = svg(&few, name);
        elements(&picture);
        assert!(picture.contains(&format!(">{}<", xml(name))), "{picture}");
    }
}

#[test]
fn what_goes_on_is_drawn_up_to_now() {
    let mut snapshot = Snapshot { now: seconds(10.0), ..Snapshot::default() };
    let lane = |worker| Lane { stage: Stage::Device, worker };
    snapshot.running.push((lane(0), Activity::Work { job: 0, partition: Some(0) }, seconds(5.0)));
    snapshot.running.push((lane(1), Activity::AwaitsInput, seconds(0.0)));
    let svg = svg(&snapshot, "t");
    assert!(svg.contains(&format!("width=\"{:.2}\"", PLOT / 2.0)), "{svg}");
    assert!(svg.contains(">device 0<") && svg.contains(">device 1<") && svg.contains(">50 %<"), "{svg}");
}
