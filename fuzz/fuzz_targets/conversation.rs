//! No session makes the middleware panic, and every request is answered exactly once.
//!
//! Input: one byte for the policy, then messages, each one byte for the sender and the text up to a
//! line break.
#![no_main]

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use stickler::tape::TapeBuffer;
use stickler::{Code, McpValidator, MessageRule, Revision, ValidationConfig};
use stickler_protocol::envelope::RequestId;
use stickler_protocol::{Decision, Policy, Side, ValidationMiddleware, Verdict};

/// Requests minus responses by id, as seen by the client.
#[derive(Default)]
struct Waiting(HashMap<RequestId, i32>);

impl Waiting {
    fn sent(&mut self, verdict: &Verdict) {
        if let Some(id) = &verdict.header.id {
            *self.0.entry(id.clone()).or_default() += 1;
        }
    }

    fn received(&mut self, bytes: &[u8]) {
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(bytes, 1 << 16).expect("sent messages are JSON");
        if tape.root().get("method").is_some() {
            return;
        }
        let id = tape.root().get("id").and_then(RequestId::of);
        if let Some(open) = id.and_then(|id| self.0.get_mut(&id)) {
            *open -= 1;
            assert!(*open >= 0, "answered twice");
        }
    }
}

fn middleware(bits: u8) -> ValidationMiddleware {
    let mut config = ValidationConfig::default();
    config.limits.requests_in_flight = 8;
    config.limits.verdict_steps = 200_000;
    config.limits.explain_steps = 20_000;
    let validator = Arc::new(McpValidator::new(config));
    let middleware = ValidationMiddleware::new("server", validator).with_policy(Policy::strict());
    match Revision::ALL.get(usize::from(bits)) {
        // Responses of batches are counted separately.
        Some(revision) if !revision.has_batches() => middleware.with_revision(*revision),
        _ => middleware.with_revision(Revision::V2025_11_25),
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&bits, rest)) = data.split_first() else {
        return;
    };
    let mut middleware = middleware(bits);
    let mut waiting = Waiting::default();
    for line in rest.split(|byte| *byte == b'\n') {
        let Some((&sender, text)) = line.split_first() else {
            continue;
        };
        let side = if sender & 1 == 0 { Side::Client } else { Side::Server };
        let verdict = middleware.handle(side, text, Duration::from_secs(u64::from(sender)));
        let forwarded = match &verdict.decision {
            Decision::Forward => Some(text),
            Decision::Rewrite(bytes) => Some(bytes.as_slice()),
            _ => None,
        };
        match (side, &verdict.decision) {
            (Side::Client, Decision::Forward | Decision::Rewrite(_)) => {
                let is_request = serde_json::from_slice::<Value>(text)
                    .is_ok_and(|message| message.get("method").is_some());
                if is_request {
                    waiting.sent(&verdict);
                }
                if verdict.header.method.as_deref() == Some("notifications/cancelled") {
                    // A cancelled request expects no response.
                    waiting.0.clear();
                }
            }
            (Side::Client, Decision::Answer(bytes)) => {
                let duplicate =
                    verdict.findings.iter().any(|one| one.rule == MessageRule::DuplicateId);
                if !duplicate {
                    waiting.sent(&verdict);
                }
                waiting.received(bytes);
            }
            _ => {}
        }
        if side == Side::Server
            && let Some(bytes) = forwarded
        {
            waiting.received(bytes);
        }
        assert!(middleware.pending_requests(Side::Client) <= 8 && middleware.pending_requests(Side::Server) <= 8);
    }
    for reply in middleware.abandon(Side::Client, Code::ServerGone, "gone") {
        waiting.received(&reply);
    }
    assert!(waiting.0.values().all(|open| *open == 0), "unanswered");
});
