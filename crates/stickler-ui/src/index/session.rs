//! The index of one session: its rows and counts, built record by record.
//!
//! A request and its response are one row. What is kept per message is a [`Row`]; texts stay on disk, except the
//! findings that were computed here.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde_json::Value;
use stickler_protocol::{ProtocolSchemas, Side};
use stickler_recording::{Directions, Senders};

use crate::envelope::{Envelope, Kind};
use crate::index::histogram::Histogram;
use crate::index::names::Names;
use crate::index::row::{Flags, Outcome, Place, Row, Rows};
use crate::index::segment::{Counts, Segment};
use crate::index::strip::Strip;
use crate::index::threads::Threads;
use crate::index::tool_stats::ToolStats;
use crate::record::{Header, Line, Message, Peer};
use crate::verdict::{Checker, Verdict};

/// Maximum number of requests that wait for a response, per session.
const MAX_PENDING: usize = 10_000;
/// Maximum number of rows whose computed verdicts are kept, per session.
const MAX_KEPT_VERDICTS: usize = 5_000;
/// Longest beginning of a message whose tokens are counted; the rest is extrapolated.
const MAX_COUNTED_BYTES: usize = 4096;

static SENDERS: LazyLock<Senders> = LazyLock::new(|| Senders::new(&ProtocolSchemas::new(), None));

/// The index of one session.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// Name of the file that it was found in.
    pub(crate) file: String,
    pub(crate) header: Option<Header>,
    pub(crate) server: String,
    pub(crate) client: Option<Peer>,
    pub(crate) revision: Option<String>,
    pub(crate) segments: Vec<Segment>,
    pub(crate) rows: Rows,
    pub(crate) labels: Names,
    pub(crate) rules: Names,
    pub(crate) counts: Counts,
    pub(crate) latency: Histogram,
    pub(crate) strip: Strip,
    pub(crate) tools: BTreeMap<u16, ToolStats>,
    /// Responses to `tools/list`, the pages of the newest list, and whether another page follows.
    pub(crate) lists: Vec<(Place, bool)>,
    pub(crate) summary: Option<Value>,
    /// Verdicts computed here, by row.
    pub(crate) verdicts: HashMap<u32, Verdict>,
    /// Time of the first and the last message.
    pub(crate) started: Option<f64>,
    pub(crate) last: f64,
    pub(crate) threads: Threads,
    /// Requests without a response: sender, made by the gateway, and id.
    pending: HashMap<(Side, bool, Box<[u8]>), u32>,
    checker: Option<Checker>,
    directions: Option<Directions<'static>>,
    /// Whether it was replaced or all its files are gone.
    pub(crate) is_gone: bool,
}

impl Session {
    pub(crate) fn new(file: String, header: Option<Header>) -> Self {
        let server = match &header {
            Some(header) if !header.server.is_empty() => header.server.clone(),
            _ => file
                .split_once(".ndjson")
                .or(file.split_once(".jsonl"))
                .map_or(&*file, |name| name.0)
                .to_owned(),
        };
        let client = header.as_ref().and_then(|header| header.client.clone());
        let revision = header.as_ref().and_then(|header| header.revision.clone());
        // A gateway records verdicts; other recordings are checked here.
        let checker = header.is_none().then(|| Checker::new(&server));
        let rules = Names::with_max(u16::from(u8::MAX));
        Self { file, header, server, client, revision, rules, checker, ..Self::default() }
    }

    /// Returns what remains of a session whose files are gone.
    pub(crate) fn gone() -> Self {
        Self { is_gone: true, ..Self::default() }
    }

    /// Adds one line of a segment.
    pub(crate) fn add(&mut self, line: &[u8], place: Place) {
        match Line::read(line) {
            Line::Header(header) => self.add_header(*header),
            Line::Summary(summary) => self.summary = Some(summary),
            Line::Foreign if line.trim_ascii().is_empty() => {}
            Line::Foreign => self.counts.foreign += 1,
            Line::Message(message) => self.add_message(message, place),
        }
    }

    fn add_header(&mut self, header: Header) {
        self.client = self.client.take().or_else(|| header.client.clone());
        self.revision = self.revision.take().or_else(|| header.revision.clone());
        if self.header.is_none() {
            self.checker = None;
            self.header = Some(header);
        }
    }

    fn add_message(&mut self, mut message: Message<'_>, place: Place) {
        let side = message.side.unwrap_or_else(|| {
            self.directions.get_or_insert_with(|| Directions::new(&SENDERS)).sender(&message.text)
        });
        let text = std::mem::take(&mut message.text);
        let envelope = Envelope::of(&text);
        self.counts.messages += 1;
        self.counts.bytes += text.len() as u64;
        let time = message.time.unwrap_or(self.last);
        let started = *self.started.get_or_insert(time);
        self.last = self.last.max(time);
        let seconds = (time - started).max(0.0);
        let checked = self.checker.as_mut().and_then(|one| one.check(side, &text, seconds));
        let recorded = message.verdict.and_then(Verdict::read);
        let is_checked_here = checked.is_some();
        let noted = Noted {
            side,
            seconds,
            place,
            bytes: u32::try_from(text.len()).unwrap_or(u32::MAX),
            tokens: tokens(&text),
            verdict: recorded.or(checked),
            is_checked_here,
            is_error: envelope.is_error,
        };
        match envelope.kind {
            Kind::Response => self.add_response(&envelope, &message, noted),
            _ => self.add_row(&envelope, &message, noted),
        }
    }

    /// Adds a row for a message that is not a response.
    fn add_row(&mut self, envelope: &Envelope<'_>, message: &Message<'_>, noted: Noted) {
        let mut row = Row::new(noted.place, self.rows.len());
        let is_request = envelope.kind == Kind::Request;
        row.milliseconds = saturating(noted.seconds * 1000.0);
        row.bytes = noted.bytes;
        row.add_tokens(noted.tokens);
        let label = match (envelope.kind, &envelope.tool, &envelope.method) {
            (_, Some(tool), _) => tool,
            (_, None, Some(method)) => method,
            (Kind::Batch, ..) => "batch",
            _ => "",
        };
        row.label = self.labels.number(label);
        row.flags.set(Flags::FROM_SERVER, noted.side == Side::Server);
        row.flags.set(Flags::GATEWAY, message.by_gateway);
        row.flags.set(Flags::REDACTED, message.redacted);
        row.flags.set(Flags::CALL, envelope.tool.is_some());
        row.flags.set(Flags::NOTIFICATION, envelope.kind == Kind::Notification);
        row.outcome = match (&noted.verdict, envelope.kind) {
            (None, Kind::Noise) => Outcome::Noise,
            (None, _) if is_request => Outcome::Pending,
            (None, _) => Outcome::Passed,
            (Some(verdict), _) => match verdict.outcome(noted.side) {
                Outcome::Passed if is_request => Outcome::Pending,
                outcome => outcome,
            },
        };
        self.note_verdict(&mut row, noted.verdict.as_ref(), noted.is_checked_here);
        let row_index = self.rows.len();
        if envelope.tool.is_some() {
            self.add_call(&mut row, noted.verdict.as_ref());
        }
        self.count_outcome(row.outcome);
        if self.rows.push(row).is_none() {
            return;
        }
        self.keep_verdict(row_index, noted.verdict, noted.is_checked_here);
        match (envelope.kind, envelope.id) {
            (Kind::Request, Some(id)) if self.pending.len() < MAX_PENDING => {
                self.pending.insert((noted.side, message.by_gateway, id.into()), row_index);
            }
            _ => {}
        }
        self.learn_peers(envelope);
    }

    fn add_call(&mut self, row: &mut Row, verdict: Option<&Verdict>) {
        self.counts.calls += 1;
        self.strip.add_call(row.milliseconds / 1000);
        let stats = self.tools.entry(row.label).or_default();
        stats.calls += 1;
        stats.add_outcome(row.outcome);
        if let Some(verdict) = verdict {
            stats.add_mistakes(verdict);
        }
        if let Some(head) = self.threads.head_for(row.label, row.milliseconds) {
            row.thread = head;
            if let Some(head) = self.rows.get_mut(head) {
                head.flags.set(Flags::HAS_RETRIES, true);
            }
        }
        if row.outcome.invites_retry() {
            self.strip.add_rejection(row.milliseconds / 1000);
            self.open_thread(row, verdict);
        }
    }

    fn open_thread(&mut self, row: &Row, verdict: Option<&Verdict>) {
        let corrected = verdict.and_then(|verdict| verdict.corrected.as_ref());
        let other = corrected.map(|call| self.labels.number(&call.name));
        self.threads.open(row.thread, [Some(row.label), other], row.milliseconds);
    }

    /// Completes the row of the request, or adds a row for a response without one.
    fn add_response(&mut self, envelope: &Envelope<'_>, message: &Message<'_>, noted: Noted) {
        let requester = noted.side.other();
        let mut find = |by_gateway| {
            let id: Box<[u8]> = envelope.id?.into();
            self.pending.remove(&(requester, by_gateway, id))
        };
        let found = find(message.by_gateway).or_else(|| find(!message.by_gateway));
        let Some(index) = found else { return self.add_row(envelope, message, noted) };
        let Some(row) = self.rows.get_mut(index) else { return };
        row.response = noted.place;
        row.bytes = row.bytes.saturating_add(noted.bytes);
        row.add_tokens(noted.tokens);
        let elapsed = noted.seconds * 1000.0 - f64::from(row.milliseconds);
        let elapsed = message.milliseconds.or((message.time.is_some()).then_some(elapsed));
        row.duration_us = elapsed.map_or(Row::NO_DURATION, |elapsed| saturating(elapsed * 1000.0));
        row.flags.set(Flags::REDACTED, message.redacted);
        let before = row.outcome;
        let of_response = noted.verdict.as_ref().map(|verdict| verdict.outcome(noted.side));
        row.outcome = match (before, of_response) {
            (Outcome::Pending | Outcome::Noted, _) if envelope.is_error && !message.by_gateway => {
                Outcome::ServerError
            }
            // The gateway answers what it rejects; a verdict on the request may be missing.
            (Outcome::Pending, _) if envelope.is_error && requester == Side::Client => {
                Outcome::Rejected
            }
            (Outcome::Pending, Some(outcome)) => outcome,
            (Outcome::Pending, None) => Outcome::Passed,
            _ => before,
        };
        let mut row = *row;
        self.note_verdict(&mut row, noted.verdict.as_ref(), noted.is_checked_here);
        if let Some(kept) = self.rows.get_mut(index) {
            *kept = row;
        }
        self.finish_row(&row, before, &noted);
        self.keep_verdict(index, noted.verdict, noted.is_checked_here);
        if self.labels.get(row.label) == "tools/list" && !envelope.is_error {
            self.learn_list(envelope, noted.place);
        }
        self.learn_peers(envelope);
    }

    /// Counts what the response decided.
    fn finish_row(&mut self, row: &Row, before: Outcome, noted: &Noted) {
        if row.duration_us != Row::NO_DURATION && before != Outcome::Rejected {
            self.latency.add(row.duration_us);
        }
        if row.outcome != before {
            self.count_outcome(row.outcome);
        }
        if !row.flags.has(Flags::CALL) {
            return;
        }
        let stats = self.tools.entry(row.label).or_default();
        if before != Outcome::Rejected {
            stats.results += 1;
            stats.result_tokens += u64::from(noted.tokens);
            if row.duration_us != Row::NO_DURATION {
                stats.latency.add(row.duration_us);
            }
        }
        if row.outcome != before {
            stats.add_outcome(row.outcome);
            if row.outcome.invites_retry() {
                self.open_thread(row, noted.verdict.as_ref());
            }
        }
        let was_accepted = row.outcome == Outcome::WouldReject && !noted.is_error;
        if was_accepted || !row.outcome.invites_retry() {
            self.threads.close(row.label, row.thread);
        }
    }

    fn note_verdict(&mut self, row: &mut Row, verdict: Option<&Verdict>, is_checked_here: bool) {
        let Some(verdict) = verdict else { return };
        row.flags.set(Flags::CHECKED_HERE, is_checked_here);
        if row.rule == 0
            && let Some(rule) = verdict.first_rule()
        {
            row.rule = u8::try_from(self.rules.number(rule)).unwrap_or(u8::MAX);
        }
    }

    fn keep_verdict(&mut self, index: u32, verdict: Option<Verdict>, is_checked_here: bool) {
        let Some(verdict) = verdict.filter(|_| is_checked_here) else { return };
        let has_room = self.verdicts.len() < MAX_KEPT_VERDICTS;
        match self.verdicts.get_mut(&index) {
            Some(kept) => kept.findings.extend(verdict.findings),
            None if has_room => {
                self.verdicts.insert(index, verdict);
            }
            None => {}
        }
    }

    fn count_outcome(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Rejected => self.counts.rejected += 1,
            Outcome::WouldReject => self.counts.would_reject += 1,
            Outcome::Repaired => self.counts.repaired += 1,
            Outcome::ServerError => self.counts.errors += 1,
            _ => {}
        }
    }

    /// Remembers where the tool list is. A page after the last one starts a new list.
    fn learn_list(&mut self, envelope: &Envelope<'_>, response: Place) {
        if envelope.member(b"tools").is_none() {
            return;
        }
        let is_next_page = self.lists.last().is_some_and(|last| last.1);
        let has_more = envelope.member(b"nextCursor").is_some_and(|cursor| cursor != b"null");
        if !is_next_page {
            self.lists.clear();
        }
        self.lists.push((response, has_more));
    }

    /// Takes the client and the revision from the handshake if the header has none.
    fn learn_peers(&mut self, envelope: &Envelope<'_>) {
        if envelope.method.as_deref() == Some("initialize") && self.client.is_none() {
            let info = envelope.member(b"clientInfo");
            self.client = info.and_then(|info| serde_json::from_slice(info).ok());
        }
        if envelope.kind == Kind::Response
            && self.revision.is_none()
            && let Some(version) = envelope.member(b"protocolVersion")
        {
            self.revision = crate::record::string(version);
        }
    }
}

/// What is known about a message besides its envelope.
struct Noted {
    side: Side,
    seconds: f64,
    place: Place,
    bytes: u32,
    tokens: u32,
    verdict: Option<Verdict>,
    is_checked_here: bool,
    is_error: bool,
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn saturating(value: f64) -> u32 {
    value as u32
}

/// Estimates the tokens of a message from its beginning.
fn tokens(text: &[u8]) -> u32 {
    let counted = text.get(..MAX_COUNTED_BYTES).unwrap_or(text);
    let valid = match str::from_utf8(counted) {
        Ok(text) => text,
        Err(error) => str::from_utf8(&counted[..error.valid_up_to()]).unwrap_or_default(),
    };
    let tokens = stickler::estimate_tokens(valid) as u64;
    let scaled = if text.len() > counted.len() {
        tokens * text.len() as u64 / counted.len() as u64
    } else {
        tokens
    };
    u32::try_from(scaled).unwrap_or(u32::MAX)
}
