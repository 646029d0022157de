//! Buffered writing of newline-delimited messages, with as few system calls as possible.

use std::io::{self, IoSlice, Write};

/// Messages up to this size are buffered; larger ones are written without a copy.
const MAX_BUFFERED_MESSAGE: usize = 32 << 10;

/// Buffers lines until they are flushed.
#[derive(Debug, Default)]
pub struct LineWriter {
    buffer: Vec<u8>,
}

impl LineWriter {
    /// Appends a message. A large message is written immediately, after the buffered ones.
    pub fn push(&mut self, message: &[u8], to: &mut impl Write) -> io::Result<()> {
        if message.len() <= MAX_BUFFERED_MESSAGE {
            self.buffer.extend_from_slice(message);
            self.buffer.push(b'\n');
            if self.buffer.len() > 4 * MAX_BUFFERED_MESSAGE {
                self.flush(to)?;
            }
            return Ok(());
        }
        self.flush(to)?;
        write_line(message, to)
    }

    /// Whether the buffer is empty.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Discards the buffered lines.
    pub fn clear(&mut self) {
        self.buffer.clear();
    }

    /// Writes the buffered lines.
    pub fn flush(&mut self, to: &mut impl Write) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let outcome = to.write_all(&self.buffer).and_then(|()| to.flush());
        self.buffer.clear();
        outcome
    }
}

/// Writes a message and its line break, in a single vectored write if possible.
fn write_line(message: &[u8], to: &mut impl Write) -> io::Result<()> {
    let mut rest = [IoSlice::new(message), IoSlice::new(b"\n")];
    let mut rest = rest.as_mut_slice();
    while !rest.is_empty() {
        match to.write_vectored(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut rest, written),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::{LineWriter, MAX_BUFFERED_MESSAGE};
    use std::io::{self, Write};

    /// Accepts at most 1000 bytes per write.
    struct ShortWriter(Vec<u8>);

    impl Write for ShortWriter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(1000);
            self.0.extend_from_slice(&bytes[..taken]);
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn small_and_large_messages_keep_their_order() {
        let mut out = ShortWriter(Vec::new());
        let mut lines = LineWriter::default();
        let large = vec![b'x'; MAX_BUFFERED_MESSAGE + 1];
        for message in [b"a".as_slice(), &large, b"b"] {
            lines.push(message, &mut out).unwrap();
        }
        lines.flush(&mut out).unwrap();
        assert_eq!(out.0, [b"a\n".as_slice(), &large, b"\nb\n"].concat());
    }
}
