//! Reads the standard error of a server and logs its lines with the server's name.
//!
//! A thread reads until the pipe is closed and never blocks on the log, so the server can always write.
//! Lines are logged with the target `server_stderr`. Long lines are truncated, invalid UTF-8 is replaced and
//! ANSI escape sequences are removed. [`Stderr::wait`] has a timeout because a descendant of the server may
//! keep the pipe open.

use std::fmt::Write as _;
use std::io::{ErrorKind, Read as _};
use std::process::ChildStderr;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use tracing::Span;

/// Size of the read buffer in bytes.
const READ_CHUNK_BYTES: usize = 4096;

/// Maximum number of bytes logged per line.
const MAX_LINE_BYTES: usize = 4000;

/// The reader of a server's standard error.
#[derive(Debug)]
pub(crate) struct Stderr {
    ended: Receiver<()>,
}

impl Stderr {
    /// Whether the log level enables these lines.
    pub(crate) fn is_logged() -> bool {
        tracing::enabled!(target: "server_stderr", tracing::Level::INFO)
    }

    /// Starts the reader thread.
    pub(crate) fn read(mut input: ChildStderr, span: Span) -> std::io::Result<Self> {
        let (reading, ended) = channel();
        let thread = std::thread::Builder::new().name("server stderr".to_owned());
        thread.spawn(move || {
            let _reading = reading;
            let (mut chunk, mut line) = ([0; READ_CHUNK_BYTES], Line::default());
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

    /// Waits until the pipe is closed, at most for `timeout`.
    pub(crate) fn wait(&self, timeout: Duration) {
        let _ = self.ended.recv_timeout(timeout);
    }
}

fn log(span: &Span, text: &str) {
    tracing::info!(target: "server_stderr", parent: span, "{text}");
}

/// A line that is being read; only its beginning is stored.
#[derive(Default)]
struct Line {
    prefix: Vec<u8>,
    /// Length of the line so far, including the bytes that are not stored.
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
        let capacity = MAX_LINE_BYTES - self.prefix.len();
        self.prefix.extend_from_slice(part.get(..capacity).unwrap_or(part));
        self.length += part.len();
    }

    fn end(&mut self, mut log: impl FnMut(&str)) {
        let mut text = without_colours(&String::from_utf8_lossy(&self.prefix));
        if self.length > self.prefix.len() {
            let _ = write!(text, "… ({} bytes)", self.length);
        }
        if !text.trim().is_empty() {
            log(&text);
        }
        self.prefix.clear();
        self.length = 0;
    }
}

/// Removes ANSI control sequences (`ESC [ … letter`), which set colours and move the cursor.
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
    use super::{Line, MAX_LINE_BYTES};

    fn lines(chunks: &[&[u8]]) -> Vec<String> {
        let (mut line, mut lines) = (Line::default(), Vec::new());
        for chunk in chunks {
            line.push(chunk, |text| lines.push(text.to_owned()));
        }
        line.end(|text| lines.push(text.to_owned()));
        lines
    }

    #[test]
    fn lines_are_assembled_across_reads() {
        let read = lines(&[b"one\ntw", b"o\r\n\n", b"\x1b[1;31mred\x1b[0m \xff\nlast"]);
        assert_eq!(read, ["one", "two", "red \u{fffd}", "last"]);
    }

    #[test]
    fn long_line_is_truncated_and_its_length_logged() {
        let long = vec![b'x'; 1 << 20];
        let read = lines(&[&long, &long, b"\nnext\n"]);
        assert_eq!(read[0], format!("{}… (2097152 bytes)", "x".repeat(MAX_LINE_BYTES)));
        assert_eq!(read[1], "next");
    }
}
