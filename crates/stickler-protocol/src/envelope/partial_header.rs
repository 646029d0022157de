//! Finds the id in a message that cannot be parsed: too long, too deep or malformed.

use stickler::tape::TapeBuffer;

use super::RequestId;
use super::member_names::Member;

/// Maximum length of an id, in bytes.
const MAX_ID_BYTES: usize = 4096;
/// Maximum number of responses recorded for a batch: the limit of pending requests.
const MAX_BATCH_RESPONSES: usize = 10_000;

/// Id and kind of a message, as far as they could be read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PartialHeader {
    /// The id as written, if it is complete and valid.
    pub id: Option<String>,
    /// Whether the message has a `result` or an `error`.
    pub is_response: bool,
    /// The ids of the responses in a batch, as written.
    pub answers: Vec<String>,
}

impl PartialHeader {
    /// Scans a message or the beginning of one for its outermost members.
    pub fn of(bytes: &[u8]) -> Self {
        let mut reader = PartialHeaderReader::default();
        reader.push(bytes);
        reader.finish()
    }
}

/// Incremental scanner that retains only the id.
#[derive(Debug, Default)]
pub(crate) struct PartialHeaderReader {
    partial: PartialHeader,
    /// Depth of the members of a message: 1, or 2 in a batch.
    level: usize,
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// The outermost string or scalar that is currently read.
    token: Vec<u8>,
    next: Next,
}

/// Expected next token.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Next {
    #[default]
    Key,
    /// The value of `id`.
    Id,
    /// The value of another member.
    Other,
}

impl PartialHeaderReader {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.in_string { self.within_string(byte) } else { self.between_strings(byte) }
        }
    }

    pub(crate) fn finish(self) -> PartialHeader {
        // The last message of a truncated batch is incomplete and not reported.
        match self.level {
            2 => PartialHeader { answers: self.partial.answers, ..PartialHeader::default() },
            _ => self.partial,
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

    /// Ends a message of a batch.
    fn end_of_element(&mut self) {
        self.next = Next::Key;
        let id = self.partial.id.take();
        let is_response = std::mem::take(&mut self.partial.is_response);
        let answers = &mut self.partial.answers;
        answers.extend(id.filter(|_| is_response && answers.len() < MAX_BATCH_RESPONSES));
    }

    fn keep(&mut self, byte: u8) {
        if self.is_outermost() && self.token.len() <= MAX_ID_BYTES {
            self.token.push(byte);
        }
    }

    fn end_of_key(&mut self) {
        let key = std::mem::take(&mut self.token);
        let member = Member::of(&key);
        self.partial.is_response |= member == Member::Outcome;
        self.next = if member == Member::Id { Next::Id } else { Next::Other };
    }

    fn end_of_value(&mut self) {
        if !self.is_outermost() {
            return;
        }
        let value = std::mem::take(&mut self.token);
        if std::mem::replace(&mut self.next, Next::Other) == Next::Id {
            self.partial.id = whole_id(&value);
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
    use super::{MAX_BATCH_RESPONSES, PartialHeader, PartialHeaderReader};

    #[test]
    fn id_of_a_truncated_message_is_found() {
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
            let partial = PartialHeader::of(text.as_bytes());
            assert_eq!((partial.id.as_deref(), partial.is_response), (id, is_response), "{text}");
            let mut in_pieces = PartialHeaderReader::default();
            text.as_bytes().chunks(1).for_each(|piece| in_pieces.push(piece));
            assert_eq!(in_pieces.finish(), partial);
        }
    }

    #[test]
    fn responses_of_a_batch_are_found() {
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
            assert_eq!(PartialHeader::of(text.as_bytes()).answers, answers, "{text}");
        }
    }

    #[test]
    fn number_of_batch_responses_is_limited() {
        let batch = format!("[{}", r#"{"id":1,"result":{}},"#.repeat(MAX_BATCH_RESPONSES + 5));
        assert_eq!(PartialHeader::of(batch.as_bytes()).answers.len(), MAX_BATCH_RESPONSES);
    }
}
