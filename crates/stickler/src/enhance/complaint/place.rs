//! Turns the paths that validators write into JSON Pointers within the arguments.
//!
//! `items[0].name`, `items.0.name` and `/items/0/name` are all `/items/0/name`; `params.arguments.x`
//! in a complaint about the request is `/x`.

use super::lead_in::Scope;
use super::{About, Complaint};

/// A complaint about what `segments` lead to; none when that is no part of a tool call.
pub(super) fn complaint(segments: &[String], scope: Scope, about: About) -> Option<Complaint> {
    let words: Vec<&str> = segments.iter().map(String::as_str).collect();
    // A path that begins inside the arguments may begin with an argument called `params`.
    let within = match (words.as_slice(), scope) {
        (["params", "arguments", within @ ..], _) => within,
        (words, Scope::Arguments) => words,
        (["arguments", within @ ..], _) => within,
        (["params"], _) => return Some(at(String::new(), About::InvalidArguments)),
        (["params", "name"], _) => {
            return Some(at(String::new(), About::UnknownTool { name: None }));
        }
        (["params", ..], _) => return None,
        (words, _) => words,
    };
    Some(at(pointer(within), about))
}

/// A complaint about the field at `path`, a JSON Pointer.
pub(super) fn at(path: String, about: About) -> Complaint {
    Complaint { about, path }
}

/// The JSON Pointer that `segments` spell.
pub(super) fn pointer<S: AsRef<str>>(segments: &[S]) -> String {
    let mut pointer = String::new();
    for segment in segments {
        pointer.push('/');
        pointer.push_str(&segment.as_ref().replace('~', "~0").replace('/', "~1"));
    }
    pointer
}

/// The segments of a path as validators write it: dotted, with brackets, or a JSON Pointer.
pub(super) fn segments(path: &str) -> Vec<String> {
    if let Some(pointer) = path.strip_prefix('/') {
        return pointer.split('/').take(DEEPEST).map(unescaped).collect();
    }
    let mut reader = PathReader::default();
    for c in path.strip_prefix("$.").unwrap_or(path).chars() {
        reader.read(c);
    }
    reader.finish()
}

/// No arguments go this deep; a longer path is garbage, and is cut.
pub(super) const DEEPEST: usize = 64;

fn unescaped(segment: &str) -> String {
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
        self.segments.truncate(DEEPEST);
        self.segments
    }
}

#[cfg(test)]
mod tests {
    use super::{complaint, pointer, segments};
    use crate::enhance::complaint::About;
    use crate::enhance::complaint::lead_in::Scope;

    fn path(dotted: &str, scope: Scope) -> Option<String> {
        complaint(&segments(dotted), scope, About::MissingField).map(|complaint| complaint.path)
    }

    #[test]
    fn every_way_of_writing_a_path_gives_the_same_pointer() {
        for written in ["items.0.name", "items[0].name", "/items/0/name", "$.items[0]['name']"] {
            assert_eq!(pointer(&segments(written)), "/items/0/name", "{written}");
        }
    }

    #[test]
    fn odd_keys_are_escaped() {
        assert_eq!(pointer(&segments("[\"a/b\"].c~d")), "/a~1b/c~0d");
        assert_eq!(pointer(&segments("/a~1b")), "/a~1b");
    }

    #[test]
    fn a_path_from_the_request_is_made_relative_to_the_arguments() {
        assert_eq!(path("params.arguments.x", Scope::Request).as_deref(), Some("/x"));
        assert_eq!(path("arguments.x", Scope::Unstated).as_deref(), Some("/x"));
        assert_eq!(path("params.arguments", Scope::Unstated).as_deref(), Some(""));
    }

    #[test]
    fn an_argument_may_itself_be_called_params() {
        assert_eq!(path("params.x", Scope::Arguments).as_deref(), Some("/params/x"));
    }

    #[test]
    fn the_tool_name_and_other_params_are_not_arguments() {
        let named = complaint(&segments("params.name"), Scope::Request, About::MissingField);
        assert_eq!(named.map(|c| c.about), Some(About::UnknownTool { name: None }));
        assert_eq!(path("params.cursor", Scope::Request), None);
    }
}
