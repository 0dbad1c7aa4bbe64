//! Standard error as a terminal: the bars of the process are one set, and whatever else is said goes above them.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, OnceLock, PoisonError};

use indicatif::{MultiProgress, ProgressDrawTarget, TermLike};
use rustix::termios::tcgetwinsize;

/// Redrawings a second at most.
const RATE: u8 = 20;
/// Columns and rows of a terminal that does not tell.
const UNTOLD: (u16, u16) = (80, 24);

/// The bars, once something has asked for them.
static BARS: OnceLock<MultiProgress> = OnceLock::new();

/// The bars of this process; none where standard error is no terminal.
pub fn bars() -> Option<&'static MultiProgress> {
    let target = || ProgressDrawTarget::term_like_with_hz(Box::new(Terminal::default()), RATE);
    io::stderr().is_terminal().then(|| BARS.get_or_init(|| MultiProgress::with_draw_target(target())))
}

/// Writes to standard error, above the bars where there are bars. One that is closed is no reason to stop working.
pub fn say(text: &str) {
    let write = || drop(io::stderr().lock().write_all(text.as_bytes()));
    match BARS.get() {
        // The bars' own `println` leaves the cursor in the line where no bar is left.
        Some(bars) => bars.suspend(write),
        None => write(),
    }
}

/// Takes the bars away for good: what is said from here on is the last.
pub fn close() {
    if let Some(bars) = BARS.get() {
        // The terminal below never fails.
        let _ = bars.clear();
        bars.set_draw_target(ProgressDrawTarget::hidden());
    }
}

/// What is drawn is written as a whole, and leaves the cursor at the beginning of the last line. indicatif would leave it at
/// its end: there the `^C` of Ctrl-C starts a line that nobody counts, and the next drawing begins one line too low. A
/// terminal that is gone is no error, of which indicatif would make a panic.
#[derive(Default)]
struct Terminal(Mutex<String>);

impl Terminal {
    fn put(&self, arguments: fmt::Arguments<'_>) -> io::Result<()> {
        let mut text = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        fmt::Write::write_fmt(&mut *text, arguments).map_err(io::Error::other)
    }

    /// Nothing for no step: a terminal takes 0 for 1.
    fn step(&self, steps: usize, direction: char) -> io::Result<()> {
        match steps {
            0 => Ok(()),
            _ => self.put(format_args!("\x1b[{steps}{direction}")),
        }
    }
}

fn size() -> (u16, u16) {
    let told = tcgetwinsize(io::stderr()).map(|size| (size.ws_col, size.ws_row));
    told.ok().filter(|(columns, rows)| *columns > 0 && *rows > 0).unwrap_or(UNTOLD)
}

impl TermLike for Terminal {
    fn width(&self) -> u16 {
        size().0
    }

    fn height(&self) -> u16 {
        size().1
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.step(n, 'A')
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.step(n, 'B')
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.step(n, 'C')
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.step(n, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.put(format_args!("{text}\n"))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.put(format_args!("{text}"))
    }

    fn clear_line(&self) -> io::Result<()> {
        self.put(format_args!("\r\x1b[2K"))
    }

    fn flush(&self) -> io::Result<()> {
        let mut text = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !text.is_empty() {
            text.push('\r');
            let _ = io::stderr().lock().write_all(text.as_bytes());
            text.clear();
        }
        Ok(())
    }
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Terminal")
    }
}
