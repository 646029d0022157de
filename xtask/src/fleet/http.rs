//! Reads HTTP/1.1 messages from a connection: bodies with a length and chunked ones.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::net::TcpStream;

/// The error of a step as text.
pub(super) fn text_of(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// The messages that arrive on a connection.
pub(super) struct Reader(BufReader<TcpStream>);

impl Reader {
    pub(super) fn new(stream: &TcpStream) -> io::Result<Self> {
        Ok(Self(BufReader::new(stream.try_clone()?)))
    }

    /// Returns the first line of the next message, and its body.
    pub(super) fn message(&mut self) -> io::Result<(String, Vec<u8>)> {
        let first = self.line()?;
        let (mut length, mut is_chunked) = (0, false);
        loop {
            let line = self.line()?.to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            match line.split_once(':') {
                Some(("content-length", value)) => length = value.trim().parse().unwrap_or(0),
                Some(("transfer-encoding", value)) => is_chunked = value.contains("chunked"),
                _ => {}
            }
        }
        let mut body = Vec::new();
        if is_chunked {
            loop {
                let size = usize::from_str_radix(self.line()?.trim(), 16).unwrap_or(0);
                self.read(size, &mut body)?;
                self.line()?;
                if size == 0 {
                    break;
                }
            }
        } else {
            self.read(length, &mut body)?;
        }
        Ok((first, body))
    }

    fn read(&mut self, length: usize, body: &mut Vec<u8>) -> io::Result<()> {
        let start = body.len();
        body.resize(start + length, 0);
        self.0.read_exact(&mut body[start..])
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.0.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}
