//! The connection handles malformed and unusually encoded messages correctly.

use crate::support::link::{
    Link, call, initialize, initialized, is_help, list_of, messages, sent, stat,
};
use serde_json::{Value, json};
use stickler::rules::MessageRule;
use stickler_protocol::{Connection, Policy, RuleAction, Side};

/// The message with escaped slashes, as some JSON encoders write it.
fn escaped(message: Value) -> String {
    message.to_string().replace('/', "\\/")
}

#[test]
fn call_with_escaped_slashes_is_held_and_cancelled() {
    let mut link = Link::ready();
    let bad = escaped(call(7, "stat", json!({ "pth": "a" })));
    let waiting = sent(link.connection.handle_client(
        bad.as_bytes(),
        &stickler_protocol::RequestContext::default(),
        link.time(),
    ));
    assert_eq!(waiting.server.len(), 1, "only the gateway request is sent: {waiting:?}");
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": 7 } });
    let overtakes = sent(link.connection.handle_client(
        escaped(cancel).as_bytes(),
        &stickler_protocol::RequestContext::default(),
        link.time(),
    ));
    assert!(overtakes.server.is_empty(), "{overtakes:?}");
    let sent = link.server(list_of(&waiting.server[0], json!([stat()])));
    assert!(sent.client.is_empty() && sent.server.is_empty(), "{sent:?}");
}

#[test]
fn escaped_member_names_in_the_envelope_are_recognized() {
    let mut link = Link::ready();
    let bad = call(7, "stat", json!({ "pth": "a" })).to_string();
    let bad =
        bad.replace("\"id\"", "\"\\u0069d\"").replace("\"tools/call\"", "\"tools\\u002fcall\"");
    let waiting = sent(link.connection.handle_client(
        bad.as_bytes(),
        &stickler_protocol::RequestContext::default(),
        link.time(),
    ));
    assert_eq!(waiting.server.len(), 1, "only the gateway request is sent: {waiting:?}");
    let sent = link.server(list_of(&waiting.server[0], json!([stat()])));
    assert!(is_help(&sent.client[0]) && sent.client[0]["id"] == 7, "{sent:?}");
}

#[test]
fn second_response_after_a_malformed_one_is_dropped() {
    let mut link = Link::with_known_tools();
    link.client(call(7, "stat", json!({ "path": "a" })));
    let broken = br#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"te"#;
    let output = sent(link.connection.handle_server(broken, link.time()));
    assert_eq!((output.client.len(), &output.client[0]["id"]), (1, &json!(7)));
    let late = link.server(json!({ "jsonrpc": "2.0", "id": 7, "result": { "content": [] } }));
    assert!(late.client.is_empty(), "{late:?}");
}

#[test]
fn response_after_a_malformed_one_is_forwarded_when_policy_warns() {
    let warns = |middleware: Connection| {
        let policy =
            Policy::default().with(Side::Server, MessageRule::JsonSyntax, RuleAction::Warn);
        middleware.with_policy(policy)
    };
    for broken in [
        r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"te"#,
        r#"[{"jsonrpc":"2.0","id":7,"result":{"content":[]}},{"#,
    ] {
        let mut link = Link::with(warns);
        link.handshake();
        link.learn_tools();
        link.client(call(7, "stat", json!({ "path": "a" })));
        let outbox = link.connection.handle_server(broken.as_bytes(), link.time());
        assert_eq!(messages(&outbox, Side::Client), [broken.as_bytes()], "the policy only warns");
        let proper = json!({ "jsonrpc": "2.0", "id": 7, "result": { "content": [] } });
        assert_eq!(link.server(proper.clone()).client, [proper]);
    }
}

#[test]
fn malformed_initialize_response_ends_the_handshake() {
    let mut link = Link::new();
    link.client(initialize());
    let waiting = link.client(call(7, "stat", json!({ "path": "a" })));
    assert!(waiting.server.is_empty());
    let broken = br#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"#;
    let output = sent(link.connection.handle_server(broken, link.time()));
    assert_eq!(output.client[0]["id"], 1);
    assert!(!output.server.is_empty(), "the held call is forwarded or the tools are requested");
}

#[test]
fn existing_experimental_member_is_not_duplicated() {
    for malformed in [json!(null), json!([])] {
        let mut link = Link::new();
        link.client(initialize());
        let answer = initialized(json!({ "tools": {}, "experimental": malformed })).to_string();
        let outbox = link.connection.handle_server(answer.as_bytes(), link.time());
        assert_eq!(messages(&outbox, Side::Client), [answer.as_bytes()]);
    }
}

#[test]
fn null_cursor_ends_the_list() {
    let mut link = Link::ready();
    link.client(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    let list = json!({ "tools": [stat()], "nextCursor": null });
    let sent = link.server(json!({ "jsonrpc": "2.0", "id": 2, "result": list }));
    let names = sent.client[0]["result"]["tools"].as_array().unwrap().iter();
    let names: Vec<&Value> = names.map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["stat", "stickler_validate"]);
}

#[test]
fn id_of_a_held_call_cannot_be_reused() {
    let mut link = Link::ready();
    let waiting = link.client(call(7, "stat", json!({ "path": "a" })));
    for other in
        [json!({ "jsonrpc": "2.0", "id": 7, "method": "ping" }), call(7, "stat", json!({}))]
    {
        let rejected = link.client(other);
        assert!(rejected.server.is_empty(), "{rejected:?}");
        assert_eq!(rejected.client[0]["error"]["code"], -32600);
        assert!(rejected.client[0].get("id").is_none(), "{rejected:?}");
    }
    let sent = link.server(list_of(&waiting.server[0], json!([stat()])));
    assert_eq!(sent.server, [call(7, "stat", json!({ "path": "a" }))]);
    assert_eq!(link.client(json!({ "jsonrpc": "2.0", "id": 8, "method": "ping" })).server.len(), 1);
}

#[test]
fn messages_about_gateway_requests_do_not_reach_the_client() {
    let mut link = Link::ready();
    let waiting = link.client(call(7, "stat", json!({ "path": "a" })));
    let list = list_of(&waiting.server[0], json!([stat()]));
    let ours = &waiting.server[0]["id"];
    let about = |method: &str, member: &str| {
        let method = format!("notifications/{method}");
        json!({ "jsonrpc": "2.0", "method": method, "params": { member: ours, "progress": 1 } })
    };
    link.server(list.clone());
    for message in [list, about("cancelled", "requestId"), about("progress", "progressToken")] {
        let sent = link.server(message);
        assert!(sent.client.is_empty(), "{sent:?}");
    }
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": "other" } });
    assert_eq!(link.server(cancelled.clone()).client, [cancelled]);
}

#[test]
fn response_to_a_gateway_request_may_arrive_in_a_batch() {
    let mut link = Link::with_batches();
    link.client(json!({ "jsonrpc": "2.0", "id": 6, "method": "ping" }));
    let waiting = link.client(call(7, "stat", json!({ "pth": "a" })));
    let answer = json!({ "jsonrpc": "2.0", "id": 6, "result": {} });
    let sent = link.server(json!([answer, list_of(&waiting.server[0], json!([stat()]))]));
    assert_eq!((sent.client.len(), sent.server.len()), (2, 0), "{sent:?}");
    assert!(sent.client.iter().any(|one| is_help(one) && one["id"] == 7), "{sent:?}");
    assert!(sent.client.contains(&json!([answer])), "{sent:?}");
}

#[test]
fn list_with_an_invalid_cursor_rejects_nothing() {
    let list = json!({ "tools": [stat()], "nextCursor": 50 });
    let mut link = Link::ready();
    let waiting = link.client(call(7, "stats", json!({})));
    let response = json!({ "jsonrpc": "2.0", "id": waiting.server[0]["id"], "result": list });
    let sent = link.server(response);
    assert_eq!(sent.server, [call(7, "stats", json!({}))], "{sent:?}");
    let mut link = Link::ready();
    link.client(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    link.server(json!({ "jsonrpc": "2.0", "id": 2, "result": list }));
    let sent = link.client(call(7, "stats", json!({})));
    assert!(sent.client.is_empty(), "{sent:?}");
}

#[test]
fn list_request_carries_the_capabilities_of_the_calling_client() {
    let mut link = Link::new();
    let mut held_call = call(7, "stat", json!({ "path": "a" }));
    held_call["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
    });
    let waiting = link.client(held_call);
    let capabilities = |request: &Value| {
        request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"].clone()
    };
    assert_eq!(capabilities(&waiting.server[0]), json!({ "elicitation": {} }), "{waiting:?}");
    // A message without capabilities does not change the stored ones.
    link.client(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": 9 } }));
    let mut page = list_of(&waiting.server[0], json!([stat()]));
    page["result"]["nextCursor"] = json!("2");
    let next = link.server(page);
    assert_eq!(capabilities(&next.server[0]), json!({ "elicitation": {} }), "{next:?}");
}
