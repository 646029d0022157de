//! What can be told of a message that was not read: too long, or too deep.

use super::RequestId;
use crate::tape::TapeBuffer;

/// What the members of the outermost object say, as far as they go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Glimpse {
    /// The id as it is written, when it is whole and one that can be answered.
    pub(crate) id: Option<String>,
    /// It has a `result` or an `error`, so somebody waits for it.
    pub(crate) is_response: bool,
}

impl Glimpse {
    /// Looks at a message, or at the beginning of one, without understanding more of it than which
    /// members are the outermost.
    pub(crate) fn of(beginning: &[u8]) -> Self {
        let mut glimpse = Self::default();
        let mut depth = 0_usize;
        let mut position = 0;
        while let Some(&byte) = beginning.get(position) {
            match byte {
                b'"' => {
                    let Some(end) = string_end(beginning, position) else { break };
                    if depth == 1 {
                        glimpse.member(beginning.get(position..end), beginning.get(end..));
                    }
                    position = end;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            position += 1;
        }
        glimpse
    }

    fn member(&mut self, key: Option<&[u8]>, rest: Option<&[u8]>) {
        // A string that is a value is followed by no colon.
        let Some(value) = rest.and_then(|rest| rest.trim_ascii_start().strip_prefix(b":")) else {
            return;
        };
        match key {
            Some(b"\"id\"") => self.id = scalar(value.trim_ascii_start()),
            Some(b"\"result\"" | b"\"error\"") => self.is_response = true,
            _ => {}
        }
    }
}

fn string_end(bytes: &[u8], quote: usize) -> Option<usize> {
    let mut position = quote + 1;
    loop {
        match bytes.get(position)? {
            b'"' => return Some(position + 1),
            b'\\' => position += 2,
            _ => position += 1,
        }
    }
}

fn scalar(bytes: &[u8]) -> Option<String> {
    let end = match bytes.first()? {
        b'"' => string_end(bytes, 0)?,
        // A number is whole when something follows that ends it.
        _ => bytes.iter().position(|byte| b",}] \t\r".contains(byte))?,
    };
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(bytes.get(..end)?, 1).ok()?;
    RequestId::of(tape.root())?;
    Some(tape.text().to_owned())
}

#[cfg(test)]
mod tests {
    use super::Glimpse;

    #[test]
    fn the_id_of_a_message_that_breaks_off() {
        let cases: [(&str, Option<&str>, bool); 9] = [
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":"xx"#,
                Some("7"),
                false,
            ),
            (r#"{"id" : "a\"b" , "params":{"#, Some(r#""a\"b""#), false),
            (r#"{"params":{"id":1,"text":"}{"},"id":2,"x":"#, Some("2"), false),
            (r#"{"id":3,"result":{"content":"#, Some("3"), true),
            (r#"{"params":{"id":1,"result":"xxx"#, None, false),
            (r#"{"method":"id","x":"id","y":"#, None, false),
            (r#"{"id":12"#, None, false),
            (r#"{"id":null,"#, None, false),
            ("]]", None, false),
        ];
        for (text, id, is_response) in cases {
            let glimpse = Glimpse::of(text.as_bytes());
            assert_eq!((glimpse.id.as_deref(), glimpse.is_response), (id, is_response), "{text}");
        }
    }
}
