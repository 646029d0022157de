//! The rows of the timeline.

use serde_json::{Value, json};

use crate::api::sessions::FIRST_ABSOLUTE_TIME;
use crate::index::row::{Flags, Row};
use crate::index::session::Session;
use crate::library::Sessions;
use crate::view::{Entry, View, find};

/// Maximum number of rows per request.
pub(crate) const MAX_ROWS: usize = 500;
/// Maximum number of attempts shown for a row.
const MAX_ATTEMPTS: usize = 50;
/// Rows after a first attempt that are searched for its retries.
const MAX_RETRY_DISTANCE: u32 = 20_000;

/// Returns a window of a view; without `from` its end.
pub(crate) fn window(view: &View, sessions: &Sessions, from: Option<usize>, count: usize) -> Value {
    let total = view.entries.len();
    let count = count.min(MAX_ROWS);
    let from = from.unwrap_or_else(|| total.saturating_sub(count)).min(total);
    let entries = view.entries.get(from..(from + count).min(total)).unwrap_or_default();
    let rows: Vec<Value> =
        entries.iter().map(|entry| row(sessions, *entry, view.query.folds)).collect();
    json!({ "version": sessions.version, "total": total, "from": from, "rows": rows })
}

fn row(sessions: &Sessions, entry: Entry, folds: bool) -> Value {
    let Some((session, row)) = find(sessions, entry) else { return Value::Null };
    let mut shown = of(session, entry, row);
    if folds && row.flags.has(Flags::HAS_RETRIES) {
        shown["attempts"] = attempts(session, entry).collect();
    }
    shown
}

/// Returns all attempts of a thread, the first one included.
pub(crate) fn attempts(session: &Session, head: Entry) -> impl Iterator<Item = Value> + '_ {
    let end = session.rows.len().min(head.1.saturating_add(MAX_RETRY_DISTANCE));
    let all = (head.1..end).filter_map(|index| Some((index, session.rows.get(index)?)));
    let thread = all.filter(move |(_, row)| row.thread == head.1);
    thread.take(MAX_ATTEMPTS).map(move |(index, row)| of(session, (head.0, index), row))
}

fn of(session: &Session, entry: Entry, row: &Row) -> Value {
    let started = session.started.unwrap_or(0.0);
    let seconds = f64::from(row.milliseconds) / 1000.0;
    let rule = session.rules.get(u16::from(row.rule));
    json!({
        "s": entry.0,
        "r": entry.1,
        "t": if started > FIRST_ABSOLUTE_TIME { started + seconds } else { seconds },
        "server": session.server,
        "label": session.labels.get(row.label),
        "ms": (row.duration_us != Row::NO_DURATION).then(|| f64::from(row.duration_us) / 1000.0),
        "bytes": row.bytes,
        "tokens": row.tokens(),
        "outcome": row.outcome.name(),
        "rule": (!rule.is_empty()).then_some(rule),
        "flags": row.flags.bits(),
    })
}
