//! What can be told of a message that was not read: too long, too deep, or broken.

use stickler::tape::TapeBuffer;

use super::RequestId;
use super::spelling::Member;

/// An id longer than this is not looked for.
const LONGEST_ID: usize = 4096;
/// Answers of a batch that are kept: as many as can be waited for.
const MOST_ANSWERS: usize = 10_000;

/// What the members of the outermost object say, as far as they go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Glimpse {
    /// The id as it is written, when it is whole and one that can be answered.
    pub id: Option<String>,
    /// It has a `result` or an `error`, so somebody waits for it.
    pub is_response: bool,
    /// The ids of a batch's responses, as they are written.
    pub answers: Vec<String>,
}

impl Glimpse {
    /// Looks at a message, or at a part of one, without understanding more of it than which
    /// members are the outermost.
    pub fn of(bytes: &[u8]) -> Self {
        let mut glimpser = Glimpser::default();
        glimpser.look(bytes);
        glimpser.finish()
    }
}

/// Looks at a message piece by piece and keeps next to nothing of it.
#[derive(Debug, Default)]
pub(crate) struct Glimpser {
    glimpse: Glimpse,
    /// How deep the members of a message stand: one deeper in a batch.
    level: usize,
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// The outermost string or scalar that is being read.
    token: Vec<u8>,
    next: Next,
}

/// What comes next.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Next {
    #[default]
    Key,
    /// The value of `id`.
    Id,
    /// The value of another member.
    Other,
}

impl Glimpser {
    pub(crate) fn look(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.in_string { self.within_string(byte) } else { self.between_strings(byte) }
        }
    }

    pub(crate) fn finish(self) -> Glimpse {
        // Of a batch that breaks off, the last message is not whole: nothing is said of it.
        match self.level {
            2 => Glimpse { answers: self.glimpse.answers, ..Glimpse::default() },
            _ => self.glimpse,
        }
    }

    fn within_string(&mut self, byte: u8) {
        self.keep(byte);
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' => self.is_escaped = true,
            b'"' => {
                self.in_string = false;
                if self.next == Next::Id {
                    self.end_of_value();
                }
            }
            _ => {}
        }
    }

    fn between_strings(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.in_string = true;
                if self.is_outermost() {
                    self.token.clear();
                }
                self.keep(byte);
            }
            b':' if self.is_outermost() && self.next == Next::Key => self.end_of_key(),
            b'{' | b'[' => self.open(byte),
            b'}' | b']' => {
                self.end_of_value();
                if self.level == 2 && self.is_outermost() {
                    self.end_of_element();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b',' => {
                self.end_of_value();
                if self.is_outermost() {
                    self.next = Next::Key;
                }
            }
            b' ' | b'\t' | b'\r' | b'\n' => {}
            other => self.keep(other),
        }
    }

    fn is_outermost(&self) -> bool {
        self.depth == self.level && self.level > 0
    }

    fn open(&mut self, byte: u8) {
        if self.level == 0 {
            self.level = if byte == b'[' { 2 } else { 1 };
        }
        self.depth += 1;
        self.token.clear();
    }

    /// A message of a batch ends.
    fn end_of_element(&mut self) {
        self.next = Next::Key;
        let id = self.glimpse.id.take();
        let is_response = std::mem::take(&mut self.glimpse.is_response);
        let answers = &mut self.glimpse.answers;
        answers.extend(id.filter(|_| is_response && answers.len() < MOST_ANSWERS));
    }

    fn keep(&mut self, byte: u8) {
        if self.is_outermost() && self.token.len() <= LONGEST_ID {
            self.token.push(byte);
        }
    }

    fn end_of_key(&mut self) {
        let key = std::mem::take(&mut self.token);
        let member = Member::of(&key);
        self.glimpse.is_response |= member == Member::Outcome;
        self.next = if member == Member::Id { Next::Id } else { Next::Other };
    }

    fn end_of_value(&mut self) {
        if !self.is_outermost() {
            return;
        }
        let value = std::mem::take(&mut self.token);
        if std::mem::replace(&mut self.next, Next::Other) == Next::Id {
            self.glimpse.id = whole_id(&value);
        }
    }
}

fn whole_id(bytes: &[u8]) -> Option<String> {
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(bytes, 1).ok()?;
    RequestId::of(tape.root())?;
    Some(tape.text().to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Glimpse, Glimpser, MOST_ANSWERS};

    #[test]
    fn the_id_of_a_message_that_breaks_off() {
        let cases: [(&str, Option<&str>, bool); 13] = [
            (r#"{"\u0069d":7,"re\u0073ult":{"#, Some("7"), true),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":"xx"#,
                Some("7"),
                false,
            ),
            (r#"{"id" : "a\"b" , "params":{"#, Some(r#""a\"b""#), false),
            (r#"{"params":{"id":1,"text":"}{"},"id":2,"x":"#, Some("2"), false),
            (r#"{"result":{"x":[{"id":1}]},"jsonrpc":"2.0","id":7}"#, Some("7"), true),
            ("{\"id\":7\n}", Some("7"), false),
            (r#"{"id":3,"result":{"content":"#, Some("3"), true),
            (r#"{"params":{"id":1,"result":"xxx"#, None, false),
            (r#"{"method":"id","x":"id","y":"#, None, false),
            (r#"{"id":12"#, None, false),
            (r#"{"id":null,"#, None, false),
            (r#"{"id":{"id":4},"x":1"#, None, false),
            ("]]", None, false),
        ];
        for (text, id, is_response) in cases {
            let glimpse = Glimpse::of(text.as_bytes());
            assert_eq!((glimpse.id.as_deref(), glimpse.is_response), (id, is_response), "{text}");
            let mut in_pieces = Glimpser::default();
            text.as_bytes().chunks(1).for_each(|piece| in_pieces.look(piece));
            assert_eq!(in_pieces.finish(), glimpse);
        }
    }

    #[test]
    fn the_answers_of_a_batch() {
        let cases: [(&str, &[&str]); 7] = [
            (r#"[{"id":1,"result":{"id":9}},{"error":{"code":1},"id":"b"}]"#, &["1", "\"b\""]),
            (r#" [ {"id":1,"method":"ping"} , {"id":2,"result":[{"id":3}]} ] "#, &["2"]),
            (r#"[{"id":1,"result":"]},{"},{"id":2,"result":{"#, &["1"]),
            (r#"[[{"id":1,"result":2}],{"result":{}},{"id":4,"result":{}}]"#, &["4"]),
            (r#"[1,"result",{"id":5,"result":{}}]"#, &["5"]),
            ("[]", &[]),
            (r#"{"id":1,"result":[{"id":2,"result":{}}]}"#, &[]),
        ];
        for (text, answers) in cases {
            assert_eq!(Glimpse::of(text.as_bytes()).answers, answers, "{text}");
        }
    }

    #[test]
    fn no_more_answers_are_kept_than_can_be_waited_for() {
        let batch = format!("[{}", r#"{"id":1,"result":{}},"#.repeat(MOST_ANSWERS + 5));
        assert_eq!(Glimpse::of(batch.as_bytes()).answers.len(), MOST_ANSWERS);
    }
}
