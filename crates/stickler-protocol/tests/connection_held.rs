//! Calls that are held until the tool list arrives are pending requests: they can be cancelled, and they are
//! checked once, when they are released.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    reason = "tests panic on failure"
)]

mod support {
    pub(crate) mod link;
}

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use stickler::{McpValidator, MessageRule, SlowWork, ValidationConfig};
use stickler_protocol::envelope::RequestId;
use stickler_protocol::{Action, AnswerForm, Connection, ConnectionSettings, Event, Policy, Side};
use support::link::{Link, call, is_help, list_of, messages, stat};

fn cancel(id: u32) -> Value {
    let params = json!({ "requestId": id });
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })
}

#[test]
fn cancellation_does_not_overtake_a_held_batch() {
    let mut link = Link::with_batches();
    let batch =
        json!([call(7, "stat", json!({ "path": "a" })), call(8, "stat", json!({ "path": "b" }))]);
    let asked = link.client(batch.clone());
    assert!(link.client(cancel(7)).server.is_empty());
    let sent = link.server(list_of(&asked.server[0], json!([stat()])));
    assert_eq!(sent.server, [batch, cancel(7)]);
}

/// The turn number in the response to a rejected call, with the answer form that has one.
fn turn(answer: &Value) -> u64 {
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    serde_json::from_str::<Value>(text).unwrap()["turn_index"].as_u64().unwrap()
}

#[test]
fn turn_numbers_count_only_rejections_without_a_number_of_the_caller() {
    let mut policy = Policy::default();
    policy.answer = AnswerForm::Observation;
    let mut link = Link::with(|connection| connection.with_policy(policy.clone()));
    link.handshake();
    link.learn_tools();
    assert_eq!(turn(&link.client(call(3, "stat", json!({}))).client[0]), 1);
    // The list is old, so it is refreshed before the call is rejected.
    link.now = 60;
    let mut numbered = call(4, "stat", json!({}));
    numbered["params"]["_meta"] = json!({ "dev.stickler/turn_index": 7 });
    let asked = link.client(numbered);
    let sent = link.server(list_of(&asked.server[0], json!([stat()])));
    assert_eq!(turn(&sent.client[0]), 7);
    assert_eq!(turn(&link.client(call(5, "stat", json!({}))).client[0]), 2);
}

#[test]
fn cancelled_call_is_discarded_while_it_is_held() {
    let mut link = Link::ready();
    let asked = link.client(call(3, "stat", json!({ "path": "a" })));
    let other = link.client(cancel(9));
    assert_eq!(other.server.len(), 1, "a cancellation of another request is not delayed");
    let text = cancel(3).to_string();
    let actions = link.connection.handle_client(text.as_bytes(), link.time());
    let id = RequestId::Integer(3);
    assert!(actions.iter().any(|action| *action == Action::Cancelled { id: id.clone() }));
    assert!(messages(&actions, Side::Server).is_empty());
    drop(actions);
    assert!(!link.connection.has_held_calls() && link.connection.poll_timeout().is_none());
    let sent = link.server(list_of(&asked.server[0], json!([stat()])));
    assert_eq!((sent.client, sent.server), (vec![], vec![]), "the server never receives the call");
    assert_eq!(link.connection.pending_requests(), 0);
}

#[test]
fn lifecycle_finding_of_a_held_call_is_reported_on_release() {
    let mut link = Link::new();
    let asked = link.client(call(3, "stat", json!({ "path": "a" })));
    let sent = link.server(list_of(&asked.server[0], json!([stat()])));
    let rules = sent.events.iter().find_map(|event| match event {
        Event::Checked { verdict, .. } => Some(verdict.findings.iter().map(|one| one.rule)),
        _ => None,
    });
    assert_eq!(rules.unwrap().collect::<Vec<_>>(), [MessageRule::Lifecycle]);
}

/// Counts the explanations of large calls.
#[derive(Default)]
struct Counter(AtomicUsize);

impl SlowWork for Counter {
    fn run(&self, work: &mut dyn FnMut()) {
        self.0.fetch_add(1, Ordering::SeqCst);
        work();
    }
}

#[test]
fn call_that_an_old_list_rejects_is_explained_only_after_the_refresh() {
    let counter = Arc::new(Counter::default());
    let hook: Arc<dyn SlowWork> = Arc::<Counter>::clone(&counter);
    let validator = McpValidator::new(ValidationConfig::default()).with_slow_work(hook);
    let settings = ConnectionSettings::default();
    let connection = Connection::new("server", Arc::new(validator), settings);
    let mut link = Link { connection, now: 0 };
    link.handshake();
    link.learn_tools();
    // The first call compiles the schema.
    link.client(call(3, "stat", json!({ "path": "a" })));
    let compiled = counter.0.load(Ordering::SeqCst);
    link.now = 60;
    let asked = link.client(call(4, "stat", json!({ "path": ["x".repeat(100_000)] })));
    assert_eq!((asked.client.len(), asked.server.len()), (0, 1));
    assert_eq!(counter.0.load(Ordering::SeqCst), compiled, "nothing is explained yet");
    let sent = link.server(list_of(&asked.server[0], json!([stat()])));
    assert!(is_help(&sent.client[0]), "{sent:?}");
    assert!(counter.0.load(Ordering::SeqCst) > compiled);
}
