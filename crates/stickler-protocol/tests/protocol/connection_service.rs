//! The connection announces the `toolValidation` capability and serves the validation tool.

use std::time::Duration;

use crate::support::link::{Link, call, initialize, initialized, is_help, messages, stat};
use serde_json::{Value, json};
use stickler_protocol::Side;

#[test]
fn capability_and_tool_are_spliced_in_and_nothing_else_changes() {
    let mut link = Link::new();
    link.client(initialize());
    let reply = br#"{ "jsonrpc":"2.0", "id":1, "result":{"protocolVersion":"2025-11-25", "capabilities":{"tools":{}, "experimental":{"x":1e2}},"serverInfo":{"name":"s","version":"1"}} }"#;
    let outbox = link.connection.handle_server(reply, Duration::ZERO);
    let text = String::from_utf8(messages(&outbox, Side::Client)[0].to_vec()).unwrap();
    let (before, rest) = text.split_once(r#","toolValidation":{"supported":true"#).unwrap();
    assert!(reply.starts_with(before.as_bytes()) && before.ends_with("1e2"));
    assert!(rest.ends_with(r#"}},"serverInfo":{"name":"s","version":"1"}} }"#));

    link.client(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    let sent = link.server(json!({ "jsonrpc": "2.0", "id": 2, "result": { "tools": [stat()] } }));
    let tools = sent.client[0]["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 2);
    assert_eq!((&tools[0], &tools[1]["name"]), (&stat(), &json!("stickler_validate")));
}

#[test]
fn calls_are_validated_without_being_made() {
    let mut link = Link::with_known_tools();
    let validate = |link: &mut Link, id, tool, arguments| {
        let sent = link.client(call(id, tool, arguments));
        assert!(sent.server.is_empty());
        assert_eq!(sent.client.len(), 1);
        sent.client[0]["result"].clone()
    };
    let single = json!({ "tool": "server:stat", "arguments": { "pth": "a" } });
    let answer = validate(&mut link, 3, "stickler_validate", single.clone());
    let structured = &answer["structuredContent"];
    assert_eq!(structured["valid"], false);
    assert_eq!(structured["suggestions"], json!(["path"]));
    assert_eq!(structured["details"]["corrected"]["arguments"], json!({ "path": "a" }));
    assert_eq!(answer["content"][0]["text"], structured.to_string());
    let both = json!({ "calls": [single, { "tool": "stat", "arguments": { "path": "a" } }] });
    let answer = validate(&mut link, 4, "stickler_validate", both);
    let valid: Vec<&Value> = answer["structuredContent"]["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["valid"])
        .collect();
    assert_eq!(valid, [false, true]);
    assert!(is_help(
        &json!({ "result": validate(&mut link, 5, "stickler_validate", json!({ "tol": "stat" })) })
    ));
    assert_eq!(validate(&mut link, 6, "stickler_validate", json!({}))["isError"], true);
    assert_eq!(link.connection.pending_requests(), 0);
}

#[test]
fn messages_of_a_validating_server_are_forwarded_unchanged() {
    let mut link = Link::new();
    link.client(initialize());
    let own = json!({ "tools": {}, "experimental": { "toolValidation": { "supported": true } } });
    assert_eq!(link.server(initialized(own.clone())).client, [initialized(own)]);
    link.client(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    let tools = json!([{ "name": "validate", "inputSchema": { "type": "object" } }]);
    let list = json!({ "jsonrpc": "2.0", "id": 2, "result": { "tools": tools } });
    assert_eq!(link.server(list.clone()).client, [list]);
    let validation_call = call(3, "validate", json!({}));
    assert_eq!(link.client(validation_call.clone()).server, [validation_call]);
}

/// A connection to a server with its own `toolValidation` capability, after its tool list.
fn validating(caching: Value) -> Link {
    let mut link = Link::new();
    link.client(initialize());
    let capability = json!({ "supported": true, "method": "validate", "caching": caching });
    link.server(initialized(
        json!({ "tools": {}, "experimental": { "toolValidation": capability } }),
    ));
    link.client(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    link.client(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    let validate = json!({ "name": "validate", "inputSchema": { "type": "object" } });
    link.server(json!({ "jsonrpc": "2.0", "id": 2, "result": { "tools": [stat(), validate] } }));
    link
}

fn validation_request(id: u32, path: Value) -> Value {
    call(id, "validate", json!({ "tool": "stat", "arguments": { "path": path } }))
}

fn server_verdict(id: u32) -> Value {
    let report = json!({ "valid": false, "errors": ["there is no such file"] });
    let result = json!({ "content": [], "structuredContent": report });
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

#[test]
fn server_side_validation_receives_only_schema_valid_calls() {
    let mut link = validating(json!({ "enabled": false }));
    let sent = link.client(validation_request(5, json!(7)));
    assert!(sent.server.is_empty());
    assert_eq!(sent.client[0]["result"]["structuredContent"]["valid"], false);
    let good = validation_request(6, json!("a"));
    assert_eq!(link.client(good.clone()).server, [good]);
    assert_eq!(link.server(server_verdict(6)).client, [server_verdict(6)]);
    let again = validation_request(7, json!("a"));
    assert_eq!(
        link.client(again.clone()).server,
        [again],
        "nothing is cached without the server's permission"
    );
}

#[test]
fn server_validation_results_are_cached_for_the_announced_ttl() {
    let mut link = validating(json!({ "enabled": true, "ttl": 60 }));
    link.client(validation_request(6, json!("a")));
    link.server(server_verdict(6));
    let sent = link.client(validation_request(7, json!("a")));
    assert!(sent.server.is_empty());
    assert_eq!(sent.client, [server_verdict(7)], "the cached result under the new id");
    assert_eq!(
        link.client(validation_request(8, json!("b"))).server.len(),
        1,
        "different arguments"
    );
    link.now += 60;
    assert_eq!(
        link.client(validation_request(9, json!("a"))).server.len(),
        1,
        "the entry has expired"
    );
}

#[test]
fn cached_server_validation_is_invalidated_when_tools_or_resources_change() {
    for method in ["notifications/tools/list_changed", "notifications/resources/updated"] {
        let mut link = validating(json!({ "enabled": true, "ttl": 60 }));
        link.client(validation_request(6, json!("a")));
        link.server(server_verdict(6));
        link.server(
            json!({ "jsonrpc": "2.0", "method": method, "params": { "uri": "file:///a" } }),
        );
        let sent = link.client(validation_request(7, json!("a")));
        assert!(sent.client.is_empty(), "{method}");
        assert_eq!(sent.server.len(), 1, "{method}");
    }
}

#[test]
fn gateway_validation_uses_the_current_list() {
    let mut link = Link::with_known_tools();
    let validate = |id| call(id, "stickler_validate", json!({ "tool": "stat", "arguments": {} }));
    for id in [5, 6] {
        let sent = link.client(validate(id));
        assert_eq!(sent.client[0]["id"], id);
        assert_eq!(sent.client[0]["result"]["structuredContent"]["valid"], false);
    }
    link.client(json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/list" }));
    let lenient = json!({ "name": "stat", "inputSchema": { "type": "object" } });
    link.server(json!({ "jsonrpc": "2.0", "id": 7, "result": { "tools": [lenient] } }));
    assert_eq!(link.client(validate(8)).client[0]["result"]["structuredContent"]["valid"], true);
}

#[test]
fn response_to_a_reused_id_is_not_cached_for_the_cancelled_request() {
    let mut link = validating(json!({ "enabled": true, "ttl": 60 }));
    link.client(validation_request(6, json!("a")));
    let params = json!({ "requestId": 6 });
    link.client(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    let other = call(6, "stat", json!({ "path": "b" }));
    assert_eq!(link.client(other.clone()).server, [other], "the id can be reused");
    link.server(json!({ "jsonrpc": "2.0", "id": 6, "result": { "content": [] } }));
    let again = validation_request(7, json!("a"));
    assert_eq!(link.client(again.clone()).server, [again]);
}

#[test]
fn validation_tool_is_listed_and_served_in_batches() {
    let mut link = Link::with_batches();
    let ping = json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" });
    let list = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list" });
    let batch = json!([ping, list]);
    assert_eq!(link.client(batch.clone()).server, [batch]);
    let ponged = json!({ "jsonrpc": "2.0", "id": 2, "result": {} });
    let listed = json!({ "jsonrpc": "2.0", "id": 3, "result": { "tools": [stat()] } });
    let sent = link.server(json!([ponged, listed]));
    assert_eq!(sent.client[0][0], ponged);
    let tools = sent.client[0][1]["result"]["tools"].as_array().unwrap();
    assert_eq!((tools.len(), &tools[1]["name"]), (2, &json!("stickler_validate")));

    let question = json!({ "tool": "stat", "arguments": { "pth": "a" } });
    let ours = call(4, "stickler_validate", question.clone());
    let theirs = call(5, "stat", json!({ "path": "a" }));
    let bad = call(6, "stat", json!({ "pth": "a" }));
    let sent = link.client(json!([ours, theirs, bad]));
    assert_eq!(sent.server, [json!([theirs])]);
    let answers = sent.client[0].as_array().unwrap();
    assert_eq!((answers.len(), &answers[0]["id"], &answers[1]["id"]), (2, &json!(4), &json!(6)));
    assert_eq!(answers[0]["result"]["structuredContent"]["valid"], false);
    assert!(is_help(&answers[1]));
    // A batch of gateway tool calls only is not forwarded.
    let sent = link.client(json!([call(7, "stickler_validate", question.clone())]));
    assert_eq!((sent.server.len(), &sent.client[0][0]["id"]), (0, &json!(7)));
    link.server(json!([{ "jsonrpc": "2.0", "id": 5, "result": { "content": [] } }]));
    assert_eq!(link.connection.pending_requests(), 0);
    let alone = link.client(call(8, "stickler_validate", question));
    assert_eq!((alone.server.len(), &alone.client[0]["id"]), (0, &json!(8)));
}

#[test]
fn unsupported_tool_validation_capability_is_replaced() {
    for announced in [json!({ "supported": false, "x": 1 }), json!(null)] {
        let mut link = Link::new();
        link.client(initialize());
        let own = json!({ "tools": {}, "experimental": { "toolValidation": announced, "y": 2 } });
        let response = &link.server(initialized(own)).client[0];
        let experimental = &response["result"]["capabilities"]["experimental"];
        assert_eq!(experimental["toolValidation"]["method"], "stickler_validate", "{response}");
        assert_eq!((experimental.as_object().unwrap().len(), &experimental["y"]), (2, &json!(2)));
    }
}
