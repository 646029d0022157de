//! Reads the id, method and kind of a message without parsing the rest of it.
//!
//! The scan stops as soon as the kind is certain, usually within the first bytes. It does not validate.

use std::ops::Range;

use super::RequestId;
use super::member_names::{Member, json_str_eq};

/// Kind of a message, as far as routing needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MessageKind {
    /// Has a method and an id.
    Request,
    /// Has a method and no id.
    Notification,
    /// Has a result or an error.
    Response,
    /// An array of messages.
    Batch,
    /// Not determined.
    #[default]
    Unknown,
}

/// The outermost members that determine where a message is routed.
///
/// For messages that are validated elsewhere: a routing header says nothing about validity.
///
/// ```
/// use stickler_protocol::envelope::{RoutingHeader, MessageKind};
///
/// let message = br#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#;
/// let header = RoutingHeader::of(message);
/// assert_eq!(header.kind, MessageKind::Response);
/// assert_eq!(&message[header.id.unwrap()], b"7");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoutingHeader {
    /// Kind of the message.
    pub kind: MessageKind,
    /// Byte range of `id` if it is a string or a number.
    pub id: Option<Range<usize>>,
    /// Byte range of `method`, without the quotes.
    pub method: Option<Range<usize>>,
}

impl RoutingHeader {
    /// Reads members until the kind of the message is certain.
    pub fn of(message: &[u8]) -> Self {
        let mut scan = Scan::new(message);
        scan.run();
        let kind = match (scan.first, scan.id.is_some(), scan.method.is_some()) {
            (Some(b'['), ..) => MessageKind::Batch,
            (_, true, true) => MessageKind::Request,
            (_, false, true) => MessageKind::Notification,
            _ if scan.has_outcome => MessageKind::Response,
            _ => MessageKind::Unknown,
        };
        Self { kind, id: scan.id, method: scan.method }
    }

    /// Whether the message has that method, escaped or not.
    pub fn has_method(&self, message: &[u8], method: &str) -> bool {
        let written = self.method.clone().and_then(|span| message.get(span));
        written.is_some_and(|written| json_str_eq(written, method))
    }

    /// Returns the id of the message.
    pub fn request_id(&self, message: &[u8]) -> Option<RequestId> {
        RequestId::parse(message.get(self.id.clone()?)?)
    }
}

struct Scan<'m> {
    message: &'m [u8],
    first: Option<u8>,
    at: usize,
    depth: usize,
    id: Option<Range<usize>>,
    method: Option<Range<usize>>,
    has_outcome: bool,
}

impl<'m> Scan<'m> {
    fn new(message: &'m [u8]) -> Self {
        let at = message.iter().position(|byte| !byte.is_ascii_whitespace());
        let at = at.unwrap_or(message.len());
        let first = message.get(at).copied();
        Self { message, first, at, depth: 0, id: None, method: None, has_outcome: false }
    }

    fn run(&mut self) {
        if self.first != Some(b'{') {
            return;
        }
        while let Some(&byte) = self.message.get(self.at) {
            match byte {
                b'"' => {
                    let Some(end) = string_end(self.message, self.at) else { return };
                    let string = self.at..end;
                    self.at = end;
                    if self.depth == 1 {
                        self.member(&string);
                    }
                    if self.id.is_some() && (self.method.is_some() || self.has_outcome) {
                        return;
                    }
                    continue;
                }
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
        }
    }

    fn member(&mut self, key: &Range<usize>) {
        let rest = self.message.get(key.end..).unwrap_or_default();
        let spaces =
            |bytes: &[u8]| bytes.iter().take_while(|one| one.is_ascii_whitespace()).count();
        let colon = spaces(rest);
        // A string without a colon behind it is a value.
        if rest.get(colon) != Some(&b':') {
            return;
        }
        let gap = colon + 1 + spaces(rest.get(colon + 1..).unwrap_or_default());
        let value = key.end + gap;
        self.at = value;
        match Member::of(self.message.get(key.clone()).unwrap_or_default()) {
            Member::Id => self.id = scalar(self.message, value),
            Member::Method => {
                let quoted = scalar(self.message, value);
                self.method = quoted.map(|span| span.start + 1..span.end.saturating_sub(1));
            }
            Member::Outcome => self.has_outcome = true,
            Member::Other => return,
        }
        // Skip a string value, so that it is not read as a key.
        if self.message.get(value) == Some(&b'"') {
            self.at = string_end(self.message, value).unwrap_or(self.message.len());
        }
    }
}

/// Bytes compared one by one before `memchr` takes over: most names and ids are shorter.
const SHORT_STRING_BYTES: usize = 16;

/// Returns the end of a string, including its closing quote.
fn string_end(bytes: &[u8], quote: usize) -> Option<usize> {
    let mut at = quote + 1;
    for byte in bytes.get(at..)?.iter().take(SHORT_STRING_BYTES) {
        match byte {
            b'"' => return Some(at + 1),
            b'\\' => break,
            _ => at += 1,
        }
    }
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some(at + 1);
        }
        at += 2;
    }
}

fn scalar(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    let end = match bytes.get(start)? {
        b'"' => string_end(bytes, start)?,
        b'-' | b'0'..=b'9' => {
            let rest = bytes.get(start..)?;
            let digits =
                |byte: &u8| !matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
            start + rest.iter().position(digits).unwrap_or(rest.len())
        }
        _ => return None,
    };
    Some(start..end)
}

#[cfg(test)]
mod tests {
    use super::{MessageKind, RoutingHeader};

    #[test]
    fn kind_id_and_method_are_read() {
        let cases: [(&str, MessageKind, Option<&str>, Option<&str>); 13] = [
            (
                r#"{"\u0069d":7,"metho\u0064":"ping"}"#,
                MessageKind::Request,
                Some("7"),
                Some("ping"),
            ),
            (r#"{"\u0069d":7,"resul\u0074":{}}"#, MessageKind::Response, Some("7"), None),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#,
                MessageKind::Request,
                Some("7"),
                Some("ping"),
            ),
            (r#" { "id" : "a\"b" , "result":{}}"#, MessageKind::Response, Some(r#""a\"b""#), None),
            (
                r#"{"result":{"id":1,"method":"x"},"id":-2}"#,
                MessageKind::Response,
                Some("-2"),
                None,
            ),
            (r#"{"method":"id","params":{"id":1}}"#, MessageKind::Notification, None, Some("id")),
            (r#"{"jsonrpc":"id","id":1,"error":{}}"#, MessageKind::Response, Some("1"), None),
            (r#"{"error":{},"id":null}"#, MessageKind::Response, None, None),
            (r#"[{"id":1}]"#, MessageKind::Batch, None, None),
            ("{}", MessageKind::Unknown, None, None),
            (r#"{"id"#, MessageKind::Unknown, None, None),
            ("hello", MessageKind::Unknown, None, None),
            (
                r#"{"a name that is longer than most":"and a value with \" in it, too","id":3,"result":1}"#,
                MessageKind::Response,
                Some("3"),
                None,
            ),
        ];
        for (text, kind, id, method) in cases {
            let address = RoutingHeader::of(text.as_bytes());
            let part = |span: Option<std::ops::Range<usize>>| span.map(|span| &text[span]);
            assert_eq!(
                (address.kind, part(address.id.clone()), part(address.method.clone())),
                (kind, id, method),
                "{text}"
            );
        }
    }
}
