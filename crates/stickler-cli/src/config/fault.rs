//! What is wrong with a file, and where.

use std::ops::Range;
use std::path::{Path, PathBuf};

use stickler::tape::SyntaxError;

use crate::exit::Failure;

/// What some editors put at the beginning of every file. It says nothing.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Larger than any configuration.
const LARGEST_FILE: u64 = 16 << 20;

/// A file that was read.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    path: PathBuf,
    /// Without the byte order mark, so that columns are those that an editor shows.
    pub(crate) text: String,
    has_mark: bool,
}

/// Something wrong in a file. The line itself is not shown: it may hold a secret.
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
        let read = file.take(LARGEST_FILE + 1).read_to_end(&mut bytes);
        if read.map_err(|error| cannot(error.to_string()))? as u64 > LARGEST_FILE {
            return Err(cannot("it is too large to be a configuration".to_owned()));
        }
        let has_mark = bytes.starts_with(BYTE_ORDER_MARK.as_bytes());
        if has_mark {
            bytes.drain(..BYTE_ORDER_MARK.len());
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { path: path.to_owned(), text, has_mark }),
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                let bytes = error.into_bytes();
                let text = String::from_utf8_lossy(bytes.get(..valid).unwrap_or_default());
                let source = Self { path: path.to_owned(), text: text.into_owned(), has_mark };
                Err(source.failure(&[Fault::new(&(valid..valid), "the file is not UTF-8 here")]))
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn of(text: &str) -> Self {
        Self { path: PathBuf::from("test.toml"), text: text.to_owned(), has_mark: false }
    }

    /// A text that takes the place of this one, as it is to be written: with the mark, if the file
    /// had it, since it is given back byte for byte.
    pub(crate) fn marked(&self, text: &str) -> String {
        let mark = if self.has_mark { BYTE_ORDER_MARK } else { "" };
        format!("{mark}{text}")
    }

    /// Whether its name says that it is JSON.
    pub(super) fn is_named_json(&self) -> bool {
        self.path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
    }

    /// The file for people.
    pub(crate) fn name(&self) -> String {
        format!("`{}`", self.path.display())
    }

    /// The folder that it is in.
    pub(crate) fn folder(&self) -> PathBuf {
        super::folder_of(&self.path)
    }

    /// Everything that is wrong, each with its place.
    pub(crate) fn failure(&self, faults: &[Fault]) -> Failure {
        let told: Vec<String> = faults.iter().map(|fault| self.describe(fault)).collect();
        Failure::Usage(told.join("\nerror: "))
    }

    pub(crate) fn describe(&self, fault: &Fault) -> String {
        let (line, column) = self.place(fault.span.start);
        format!("{}:{line}:{column}: {}", self.path.display(), fault.message)
    }

    /// Line and column of a byte, both counted from 1, columns in characters.
    fn place(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        (before.matches('\n').count() + 1, line.chars().count() + 1)
    }
}

/// What is wrong with a text that is no JSON. Some clients allow comments, so people write them.
pub(crate) fn no_json(text: &str, error: SyntaxError) -> Fault {
    let rest = text.get(error.offset()..).unwrap_or_default();
    let is_comment = rest.starts_with("//") || rest.starts_with("/*");
    let hint = if is_comment { "; comments are not JSON" } else { "" };
    Fault::new(&(error.offset()..error.offset()), format!("{}{hint}", error.kind()))
}

/// The end of a sentence about a name that is not known.
pub(crate) fn did_you_mean<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let nearest = stickler::nearest_names(name, known);
    nearest.first().map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"))
}

#[cfg(test)]
mod tests {
    use super::{Fault, Source};

    #[test]
    fn places_are_lines_and_columns_of_characters() {
        let source = Source::of("a = 1\nä = ö\n");
        let at = source.text.find('ö').unwrap();
        assert_eq!(source.describe(&Fault::new(&(at..at), "odd")), "test.toml:2:5: odd");
        assert_eq!(source.describe(&Fault::new(&(0..1), "odd")), "test.toml:1:1: odd");
        assert_eq!(source.describe(&Fault::new(&(99..99), "odd")), "test.toml:3:1: odd");
    }
}
