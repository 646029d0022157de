//! The list of sessions.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::index::segment::Segment;
use crate::index::session::Session;
use crate::library::Sessions;

/// A session without an end counts as live for so long after its last message.
const LIVE_SECONDS: f64 = 300.0;
/// Times before this, in seconds since 1970, are relative to the start of the session.
pub(crate) const FIRST_ABSOLUTE_TIME: f64 = 1e9;
/// Maximum number of sessions in a list.
const MAX_SESSIONS: usize = 2000;

/// Returns the sessions, newest first, and the state of the index.
pub(crate) fn list(sessions: &Sessions) -> Value {
    let shown = sessions.all.iter().enumerate().filter(|(_, session)| !session.is_gone);
    let mut shown: Vec<(usize, &Session)> = shown.collect();
    shown.sort_by(|one, other| {
        start_of(other.1).total_cmp(&start_of(one.1)).then(other.0.cmp(&one.0))
    });
    let total = shown.len();
    let list: Vec<Value> =
        shown.iter().take(MAX_SESSIONS).map(|(number, one)| summary(*number, one)).collect();
    json!({
        "version": sessions.version,
        "complete": sessions.is_complete,
        "problem": sessions.problem,
        "total": total,
        "sessions": list,
    })
}

fn summary(number: usize, session: &Session) -> Value {
    let counts = session.counts;
    let client = session.client.as_ref();
    json!({
        "id": number,
        "file": session.file,
        "server": session.server,
        "client": client.map(|client| json!({ "name": client.name, "version": client.version })),
        "revision": session.revision,
        "mode": session.header.as_ref().and_then(|header| header.mode.clone()),
        "recorded_by_gateway": session.header.is_some(),
        "started": session.started.filter(|time| *time > FIRST_ABSOLUTE_TIME),
        "seconds": session.started.map(|started| session.last - started),
        "status": status(session),
        "messages": counts.messages,
        "calls": counts.calls,
        "rejected": counts.rejected,
        "would_reject": counts.would_reject,
        "repaired": counts.repaired,
        "errors": counts.errors,
        "bytes": counts.bytes,
        "foreign": counts.foreign,
        "rows": session.rows.len(),
        "p50": session.latency.percentile(50),
        "p95": session.latency.percentile(95),
        "parts": session.segments.len(),
        "progress": progress(session),
        "strip": { "width": session.strip.width, "buckets": session.strip.buckets },
    })
}

/// Returns the time by which sessions are sorted.
fn start_of(session: &Session) -> f64 {
    session.started.unwrap_or(0.0)
}

fn status(session: &Session) -> &'static str {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    match &session.summary {
        None if session.last > FIRST_ABSOLUTE_TIME && now - session.last < LIVE_SECONDS => "live",
        None if session.header.is_some() => "idle",
        _ => "ended",
    }
}

/// Returns the indexed fraction, or nothing when it is complete.
fn progress(session: &Session) -> Option<f64> {
    let sum = |value: fn(&Segment) -> u64| session.segments.iter().map(value).sum::<u64>();
    let size = sum(|segment| segment.size);
    let done = sum(
        |segment| if segment.done > 0 { segment.size } else { segment.indexed.min(segment.size) },
    );
    #[allow(clippy::cast_precision_loss, reason = "a fraction for a progress bar")]
    (done < size).then(|| done as f64 / size as f64)
}
