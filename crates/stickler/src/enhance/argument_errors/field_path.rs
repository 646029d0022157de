//! Converts the paths that validators print into JSON Pointers into the arguments.
//!
//! `items[0].name`, `items.0.name` and `/items/0/name` all become `/items/0/name`. In an error
//! about the request, `params.arguments.x` becomes `/x`.

use super::prefix::Scope;
use super::{ArgumentError, ErrorKind};

/// Returns an error for the field at `segments`; `None` if they are not part of a tool call.
pub(super) fn error_at(
    segments: &[String],
    scope: Scope,
    kind: ErrorKind,
) -> Option<ArgumentError> {
    let words: Vec<&str> = segments.iter().map(String::as_str).collect();
    // A path relative to the arguments may start with an argument named `params`.
    let within = match (words.as_slice(), scope) {
        (["params", "arguments", within @ ..], _) => within,
        (words, Scope::Arguments) => words,
        (["arguments", within @ ..], _) => within,
        (["params"], _) => return Some(argument_error(String::new(), ErrorKind::InvalidArguments)),
        (["params", "name"], _) => {
            return Some(argument_error(String::new(), ErrorKind::UnknownTool { name: None }));
        }
        (["params", ..], _) => return None,
        (words, _) => words,
    };
    Some(argument_error(pointer(within), kind))
}

/// Returns an error for the field at `path`, a JSON Pointer.
pub(super) fn argument_error(path: String, kind: ErrorKind) -> ArgumentError {
    ArgumentError { kind, path }
}

/// Returns the JSON Pointer for `segments`.
pub(super) fn pointer<S: AsRef<str>>(segments: &[S]) -> String {
    let mut pointer = String::new();
    for segment in segments {
        pointer.push('/');
        pointer.push_str(&segment.as_ref().replace('~', "~0").replace('/', "~1"));
    }
    pointer
}

/// Splits a path as printed by validators: with dots, with brackets, or as a JSON Pointer.
pub(super) fn segments(path: &str) -> Vec<String> {
    if let Some(pointer) = path.strip_prefix('/') {
        return pointer.split('/').take(MAX_PATH_SEGMENTS).map(unescape).collect();
    }
    let mut reader = PathReader::default();
    for c in path.strip_prefix("$.").unwrap_or(path).chars() {
        reader.read(c);
    }
    reader.finish()
}

/// Maximum number of segments. Longer paths are truncated.
pub(super) const MAX_PATH_SEGMENTS: usize = 64;

fn unescape(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

#[derive(Default)]
struct PathReader {
    segments: Vec<String>,
    current: String,
    in_brackets: bool,
}

impl PathReader {
    fn read(&mut self, c: char) {
        match c {
            ']' if self.in_brackets => {
                self.in_brackets = false;
                self.close();
            }
            '\'' | '"' if self.in_brackets => {}
            '[' if !self.in_brackets => {
                self.close();
                self.in_brackets = true;
            }
            '.' if !self.in_brackets => self.close(),
            other => self.current.push(other),
        }
    }

    fn close(&mut self) {
        if !self.current.is_empty() {
            self.segments.push(std::mem::take(&mut self.current));
        }
    }

    fn finish(mut self) -> Vec<String> {
        self.close();
        self.segments.truncate(MAX_PATH_SEGMENTS);
        self.segments
    }
}

#[cfg(test)]
mod tests {
    use super::{error_at, pointer, segments};
    use crate::enhance::argument_errors::ErrorKind;
    use crate::enhance::argument_errors::prefix::Scope;

    fn path(dotted: &str, scope: Scope) -> Option<String> {
        error_at(&segments(dotted), scope, ErrorKind::MissingField).map(|error| error.path)
    }

    #[test]
    fn all_path_notations_give_the_same_pointer() {
        for notation in ["items.0.name", "items[0].name", "/items/0/name", "$.items[0]['name']"] {
            assert_eq!(pointer(&segments(notation)), "/items/0/name", "{notation}");
        }
    }

    #[test]
    fn special_characters_in_keys_are_escaped() {
        assert_eq!(pointer(&segments("[\"a/b\"].c~d")), "/a~1b/c~0d");
        assert_eq!(pointer(&segments("/a~1b")), "/a~1b");
    }

    #[test]
    fn request_paths_become_relative_to_the_arguments() {
        assert_eq!(path("params.arguments.x", Scope::Request).as_deref(), Some("/x"));
        assert_eq!(path("arguments.x", Scope::Unstated).as_deref(), Some("/x"));
        assert_eq!(path("params.arguments", Scope::Unstated).as_deref(), Some(""));
    }

    #[test]
    fn argument_may_be_named_params() {
        assert_eq!(path("params.x", Scope::Arguments).as_deref(), Some("/params/x"));
    }

    #[test]
    fn tool_name_and_other_params_are_not_arguments() {
        let named = error_at(&segments("params.name"), Scope::Request, ErrorKind::MissingField);
        assert_eq!(named.map(|error| error.kind), Some(ErrorKind::UnknownTool { name: None }));
        assert_eq!(path("params.cursor", Scope::Request), None);
    }
}
