//! Errors in a configuration file, with line and column.

use std::ops::Range;
use std::path::{Path, PathBuf};

use stickler::tape::SyntaxError;

use crate::exit::Failure;

/// Byte order mark that some editors write. It is not part of the content.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Size limit of a configuration file.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// A configuration file that has been read.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    path: PathBuf,
    /// Without the byte order mark, so that columns match those in an editor.
    pub(crate) text: String,
    has_byte_order_mark: bool,
}

/// An error in a file. The line is not shown, because it may contain a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn new(span: &Range<usize>, message: impl Into<String>) -> Self {
        Self { span: span.clone(), message: message.into() }
    }
}

impl Source {
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        use std::io::Read as _;
        let cannot =
            |reason: String| Failure::Usage(format!("cannot read `{}`: {reason}", path.display()));
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).map_err(|error| cannot(error.to_string()))?;
        let read = file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
        if read.map_err(|error| cannot(error.to_string()))? as u64 > MAX_FILE_BYTES {
            return Err(cannot("the file is too large for a configuration file".to_owned()));
        }
        let has_byte_order_mark = bytes.starts_with(BYTE_ORDER_MARK.as_bytes());
        if has_byte_order_mark {
            bytes.drain(..BYTE_ORDER_MARK.len());
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { path: path.to_owned(), text, has_byte_order_mark }),
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                let bytes = error.into_bytes();
                let text = String::from_utf8_lossy(bytes.get(..valid).unwrap_or_default());
                let source =
                    Self { path: path.to_owned(), text: text.into_owned(), has_byte_order_mark };
                let is_utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
                let message =
                    if is_utf16 { "the file is UTF-16; save it as UTF-8" } else { "invalid UTF-8" };
                Err(source.failure(&[Fault::new(&(valid..valid), message)]))
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn of(text: &str) -> Self {
        Self { path: PathBuf::from("test.toml"), text: text.to_owned(), has_byte_order_mark: false }
    }

    /// Prepends the byte order mark to new content if the file had one, so that the rest of the file is
    /// unchanged.
    pub(crate) fn with_byte_order_mark(&self, text: &str) -> String {
        let mark = if self.has_byte_order_mark { BYTE_ORDER_MARK } else { "" };
        format!("{mark}{text}")
    }

    /// Whether the file name has one of these extensions.
    pub(super) fn has_extension(&self, extensions: &[&str]) -> bool {
        let extension = self.path.extension().unwrap_or_default();
        extensions.iter().any(|one| extension.eq_ignore_ascii_case(one))
    }

    /// Returns the quoted path for messages.
    pub(crate) fn name(&self) -> String {
        format!("`{}`", self.path.display())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder of the file.
    pub(crate) fn folder(&self) -> PathBuf {
        super::folder_of(&self.path)
    }

    /// Combines all errors into one failure, each with its position.
    pub(crate) fn failure(&self, faults: &[Fault]) -> Failure {
        let messages: Vec<String> = faults.iter().map(|fault| self.describe(fault)).collect();
        Failure::Usage(messages.join("\nerror: "))
    }

    pub(crate) fn describe(&self, fault: &Fault) -> String {
        let (line, column) = self.place(fault.span.start);
        format!("{}:{line}:{column}: {}", self.path.display(), fault.message)
    }

    /// Returns line and column of a byte offset, counted from 1; columns count characters.
    fn place(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        (before.matches('\n').count() + 1, line.chars().count() + 1)
    }
}

/// Returns the error for invalid JSON.
pub(crate) fn invalid_json(error: SyntaxError) -> Fault {
    Fault::new(&(error.offset()..error.offset()), format!("invalid JSON: {}", error.kind()))
}

/// Returns the end of a sentence about an unknown name: `; did you mean …?`, or nothing.
pub(crate) fn did_you_mean<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let nearest = stickler::nearest_names(name, known);
    nearest.first().map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"))
}

#[cfg(test)]
mod tests {
    use super::{Fault, Source};

    #[test]
    fn positions_count_lines_and_characters() {
        let source = Source::of("a = 1\nä = ö\n");
        let at = source.text.find('ö').unwrap();
        assert_eq!(source.describe(&Fault::new(&(at..at), "invalid")), "test.toml:2:5: invalid");
        assert_eq!(source.describe(&Fault::new(&(0..1), "invalid")), "test.toml:1:1: invalid");
        assert_eq!(source.describe(&Fault::new(&(99..99), "invalid")), "test.toml:3:1: invalid");
    }
}
