//! The summary of a run, by tool and client: calls, rejected, repaired and failed ones, and latency.
//!
//! It counts on the thread that moves the message, which costs one lock and one lookup. The number of rows is limited,
//! because a client chooses the names of the tools that it calls.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::{Value, json};
use stickler::Mode;
use stickler_protocol::Side;

use super::event::Part;
use super::latency::Latency;
use super::{Client, Consumer, MessageEvent, Tally};

/// Maximum number of rows; further tools and clients are counted as `other`.
const MAX_ROWS: usize = 1000;

/// Maximum number of rows that the text shows.
const MAX_SHOWN_ROWS: usize = 20;

/// Maximum length of a name in the text.
const MAX_NAME_CHARS: usize = 40;

const OTHER: &str = "other";

/// Counts the calls of a run.
#[derive(Debug)]
pub struct Summary {
    started: Instant,
    rows: Mutex<HashMap<Key, Row>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key {
    server: Arc<str>,
    /// The tool; `None` for messages that are not calls.
    tool: Option<Arc<str>>,
    client: Option<Arc<Client>>,
}

impl Key {
    fn client(&self) -> String {
        self.client.as_deref().map(Client::to_string).unwrap_or_default()
    }
}

#[derive(Debug, Clone, Default)]
struct Row {
    tally: Tally,
    latency: Latency,
    /// Rejections by rule; the rules are few.
    rules: HashMap<&'static str, u64>,
    is_observed: bool,
}

impl Summary {
    /// Creates an empty summary.
    pub fn new() -> Arc<Self> {
        Arc::new(Self { started: Instant::now(), rows: Mutex::default() })
    }

    fn rows(&self) -> MutexGuard<'_, HashMap<Key, Row>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the summary for people; `None` if there was no call and no rejection. `dropped` is the number of events
    /// that observers lost.
    pub fn text(&self, dropped: u64) -> Option<String> {
        let (total, rows) = self.sorted();
        let Tally { calls, rejected, would_reject, repaired, server_errors, .. } = total.tally;
        if calls + rejected + would_reject == 0 {
            return None;
        }
        let mut text = format!("summary: {}", count(calls, "call"));
        let _ = write!(text, " in {}", duration(self.started.elapsed().as_secs()));
        let outcomes = [
            (rejected, "rejected".to_owned()),
            (would_reject, "would have been rejected".to_owned()),
            (repaired, "repaired".to_owned()),
            (server_errors, plural(server_errors, "server error")),
            (dropped, format!("{} lost by observers", plural(dropped, "event"))),
        ];
        let is_shown = |(number, what): &(u64, String)| *number > 0 || what == "rejected";
        for (number, what) in outcomes.iter().filter(|one| is_shown(one)) {
            let _ = write!(text, ", {number} {what}");
        }
        text.push_str(&table(&rows));
        if rows.len() > MAX_SHOWN_ROWS {
            let _ = write!(text, "\n  … and {} more", rows.len() - MAX_SHOWN_ROWS);
        }
        Some(text)
    }

    /// Returns the summary for programs, as one JSON object.
    pub fn json(&self, dropped: u64) -> Value {
        let (total, rows) = self.sorted();
        let tools: Vec<Value> = rows
            .iter()
            .map(|(key, row)| {
                let mut value = json!({
                    "server": &*key.server, "tool": key.tool.as_deref(), "client": key.client(),
                });
                extend(&mut value, &row.to_json());
                value
            })
            .collect();
        let mut summary = json!({ "seconds": self.started.elapsed().as_secs() });
        extend(&mut summary, &total.to_json());
        summary["dropped_events"] = dropped.into();
        summary["tools"] = tools.into();
        json!({ "summary": summary })
    }

    /// Returns the total and the rows, most calls first.
    fn sorted(&self) -> (Row, Vec<(Key, Row)>) {
        let rows = self.rows();
        let mut total = Row::default();
        rows.values().for_each(|row| total.add_all(row));
        let mut shown: Vec<(Key, Row)> =
            rows.iter().map(|(key, row)| (key.clone(), row.clone())).collect();
        drop(rows);
        shown.retain(|(_, row)| row.tally.calls + row.tally.rejected + row.tally.would_reject > 0);
        shown.sort_by(|(a, one), (b, other)| {
            other.tally.calls.cmp(&one.tally.calls).then_with(|| a.cmp(b))
        });
        (total, shown)
    }
}

impl Consumer for Summary {
    fn message(&self, event: &Arc<MessageEvent>) {
        let tool = event.parts().find_map(|part| part.header.tool.clone());
        let mut key = Key {
            server: Arc::clone(&event.session.server.name),
            tool,
            client: event.client.clone(),
        };
        let mut rows = self.rows();
        if rows.len() >= MAX_ROWS && !rows.contains_key(&key) {
            let client = Client { name: OTHER.to_owned(), version: String::new() };
            key = Key { tool: Some(OTHER.into()), client: Some(Arc::new(client)), ..key };
        }
        rows.entry(key).or_default().add(event);
    }
}

impl Row {
    fn add(&mut self, event: &MessageEvent) {
        let before = self.tally;
        self.tally.add(event);
        let is_rejection =
            self.tally.rejected + self.tally.would_reject > before.rejected + before.would_reject;
        if let Some(rule) = event.rule().filter(|_| is_rejection) {
            *self.rules.entry(rule).or_default() += 1;
        }
        self.is_observed |= event.session.server.mode == Mode::Observe;
        if event.sender == Side::Server {
            let answers = event.parts().filter(Part::is_call_response);
            answers
                .filter_map(|part| part.header.duration)
                .for_each(|duration| self.latency.add(duration));
        }
    }

    fn add_all(&mut self, other: &Self) {
        self.tally.add_all(&other.tally);
        self.latency.add_all(&other.latency);
        for (rule, number) in &other.rules {
            *self.rules.entry(rule).or_default() += number;
        }
    }

    fn to_json(&self) -> Value {
        let mut value = json!(self.tally);
        value["p50_ms"] = json!(self.latency.quantile(0.5).map(rounded));
        value["p95_ms"] = json!(self.latency.quantile(0.95).map(rounded));
        value["rules"] = json!(sorted_rules(&self.rules).into_iter().collect::<Vec<_>>());
        value
    }
}

impl std::fmt::Display for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.version.as_str() {
            "" => f.write_str(&self.name),
            version => write!(f, "{} {version}", self.name),
        }
    }
}

fn extend(value: &mut Value, other: &Value) {
    if let (Some(value), Some(other)) = (value.as_object_mut(), other.as_object()) {
        value.extend(other.iter().map(|(key, one)| (key.clone(), one.clone())));
    }
}

fn rounded(milliseconds: f64) -> f64 {
    (milliseconds * 1000.0).round() / 1000.0
}

fn sorted_rules(rules: &HashMap<&'static str, u64>) -> Vec<Value> {
    let mut sorted: Vec<_> = rules.iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
    sorted.into_iter().map(|(rule, number)| json!({ "rule": rule, "count": number })).collect()
}

/// Formats the rows as columns.
fn table(rows: &[(Key, Row)]) -> String {
    let servers =
        rows.iter().any(|(key, _)| Some(&key.server) != rows.first().map(|(key, _)| &key.server));
    let is_observed = rows.iter().any(|(_, row)| row.is_observed);
    let rejected = if is_observed { "would reject" } else { "rejected" };
    let mut cells: Vec<[String; 8]> = vec![
        ["tool", "client", "calls", rejected, "repaired", "errors", "p50", "p95"]
            .map(str::to_owned),
    ];
    for (key, row) in rows.iter().take(MAX_SHOWN_ROWS) {
        let tool = key.tool.as_deref().unwrap_or("(other messages)");
        let tool = if servers { format!("{}/{tool}", key.server) } else { tool.to_owned() };
        let client = key.client();
        let Tally { calls, rejected, would_reject, repaired, server_errors, .. } = row.tally;
        let quantile = |part| row.latency.quantile(part).map_or("-".to_owned(), milliseconds);
        cells.push([
            shown(&tool),
            shown(if client.is_empty() { "-" } else { &client }),
            calls.to_string(),
            with_rules(rejected + would_reject, &row.rules),
            repaired.to_string(),
            server_errors.to_string(),
            quantile(0.5),
            quantile(0.95),
        ]);
    }
    let width = |column: usize| {
        let lengths =
            cells.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        lengths.max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..8).map(width).collect();
    let mut text = String::new();
    for row in &cells {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "  {cell:<width$}");
        }
        let _ = write!(text, "\n{}", line.trim_end());
    }
    text
}

/// Returns a count with the commonest rules behind it.
fn with_rules(number: u64, rules: &HashMap<&'static str, u64>) -> String {
    if number == 0 {
        return number.to_string();
    }
    let mut names: Vec<(&u64, &&str)> = rules.iter().map(|(rule, number)| (number, rule)).collect();
    names.sort_by(|a, b| b.cmp(a));
    let names: Vec<&str> = names.into_iter().take(2).map(|(_, rule)| *rule).collect();
    format!("{number} ({})", names.join(", "))
}

/// Returns a name of a peer without characters that could control a terminal, and shortened.
fn shown(name: &str) -> String {
    let is_plain = |letter: char| !letter.is_control() && !is_invisible(letter);
    let mut text: String = name
        .chars()
        .take(MAX_NAME_CHARS)
        .map(|letter| if is_plain(letter) { letter } else { '\u{FFFD}' })
        .collect();
    if name.chars().count() > MAX_NAME_CHARS {
        text.push('…');
    }
    text
}

/// Returns whether a character has no width or changes the direction of the text.
fn is_invisible(letter: char) -> bool {
    matches!(
        letter,
        '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}'
            | '\u{E0000}'..='\u{E007F}'
    )
}

fn milliseconds(milliseconds: f64) -> String {
    match milliseconds {
        short if short < 10.0 => format!("{short:.1} ms"),
        long if long >= 10_000.0 => format!("{:.1} s", long / 1e3),
        other => format!("{other:.0} ms"),
    }
}

fn duration(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

fn count(number: u64, noun: &str) -> String {
    format!("{number} {}", plural(number, noun))
}

fn plural(number: u64, noun: &str) -> String {
    if number == 1 { noun.to_owned() } else { format!("{noun}s") }
}
