//! What a person sees on a terminal: one set of bars, above it all that was said, and no bars in the end.

use std::thread::sleep;
use std::time::Duration;

use crate::common::screen::OnTerminal;
use crate::folder::Folder;

/// The bars' lines on a screen: that of the batch, and those of its stages.
fn bars(screen: &[String]) -> (usize, usize) {
    let stages = ["read", "circuit", "synthesis", "device", "assembly", "write"].map(|stage| format!("  {stage:<10}"));
    let count = |is: &dyn Fn(&String) -> bool| screen.iter().filter(|line| is(line)).count();
    let stage = |line: &String| stages.iter().any(|stage| line.starts_with(stage.trim_end()));
    (count(&|line| line.starts_with('[')), count(&stage))
}

#[track_caller]
fn has(screen: &[String], part: &str) {
    assert!(screen.iter().any(|line| line.contains(part)), "no {part:?} on:\n{}", screen.join("\n"));
}

#[test]
fn a_proof_on_a_terminal_keeps_its_warning_and_leaves_no_bars() {
    let folder = Folder::new(1);
    let Some(run) = OnTerminal::start(&folder.bare("prove in/0.json --device simulator:2")) else { return };
    run.wait_for("  device", "0.json");
    // All are drawn, and drawn again.
    sleep(Duration::from_secs(1));
    let screen = run.screen();
    has(&screen, "warning: development parameters");
    assert_eq!(bars(&screen), (1, 6), "{}", screen.join("\n"));
    let (code, screen) = run.end();
    assert_eq!((code, bars(&screen)), (Some(0), (0, 0)), "{}", screen.join("\n"));
    has(&screen, "warning: development parameters");
    has(&screen, "0.proof.json");
}

#[test]
fn a_dumb_terminal_gets_plain_lines() {
    let folder = Folder::new(2);
    let mut command = folder.command("--device simulator:0.5");
    command.env("TERM", "dumb");
    let Some(run) = OnTerminal::start(&command) else { return };
    let (code, written) = run.end_raw();
    assert_eq!(code, Some(0), "{written}");
    assert!(!written.contains('\x1b'), "{written:?}");
    for line in ["warning: development parameters", "0.json: started", "1.json: proved, 1 partition in "] {
        assert!(written.contains(line), "{line} in:\n{written}");
    }
}

#[test]
fn the_first_ctrl_c_is_answered_above_the_bars_at_once() {
    let folder = Folder::new(3);
    let Some(mut run) = OnTerminal::start(&folder.command("--device simulator:4")) else { return };
    run.wait_for("  device", "0.json");
    run.press(b"\x03");
    run.wait_for("", "once more to stop at once");
    // It stays when the bars are drawn again.
    sleep(Duration::from_secs(1));
    let screen = run.screen();
    has(&screen, "once more to stop at once");
    assert_eq!(bars(&screen), (1, 6), "{}", screen.join("\n"));
    let (code, screen) = run.end();
    assert_eq!((code, bars(&screen)), (Some(130), (0, 0)), "{}", screen.join("\n"));
    has(&screen, "once more to stop at once");
}

#[test]
fn ctrl_c_takes_the_bars_away() {
    let folder = Folder::new(1);
    let Some(mut run) = OnTerminal::start(&folder.bare("prove in/0.json --device simulator:60")) else { return };
    run.wait_for("  device", "0.json");
    run.press(b"\x03");
    let (code, screen) = run.end();
    assert_eq!((code, bars(&screen)), (Some(130), (0, 0)), "{}", screen.join("\n"));
    has(&screen, "error: interrupted; no result was written");
}
