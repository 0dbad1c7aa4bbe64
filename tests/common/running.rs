//! A run that is looked at, and signalled, while it goes on.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Stdio};

/// A run whose standard error is read as it comes. What it writes to standard output is small, or read by the test.
pub struct Running {
    pub child: Child,
    stderr: BufReader<ChildStderr>,
    seen: String,
}

/// The same command without what this test's own parents may have had ignored: `nohup` ignores SIGHUP, and then so does cuzk.
pub fn with_default_signals(command: &Command) -> Command {
    let mut env = Command::new("env");
    env.arg("--default-signal=HUP,INT,TERM,USR1,USR2").arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => env.env(name, value),
            None => env.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        env.current_dir(folder);
    }
    env
}

impl Running {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
        let stderr = BufReader::new(child.stderr.take().expect("piped"));
        Self { child, stderr, seen: String::new() }
    }

    /// Waits until standard error has said so.
    pub fn wait_for(&mut self, part: &str) {
        while !self.seen.contains(part) {
            let read = self.stderr.read_line(&mut self.seen).expect("messages are UTF-8");
            assert_ne!(read, 0, "ended before {part:?}:\n{}", self.seen);
        }
    }

    /// Waits for the first byte on standard output. The rest is more than a pipe holds: the run goes on writing it.
    pub fn wait_for_output(&mut self) {
        let output = self.child.stdout.as_mut().expect("piped");
        output.read_exact(&mut [0]).expect("a byte");
    }

    /// Sends a signal, by its name for `kill`.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().expect("kill");
        assert!(sent.success());
    }

    /// The exit code, and all of standard error.
    pub fn end(mut self) -> (Option<i32>, String) {
        self.stderr.read_to_string(&mut self.seen).expect("messages are UTF-8");
        (self.child.wait().expect("a child").code(), self.seen)
    }
}
