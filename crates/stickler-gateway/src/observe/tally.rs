//! Counts of calls and their outcomes.

use serde::Serialize;
use stickler_protocol::{Decision, Side};

use super::MessageEvent;
use super::event::Part;

/// Counts of messages and of calls by outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Tally {
    /// Messages of both sides, without those of the gateway.
    pub messages: u64,
    /// Calls of tools.
    pub calls: u64,
    /// Messages of the client that were not forwarded because they are invalid.
    pub rejected: u64,
    /// Messages that would have been rejected, had the server not only been observed.
    pub would_reject: u64,
    /// Calls that were repaired.
    pub repaired: u64,
    /// Calls that failed at the server, or that it did not answer.
    pub server_errors: u64,
}

impl Tally {
    /// Counts a message.
    pub fn add(&mut self, event: &MessageEvent) {
        self.messages += u64::from(!event.is_gateway);
        for part in event.parts() {
            self.add_part(event, &part);
        }
        self.would_reject += u64::from(event.would_reject());
    }

    fn add_part(&mut self, event: &MessageEvent, part: &Part<'_>) {
        let is_client = event.sender == Side::Client;
        if part.is_call() && is_client && !event.is_gateway {
            self.calls += 1;
            let has_edits = event.verdict.as_ref().is_some_and(|one| !one.edits.is_empty());
            let is_rewritten = matches!(part.decision, Some(Decision::Rewrite(_)));
            self.repaired += u64::from(has_edits && is_rewritten);
        }
        if is_client && part.is_stopped() && event.rule().is_some() {
            self.rejected += 1;
        }
        if !is_client && part.is_call_response() && is_failure(part) {
            self.server_errors += 1;
        }
    }

    /// Adds other counts.
    pub fn add_all(&mut self, other: &Self) {
        self.messages += other.messages;
        self.calls += other.calls;
        self.rejected += other.rejected;
        self.would_reject += other.would_reject;
        self.repaired += other.repaired;
        self.server_errors += other.server_errors;
    }
}

/// Returns whether a response to a call reports a failure.
fn is_failure(part: &Part<'_>) -> bool {
    part.header.is_failed_call || part.header.code.is_some()
}
