//! Reads the standard error of a server and passes on its lines.
//!
//! A task reads until the pipe is closed and never waits for the receiver, so the server can always write.
//! Logged lines have the target `server_stderr` and the server's name. Long lines are truncated, invalid UTF-8 is
//! replaced and ANSI escape sequences are removed. [`Stderr::wait`] has a timeout because a descendant of the server
//! may keep the pipe open.

use std::fmt::{self, Write as _};
use std::io;
use std::process::{ChildStderr, Stdio};
use std::time::Duration;

use tokio::task::JoinHandle;
use tracing::Span;

use crate::nonblocking::Input;

/// Size of the read buffer in bytes.
const READ_CHUNK_BYTES: usize = 4096;

/// Maximum number of bytes that are kept per line.
const MAX_LINE_BYTES: usize = 4000;

/// What happens to the standard error of a server.
pub enum StderrOutput {
    /// Its lines are logged within the span.
    Log(Span),
    /// The server writes to the standard error of this process.
    Inherit,
    /// Its lines are passed to the function.
    Lines(Box<dyn FnMut(&str) + Send>),
}

impl StderrOutput {
    pub(crate) fn stdio(&self) -> Stdio {
        match self {
            Self::Log(_) if !is_logged() => Stdio::null(),
            Self::Inherit => Stdio::inherit(),
            Self::Log(_) | Self::Lines(_) => Stdio::piped(),
        }
    }

    fn line(&mut self, text: &str) {
        match self {
            Self::Log(span) => tracing::info!(target: "server_stderr", parent: &*span, "{text}"),
            Self::Inherit => {}
            Self::Lines(receive) => receive(text),
        }
    }
}

impl fmt::Debug for StderrOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Log(_) => "Log",
            Self::Inherit => "Inherit",
            Self::Lines(_) => "Lines",
        })
    }
}

/// Whether the log level enables these lines.
fn is_logged() -> bool {
    tracing::enabled!(target: "server_stderr", tracing::Level::INFO)
}

/// The reader of a server's standard error.
#[derive(Debug)]
pub(crate) struct Stderr(JoinHandle<()>);

impl Stderr {
    /// Starts the task that reads.
    pub(crate) fn read(input: ChildStderr, mut output: StderrOutput) -> io::Result<Self> {
        let mut input = Input::new(input)?;
        Ok(Self(tokio::spawn(async move {
            let (mut chunk, mut line) = ([0; READ_CHUNK_BYTES], Line::default());
            while let Ok(read @ 1..) = input.read(&mut chunk).await {
                let bytes = chunk.get(..read).unwrap_or_default();
                line.push(bytes, |text| output.line(text));
            }
            line.end(|text| output.line(text));
        })))
    }

    /// Waits until the pipe is closed, at most for `timeout`.
    pub(crate) async fn wait(self, timeout: Duration) {
        let _ = tokio::time::timeout(timeout, self.0).await;
    }
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
