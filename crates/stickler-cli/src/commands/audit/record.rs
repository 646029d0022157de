//! Classifies a line of a recording: a record, a raw message, or neither.
//!
//! A record is an object with the strings `dir` and `msg` and without `jsonrpc`, which every message has. Other
//! members are ignored, except `t`, the time in seconds, and those of `run --record`: `by`, `conn`, `verdict` and
//! `redacted`. `msg_base64` replaces `msg` if the message is not UTF-8.

use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;
use stickler::tape::{Node, TapeBuffer};
use stickler_protocol::Side;
use stickler_recording::Outline;

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'l> {
    /// A message with its direction and time.
    Record { side: Side, time: Duration, message: Cow<'l, str> },
    /// A message that the gateway has already judged, with its verdict if it has findings. Its values may be
    /// redacted.
    Judged { side: Side, verdict: Option<&'l [u8]> },
    /// A whole message that the gateway has already judged, on the first connection of its session.
    Recorded { side: Side, time: Duration, message: Cow<'l, str>, verdict: Option<&'l [u8]> },
    /// A message of the gateway itself.
    ByGateway { side: Side, time: Duration, message: Cow<'l, str> },
    /// The first line of a recording of the gateway.
    Header(Header),
    /// A truncated or corrupt record.
    BrokenRecord { side: Side },
    /// A record that is not a message.
    OtherRecord,
    /// Any other line, treated as a message as it was sent.
    Raw(&'l [u8]),
}

impl<'l> Line<'l> {
    pub(super) fn read(text: &'l [u8], buffer: &'l mut TapeBuffer) -> Self {
        let Some(Members { dir, msg, t, judged, is_whole }) = Members::of(text) else {
            return own_line(text).unwrap_or(Line::Raw(text));
        };
        if is_whole
            && let Some(side) = side_of(dir)
            && let Some(judged) = judged
        {
            let time = t.map_or(Duration::ZERO, seconds);
            let message = msg.filter(|_| judged.is_whole()).and_then(|msg| decode(msg, buffer));
            // A message that was too large is recorded without its text.
            let message = message.filter(|message| !message.is_empty());
            return match (judged, message) {
                (Judged::ByGateway { .. }, None) => Line::OtherRecord,
                (Judged::ByGateway { .. }, Some(message)) => {
                    Line::ByGateway { side, time, message }
                }
                (Judged::Verdict { verdict, .. }, None) => Line::Judged { side, verdict },
                (Judged::Verdict { verdict, .. }, Some(message)) => {
                    Line::Recorded { side, time, message, verdict }
                }
            };
        }
        let Some(side) = side_of(dir) else {
            return if is_whole && is_string(msg) { Line::OtherRecord } else { Line::Raw(text) };
        };
        if is_whole && !is_string(msg) {
            return Line::Raw(text);
        }
        let message = msg.filter(|_| is_whole).and_then(|msg| decode(msg, buffer));
        match message {
            Some(message) => {
                Line::Record { side, time: t.map_or(Duration::ZERO, seconds), message }
            }
            None => Line::BrokenRecord { side },
        }
    }

    /// Classifies a line of which only the beginning was kept.
    pub(super) fn read_beginning(text: &'l [u8]) -> Self {
        match Members::of(text).and_then(|members| side_of(members.dir)) {
            Some(side) => Line::BrokenRecord { side },
            None => Line::Raw(text),
        }
    }
}

struct Members<'l> {
    dir: &'l [u8],
    msg: Option<&'l [u8]>,
    t: Option<&'l [u8]>,
    judged: Option<Judged<'l>>,
    is_whole: bool,
}

/// What the gateway adds to a record.
enum Judged<'l> {
    /// The message is its own.
    ByGateway {
        is_whole: bool,
    },
    Verdict {
        verdict: Option<&'l [u8]>,
        is_whole: bool,
    },
}

impl Judged<'_> {
    /// Whether the record has all values of the message, and belongs to the first connection of the session.
    fn is_whole(&self) -> bool {
        let (Self::ByGateway { is_whole } | Self::Verdict { is_whole, .. }) = self;
        *is_whole
    }
}

/// The header of a recording of the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// The messages can be judged again: this is the first part of the session, with all values.
    pub(super) is_complete: bool,
    /// The mode is `assist`.
    pub(super) is_assisting: bool,
}

impl Header {
    fn read(text: &[u8]) -> Self {
        #[derive(Default, Deserialize)]
        struct Members {
            #[serde(default)]
            part: u64,
            #[serde(default)]
            values: Option<String>,
            #[serde(default)]
            mode: Option<String>,
        }
        let Members { part, values, mode } = serde_json::from_slice(text).unwrap_or_default();
        let is_complete = part == 0 && values.as_deref() == Some("full");
        Self { is_complete, is_assisting: mode.as_deref() == Some("assist") }
    }
}

/// Recognises the first and the last line of a recording of the gateway.
fn own_line(text: &[u8]) -> Option<Line<'_>> {
    let mut outline = Outline::of_object(text)?;
    match outline.next_key()? {
        b"stickler_recording" => Some(Line::Header(Header::read(text))),
        b"summary" => Some(Line::OtherRecord),
        _ => None,
    }
}

impl<'l> Members<'l> {
    /// Returns the members of a possible record.
    fn of(text: &'l [u8]) -> Option<Self> {
        let mut outline = Outline::of_object(text)?;
        let (mut dir, mut msg, mut t) = (None, None, None);
        let (mut by, mut verdict) = (None, None);
        let (mut is_redacted, mut is_first_connection) = (false, true);
        while let Some((key, value)) = outline.next_member() {
            match key {
                b"jsonrpc" => return None,
                b"dir" => dir = Some(value),
                b"msg" => msg = Some(value),
                b"t" => t = Some(value),
                b"by" => by = Some(value),
                b"verdict" => verdict = Some(value),
                b"redacted" => is_redacted = value == b"true",
                b"conn" => is_first_connection = value == b"0",
                _ => {}
            }
        }
        let dir = dir.filter(|dir| is_string(Some(dir)))?;
        let is_whole = !is_redacted && is_first_connection;
        let judged = match (by, verdict) {
            (Some(b"\"gateway\""), _) => Some(Judged::ByGateway { is_whole }),
            (_, None) if is_whole => None,
            (_, verdict) => Some(Judged::Verdict { verdict, is_whole }),
        };
        Some(Self { dir, msg, t, judged, is_whole: outline.is_whole() })
    }
}

fn side_of(dir: &[u8]) -> Option<Side> {
    match dir {
        b"\"c2s\"" => Some(Side::Client),
        b"\"s2c\"" => Some(Side::Server),
        _ => None,
    }
}

fn is_string(value: Option<&[u8]>) -> bool {
    value.is_some_and(|value| value.starts_with(b"\""))
}

fn decode<'l>(string: &'l [u8], buffer: &'l mut TapeBuffer) -> Option<Cow<'l, str>> {
    let tape = buffer.read(string, 1).ok()?;
    match Node::as_str(tape.root())? {
        // A string without escapes is borrowed from the line.
        Cow::Borrowed(_) => {
            str::from_utf8(string.get(1..string.len() - 1)?).ok().map(Cow::Borrowed)
        }
        Cow::Owned(text) => Some(Cow::Owned(text)),
    }
}

fn seconds(number: &[u8]) -> Duration {
    let number = str::from_utf8(number).ok().and_then(|text| text.parse::<f64>().ok());
    number.and_then(|number| Duration::try_from_secs_f64(number).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Header, Line};
    use std::borrow::Cow;
    use std::time::Duration;
    use stickler::tape::TapeBuffer;
    use stickler_protocol::Side;

    fn check(text: &str, expected: &Line<'_>) {
        let mut buffer = TapeBuffer::new();
        assert_eq!(&Line::read(text.as_bytes(), &mut buffer), expected, "{text}");
    }

    fn record(side: Side, milliseconds: u64, message: &str) -> Line<'_> {
        Line::Record { side, time: Duration::from_millis(milliseconds), message: message.into() }
    }

    #[test]
    fn records_may_have_other_members() {
        check(r#"{"dir":"c2s","msg":"x"}"#, &record(Side::Client, 0, "x"));
        check(
            "{ \"t\" : 1.5, \"msg\":\"{\\\"a\\\":1}\", \"n\":{\"jsonrpc\":[]}, \"dir\" : \"s2c\" }\r",
            &record(Side::Server, 1500, "{\"a\":1}"),
        );
        check(r#"{"dir":"c2s","msg":"","t":"soon"}"#, &record(Side::Client, 0, ""));
        check(r#"{"dir":"c2s","msg":"","t":-1}"#, &record(Side::Client, 0, ""));
    }

    #[test]
    fn message_is_not_classified_as_a_record() {
        for text in [
            r#"{"jsonrpc":"2.0","dir":"c2s","msg":"x","id":1,"method":"ping"}"#,
            r#"{"dir":"c2s","msg":"x","jsonrpc":"2.0"}"#,
            r#"{"dir":"c2s","msg":{"jsonrpc":"2.0"}}"#,
            r#"{"dir":"c2s"}"#,
            r#"{"dir":7,"msg":"x"}"#,
            r#"[{"dir":"c2s","msg":"x"}]"#,
            "started",
            "",
        ] {
            check(text, &Line::Raw(text.as_bytes()));
        }
    }

    #[test]
    fn record_with_another_direction_is_skipped() {
        check(r#"{"dir":"note","msg":"the server was killed"}"#, &Line::OtherRecord);
    }

    #[test]
    fn judged_records_and_lines_of_the_gateway_are_recognised() {
        let header = |is_complete, is_assisting| Line::Header(Header { is_complete, is_assisting });
        check(r#"{"stickler_recording":1,"server":"s"}"#, &header(false, false));
        for (part, values, mode, expected) in [
            (0, "full", "enforce", header(true, false)),
            (0, "full", "assist", header(true, true)),
            (0, "redacted", "enforce", header(false, false)),
            (1, "full", "enforce", header(false, false)),
        ] {
            let text = format!(
                r#"{{"stickler_recording":1,"part":{part},"mode":"{mode}","values":"{values}"}}"#
            );
            check(&text, &expected);
        }
        check(r#"{"summary":{"messages":3}}"#, &Line::OtherRecord);
        let (side, message) = (Side::Server, Cow::Borrowed("{}"));
        let expected = Line::ByGateway { side, time: Duration::ZERO, message };
        check(r#"{"dir":"s2c","msg":"{}","by":"gateway"}"#, &expected);
        check(r#"{"dir":"s2c","msg":"{}","by":"gateway","conn":1}"#, &Line::OtherRecord);
        let (side, verdict) = (Side::Client, Some(&b"{\"findings\":[]}"[..]));
        let recorded = |message| Line::Recorded { side, time: Duration::ZERO, message, verdict };
        check(
            r#"{"dir":"c2s","msg":"{}","verdict":{"findings":[]}}"#,
            &recorded(Cow::Borrowed("{}")),
        );
        // Too large to be recorded, and on another connection of the session.
        for text in [
            r#"{"dir":"c2s","msg":"","verdict":{"findings":[]}}"#,
            r#"{"dir":"c2s","msg":"{}","conn":2,"verdict":{"findings":[]}}"#,
        ] {
            check(text, &Line::Judged { side, verdict });
        }
        check(
            r#"{"dir":"c2s","msg":"{}","redacted":true}"#,
            &Line::Judged { side: Side::Client, verdict: None },
        );
        check(
            r#"{"dir":"c2s","msg_base64":"/w==","verdict":{"findings":[]}}"#,
            &Line::Judged { side: Side::Client, verdict: Some(br#"{"findings":[]}"#) },
        );
    }

    #[test]
    fn truncated_record_is_broken() {
        for text in [
            r#"{"dir":"s2c","msg":"{\"jsonrpc\":"#,
            r#"{"dir":"s2c","msg":"x""#,
            r#"{"dir":"s2c","m"#,
            r#"{"dir":"s2c","msg":"\ud8"}"#,
            r#"{"dir":"s2c","msg":"x"} {"dir":"s2c","msg":"x"}"#,
        ] {
            check(text, &Line::BrokenRecord { side: Side::Server });
        }
    }
}
