//! Renders a log line as text or as JSON.
//!
//! | format | line |
//! | --- | --- |
//! | text | `TIME LEVEL SERVER: MESSAGE tool=… rule=… request_id=… session=… client=… …` |
//! | JSON | `{"time":…,"level":…,"target":…,"server":…,"client":…,"session":…,"request_id":…,"tool":…,"rule":…,"message":…,…}` |
//!
//! A line ends with a newline, contains no other, and has at most `MAX_LINE_BYTES` bytes. A value that is
//! cut ends with `… (N bytes)`, where N is the length of the whole value. Fields that a line does not
//! have are left out.

use std::fmt::Write as _;
use std::time::SystemTime;

use clap::ValueEnum;
use stickler_transport::utc::rfc3339;
use tracing::Level;

use super::SERVER_STDERR;
use super::escape::{push_json, push_text};
use super::record::{Bounded, Fields, Value};

/// Format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people
    Text,
    /// For programs: one JSON object per line
    Json,
}

/// Maximum length of a line.
const MAX_LINE_BYTES: usize = 8192;

/// Maximum length of a message, including escapes.
const MAX_MESSAGE_BYTES: usize = 4096;

/// Maximum length of a field value, including escapes.
const MAX_FIELD_BYTES: usize = 320;

/// Space reserved for the rest of a field: ` name="… (N bytes)"`.
const FIELD_FRAME_BYTES: usize = 96;

/// Order of the common fields in text lines.
const TEXT_ORDER: [&str; 5] = ["tool", "rule", "request_id", "session", "client"];

/// Order of the common fields in JSON lines.
const JSON_ORDER: [&str; 6] = ["server", "client", "session", "request_id", "tool", "rule"];

impl LogFormat {
    pub(crate) fn line(
        self,
        time: SystemTime,
        level: Level,
        target: &str,
        fields: &Fields,
    ) -> String {
        let mut line = String::with_capacity(256);
        match self {
            Self::Text => text_line(&mut line, time, level, target, fields),
            Self::Json => json_line(&mut line, time, level, target, fields),
        }
        line.push('\n');
        line
    }
}

fn text_line(line: &mut String, time: SystemTime, level: Level, target: &str, fields: &Fields) {
    line.push_str(&rfc3339(time));
    let _ = write!(line, " {level} ");
    match fields.get("server") {
        Some(Value::Text(server)) => push_bounded(line, server, MAX_FIELD_BYTES, push_text),
        _ => line.push_str("stickler"),
    }
    line.push_str(if target == SERVER_STDERR { ": stderr: " } else { ": " });
    if let Some(message) = &fields.message {
        push_bounded(line, message, MAX_MESSAGE_BYTES, push_text);
    }
    for (name, value) in ordered(fields, &TEXT_ORDER) {
        if name == "server" || line.len() + MAX_FIELD_BYTES + FIELD_FRAME_BYTES > MAX_LINE_BYTES {
            continue;
        }
        let _ = write!(line, " {name}=");
        match value {
            Value::Literal(literal) => line.push_str(literal),
            Value::Text(text) if is_plain(name, &text.text) => {
                push_bounded(line, text, MAX_FIELD_BYTES, push_text);
            }
            Value::Text(text) => {
                line.push('"');
                push_bounded(line, text, MAX_FIELD_BYTES, push_json);
                line.push('"');
            }
        }
    }
}

/// Whether a value needs no quotes: it cannot be mistaken for two values, and a request id not for a number.
fn is_plain(name: &str, text: &str) -> bool {
    !text.is_empty()
        && !text.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '=' | '\\'))
        && (name != "request_id" || text.parse::<f64>().is_err())
}

fn json_line(line: &mut String, time: SystemTime, level: Level, target: &str, fields: &Fields) {
    line.push_str("{\"time\":\"");
    line.push_str(&rfc3339(time));
    let _ = write!(line, "\",\"level\":\"{level}\",\"target\":\"");
    push_json(line, target, MAX_FIELD_BYTES);
    line.push('"');
    let mut rest = ordered(fields, &JSON_ORDER).peekable();
    while let Some((name, value)) = rest.next_if(|(name, _)| JSON_ORDER.contains(name)) {
        json_field(line, name, value);
    }
    line.push_str(",\"message\":\"");
    if let Some(message) = &fields.message {
        push_bounded(line, message, MAX_MESSAGE_BYTES, push_json);
    }
    line.push('"');
    for (name, value) in rest {
        if line.len() + MAX_FIELD_BYTES + FIELD_FRAME_BYTES <= MAX_LINE_BYTES {
            json_field(line, name, value);
        }
    }
    line.push('}');
}

fn json_field(line: &mut String, name: &str, value: &Value) {
    let _ = write!(line, ",\"{name}\":");
    match value {
        Value::Literal(literal) => line.push_str(literal),
        Value::Text(text) => {
            line.push('"');
            push_bounded(line, text, MAX_FIELD_BYTES, push_json);
            line.push('"');
        }
    }
}

/// Returns the common fields in the given order, then the others.
fn ordered<'f>(
    fields: &'f Fields,
    order: &'static [&'static str],
) -> impl Iterator<Item = (&'static str, &'f Value)> {
    let usual = order.iter().filter_map(|name| fields.get(name).map(|value| (*name, value)));
    usual.chain(fields.iter().filter(move |(name, _)| !order.contains(name)))
}

fn push_bounded(
    line: &mut String,
    value: &Bounded,
    limit: usize,
    push: fn(&mut String, &str, usize) -> bool,
) {
    let is_whole = push(line, &value.text, limit);
    if !is_whole || value.text.len() < value.total {
        let _ = write!(line, "… ({} bytes)", value.total);
    }
}

#[cfg(test)]
mod tests {
    use super::{LogFormat, MAX_LINE_BYTES};
    use crate::logging::record::{Bounded, Fields, Value};
    use std::time::{Duration, SystemTime, UNIX_EPOCH};
    use tracing::Level;

    fn moment() -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(1_794_943_800_123)
    }

    fn fields(message: &str, values: &[(&'static str, &str)]) -> Fields {
        let mut fields = Fields::with_message(message);
        for (name, text) in values {
            fields.set(name, Value::Text(Bounded::message(text)));
        }
        fields
    }

    #[test]
    fn only_a_request_id_of_digits_is_quoted() {
        for (values, expected) in [
            (("session", "8e672685"), "session=8e672685"),
            (("request_id", "7"), "request_id=\"7\""),
            (("request_id", "a7"), "request_id=a7"),
        ] {
            let line = LogFormat::Text.line(moment(), Level::WARN, "t", &fields("m", &[values]));
            assert!(line.trim_end().ends_with(expected), "{line}");
        }
    }

    #[test]
    fn text_line_has_time_level_server_message_and_fields() {
        let mut fields = fields(
            "call rejected",
            &[("client", "a b"), ("tool", "echo"), ("server", "files"), ("peer", "::1")],
        );
        fields.set_number("request_id", 7);
        let line = LogFormat::Text.line(moment(), Level::WARN, "t", &fields);
        let expected = "2026-11-17T19:30:00.123Z WARN files: call rejected tool=echo request_id=7 \
                        client=\"a b\" peer=::1\n";
        assert_eq!(line, expected);
    }

    #[test]
    fn json_line_has_its_keys_in_a_fixed_order() {
        let mut fields = fields("no \"x\"", &[("rule", "STK-107"), ("server", "files")]);
        fields.set_number("status", 401);
        let line = LogFormat::Json.line(moment(), Level::WARN, "t", &fields);
        let expected = "{\"time\":\"2026-11-17T19:30:00.123Z\",\"level\":\"WARN\",\"target\":\"t\",\
                        \"server\":\"files\",\"rule\":\"STK-107\",\"message\":\"no \\\"x\\\"\",\
                        \"status\":401}\n";
        assert_eq!(line, expected);
    }

    #[test]
    fn line_has_at_most_8_kib_and_reports_the_full_length() {
        let long = "\u{202e}".repeat(100_000);
        let names = ["server", "client", "session", "tool", "rule", "a", "b", "c", "d", "e", "f"];
        let fields = fields(&long, &names.map(|name| (name, long.as_str())));
        for format in [LogFormat::Text, LogFormat::Json] {
            let line = format.line(moment(), Level::WARN, "t", &fields);
            assert!(line.len() <= MAX_LINE_BYTES, "{}", line.len());
            assert!(line.contains("… (300000 bytes)"), "{line}");
            assert_eq!(line.matches('\n').count(), 1);
        }
        let json = LogFormat::Json.line(moment(), Level::WARN, "t", &fields);
        assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "{json}");
    }

    #[test]
    fn string_id_differs_from_numeric_id() {
        let line =
            LogFormat::Text.line(moment(), Level::WARN, "t", &fields("m", &[("request_id", "7")]));
        assert!(line.ends_with("m request_id=\"7\"\n"), "{line}");
    }
}
