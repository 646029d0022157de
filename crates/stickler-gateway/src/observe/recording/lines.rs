//! The lines of a recording as JSON: header, record and summary.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use stickler::{Finding, Mode};
use stickler_protocol::{Decision, Side, Verdict};
use stickler_transport::utc;

use super::redaction::{Redacted, Redaction};
use crate::observe::{MessageEvent, RecordedValues, Session, Tally, Target};

/// The version of the format.
const FORMAT: u64 = 1;

/// Appends the header of a part.
pub(super) fn header(out: &mut Vec<u8>, session: &Session, part: u64) {
    let mut line = json!({
        "stickler_recording": FORMAT, "part": part, "session": session.name, "server": &*session.server.name,
    });
    match &session.server.target {
        Target::Command(words) => line["command"] = json!(words),
        Target::Url(url) => line["url"] = json!(url),
    }
    let client = session.client.get();
    line["client"] = json!(client.map(|one| json!({ "name": one.name, "version": one.version })));
    line["revision"] = json!(session.revision.get());
    line["mode"] = json!(mode(session.server.mode));
    line["values"] = json!(match session.server.values {
        RecordedValues::Redacted => "redacted",
        RecordedValues::None => "none",
        RecordedValues::Full => "full",
    });
    line["started"] = json!(utc::rfc3339(session.started));
    write(out, &line);
}

/// Appends the summary of a session.
pub(super) fn summary(out: &mut Vec<u8>, tally: &Tally, dropped: u64) {
    let mut summary = json!({ "ended": utc::rfc3339(SystemTime::now()) });
    if let (Some(summary), Value::Object(tally)) = (summary.as_object_mut(), json!(tally)) {
        summary.extend(tally);
    }
    summary["dropped_events"] = dropped.into();
    write(out, &json!({ "summary": summary }));
}

/// Appends the record of a message.
pub(super) fn record(out: &mut Vec<u8>, event: &MessageEvent, redaction: &mut Redaction) {
    let values = event.session.server.values;
    let seconds = event.time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let dir = if event.sender == Side::Client { "c2s" } else { "s2c" };
    out.extend_from_slice(format!("{{\"t\":{seconds:.6},\"dir\":\"{dir}\"").as_bytes());
    let message = event.message.as_deref().unwrap_or_default();
    let is_redacted = text_member(out, "msg", message, event, values, redaction);
    if let Some(sent) = &event.sent {
        text_member(out, "sent", sent, event, values, redaction);
    }
    if event.is_gateway {
        out.extend_from_slice(b",\"by\":\"gateway\"");
    }
    if event.connection > 0 {
        member(out, "conn", &json!(event.connection));
    }
    let is_redacted = is_redacted || values == RecordedValues::None;
    if is_redacted {
        out.extend_from_slice(b",\"redacted\":true");
    }
    if let Some(found) = &event.verdict {
        member(out, "verdict", &verdict(event, found, is_redacted, (values, redaction)));
    }
    if let Some(duration) = event.header.duration {
        member(out, "ms", &json!((duration.as_secs_f64() * 1e6).round() / 1e3));
    }
    out.extend_from_slice(b"}\n");
}

/// Appends the text of a message, redacted; returns whether anything was removed.
fn text_member(
    out: &mut Vec<u8>,
    name: &str,
    message: &[u8],
    event: &MessageEvent,
    values: RecordedValues,
    redaction: &mut Redaction,
) -> bool {
    let Ok(text) = str::from_utf8(message) else {
        if values == RecordedValues::None {
            member(out, name, &json!(crate::observe::secrets::REDACTED));
            return true;
        }
        member(out, &format!("{name}_base64"), &json!(STANDARD.encode(message)));
        return false;
    };
    let Redacted { text, is_redacted } = redaction.apply(event, text, values);
    out.extend_from_slice(format!(",\"{name}\":").as_bytes());
    // Writing to memory does not fail.
    let _ = serde_json::to_writer(&mut *out, &*text);
    is_redacted
}

fn member(out: &mut Vec<u8>, name: &str, value: &Value) {
    out.extend_from_slice(format!(",\"{name}\":{value}").as_bytes());
}

fn verdict(
    event: &MessageEvent,
    verdict: &Verdict,
    is_masked: bool,
    (values, redaction): (RecordedValues, &mut Redaction),
) -> Value {
    let (decision, reply) = match &verdict.decision {
        Decision::Forward => ("forward", None),
        Decision::Rewrite(_) => ("rewrite", None),
        Decision::Answer(reply) => ("answer", Some(reply)),
        Decision::Split { answer, .. } => ("split", Some(answer)),
        Decision::Drop => ("drop", None),
    };
    let mut value = json!({ "decision": decision });
    if verdict.would_reject {
        value["would"] = json!("answer");
    }
    if let Some(rule) = event.rule() {
        value["rule"] = json!(rule);
    }
    value["findings"] = verdict.findings.iter().map(|one| finding(one, is_masked)).collect();
    let edits = verdict.edits.iter().map(|edit| {
        json!({ "edit": edit.kind.name(), "path": edit.path, "from": edit.from, "to": edit.to })
    });
    value["edits"] = edits.collect();
    let reply = reply.and_then(|reply| str::from_utf8(reply).ok());
    if let Some(reply) = reply.filter(|_| values != RecordedValues::None) {
        explain(&mut value, &redaction.quoting(event, reply, values));
    }
    value
}

fn finding(finding: &Finding, is_masked: bool) -> Value {
    let masked;
    let shown = if is_masked {
        masked = finding.without_values();
        &masked
    } else {
        finding
    };
    json!({
        "rule": shown.rule.as_str(), "severity": shown.severity.to_string(), "path": shown.path,
        "message": shown.message, "expected": shown.expected, "received": shown.received,
    })
}

/// Adds the help and the corrected call that an answer contains.
fn explain(verdict: &mut Value, reply: &str) {
    let Ok(reply) = serde_json::from_str::<Value>(reply) else { return };
    let text = reply.pointer("/result/content/0/text").or_else(|| reply.pointer("/error/message"));
    let validation = reply.pointer("/result/_meta/dev.stickler~1validation");
    let corrected = validation.or_else(|| reply.pointer("/error/data"));
    if let Some(corrected) = corrected.and_then(|one| one.get("corrected")) {
        verdict["corrected"] = corrected.clone();
    }
    if let Some(text) = text {
        verdict["help"] = text.clone();
    }
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Enforce => "enforce",
        Mode::Assist => "assist",
        Mode::Observe => "observe",
    }
}

fn write(out: &mut Vec<u8>, line: &Value) {
    // Writing to memory does not fail.
    let _ = serde_json::to_writer(&mut *out, line);
    out.push(b'\n');
}
