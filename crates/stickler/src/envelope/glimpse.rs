//! The id of a message of which only the beginning was kept.

use super::RequestId;
use crate::tape::TapeBuffer;

/// Looks for `"id": …` among the members of an object that breaks off. The id is given as it is
/// written, and only when it is surely the message's own: a member of the outermost object, whole.
pub(crate) fn glimpse_id(beginning: &[u8]) -> Option<String> {
    let mut depth = 0_usize;
    let mut position = 0;
    while let Some(&byte) = beginning.get(position) {
        match byte {
            b'"' => {
                let end = string_end(beginning, position)?;
                let key = beginning.get(position..end)?;
                position = end;
                if depth == 1 && key == b"\"id\"" {
                    let rest = after_colon(beginning, position);
                    if let Some(rest) = rest {
                        return scalar(rest);
                    }
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        position += 1;
    }
    None
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

/// What comes after the colon, when a colon comes: a string that is a value is followed by none.
fn after_colon(bytes: &[u8], position: usize) -> Option<&[u8]> {
    bytes.get(position..)?.trim_ascii_start().strip_prefix(b":").map(<[u8]>::trim_ascii_start)
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
    use super::glimpse_id;

    #[test]
    fn the_id_of_a_message_that_breaks_off() {
        let cases: [(&str, Option<&str>); 8] = [
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":"xxx"#, Some("7")),
            (r#"{"id" : "a\"b" , "params":{"#, Some(r#""a\"b""#)),
            (r#"{"params":{"id":1,"text":"}{"},"id":2,"x":"#, Some("2")),
            (r#"{"params":{"id":1,"text":"xxx"#, None),
            (r#"{"method":"id","x":"id","y":"#, None),
            (r#"{"id":12"#, None),
            (r#"{"id":null,"#, None),
            ("]]", None),
        ];
        for (text, expected) in cases {
            assert_eq!(glimpse_id(text.as_bytes()).as_deref(), expected, "{text}");
        }
    }
}
