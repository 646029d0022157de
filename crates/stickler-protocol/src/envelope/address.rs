//! Which way a message goes, read from as few of its bytes as will do.

use std::ops::Range;

use super::RequestId;
use super::spelling::{Member, is_spelt};

/// What a message is to whoever delivers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bearing {
    /// It wants an answer.
    Request,
    /// It wants none.
    Notification,
    /// It is an answer.
    Response,
    /// An array of messages.
    Batch,
    /// It cannot be told.
    Unknown,
}

/// The outermost members that say where a message belongs.
///
/// Judging is not its business: it is for messages that were judged already, or will be.
///
/// ```
/// use stickler_protocol::envelope::{Address, Bearing};
///
/// let message = br#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#;
/// let address = Address::of(message);
/// assert_eq!(address.bearing, Bearing::Response);
/// assert_eq!(&message[address.id.unwrap()], b"7");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// What it is.
    pub bearing: Bearing,
    /// Where its `id` is, when that is a string or a number.
    pub id: Option<Range<usize>>,
    /// Where its `method` is, without the quotes.
    pub method: Option<Range<usize>>,
}

impl Address {
    /// Reads members until it is clear what the message is; usually that is within its first bytes.
    pub fn of(message: &[u8]) -> Self {
        let mut scan = Scan::new(message);
        scan.run();
        let bearing = match (scan.first, scan.id.is_some(), scan.method.is_some()) {
            (Some(b'['), ..) => Bearing::Batch,
            (_, true, true) => Bearing::Request,
            (_, false, true) => Bearing::Notification,
            _ if scan.has_outcome => Bearing::Response,
            _ => Bearing::Unknown,
        };
        Self { bearing, id: scan.id, method: scan.method }
    }

    /// Whether that is the method that the message has, however it is written.
    pub fn has_method(&self, message: &[u8], method: &str) -> bool {
        let written = self.method.clone().and_then(|span| message.get(span));
        written.is_some_and(|written| is_spelt(written, method))
    }

    /// The id that the message has.
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
        // A string that is a value is followed by no colon.
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
        // A string value is not looked at again as a key.
        if self.message.get(value) == Some(&b'"') {
            self.at = string_end(self.message, value).unwrap_or(self.message.len());
        }
    }
}

/// Names and ids are mostly over before a search has begun.
const SHORT: usize = 16;

/// Where a string ends, its closing quote included.
fn string_end(bytes: &[u8], quote: usize) -> Option<usize> {
    let mut at = quote + 1;
    for byte in bytes.get(at..)?.iter().take(SHORT) {
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
    use super::{Address, Bearing};

    #[test]
    fn where_messages_belong() {
        let cases: [(&str, Bearing, Option<&str>, Option<&str>); 13] = [
            (r#"{"\u0069d":7,"metho\u0064":"ping"}"#, Bearing::Request, Some("7"), Some("ping")),
            (r#"{"\u0069d":7,"resul\u0074":{}}"#, Bearing::Response, Some("7"), None),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#,
                Bearing::Request,
                Some("7"),
                Some("ping"),
            ),
            (r#" { "id" : "a\"b" , "result":{}}"#, Bearing::Response, Some(r#""a\"b""#), None),
            (r#"{"result":{"id":1,"method":"x"},"id":-2}"#, Bearing::Response, Some("-2"), None),
            (r#"{"method":"id","params":{"id":1}}"#, Bearing::Notification, None, Some("id")),
            (r#"{"jsonrpc":"id","id":1,"error":{}}"#, Bearing::Response, Some("1"), None),
            (r#"{"error":{},"id":null}"#, Bearing::Response, None, None),
            (r#"[{"id":1}]"#, Bearing::Batch, None, None),
            ("{}", Bearing::Unknown, None, None),
            (r#"{"id"#, Bearing::Unknown, None, None),
            ("hello", Bearing::Unknown, None, None),
            (
                r#"{"a name that is longer than most":"and a value with \" in it, too","id":3,"result":1}"#,
                Bearing::Response,
                Some("3"),
                None,
            ),
        ];
        for (text, bearing, id, method) in cases {
            let address = Address::of(text.as_bytes());
            let part = |span: Option<std::ops::Range<usize>>| span.map(|span| &text[span]);
            assert_eq!(
                (address.bearing, part(address.id.clone()), part(address.method.clone())),
                (bearing, id, method),
                "{text}"
            );
        }
    }
}
