//! Progress on standard error: a line that is overwritten on a terminal, otherwise one line per phase.

use std::io::{IsTerminal as _, Write as _};

use crate::style::{print_message, printable};

/// Maximum length of a line on a terminal.
const MAX_LINE_CHARS: usize = 76;

#[derive(Debug, Clone, Copy)]
pub(in crate::commands) struct Progress {
    is_quiet: bool,
    is_terminal: bool,
}

impl Progress {
    pub(in crate::commands) fn new(is_quiet: bool) -> Self {
        Self { is_quiet, is_terminal: std::io::stderr().is_terminal() }
    }

    /// Reports a phase.
    pub(in crate::commands) fn phase(self, text: &str) {
        if self.is_terminal {
            self.step(text);
        } else if !self.is_quiet {
            print_message("note", text);
        }
    }

    /// Reports a step of a phase, only on a terminal.
    pub(super) fn step(self, text: &str) {
        if self.is_terminal && !self.is_quiet {
            write(&format!("\r\x1b[K{}", printable(text, MAX_LINE_CHARS)));
        }
    }

    /// Removes the line from a terminal.
    pub(in crate::commands) fn finish(self) {
        if self.is_terminal && !self.is_quiet {
            write("\r\x1b[K");
        }
    }
}

fn write(text: &str) {
    let mut stderr = std::io::stderr().lock();
    // A closed standard error leaves no other place to report to.
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}
