//! Writing messages as lines, in as few writes as possible.

use std::io::{self, IoSlice, Write};

/// Messages up to this size are gathered; larger ones are written from where they are.
const GATHERED: usize = 32 << 10;

/// Lines that wait to be written to one side.
#[derive(Debug, Default)]
pub struct Lines {
    gathered: Vec<u8>,
}

impl Lines {
    /// Adds a message; a large one goes out at once, after those before it.
    pub fn push(&mut self, message: &[u8], to: &mut impl Write) -> io::Result<()> {
        if message.len() <= GATHERED {
            self.gathered.extend_from_slice(message);
            self.gathered.push(b'\n');
            if self.gathered.len() > 4 * GATHERED {
                self.flush(to)?;
            }
            return Ok(());
        }
        self.flush(to)?;
        write_line(message, to)
    }

    /// Whether no line waits.
    pub fn is_empty(&self) -> bool {
        self.gathered.is_empty()
    }

    /// What is left is not written any more.
    pub fn clear(&mut self) {
        self.gathered.clear();
    }

    /// Writes what is left.
    pub fn flush(&mut self, to: &mut impl Write) -> io::Result<()> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let outcome = to.write_all(&self.gathered).and_then(|()| to.flush());
        self.gathered.clear();
        outcome
    }
}

/// One message and its line break in one write where the system takes it.
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
    use super::{GATHERED, Lines};
    use std::io::{self, Write};

    /// Takes a few bytes at a time.
    struct Reluctant(Vec<u8>);

    impl Write for Reluctant {
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
        let mut out = Reluctant(Vec::new());
        let mut lines = Lines::default();
        let large = vec![b'x'; GATHERED + 1];
        for message in [b"a".as_slice(), &large, b"b"] {
            lines.push(message, &mut out).unwrap();
        }
        lines.flush(&mut out).unwrap();
        assert_eq!(out.0, [b"a\n".as_slice(), &large, b"\nb\n"].concat());
    }
}
