//! Validation by the server: caching, its invalidation, and batches. The server is a shell script.

use std::time::Duration;

use serde_json::{Value, json};
use stickler_rmcp::{DecidedBy, McpClient, McpConfig};

use crate::client::{connected, script};

/// A server that announces a capability, counts the validations that it is asked for, and sends a notification when
/// its tool `poke` is called.
fn server(capability: &str, notification: &str) -> McpConfig {
    script(&format!(
        r#"*server/discover*) exit 3;;
           *'"initialize"'*) answer '{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{"listChanged":true}},"experimental":{{"toolValidation":{capability}}}}},"serverInfo":{{"name":"s","version":"1"}}}}';;
           *tools/list*) answer '{{"tools":[{{"name":"poke","inputSchema":{{"type":"object"}}}},{{"name":"t","inputSchema":{{"type":"object"}}}}]}}';;
           *'"poke"'*) echo '{{"jsonrpc":"2.0","method":"{notification}","params":{{"uri":"file:///a","level":"info","data":""}}}}'; answer '{{"content":[{{"type":"text","text":"'$((asked + 0))'"}}]}}';;
           *'"calls"'*) asked=$((asked + 1)); answer '{{"content":[],"structuredContent":{{"results":[{{"valid":true}},{{"valid":false,"errors":["no"]}}]}}}}';;
           *tools/call*) asked=$((asked + 1)); answer '{{"content":[{{"type":"text","text":"{{\"valid\":true,\"warnings\":[\"'$asked'\"]}}"}}]}}';;"#
    ))
}

/// Validates a call and returns the count that the server reported.
async fn count(client: &McpClient, arguments: Value) -> String {
    let validation = client.validate_tool("t", &arguments).await.unwrap();
    assert_eq!(validation.decided_by, DecidedBy::Server);
    validation.report.warnings.concat()
}

#[tokio::test]
async fn validation_results_are_cached_only_if_the_server_allows_it() {
    for (is_cached, capability) in [
        (true, r#"{"supported":true,"caching":{"enabled":true,"ttl":3600}}"#),
        (true, r#"{"supported":true,"cacheable":true}"#),
        (false, r#"{"supported":true}"#),
        (false, r#"{"supported":true,"cacheable":false,"caching":{"enabled":true,"ttl":3600}}"#),
    ] {
        let client = connected(server(capability, "notifications/message")).await;
        assert_eq!(count(&client, json!({ "a": 1 })).await, "1");
        let again = if is_cached { "1" } else { "2" };
        assert_eq!(count(&client, json!({ "a": 1 })).await, again, "{capability}");
    }
}

#[tokio::test]
async fn server_without_the_capability_receives_no_validation_call() {
    for capability in [r#"{"supported":false}"#, "{}"] {
        let client = connected(server(capability, "notifications/message")).await;
        let calls = [("t", json!({})), ("t", json!({ "a": 1 }))];
        let mut validations = client.validate_tools(&calls).await.unwrap();
        validations.push(client.validate_tool("t", &json!({})).await.unwrap());
        for validation in validations {
            assert_eq!(validation.decided_by, DecidedBy::Schema, "{capability}");
        }
        // `poke` answers with the number of other calls that the server has received.
        assert_eq!(client.call_tool("poke", json!({})).await.unwrap().text(), "0", "{capability}");
    }
}

#[tokio::test]
async fn cached_results_are_forgotten_on_the_events_that_the_server_names() {
    let caching = |events: &str| {
        format!(
            r#"{{"supported":true,"caching":{{"enabled":true,"ttl":3600,"invalidateOn":{events}}}}}"#
        )
    };
    let tools = "notifications/tools/list_changed";
    let resources = "notifications/resources/list_changed";
    for (events, notification, is_forgotten) in [
        (r#"["resource_change"]"#, resources, true),
        (r#"["resource_change"]"#, "notifications/resources/updated", true),
        (r#"["tool_update"]"#, resources, false),
        (r#"["tool_update"]"#, tools, true),
        (r#"["resource_change"]"#, tools, false),
    ] {
        let client = connected(server(&caching(events), notification)).await;
        assert_eq!(count(&client, json!({ "a": 1 })).await, "1");
        client.call_tool("poke", json!({})).await.unwrap();
        // rmcp handles the notification in a task of its own, which may end after the call.
        let mut counted = count(&client, json!({ "a": 1 })).await;
        for _ in 0..if is_forgotten { 500 } else { 5 } {
            if counted == "2" {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
            counted = count(&client, json!({ "a": 1 })).await;
        }
        let expected = if is_forgotten { "2" } else { "1" };
        assert_eq!(counted, expected, "{events} {notification}");
    }
}

#[tokio::test]
async fn several_calls_are_validated_with_one_request() {
    let calls = [("t", json!({ "a": 1 })), ("t", json!({ "a": 2 }))];
    let capability =
        r#"{"supported":true,"cacheable":true,"batchValidation":true,"maxBatchSize":2}"#;
    let client = connected(server(capability, "notifications/message")).await;
    let validations = client.validate_tools(&calls).await.unwrap();
    let valid: Vec<bool> = validations.iter().map(|one| one.report.valid).collect();
    assert_eq!(valid, [true, false]);
    assert_eq!(validations[1].report.errors, ["no"]);
    // Both reports are cached, so the next question is the second one.
    assert!(client.validate_tool("t", &json!({ "a": 1 })).await.unwrap().report.valid);
    assert_eq!(count(&client, json!({ "a": 3 })).await, "2");

    let client = connected(server(r#"{"supported":true}"#, "notifications/message")).await;
    let validations = client.validate_tools(&calls).await.unwrap();
    let counts: Vec<String> = validations.iter().map(|one| one.report.warnings.concat()).collect();
    assert_eq!(counts, ["1", "2"], "without batches there is one request per call");
}
