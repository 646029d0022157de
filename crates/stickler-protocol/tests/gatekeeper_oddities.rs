//! Messages that are written or answered in odd ways pass the gatekeeper as they should.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    reason = "tests are blunt"
)]

mod support {
    pub(crate) mod link;
}

use serde_json::{Value, json};
use stickler::rules::MessageRule;
use stickler_protocol::{Action, Policy, Side, ValidationMiddleware};
use support::link::{Link, call, initialize, initialized, is_help, list_of, sent, stat};

/// As some writers escape it.
fn escaped(message: Value) -> String {
    message.to_string().replace('/', "\\/")
}

#[test]
fn a_call_with_escaped_slashes_waits_like_any_other() {
    let mut link = Link::ready();
    let bad = escaped(call(7, "stat", json!({ "pth": "a" })));
    let waiting = sent(link.gatekeeper.from_client(bad.as_bytes(), link.time()));
    assert_eq!(waiting.server.len(), 1, "only our own question: {waiting:?}");
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": 7 } });
    let overtakes = sent(link.gatekeeper.from_client(escaped(cancel).as_bytes(), link.time()));
    assert!(overtakes.server.is_empty(), "{overtakes:?}");
    let sent = link.server(list_of(&waiting.server[0], json!([stat()])));
    assert!(is_help(&sent.client[0]), "{sent:?}");
}

#[test]
fn names_of_an_envelope_may_be_escaped() {
    let mut link = Link::ready();
    let bad = call(7, "stat", json!({ "pth": "a" })).to_string();
    let bad =
        bad.replace("\"id\"", "\"\\u0069d\"").replace("\"tools/call\"", "\"tools\\u002fcall\"");
    let waiting = sent(link.gatekeeper.from_client(bad.as_bytes(), link.time()));
    assert_eq!(waiting.server.len(), 1, "only our own question: {waiting:?}");
    let sent = link.server(list_of(&waiting.server[0], json!([stat()])));
    assert!(is_help(&sent.client[0]) && sent.client[0]["id"] == 7, "{sent:?}");
}

#[test]
fn an_answer_that_comes_again_after_a_broken_one_is_not_passed_on() {
    let mut link = Link::informed();
    link.client(call(7, "stat", json!({ "path": "a" })));
    let broken = br#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"te"#;
    let told = sent(link.gatekeeper.from_server(broken, link.time()));
    assert_eq!((told.client.len(), &told.client[0]["id"]), (1, &json!(7)));
    let late = link.server(json!({ "jsonrpc": "2.0", "id": 7, "result": { "content": [] } }));
    assert!(late.client.is_empty(), "{late:?}");
}

#[test]
fn where_broken_answers_only_warn_the_proper_one_is_passed_on() {
    let warns = |middleware: ValidationMiddleware| {
        let policy = Policy::default().with(Side::Server, MessageRule::JsonSyntax, Action::Warn);
        middleware.with_policy(policy)
    };
    for broken in [
        r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"te"#,
        r#"[{"jsonrpc":"2.0","id":7,"result":{"content":[]}},{"#,
    ] {
        let mut link = Link::with(warns);
        link.shake_hands();
        link.learn_tools();
        link.client(call(7, "stat", json!({ "path": "a" })));
        let outbox = link.gatekeeper.from_server(broken.as_bytes(), link.time());
        assert_eq!(outbox.to_client, [broken.as_bytes()], "as the policy says");
        let proper = json!({ "jsonrpc": "2.0", "id": 7, "result": { "content": [] } });
        assert_eq!(link.server(proper.clone()).client, [proper]);
    }
}

#[test]
fn a_broken_answer_ends_the_handshake() {
    let mut link = Link::new();
    link.client(initialize());
    let waiting = link.client(call(7, "stat", json!({ "path": "a" })));
    assert!(waiting.server.is_empty());
    let broken = br#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"#;
    let told = sent(link.gatekeeper.from_server(broken, link.time()));
    assert_eq!(told.client[0]["id"], 1);
    assert!(!told.server.is_empty(), "what has waited for it goes on, or the tools are asked for");
}

#[test]
fn what_is_there_already_is_not_written_a_second_time() {
    for odd in [json!(null), json!([])] {
        let mut link = Link::new();
        link.client(initialize());
        let answer = initialized(json!({ "tools": {}, "experimental": odd })).to_string();
        let outbox = link.gatekeeper.from_server(answer.as_bytes(), link.time());
        assert_eq!(outbox.to_client, [answer.as_bytes()]);
    }
}

#[test]
fn a_cursor_that_is_null_is_none() {
    let mut link = Link::ready();
    link.client(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    let list = json!({ "tools": [stat()], "nextCursor": null });
    let sent = link.server(json!({ "jsonrpc": "2.0", "id": 2, "result": list }));
    let names = sent.client[0]["result"]["tools"].as_array().unwrap().iter();
    let names: Vec<&Value> = names.map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["stat", "stickler_validate"]);
}

#[test]
fn the_id_of_a_call_that_waits_is_not_free() {
    let mut link = Link::ready();
    let waiting = link.client(call(7, "stat", json!({ "path": "a" })));
    for other in
        [json!({ "jsonrpc": "2.0", "id": 7, "method": "ping" }), call(7, "stat", json!({}))]
    {
        let refused = link.client(other);
        assert!(refused.server.is_empty(), "{refused:?}");
        assert_eq!(refused.client[0]["error"]["code"], -32600);
        assert!(refused.client[0].get("id").is_none(), "{refused:?}");
    }
    let sent = link.server(list_of(&waiting.server[0], json!([stat()])));
    assert_eq!(sent.server, [call(7, "stat", json!({ "path": "a" }))]);
    assert_eq!(link.client(json!({ "jsonrpc": "2.0", "id": 8, "method": "ping" })).server.len(), 1);
}

#[test]
fn nothing_about_our_own_questions_reaches_the_client() {
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
        "params": { "requestId": "somebody's" } });
    assert_eq!(link.server(cancelled.clone()).client, [cancelled]);
}

#[test]
fn our_own_list_may_come_in_a_batch() {
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
fn a_list_whose_end_cannot_be_told_refuses_nothing() {
    let list = json!({ "tools": [stat()], "nextCursor": 50 });
    let mut link = Link::ready();
    let waiting = link.client(call(7, "stats", json!({})));
    let own = json!({ "jsonrpc": "2.0", "id": waiting.server[0]["id"], "result": list });
    let sent = link.server(own);
    assert_eq!(sent.server, [call(7, "stats", json!({}))], "{sent:?}");
    let mut link = Link::ready();
    link.client(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    link.server(json!({ "jsonrpc": "2.0", "id": 2, "result": list }));
    let sent = link.client(call(7, "stats", json!({})));
    assert!(sent.client.is_empty(), "{sent:?}");
}

#[test]
fn the_list_is_asked_for_as_the_client_that_waits_for_it() {
    let mut link = Link::new();
    let mut asked = call(7, "stat", json!({ "path": "a" }));
    asked["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
    });
    let waiting = link.client(asked);
    let can_do = |request: &Value| {
        request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"].clone()
    };
    assert_eq!(can_do(&waiting.server[0]), json!({ "elicitation": {} }), "{waiting:?}");
    // What declares nothing changes nothing.
    link.client(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": 9 } }));
    let mut page = list_of(&waiting.server[0], json!([stat()]));
    page["result"]["nextCursor"] = json!("2");
    let next = link.server(page);
    assert_eq!(can_do(&next.server[0]), json!({ "elicitation": {} }), "{next:?}");
}
