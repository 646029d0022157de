//! Calls that are held until the tool list arrives, or until work is done, are pending requests: they can be
//! cancelled, and they are decided on once, when they are released.

use std::sync::Arc;

use crate::support::link::{Link, Sent, call, is_help, list_of, messages, sent, stat};
use serde_json::{Value, json};
use stickler::{Code, McpValidator, MemoryBudget, MessageRule, SchemaStore, ValidationConfig};
use stickler_protocol::envelope::RequestId;
use stickler_protocol::{
    Action, Actions, AnswerForm, Connection, ConnectionSettings, Event, Policy, RequestContext,
    Side, Work,
};

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
    let actions =
        link.connection.handle_client(text.as_bytes(), &RequestContext::default(), link.time());
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

/// A connection after the handshake that knows a tool list and returns work that takes long as actions.
fn deferring() -> Link {
    let mut settings = ConnectionSettings::default();
    settings.defer_work = true;
    let mut link = Link::with_settings(|connection| connection, settings);
    link.handshake();
    link.learn_tools();
    link
}

/// Sends a client message. Returns what is sent and the work.
fn client(link: &mut Link, message: &Value) -> (Sent, Vec<Work>) {
    let (text, context) = (message.to_string(), RequestContext::default());
    let actions = link.connection.handle_client(text.as_bytes(), &context, link.time());
    let work = work(&actions);
    (sent(actions), work)
}

fn work(actions: &Actions<'_>) -> Vec<Work> {
    let work = actions.iter().filter_map(|action| match action {
        Action::Compile { work } | Action::Explain { work } => Some(work.clone()),
        _ => None,
    });
    work.collect()
}

fn is_quiet(sent: &Sent) -> bool {
    sent.client.is_empty() && sent.server.is_empty()
}

#[test]
fn call_waits_for_the_compilation_of_its_schema_and_other_messages_proceed() {
    let mut link = deferring();
    let first = call(3, "stat", json!({ "path": "a" }));
    let (held, work) = client(&mut link, &first);
    assert!(is_quiet(&held) && link.connection.has_held_calls());
    let [work] = work.as_slice() else { panic!("{work:?}") };
    let ping = json!({ "jsonrpc": "2.0", "id": 4, "method": "ping" });
    assert_eq!(client(&mut link, &ping).0.server, [ping]);
    let duplicate = client(&mut link, &first).0;
    assert_eq!(duplicate.client.len(), 1, "the id is reserved: {duplicate:?}");
    let done = work.run();
    assert_eq!(sent(link.connection.handle_done(&done, link.time())).server, [first]);
    assert!(is_quiet(&sent(link.connection.handle_done(&done, link.time()))), "only once");
    let second = call(5, "stat", json!({ "path": "b" }));
    assert_eq!(client(&mut link, &second).0.server, [second], "nothing is compiled again");
}

#[test]
fn cancelled_call_is_not_forwarded_when_its_work_is_done() {
    let mut link = deferring();
    let (_, work) = client(&mut link, &call(3, "stat", json!({ "path": "a" })));
    assert!(is_quiet(&client(&mut link, &cancel(3)).0));
    assert!(is_quiet(&sent(link.connection.handle_done(&work[0].run(), link.time()))));
    assert!(!link.connection.has_held_calls());
}

#[test]
fn call_that_waits_for_work_is_answered_when_the_server_is_gone() {
    let mut link = deferring();
    let (_, work) = client(&mut link, &call(3, "stat", json!({ "path": "a" })));
    let gone = sent(link.connection.server_gone(Code::ServerGone, "it crashed", link.time()));
    assert_eq!((gone.client.len(), &gone.client[0]["id"]), (1, &json!(3)));
    assert!(gone.client[0]["error"].is_object(), "{gone:?}");
    assert!(is_quiet(&sent(link.connection.handle_done(&work[0].run(), link.time()))));
}

#[test]
fn work_that_was_not_done_is_done_when_the_call_is_inspected() {
    let mut link = deferring();
    let (_, work) = client(&mut link, &call(3, "stat", json!({ "path": 1 })));
    let decided = sent(link.connection.handle_done(&work[0].not_done(), link.time()));
    assert!(is_help(&decided.client[0]), "{decided:?}");
}

/// A change that is announced while a schema is compiled must not let an invalid call pass: the list was fetched for it.
#[test]
fn call_is_judged_by_the_list_that_was_fetched_for_it_although_it_changes_during_the_work() {
    let mut link = deferring();
    link.now = 60;
    let mut newer = stat();
    newer["inputSchema"]["properties"]["depth"] = json!({ "type": "integer" });
    let invalid = call(4, "stat", json!({ "pth": "a" }));
    let (_, work) = client(&mut link, &invalid);
    let asked = sent(link.connection.handle_done(&work[0].run(), link.time()));
    let text = list_of(&asked.server[0], json!([newer])).to_string();
    let actions = link.connection.handle_server(text.as_bytes(), link.time());
    let compile = self::work(&actions);
    assert!(is_quiet(&sent(actions)) && compile.len() == 1, "{compile:?}");
    let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    link.connection.handle_server(changed.to_string().as_bytes(), link.time());
    let decided = sent(link.connection.handle_done(&compile[0].run(), link.time()));
    assert!(decided.server.is_empty() && is_help(&decided.client[0]), "{decided:?}");
}

#[test]
fn large_call_that_an_old_list_rejects_is_explained_only_after_the_refresh() {
    let mut link = deferring();
    let (_, work) = client(&mut link, &call(3, "stat", json!({ "path": "a" })));
    link.connection.handle_done(&work[0].run(), link.time());
    link.now = 60;
    let large = call(4, "stat", json!({ "path": ["x".repeat(100_000)] }));
    let (asked, none) = client(&mut link, &large);
    assert_eq!((asked.client.len(), asked.server.len()), (0, 1));
    assert_eq!(none, [], "nothing is explained yet");
    let text = list_of(&asked.server[0], json!([stat()])).to_string();
    let actions = link.connection.handle_server(text.as_bytes(), link.time());
    let explanation = actions.iter().find_map(|action| match action {
        Action::Explain { work } => Some(work.clone()),
        _ => None,
    });
    assert!(is_quiet(&sent(actions)));
    let answered = link.connection.handle_done(&explanation.unwrap().run(), link.time());
    assert!(is_help(&sent(answered).client[0]));
}

/// A call with that many mebibytes of arguments.
fn large_call(id: u32, mebibytes: usize) -> Value {
    call(id, "stat", json!({ "path": "a".repeat(mebibytes << 20) }))
}

/// The ids and messages of errors.
fn errors(sent: &[Value]) -> Vec<(u64, &str)> {
    let errors = sent.iter().filter(|one| one.get("error").is_some());
    errors
        .map(|one| (one["id"].as_u64().unwrap(), one["error"]["message"].as_str().unwrap()))
        .collect()
}

#[test]
fn calls_that_exceed_the_memory_for_held_calls_are_rejected_and_the_others_answered() {
    let mut link = Link::ready();
    let memory = link.connection.memory().clone();
    let asked = link.client(large_call(1, 10));
    let mut rejected = Vec::new();
    for id in 2..=10 {
        let sent = link.client(large_call(id, 10));
        assert!(sent.server.is_empty());
        for (id, message) in errors(&sent.client) {
            assert!(message.contains("limit of 64 MiB"), "{message}");
            rejected.push(id);
        }
    }
    assert_eq!(rejected, [7, 8, 9, 10], "six calls fit");
    assert!(memory.used() > 60 << 20);
    let sent = link.server(list_of(&asked.server[0], json!([stat()])));
    let forwarded: Vec<u64> = sent.server.iter().map(|one| one["id"].as_u64().unwrap()).collect();
    assert_eq!(forwarded, [1, 2, 3, 4, 5, 6], "each call is decided on once");
    assert!(sent.client.is_empty());
    assert!(memory.used() < 1 << 20, "the memory is released: {}", memory.used());
}

#[test]
fn held_calls_of_all_connections_share_one_budget() {
    let budget = MemoryBudget::new(16 << 20);
    let connect = |_: &str| {
        let store = SchemaStore::with_memory(&budget);
        let validator = McpValidator::new(ValidationConfig::default()).with_schema_store(&store);
        let settings = ConnectionSettings::default();
        let connection = Connection::new("server", Arc::new(validator), settings);
        let mut link = Link { connection, now: 0 };
        link.handshake();
        link
    };
    let (mut one, mut other) = (connect("one"), connect("other"));
    assert!(errors(&one.client(large_call(1, 10)).client).is_empty());
    let sent = other.client(large_call(1, 10));
    assert!(errors(&sent.client)[0].1.contains("16777216 bytes"), "{:?}", sent.client);
    assert!(!other.connection.has_held_calls());
    one.client(cancel(1));
    assert!(budget.used() < 1 << 20, "a cancelled call releases its memory");
    assert!(errors(&other.client(large_call(2, 10)).client).is_empty());
    drop(other);
    assert!(budget.used() < 1 << 20, "a closed connection releases its memory");
}

#[test]
fn held_calls_count_towards_the_limit_of_pending_requests() {
    let mut config = ValidationConfig::default();
    config.limits.requests_in_flight = 3;
    let validator = Arc::new(McpValidator::new(config));
    let settings = ConnectionSettings::default();
    let mut link = Link { connection: Connection::new("server", validator, settings), now: 0 };
    link.handshake();
    let held: Vec<Sent> =
        (1..=5).map(|id| link.client(call(id, "stat", json!({ "path": "a" })))).collect();
    let rejected: Vec<u64> =
        held.iter().flat_map(|sent| errors(&sent.client)).map(|(id, _)| id).collect();
    assert_eq!(rejected, [4, 5]);
    let sent = link.server(list_of(&held[0].server[0], json!([stat()])));
    assert_eq!(sent.server.len(), 3);
}
