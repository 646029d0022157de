//! Upper bound for the length of the JSON Pointers inside a value.
//!
//! Every error that the engine reports has a copy of its path, so many errors below a long key copy that
//! key many times. The step budget includes this cost. Contract: one pass over the tokens; the result
//! bounds the length of every JSON Pointer to a value inside, not counting escapes.

use super::{Kind, Node, Tape};

/// Assumed length in bytes of an array index and its slash.
pub(crate) const INDEX_SEGMENT_BYTES: usize = 10;

/// An array or object whose end has not been reached.
struct Open {
    /// The index of the token after it.
    end: u32,
    is_object: bool,
    /// Whether the next token is a key.
    at_key: bool,
    /// Length in bytes of its path.
    path: usize,
    /// Length in bytes of the path of the current member.
    member: usize,
}

impl Node<'_> {
    /// Returns the length in bytes of the longest path to a value inside.
    pub(super) fn longest_path(self) -> usize {
        let (tape, tokens): (&Tape<'_>, _) = (self.tape(), self.tokens());
        let mut open: Vec<Open> = Vec::new();
        let mut longest = 0;
        for index in tokens {
            let token = tape.token(index);
            while open.last().is_some_and(|one| one.end <= index) {
                open.pop();
            }
            let path = match open.last_mut() {
                Some(object) if object.is_object && object.at_key => {
                    object.at_key = false;
                    object.member = object.path + 1 + (token.end - token.start) as usize;
                    continue;
                }
                Some(object) if object.is_object => {
                    object.at_key = true;
                    object.member
                }
                Some(array) => array.path + INDEX_SEGMENT_BYTES,
                None => 0,
            };
            longest = longest.max(path);
            if matches!(token.kind(), Kind::Array | Kind::Object) {
                let is_object = token.kind() == Kind::Object;
                open.push(Open { end: token.next, is_object, at_key: true, path, member: path });
            }
        }
        longest
    }
}

#[cfg(test)]
mod tests {
    use crate::tape::TapeBuffer;

    #[test]
    fn longest_path_is_the_length_of_the_longest_pointer() {
        let text = r#"{"a":[{"bcd":1},{"e":{"f":[]}}],"ghijklmnopqrstuvwxyz":0,"h":{}}"#;
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(text.as_bytes(), 128).unwrap();
        assert_eq!(tape.root().longest_path(), "/ghijklmnopqrstuvwxyz".len());
        assert_eq!(tape.root().pointer("/a").unwrap().longest_path(), 10 + "/bcd".len());
        assert_eq!(tape.root().pointer("/a/1").unwrap().longest_path(), "/e/f".len());
        assert_eq!(tape.root().pointer("/h").unwrap().longest_path(), 0);
    }
}
