//! `cuzk prove`: everything that can fail early comes first; nothing is written that was not verified.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::machine::Machine;
use super::Sink;
use crate::cli::options::{Input, Prove, TimingsFormat};
use crate::cli::{terminal, Terminal, STOP};
use crate::error::{Error, Fault, OrFault, Result};
use crate::pipeline::job::{Delivered, Desk, Ended, Ending, File, Job};
use crate::pipeline::proof_file::ProofFormat;
use crate::pipeline::run::Run;
use crate::report::spans::Recorder;
use crate::report::{Live, MemorySampler};

pub fn run(options: &Prove, threads: usize, terminal: &Terminal) -> Result<()> {
    let sink = Sink::check(&options.destination)?;
    let memory = MemorySampler::start();
    let machine = Machine::start(&options.work, threads, &options.parameters)?;
    let desk = OneFile::new(options, &sink, &memory)?;
    let recorder = Arc::new(Recorder::default());
    let mut live = Live::new(terminal.live_mode(), recorder.clone(), 1);
    let progress = live.progress();
    if machine.choice.not_cuda.is_some() {
        terminal.block(&machine.choice.line());
    }
    // With --quiet, standard error is one JSON object where the proof takes standard output; the object says so too.
    let alone = terminal.is_quiet() && options.timings == TimingsFormat::Json && sink.path().is_none();
    if options.parameters.development && !alone {
        terminal.warn_of_development();
    }
    let run = Run {
        devices: &machine.devices,
        synthesis: &machine.synthesis,
        budget: machine.budget.clone(),
        in_flight: machine.in_flight,
        source: &options.parameters,
        options: options.read,
        check_c1: options.check_c1,
        check_witness: options.check_witness,
        deadline: None,
        stop: &STOP,
        recorder: &recorder,
        progress: &progress,
        desk: &desk,
    };
    run.run(vec![desk.job()]);
    live.stop();
    let End { ending, mut table, mut json } = desk.end()?;
    table += &machine.choice.line();
    json["device"] = machine.choice.json();
    match ending {
        Ending::Proved(_) => report(options, &table, json, &sink, terminal),
        Ending::Failed(error) => Err(advised(error, options.check_c1 || options.check_witness)),
        other => Err(Error::new(Fault::Internal, format!("the file ended as {other:?}"))),
    }
}

/// The desk of a single file.
struct OneFile<'a> {
    input: &'a Input,
    /// Standard input, which tells its length only by its end.
    stdin: Mutex<Option<Vec<u8>>>,
    bytes: u64,
    sink: &'a Sink,
    format: ProofFormat,
    memory: &'a MemorySampler,
    end: Mutex<Option<End>>,
}

/// How it ended, and where its time went.
struct End {
    ending: Ending,
    table: String,
    json: Value,
}

impl<'a> OneFile<'a> {
    fn new(options: &'a Prove, sink: &'a Sink, memory: &'a MemorySampler) -> Result<Self> {
        let input = &options.input;
        let (stdin, bytes) = match input {
            Input::Stdin => {
                let content = input.read_c1()?;
                let length = content.len() as u64;
                (Some(content), length)
            }
            // A file that is not there says so when it is read.
            Input::File(path) => (None, std::fs::metadata(path).map_or(0, |found| found.len())),
        };
        let (stdin, end) = (Mutex::new(stdin), Mutex::default());
        Ok(Self { input, stdin, bytes, sink, format: options.format, memory, end })
    }

    fn job(&self) -> Job {
        Job { index: 0, name: self.input.name(), bytes: self.bytes }
    }

    fn end(self) -> Result<End> {
        let end = self.end.into_inner().unwrap_or_else(PoisonError::into_inner);
        end.ok_or_else(|| Error::new(Fault::Internal, "the file never ended"))
    }
}

impl Desk for OneFile<'_> {
    fn read(&self, _: &Job) -> Result<Vec<u8>> {
        let read_already = self.stdin.lock().unwrap_or_else(PoisonError::into_inner).take();
        read_already.map_or_else(|| self.input.read_c1(), Ok)
    }

    fn deliver(&self, file: &File, proof: Vec<u8>) -> Result<Delivered> {
        let bytes = file.document(proof).encode(self.format)?;
        self.sink.write(&bytes)?;
        let place = self.sink.path().map_or_else(|| "standard output".into(), |path| path.display().to_string());
        Ok(Delivered { place, bytes: bytes.len() as u64 })
    }

    fn ended(&self, ended: Ended<'_>) {
        let peak = self.memory.peak();
        let (table, json) = (ended.timings.table(&peak), ended.timings.json(&peak));
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = Some(End { ending: ended.ending, table, json });
    }
}

/// What to do about a proof that was made and does not verify, behind the error that says so.
fn advised(error: Error, checked: bool) -> Error {
    match (error.fault(), checked) {
        (Fault::Unverified, true) => error.advice(
            "the C1 file is sound, so something else is not: delete the cache file of constraints if one is named here, or run \
             again with --recheck for the parameters, and if that does not help suspect memory or CPU",
        ),
        (Fault::Unverified, false) => error.advice(
            "the C1 file was not checked: run again without --no-check-c1, or with --check-witness for the input or row that is \
             wrong; if it is sound, delete the cache file of constraints if one is named here, run again with --recheck for the \
             parameters, and then suspect memory or CPU",
        ),
        _ => error,
    }
}

/// Standard output carries one result: the proof itself, or the timings as JSON, or the name of the proof file.
fn report(options: &Prove, table: &str, mut object: Value, sink: &Sink, terminal: &Terminal) -> Result<()> {
    let format = options.timings;
    if format == TimingsFormat::Table {
        terminal.block(table);
    }
    let name = sink.path().map(|path| path.display().to_string());
    match (format, name) {
        (TimingsFormat::Json, name) => {
            if let Some(object) = object.as_object_mut() {
                object.insert("proof_file".into(), name.clone().into());
                object.insert("development_parameters".into(), options.parameters.development.into());
            }
            let text = serde_json::to_string_pretty(&object).or_fault(Fault::Internal, || "timings".into())? + "\n";
            if name.is_some() {
                return terminal::print(&text);
            }
            terminal.requested(&text);
            Ok(())
        }
        (_, Some(name)) => terminal::print_place(&name),
        (_, None) => Ok(()),
    }
}
