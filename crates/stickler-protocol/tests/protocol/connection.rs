//! Session state of a connection, and how pending requests are answered when the server exits.

use crate::support::link::{Link, call, initialize, initialized, is_help, list_of, sent, stat};
use serde_json::{Value, json};
use stickler::{Code, MessageRule, Revision};
use stickler_protocol::envelope::RequestId;
use stickler_protocol::{Connection, ConnectionSettings, Event};

#[test]
fn call_does_not_wait_for_a_handshake_that_was_not_started() {
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let fixed = |one: Connection| one.with_revision(Revision::V2025_11_25);
    let joined = |one: Connection| one.in_session("2025-11-25");
    let ways: [&dyn Fn(Connection) -> Connection; 3] = [&|one| one, &fixed, &joined];
    for (way, begin) in ways.into_iter().enumerate() {
        let mut link = Link::with(begin);
        link.client(ready.clone());
        let waiting = link.client(call(7, "stat", json!({ "pth": "a" })));
        assert_eq!(waiting.server.len(), 1, "{way}: the tools are requested immediately");
        let sent = link.server(list_of(&waiting.server[0], json!([stat()])));
        assert!(is_help(&sent.client[0]), "{way}: {sent:?}");
    }
}

#[test]
fn resumed_session_is_validated_with_its_negotiated_version() {
    let findings = |version: &str, message: &Value| -> Vec<MessageRule> {
        let mut link = Link::with(|one| one.in_session(version));
        let sent = link.client(message.clone());
        let verdicts = sent.events.iter().filter_map(|event| match event {
            Event::Checked { verdict, .. } => Some(verdict),
            _ => None,
        });
        verdicts.flat_map(|verdict| verdict.findings.iter().map(|one| one.rule)).collect()
    };
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let read = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {} });
    let list_request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    for version in ["2025-03-26", "2025-11-25", "2026-07-28", "2031-01-01"] {
        assert_eq!(findings(version, &ready), [], "{version}");
        assert_eq!(findings(version, &list_request), [], "{version}");
    }
    assert_eq!(findings("2025-11-25", &read), [MessageRule::BadParams]);
    assert_eq!(findings("2031-01-01", &read), [], "the revision is unknown");
}

#[test]
fn pending_and_held_requests_are_answered_once_when_the_server_exits() {
    let mut link = Link::ready();
    link.client(json!({ "jsonrpc": "2.0", "id": 3, "method": "ping" }));
    link.client(call(7, "stat", json!({})));
    let outbox = link.connection.server_gone(Code::ServerGone, "it exited", link.time());
    let sent = sent(outbox);
    let mut ids: Vec<i64> = sent.client.iter().map(|reply| reply["id"].as_i64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [3, 7]);
    assert!(sent.server.is_empty());
}

/// The client is another Stickler connection and uses the same id prefix.
#[test]
fn chained_connections_do_not_take_each_others_responses() {
    let mut settings = ConnectionSettings::default();
    settings.first_request_number = 200;
    let mut link = Link::with_settings(|middleware| middleware, settings);
    link.client(initialize());
    link.server(initialized(json!({ "tools": {} })));
    link.client(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let requests = link.client(call(7, "stat", json!({ "path": "a" }))).server;
    let [ours] = requests.as_slice() else { panic!("expected one list request: {requests:?}") };
    let theirs = "stickler:tools:1";
    link.client(json!({ "jsonrpc": "2.0", "id": theirs, "method": "tools/list" }));
    let list = |id: &Value| json!({ "jsonrpc": "2.0", "id": id, "result": { "tools": [stat()] } });
    let sent = link.server(list(&json!(theirs)));
    let ids: Vec<&Value> = sent.client.iter().map(|message| &message["id"]).collect();
    assert_eq!(ids, [&json!(theirs)], "the response belongs to the client");
    let sent = link.server(list(&ours["id"]));
    assert!(sent.client.is_empty(), "{sent:?}");
}

#[test]
fn connection_awaits_pending_held_and_gateway_requests_until_they_are_answered() {
    let mut link = Link::ready();
    let id = |value: &Value| RequestId::parse(value.to_string().as_bytes()).unwrap();
    let requests = link.client(call(7, "stat", json!({ "path": "a" }))).server;
    let [list] = requests.as_slice() else { panic!("expected one list request: {requests:?}") };
    let held = json!(7);
    assert!(link.connection.awaits(&id(&held)), "held");
    assert!(link.connection.awaits(&id(&list["id"])), "gateway request");
    link.server(list_of(list, json!([stat()])));
    assert!(link.connection.awaits(&id(&held)), "forwarded");
    assert!(!link.connection.awaits(&id(&list["id"])));
    link.server(json!({ "jsonrpc": "2.0", "id": 7, "result": { "content": [] } }));
    assert!(!link.connection.awaits(&id(&held)));
}
