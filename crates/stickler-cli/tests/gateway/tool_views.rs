//! Tool views: a server may list different tools to different clients, and each client is validated against
//! its own list.

use crate::support::http::{Gateway, call, scripted_server};
use crate::support::modern::{ACCEPT_BOTH, send_modern};
use crate::support::upstream::{Upstream, accepted, json_response, subscription_response};
use serde_json::{Value, json};

fn conditional_tools() -> Gateway {
    Gateway::start(&["--", scripted_server().to_str().unwrap(), "--mode", "conditional-tools"])
}

/// The same server behind two chained gateways: the outer one and the inner one.
fn chained_gateways() -> (Gateway, Gateway) {
    let inner = conditional_tools();
    let url = format!("http://127.0.0.1:{}/mcp", inner.port);
    (Gateway::start(&["--url", &url]), inner)
}

fn session(gateway: &Gateway, capabilities: &Value) -> String {
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": capabilities,
        "clientInfo": { "name": "test", "version": "1" },
    } });
    let response = gateway.post(&[], &initialize.to_string());
    let session = response.header("mcp-session-id").unwrap().to_owned();
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(gateway.post(&[("mcp-session-id", &session)], ready).status, 202);
    session
}

fn list() -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string()
}

fn assert_sessions_see_their_own_list(gateway: &Gateway) {
    let able = session(gateway, &json!({ "elicitation": {} }));
    let unable = session(gateway, &json!({}));
    let post = |session: &str, body: &str| gateway.post(&[("mcp-session-id", session)], body);
    let names = |session: &str| post(session, &list()).text();
    assert!(names(&able).contains("\"elicit\"") && !names(&unable).contains("\"elicit\""));
    let response = post(&able, &call(2, "elicit", &json!({ "text": "x" }))).json();
    assert!(response["result"]["content"].is_array(), "{response}");
    let response = post(&unable, &call(3, "elicitt", &json!({ "text": "x" }))).text();
    assert!(!response.contains("`elicit`"), "suggests a tool of another client: {response}");
}

#[test]
fn session_is_validated_against_its_own_tool_list() {
    assert_sessions_see_their_own_list(&conditional_tools());
    let (gateway, _inner) = chained_gateways();
    assert_sessions_see_their_own_list(&gateway);
}

fn modern(gateway: &Gateway, method: &str, params: Value, capabilities: &Value) -> Value {
    send_modern(gateway, ("mine", method), params, (ACCEPT_BOTH, capabilities)).finish().json()
}

#[test]
fn modern_request_is_validated_against_the_list_for_its_capabilities() {
    let (outer, inner) = chained_gateways();
    for gateway in [&inner, &outer] {
        let able = json!({ "elicitation": {} });
        for (capabilities, sees) in [(&able, true), (&json!({}), false)] {
            let listed = modern(gateway, "tools/list", json!({}), capabilities).to_string();
            assert_eq!(listed.contains("\"elicit\""), sees);
        }
        let exact = json!({ "name": "elicit", "arguments": { "text": "x" } });
        let response = modern(gateway, "tools/call", exact, &able);
        assert!(response["result"]["content"].is_array(), "{response}");
        let misspelt = json!({ "name": "elicitt", "arguments": { "text": "x" } });
        let response = modern(gateway, "tools/call", misspelt.clone(), &able);
        assert!(response.to_string().contains("Did you mean `elicit`?"), "{response}");
        let response = modern(gateway, "tools/call", misspelt, &json!({})).to_string();
        assert!(!response.contains("`elicit`"), "{response}");
    }
}

#[test]
fn repeated_invalid_call_is_counted_for_modern_clients() {
    let (outer, inner) = chained_gateways();
    for gateway in [&outer, &inner] {
        let invalid = json!({ "name": "echo", "arguments": { "txt": "x" } });
        let responses: Vec<String> = (0..3)
            .map(|_| modern(gateway, "tools/call", invalid.clone(), &json!({})).to_string())
            .collect();
        assert!(!responses[0].contains("times"), "{}", responses[0]);
        assert!(responses[2].contains("rejected 3 times"), "{}", responses[2]);
    }
}

/// Headers by which proxies and load balancers name a user, tenant or address, and one that is not known to Stickler.
const IDENTITY_HEADERS: [&str; 13] = [
    "authorization",
    "cookie",
    "x-forwarded-user",
    "x-remote-user",
    "x-tenant",
    "x-session",
    "x-goog-iap-jwt-assertion",
    "x-amzn-oidc-data",
    "cf-access-jwt-assertion",
    "x-forwarded-for",
    "x-forwarded-host",
    "baggage",
    "x-department",
];

/// A server without sessions that lists the field `a_secret` for Alice and `b_secret` for everyone else.
fn personal_tools() -> Upstream {
    Upstream::start_with_heads(|head, message| {
        let field = if head.contains(": alice") { "a_secret" } else { "b_secret" };
        let schema = json!({
            "type": "object", "properties": { (field): { "type": "string" } }, "required": [field],
        });
        let result = match message["method"].as_str() {
            Some("tools/list") => json!({
                "tools": [{ "name": "act", "inputSchema": schema }],
                "resultType": "complete", "ttlMs": 60_000, "cacheScope": "private",
            }),
            Some("tools/call") => json!({ "content": [], "resultType": "complete" }),
            Some("subscriptions/listen") => return subscription_response(message),
            _ => return accepted(),
        };
        json_response(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
    })
}

/// Calls the tool as Alice and then as Bob, who each pass the field that the server lists for them.
fn assert_bob_is_not_judged_by_the_list_of_alice(
    header: &str,
    post: impl Fn(&[(&str, &str)], &Value) -> Value,
) {
    let alice = json!({ "name": "act", "arguments": { "a_secret": "x" } });
    let bob = json!({ "name": "act", "arguments": { "b_secret": "x" } });
    let wrong = json!({ "name": "act", "arguments": { "c_secret": "x" } });
    for (user, call) in [("alice", &alice), ("bob", &bob), ("alice", &alice)] {
        let response = post(&[(header, user)], call);
        assert!(response["result"]["content"].is_array(), "{header}, {user}: {response}");
        assert_ne!(response["result"]["isError"], true, "{header}, {user}: {response}");
    }
    let help = post(&[(header, "bob")], &wrong).to_string();
    assert!(help.contains("b_secret") && !help.contains("a_secret"), "{header}: {help}");
}

#[test]
fn clients_that_any_header_tells_apart_do_not_share_a_tool_list() {
    let upstream = personal_tools();
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    for header in IDENTITY_HEADERS {
        assert_bob_is_not_judged_by_the_list_of_alice(header, |headers, params| {
            let version = [("mcp-protocol-version", "2025-06-18")];
            let body =
                json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
            gateway.post(&[headers, &version].concat(), &body.to_string()).json()
        });
    }
}

/// Requests of one client differ in such headers; they must not cost a list each.
#[test]
fn headers_of_a_single_request_do_not_separate_tool_lists() {
    let upstream = personal_tools();
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let call = json!({ "name": "act", "arguments": { "b_secret": "x" } });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
    for request in ["one", "other"] {
        let headers = [
            ("x-request-id", request),
            ("traceparent", request),
            ("mcp-protocol-version", "2025-06-18"),
        ];
        let response = gateway.post(&headers, &body.to_string()).json();
        assert!(response["result"]["content"].is_array(), "{response}");
    }
    let listings = upstream.heads("tools/list").len();
    assert_eq!(listings, 1);
}

#[test]
fn modern_clients_that_any_header_tells_apart_do_not_share_a_tool_list() {
    let upstream = personal_tools();
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    for header in IDENTITY_HEADERS {
        assert_bob_is_not_judged_by_the_list_of_alice(header, |headers, params| {
            let (mut params, fixed) = (
                params.clone(),
                [
                    ("mcp-protocol-version", "2026-07-28"),
                    ("mcp-method", "tools/call"),
                    ("mcp-name", "act"),
                    ("accept", ACCEPT_BOTH),
                ],
            );
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            let body =
                json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
            gateway
                .open("POST", "/mcp", &[headers, &fixed].concat(), &body.to_string())
                .finish()
                .json()
        });
    }
}
