//! Classifies a line of a recording: header, message, summary, or none of these.
//!
//! Accepts what `run --record` writes, records `{"dir","msg"}` of other recorders, and raw messages. A truncated or
//! foreign line is [`Line::Foreign`]; it is counted and skipped.

use serde::Deserialize;
use serde_json::Value;
use stickler_protocol::Side;
use stickler_recording::Outline;

use crate::base64;

/// One line.
#[derive(Debug)]
pub(crate) enum Line<'l> {
    /// The description of the session.
    Header(Box<Header>),
    /// A message.
    Message(Message<'l>),
    /// The last line of a closed recording.
    Summary(Value),
    /// Not part of the format, or truncated.
    Foreign,
}

/// The first line of each part of a recording.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Header {
    pub(crate) part: u32,
    pub(crate) session: String,
    pub(crate) server: String,
    pub(crate) command: Option<Vec<String>>,
    pub(crate) url: Option<String>,
    pub(crate) client: Option<Peer>,
    pub(crate) revision: Option<String>,
    pub(crate) mode: Option<String>,
    pub(crate) started: Option<String>,
}

/// Name and version of a client or server.
#[derive(Debug, Clone, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub(crate) struct Peer {
    pub(crate) name: String,
    pub(crate) version: String,
}

/// A message with what the recorder noted about it.
#[derive(Debug, Default)]
pub(crate) struct Message<'l> {
    /// Seconds since 1970, or since the start of the session.
    pub(crate) time: Option<f64>,
    /// The sender; `None` for a raw message.
    pub(crate) side: Option<Side>,
    /// The message as received.
    pub(crate) text: Vec<u8>,
    /// JSON string of what was forwarded instead.
    pub(crate) sent: Option<&'l [u8]>,
    pub(crate) by_gateway: bool,
    pub(crate) redacted: bool,
    /// JSON object of the verdict.
    pub(crate) verdict: Option<&'l [u8]>,
    /// Time since the request, in milliseconds.
    pub(crate) milliseconds: Option<f64>,
}

impl<'l> Line<'l> {
    pub(crate) fn read(line: &'l [u8]) -> Self {
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
        if line.is_empty() {
            return Line::Foreign;
        }
        let Some(mut outline) = Outline::of_object(line) else { return raw(line) };
        let mut message = Message::default();
        let (mut text, mut dir) = (None, None);
        while let Some((key, value)) = outline.next_member() {
            match key {
                b"jsonrpc" => return raw(line),
                b"stickler_recording" => return header(line),
                b"summary" => return summary(value),
                b"t" => message.time = number(value),
                b"dir" => dir = Some(value),
                b"msg" => text = string(value).map(String::into_bytes),
                b"msg_base64" => {
                    text = string(value).and_then(|text| base64::decode(text.as_bytes()));
                }
                b"sent" => message.sent = Some(value),
                b"by" => message.by_gateway = value == b"\"gateway\"",
                b"redacted" => message.redacted = value == b"true",
                b"verdict" => message.verdict = Some(value),
                b"ms" => message.milliseconds = number(value),
                _ => {}
            }
        }
        let is_whole = outline.is_whole();
        message.side = match dir {
            Some(b"\"c2s\"") => Some(Side::Client),
            Some(b"\"s2c\"") => Some(Side::Server),
            _ => None,
        };
        match (message.side, text) {
            (Some(_), Some(text)) if is_whole => Line::Message(Message { text, ..message }),
            // A record that is cut off, or of another kind.
            _ if dir.is_some() || !is_whole => Line::Foreign,
            _ => raw(line),
        }
    }
}

fn raw(line: &[u8]) -> Line<'_> {
    Line::Message(Message { text: line.to_vec(), ..Message::default() })
}

fn header(line: &[u8]) -> Line<'_> {
    serde_json::from_slice(line).map_or(Line::Foreign, |header| Line::Header(Box::new(header)))
}

fn summary(value: &[u8]) -> Line<'_> {
    serde_json::from_slice(value).map_or(Line::Foreign, Line::Summary)
}

fn number(value: &[u8]) -> Option<f64> {
    let number: f64 = str::from_utf8(value).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
}

/// Decodes a JSON string.
pub(crate) fn string(value: &[u8]) -> Option<String> {
    serde_json::from_slice(value).ok()
}

#[cfg(test)]
mod tests {
    use super::Line;
    use stickler_protocol::Side;

    #[test]
    fn record_of_a_gateway_has_all_members() {
        let line = br#"{"t":2.5,"dir":"s2c","msg":"{\"id\":1}","by":"gateway","redacted":true,"verdict":{"decision":"drop"},"ms":12.5}"#;
        let Line::Message(message) = Line::read(line) else { panic!("a message") };
        assert_eq!((message.time, message.side), (Some(2.5), Some(Side::Server)));
        assert_eq!(message.text, br#"{"id":1}"#);
        assert!(message.by_gateway && message.redacted);
        assert_eq!(message.verdict.unwrap(), br#"{"decision":"drop"}"#);
        assert_eq!(message.milliseconds, Some(12.5));
    }

    #[test]
    fn header_with_unknown_client_is_read() {
        let line = br#"{"stickler_recording":1,"part":2,"session":"s","server":"files","client":null,"revision":null}"#;
        let Line::Header(header) = Line::read(line) else { panic!("a header") };
        assert_eq!((header.part, header.server.as_str()), (2, "files"));
        assert_eq!(header.client, None);
    }

    #[test]
    fn truncated_and_foreign_lines_are_skipped() {
        for line in [
            &br#"{"t":1,"dir":"c2s","msg":"{\"a"#[..],
            br#"{"t":1,"dir":"c2s","msg":"x""#,
            br#"{"dir":"note","msg":"started"}"#,
            br#"{"t":1,"di"#,
            br#"{"dir":"c2s","msg_base64":"***"}"#,
            b"",
            b"  ",
        ] {
            assert!(matches!(Line::read(line), Line::Foreign), "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn raw_lines_are_messages_without_a_sender() {
        for line in [&br#"{"jsonrpc":"2.0","method":"ping","id":1}"#[..], b"Server started", b"[1]"]
        {
            let Line::Message(message) = Line::read(line) else { panic!("a message") };
            assert_eq!((message.side, message.text.as_slice()), (None, line));
        }
    }
}
