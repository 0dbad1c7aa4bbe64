//! A run on a terminal of its own, and what a person sees there.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{sleep, spawn, JoinHandle};
use std::time::{Duration, Instant};

/// Columns of the terminal.
const WIDTH: usize = 100;

/// A command whose terminal is made by `script`, of util-linux.
pub struct OnTerminal {
    child: Child,
    keys: ChildStdin,
    written: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl OnTerminal {
    /// None where there is no `script`: then there is nothing to test with.
    pub fn start(command: &Command) -> Option<Self> {
        let words = [command.get_program()].into_iter().chain(command.get_args());
        let quoted: Vec<_> = words.map(|word| format!("'{}'", word.to_str().expect("UTF-8"))).collect();
        let line = format!("stty cols {WIDTH} rows 40; exec {}", quoted.join(" "));
        let mut script = Command::new("script");
        script.args(["-qefc", &line, "/dev/null"]).env("SHELL", "/bin/sh");
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => script.env(name, value),
                None => script.env_remove(name),
            };
        }
        script.current_dir(command.get_current_dir().expect("the place"));
        let started = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let Ok(mut child) = started else {
            eprintln!("not tested: there is no `script` here");
            return None;
        };
        let (keys, mut output) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let written = Arc::<Mutex<Vec<u8>>>::default();
        let sink = written.clone();
        let read = move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = output.read(&mut bytes) {
                sink.lock().unwrap().extend_from_slice(&bytes[..n]);
            }
        };
        Some(Self { child, keys, written, reader: spawn(read) })
    }

    pub fn press(&mut self, keys: &[u8]) {
        self.keys.write_all(keys).and_then(|()| self.keys.flush()).expect("a terminal");
    }

    /// The lines that are on the screen now.
    pub fn screen(&self) -> Vec<String> {
        shown(&String::from_utf8_lossy(&self.written.lock().unwrap()))
    }

    /// Waits until a line that begins with `head` has `part` in it.
    #[track_caller]
    pub fn wait_for(&self, head: &str, part: &str) {
        let start = Instant::now();
        while !self.screen().iter().any(|line| line.starts_with(head) && line.contains(part)) {
            assert!(start.elapsed() < Duration::from_secs(120), "no {part:?} on:\n{}", self.screen().join("\n"));
            sleep(Duration::from_millis(20));
        }
    }

    /// The exit code, and what is on the screen in the end.
    pub fn end(self) -> (Option<i32>, Vec<String>) {
        let (code, written) = self.end_raw();
        (code, shown(&written))
    }

    /// The exit code, and all that was written, as it was.
    pub fn end_raw(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().expect("a child").code();
        self.reader.join().expect("a reader");
        (code, String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned())
    }
}

/// What a terminal that never scrolls shows of a text with cursor movements.
fn shown(text: &str) -> Vec<String> {
    let (mut lines, mut row, mut column): (Vec<Vec<char>>, usize, usize) = (vec![vec![]], 0, 0);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\r' => column = 0,
            '\n' => row += 1,
            '\x1b' => {
                let mut number = String::new();
                let last = chars.by_ref().skip(1).find(|c| {
                    number.extend(c.is_ascii_digit().then_some(*c));
                    c.is_ascii_alphabetic()
                });
                let n = number.parse().unwrap_or(1);
                match last {
                    Some('A') => row = row.saturating_sub(n),
                    Some('B') => row += n,
                    Some('C') => column += n,
                    Some('D') => column = column.saturating_sub(n),
                    Some('K') => lines[row].clear(),
                    _ => {}
                }
            }
            _ => {
                if column == WIDTH {
                    (row, column) = (row + 1, 0);
                }
                lines.resize(lines.len().max(row + 1), vec![]);
                let length = lines[row].len().max(column + 1);
                lines[row].resize(length, ' ');
                lines[row][column] = c;
                column += 1;
            }
        }
        lines.resize(lines.len().max(row + 1), vec![]);
    }
    lines.into_iter().map(|line| line.into_iter().collect::<String>().trim_end().to_owned()).collect()
}
