//! The controlling terminal of the process, for questions to the person in front of it.
//!
//! Standard input and output are not used: they may be connected to a program.

use std::fs::File;
use std::io::{self, Read as _, Write as _};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::exit::Failure;

/// Limit on the length of a line, in bytes.
const MAX_LINE_BYTES: usize = 1024;

pub(super) struct Terminal {
    file: File,
}

impl Terminal {
    /// Opens the terminal; fails in a process without one.
    pub(super) fn open() -> Result<Self, Failure> {
        let file = File::options().read(true).write(true).open("/dev/tty").map_err(|_| {
            Failure::Usage(
                "this command needs a terminal: a person must run it, and its input cannot come from a program"
                    .to_owned(),
            )
        })?;
        Ok(Self { file })
    }

    pub(super) fn print(&mut self, text: &str) -> io::Result<()> {
        self.file.write_all(text.as_bytes())
    }

    /// Reads a line that is not shown.
    pub(super) fn passphrase(&mut self, prompt: &str) -> io::Result<String> {
        self.print(prompt)?;
        let line = {
            let _hidden = Hidden::new(&self.file)?;
            read_line(&self.file)
        };
        self.print("\n")?;
        line
    }
}

/// Switches the echo off until it is dropped.
struct Hidden<'a> {
    file: &'a File,
    before: Termios,
}

impl<'a> Hidden<'a> {
    fn new(file: &'a File) -> io::Result<Self> {
        let before = tcgetattr(file)?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        // Discards what was typed before the prompt.
        tcsetattr(file, OptionalActions::Flush, &hidden)?;
        Ok(Self { file, before })
    }
}

impl Drop for Hidden<'_> {
    fn drop(&mut self) {
        let _ = tcsetattr(self.file, OptionalActions::Now, &self.before);
    }
}

fn read_line(mut file: &File) -> io::Result<String> {
    let mut line = Vec::new();
    let mut byte = [0];
    while line.len() < MAX_LINE_BYTES && file.read(&mut byte)? == 1 && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    String::from_utf8(line).map_err(|_| io::Error::other("the passphrase is not UTF-8 text"))
}
