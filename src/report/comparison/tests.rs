use super::*;
use crate::report::samples::{elements, seconds};

fn entry(name: &str, walls: &[f64], parts: &[f64]) -> Entry {
    let sample =
        |wall: &f64| Sample { wall: seconds(*wall), parts: parts.iter().map(|share| seconds(share * wall)).collect() };
    Entry {
        samples: walls.iter().map(sample).collect(),
        parts: ["labels", "paths", "matrices"].map(|name| Part { name, items: 500 }).to_vec(),
        ..Entry::new(name, "what it does", 1_000)
    }
}

fn two() -> Comparison {
    let cost = Cost {
        peak_bytes: Some(342 << 20),
        allocations: Some(64_100_000),
        reallocations: Some(7),
        allocated_bytes: None,
    };
    let slow = Entry { cost: Some(cost), ..entry("slow", &[4.0, 2.0, 3.0], &[0.75, 0.25, 0.0]) };
    let fast = Entry { kept_bytes: 99, ..entry("fast <&>", &[0.1, 0.3, 0.2, 0.4], &[0.5, 0.0, 0.0]) };
    Comparison {
        title: "synthesis of a <sector>".into(),
        sector: "2KiB".into(),
        partitions: 1,
        threads: 2,
        unit: "values",
        entries: vec![slow, fast],
        notes: vec!["A note.".into()],
    }
}

#[test]
fn medians_are_those_of_odd_and_even_numbers() {
    let walls = |walls: &[f64]| entry("", walls, &[]).walls().map(|walls| walls.map(|wall| wall.as_secs_f64()));
    assert_eq!(walls(&[]), None);
    assert_eq!(walls(&[3.0]), Some([3.0, 3.0, 3.0]));
    assert_eq!(walls(&[3.0, 1.0]), Some([2.0, 1.0, 3.0]));
    assert_eq!(walls(&[9.0, 1.0, 2.0]), Some([2.0, 1.0, 9.0]));
    assert_eq!(entry("", &[9.0, 1.0, 2.0, 4.0], &[]).middle().unwrap().wall, seconds(2.0));
}

#[test]
fn the_table_is_aligned_and_leaves_out_parts_that_take_no_time() {
    let expected = "\
synthesis of a <sector>
4 rounds, each in turn; 2 threads

          median  fastest  slowest  speedup  values/s   memory  allocations
slow      3.00 s   2.00 s   4.00 s    1.00x       333  342 MiB       64.1 M
fast <&>  250 ms   100 ms   400 ms    12.0x    4.00 k        -            -

by part, all threads    slow  fast <&>
labels                2.25 s    100 ms
paths                 750 ms         -

slow      what it does
fast <&>  what it does

By part: times of all threads added up; matrices, on which all work at once:
  wall time.
Memory: a run's peak above what there was before; kept beside it from one run to
  the next: fast <&> 99 B.
A note.
";
    assert_eq!(two().table(), expected);
}

#[test]
fn only_what_is_there_is_explained() {
    let mut one = two();
    one.threads = 1;
    one.entries.truncate(1);
    let table = one.table();
    assert!(table.contains("\nby part    slow\n") && !table.contains("By part:"), "{table}");
    assert!(table.contains("\nMemory: a run's peak above what there was before.\n"), "{table}");
    one.entries[0].cost = None;
    assert!(!one.table().contains("Memory:"), "{}", one.table());
}

#[test]
fn lines_keep_to_80_columns() {
    let mut wide = two();
    wide.entries[0].meaning = "word ".repeat(60).trim().to_owned();
    wide.title = "title ".repeat(40).trim().to_owned();
    wide.notes = vec!["note ".repeat(60).trim().to_owned()];
    let table = wide.table();
    assert!(table.lines().all(|line| line.len() <= 80), "{table}");
}

#[test]
fn json_holds_the_documented_keys() {
    let value = two().json();
    assert_eq!(value["entries"].as_array().map(Vec::len), Some(2));
    let slow = json!({
        "name": "slow",
        "meaning": "what it does",
        "items": 1000,
        "wall_seconds": {"median": 3.0, "least": 2.0, "greatest": 4.0, "runs": [4.0, 2.0, 3.0]},
        "items_per_second": 1000.0 / 3.0,
        "speedup": 1.0,
        "kept_bytes": 0,
        "peak_bytes": 342u64 << 20,
        "allocations": 64_100_000,
        "reallocations": 7,
        "allocated_bytes": null,
        "parts": [
            {"name": "labels", "items": 500, "seconds": 2.25},
            {"name": "paths", "items": 500, "seconds": 0.75},
            {"name": "matrices", "items": 500, "seconds": 0.0},
        ],
    });
    assert_eq!(value["entries"][0], slow);
    assert_eq!((&value["entries"][1]["speedup"], &value["entries"][1]["peak_bytes"]), (&json!(12.0), &Value::Null));
    assert_eq!((&value["title"], &value["unit"]), (&json!("synthesis of a <sector>"), &json!("values")));
    assert_eq!((&value["sector"], &value["partitions"], &value["threads"]), (&json!("2KiB"), &json!(1), &json!(2)));
    assert_eq!(value["notes"], json!(["A note."]));
}

#[test]
fn the_picture_is_valid_and_has_every_run() {
    let svg = two().svg();
    let tags = elements(&svg);
    assert_eq!(tags.iter().filter(|tag| tag.starts_with("circle")).count(), 3 + 4);
    // Two parts of each bar, the legend, the ground.
    assert_eq!(tags.iter().filter(|tag| tag.starts_with("rect")).count(), 2 * 2 + 2 + 1, "{svg}");
    for text in
        [">fast &lt;&amp;&gt;<", ">3.00 s, 1.00x<", ">250 ms, 12.0x<", ">100 ms to 400 ms<", ">labels<", ">2.0 s<"]
    {
        assert!(svg.contains(text), "{text}: {svg}");
    }
}

#[test]
fn a_bar_too_thin_for_its_parts_is_drawn_again_larger() {
    let mut comparison = two();
    let thin = |sample: &mut Sample| sample.wall = Duration::from_millis(10);
    comparison.entries[1].samples.iter_mut().for_each(thin);
    let svg = comparison.svg();
    let tags = elements(&svg);
    assert_eq!(tags.iter().filter(|tag| tag.starts_with("rect")).count(), 3 * 2 + 2 + 1, "{svg}");
    assert!(svg.contains(">200 times as wide:<"), "{svg}");
}

#[test]
fn nothing_measured_is_a_report_too() {
    let mut nothing = two();
    nothing.entries.iter_mut().for_each(|entry| entry.samples.clear());
    assert!(nothing.table().contains("slow           -"), "{}", nothing.table());
    assert_eq!(nothing.json()["entries"][0]["wall_seconds"]["median"], Value::Null);
    elements(&nothing.svg());
    let empty = Comparison::default();
    assert_eq!(empty.json()["entries"], json!([]));
    elements(&empty.svg());
}
