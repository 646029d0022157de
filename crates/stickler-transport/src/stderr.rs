//! Reads the standard error of a server and logs its lines with the server's name.
//!
//! A thread reads for as long as the pipe is open and never waits for the log, so a server can write as
//! much as it likes. Lines are logged under the target `server_stderr`; a long one is cut, bytes that are
//! not UTF-8 are replaced, colours are left out. Nothing waits for the thread longer than `wait` is told:
//! a process that the server left behind may keep the pipe open.

use std::fmt::Write as _;
use std::io::{ErrorKind, Read as _};
use std::process::ChildStderr;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use tracing::Span;

/// Bytes read at once.
const CHUNK: usize = 4096;

/// Bytes of a line that are logged.
const LINE_BYTES: usize = 4000;

/// A standard error that is being read.
#[derive(Debug)]
pub(crate) struct Stderr {
    ended: Receiver<()>,
}

impl Stderr {
    /// Whether lines would be logged.
    pub(crate) fn is_logged() -> bool {
        tracing::enabled!(target: "server_stderr", tracing::Level::INFO)
    }

    /// Reads it from now on.
    pub(crate) fn read(mut input: ChildStderr, span: Span) -> std::io::Result<Self> {
        let (reading, ended) = channel();
        let thread = std::thread::Builder::new().name("server stderr".to_owned());
        thread.spawn(move || {
            let _reading = reading;
            let (mut chunk, mut line) = ([0; CHUNK], Line::default());
            loop {
                match input.read(&mut chunk) {
                    Ok(0) => break,
                    Ok(read) => {
                        let bytes = chunk.get(..read).unwrap_or_default();
                        line.push(bytes, |text| log(&span, text));
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            line.end(|text| log(&span, text));
        })?;
        Ok(Self { ended })
    }

    /// Waits for its end, or for that long.
    pub(crate) fn wait(&self, longest: Duration) {
        let _ = self.ended.recv_timeout(longest);
    }
}

fn log(span: &Span, text: &str) {
    tracing::info!(target: "server_stderr", parent: span, "{text}");
}

/// The beginning of a line.
#[derive(Default)]
struct Line {
    begin: Vec<u8>,
    /// Bytes of all of it so far.
    length: usize,
}

impl Line {
    fn push(&mut self, bytes: &[u8], mut log: impl FnMut(&str)) {
        let mut parts = bytes.split(|byte| matches!(byte, b'\n' | b'\r'));
        self.extend(parts.next().unwrap_or_default());
        for part in parts {
            self.end(&mut log);
            self.extend(part);
        }
    }

    fn extend(&mut self, part: &[u8]) {
        let room = LINE_BYTES - self.begin.len();
        self.begin.extend_from_slice(part.get(..room).unwrap_or(part));
        self.length += part.len();
    }

    fn end(&mut self, mut log: impl FnMut(&str)) {
        let mut text = without_colours(&String::from_utf8_lossy(&self.begin));
        if self.length > self.begin.len() {
            let _ = write!(text, "… ({} bytes)", self.length);
        }
        if !text.trim().is_empty() {
            log(&text);
        }
        self.begin.clear();
        self.length = 0;
    }
}

/// Leaves out the control sequences that colour text and move the cursor: `ESC [ … letter`.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, sequence)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        let is_final = |c: char| ('@'..='~').contains(&c);
        match sequence.find(is_final) {
            Some(end) => rest = sequence.get(end + 1..).unwrap_or_default(),
            None => rest = "",
        }
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::{LINE_BYTES, Line};

    fn lines(chunks: &[&[u8]]) -> Vec<String> {
        let (mut line, mut lines) = (Line::default(), Vec::new());
        for chunk in chunks {
            line.push(chunk, |text| lines.push(text.to_owned()));
        }
        line.end(|text| lines.push(text.to_owned()));
        lines
    }

    #[test]
    fn lines_are_put_together_from_what_is_read() {
        let read = lines(&[b"one\ntw", b"o\r\n\n", b"\x1b[1;31mred\x1b[0m \xff\nlast"]);
        assert_eq!(read, ["one", "two", "red \u{fffd}", "last"]);
    }

    #[test]
    fn a_long_line_is_cut_and_its_length_stated() {
        let long = vec![b'x'; 1 << 20];
        let read = lines(&[&long, &long, b"\nnext\n"]);
        assert_eq!(read[0], format!("{}… (2097152 bytes)", "x".repeat(LINE_BYTES)));
        assert_eq!(read[1], "next");
    }
}
