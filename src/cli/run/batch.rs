//! `cuzk batch`.

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::sync::Arc;
use std::time::Duration;

use super::machine::Machine;
use crate::batch::{Means, Prepared};
use crate::cli::options::Batch;
use crate::cli::{terminal, Terminal, STOP};
use crate::error::{Error, Fault, OrFault, Result};
use crate::fail;
use crate::files::is_descriptor;
use crate::pipeline::output::{self, Output};
use crate::report::spans::{Outcome, Recorder, Snapshot};
use crate::report::{metrics, timeline, trace, BatchReport, Live, Memory, MemorySampler};

/// Time between two versions of the metrics file.
const METRICS_INTERVAL: Duration = Duration::from_secs(5);

pub fn run(options: &Batch, threads: usize, terminal: &Terminal) -> Result<()> {
    // The commonest mistake, which every file would repeat.
    options.settings.parameters.check_folder()?;
    let memory = MemorySampler::start();
    let prepared = Prepared::new(&options.settings, &STOP, &|message| terminal.note(message))?;
    check_reports(options, &prepared)?;
    prepared.notes.iter().for_each(|note| terminal.note(note));
    prepared.warnings.iter().for_each(|warning| terminal.warn(warning));
    let machine = Machine::start(&options.work, threads, &options.settings.parameters)?;
    let detailed = options.trace.is_some() || options.timeline.is_some();
    let recorder = Arc::new(if detailed { Recorder::detailed() } else { Recorder::default() });
    let mut live = Live::new(terminal.live_mode(), recorder.clone(), prepared.files());
    let progress = live.progress();
    if machine.choice.not_cuda.is_some() {
        terminal.block(&machine.choice.line());
    }
    if options.settings.parameters.development {
        terminal.warn_of_development();
    }
    let means = Means {
        devices: &machine.devices,
        synthesis: &machine.synthesis,
        budget: machine.budget.clone(),
        in_flight: machine.in_flight,
        stop: &STOP,
        recorder: recorder.clone(),
        progress: &progress,
    };
    with_metrics(options.metrics.as_deref(), &recorder, &memory, || prepared.run(&means));
    live.stop();

    let (snapshot, peak) = (recorder.snapshot(), memory.peak());
    let report = BatchReport::new(&snapshot, &peak).on(machine.choice);
    terminal.block(&report.table());
    if let Some(failures) = report.failures().filter(|_| terminal.is_quiet()) {
        // Else the table has them. Why files failed is no note.
        terminal.requested(&failures);
    }
    write_about(options, &snapshot, &report, &peak)?;
    print_results(&snapshot)?;
    verdict(&report, options.settings.fail_fast)
}

/// Refuses reports that would take the place of a C1 file, of what a batch keeps, or of each other.
fn check_reports(options: &Batch, prepared: &Prepared<'_>) -> Result<()> {
    let mut seen: Vec<&PathBuf> = Vec::new();
    for path in [&options.report, &options.trace, &options.timeline, &options.metrics].into_iter().flatten() {
        if seen.contains(&path) || prepared.holds(path) {
            fail!(
                Fault::Usage,
                "{}: this is a C1 file, a batch's own file, or another report; name another",
                path.display()
            );
        }
        refuse_pipe(path, options.metrics.as_ref() == Some(path))?;
        Output::check(path, true)?;
        seen.push(path);
    }
    Ok(())
}

/// Refuses a pipe that has a name: opening it would wait for a reader, who may never come. One of the shell's has one, but
/// it takes a single text, and metrics are written again and again.
fn refuse_pipe(path: &Path, again_and_again: bool) -> Result<()> {
    let is_pipe = std::fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo());
    if is_pipe && (again_and_again || !is_descriptor(path)) {
        fail!(Fault::Usage, "{}: a pipe; name a file", path.display());
    }
    Ok(())
}

/// Standard output has the proof files, in the order of the C1 files.
fn print_results(snapshot: &Snapshot) -> Result<()> {
    let mut files: Vec<_> = snapshot.files.iter().collect();
    files.sort_by_key(|file| file.job);
    let mut text = String::new();
    for file in files {
        if let Outcome::Proved { proof } | Outcome::Skipped { proof, .. } = &file.outcome {
            text.push_str(proof);
            text.push('\n');
        }
    }
    terminal::print(&text)
}

fn write_about(options: &Batch, snapshot: &Snapshot, report: &BatchReport, peak: &Memory) -> Result<()> {
    let write = |path: &Option<PathBuf>, text: &dyn Fn() -> Result<String>| match path {
        Some(path) => Output::check(path, true)?.write(text()?.as_bytes()),
        None => Ok(()),
    };
    write(&options.report, &|| {
        let text = serde_json::to_string_pretty(&report.json()).or_fault(Fault::Internal, || "the report".into())?;
        Ok(text + "\n")
    })?;
    write(&options.trace, &|| Ok(trace::text(snapshot)))?;
    write(&options.timeline, &|| Ok(timeline::svg(snapshot, "cuzk batch")))?;
    write(&options.metrics, &|| Ok(metrics::text(snapshot, &Memory::now(), peak)))
}

/// Runs `work` while a thread keeps the metrics file current.
fn with_metrics(path: Option<&Path>, recorder: &Recorder, memory: &MemorySampler, work: impl FnOnce()) {
    let Some(path) = path else { return work() };
    let (stop, stopped) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || loop {
            let text = metrics::text(&recorder.snapshot(), &Memory::now(), &memory.peak());
            // A version that cannot be written is an old version for the reader; the last one's error is reported.
            let _ = output::refresh(path, text.as_bytes());
            if stopped.recv_timeout(METRICS_INTERVAL) != Err(RecvTimeoutError::Timeout) {
                break;
            }
        });
        work();
        drop(stop);
    });
}

fn verdict(report: &BatchReport, fail_fast: bool) -> Result<()> {
    let counts = report.counts();
    if STOP.is_requested() && counts.unfinished > 0 {
        let left = format!("{} of {} files are left", counts.unfinished, counts.total());
        if STOP.is_signalled() {
            return Err(Error::new(Fault::Interrupted, format!("stopped: {left}; the same command continues")));
        }
        // By itself a run stops at a failure only: the same command would stop there again, or has lost its lock.
        let at = report.failed().next().map_or("a file", |file| &file.name);
        let advice = if fail_fast { ": mend it, move it away, or leave out --fail-fast" } else { "" };
        let message = format!("stopped at {at}, which failed; {left}{advice}");
        return Err(Error::new(Fault::Partial, message));
    }
    if counts.failed > 0 {
        let names: Vec<_> = report.failed().map(|file| file.name.clone()).take(5).collect();
        let more = if counts.failed > names.len() { ", ..." } else { "" };
        let message = format!("{} of {} files failed: {}{more}", counts.failed, counts.total(), names.join(", "));
        return Err(Error::new(Fault::Partial, message));
    }
    Ok(())
}
