//! Gateway subscriptions to tool list changes: modern servers notify only subscribers, so the gateway subscribes
//! without the clients noticing. Tool lists never expire in these tests, so only a subscription can cause a refresh.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::http::{Gateway, scripted_server};
use crate::support::server_log::ServerLog;
use crate::support::stdio::wait_until;
use crate::support::upstream::{Upstream, json_response, subscription_response};
use serde_json::{Value, json};

const LISTS_NEVER_EXPIRE: [(&str, &str); 1] = [("STICKLER_FRESH_ENOUGH", "3600")];

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

fn call(id: u32, tool: &str, arguments: &Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta() });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

/// Asserts a clean exit without unread output and without log lines about subscriptions.
fn assert_quiet(end: &crate::support::stdio::Exit) {
    assert_eq!((end.status, end.stdout.as_str()), (0, ""), "{}", end.stderr);
    let is_unexpected =
        |line: &&str| line.contains("subscri") || line.contains("tool list changes");
    assert_eq!(end.stderr.lines().find(is_unexpected), None);
}

fn is_rejected(response: &Value) -> bool {
    response["result"]["isError"] == true
}

/// A client on any transport: sends a call and returns the response.
type SendCall<'a> = dyn FnMut(&Value) -> Value + 'a;

fn by_http(gateway: &Gateway, authorization: &str, call: &Value) -> Value {
    let tool = call["params"]["name"].as_str().unwrap();
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", tool),
        ("authorization", authorization),
    ];
    gateway.post(&headers, &call.to_string()).json()
}

fn by_stdio(gateway: &mut crate::support::stdio::Gateway, call: &Value) -> Value {
    gateway.send(call);
    let response = gateway.receive();
    assert_eq!(response["id"], call["id"], "the client gets only responses: {response}");
    response
}

/// Lets a scripted server change its tools, and asserts that calls are validated against the new list.
fn assert_change_in_a_process_is_noticed(send: &mut SendCall<'_>, server_log: &ServerLog) {
    let old = json!({ "text": "a" });
    let first = call(1, "echo", &old);
    assert_eq!(send(&first)["result"]["content"][0]["text"], "a");
    // A shared process gets a rewritten id; the rest of the message is unchanged.
    let received = server_log.wait_for("tools/call");
    let id = serde_json::from_str::<Value>(&received).unwrap()["id"].to_string();
    let expected = first.to_string().replace("\"id\":1,", &format!("\"id\":{id},"));
    assert_eq!(received, expected);
    let listen: Value = serde_json::from_str(&server_log.wait_for("subscriptions/listen")).unwrap();
    assert_eq!(listen["params"]["notifications"], json!({ "toolsListChanged": true }));
    // On a pipe, the response follows the acknowledgement, and the next call follows both.
    for id in 2..4 {
        assert!(!is_rejected(&send(&call(id, "echo", &old))));
    }
    let new = json!({ "words": "a" });
    assert!(is_rejected(&send(&call(4, "echo", &new))), "rejected by the current list");
    let lists = server_log.matching("tools/list").len();
    assert!(!is_rejected(&send(&call(5, "change", &old))));
    assert!(
        !is_rejected(&send(&call(6, "echo", &new))),
        "the next call is validated against the new list"
    );
    assert!(is_rejected(&send(&call(7, "echo", &old))));
    assert_eq!(server_log.matching("tools/list").len(), lists + 1, "the new list was fetched once");
    assert_eq!(server_log.matching("subscriptions/listen").len(), 1);
    assert_eq!(server_log.matching("server/discover").len(), 1);
}

fn on_stdio(mode: &str, server_log: &ServerLog) -> crate::support::stdio::Gateway {
    let server = scripted_server();
    let log = server_log.path();
    let arguments =
        ["--grace", "300", "--", server.to_str().unwrap(), "--mode", mode, "--log", log];
    crate::support::stdio::Gateway::with_env(&arguments, &LISTS_NEVER_EXPIRE)
}

#[test]
fn stdio_client_is_validated_against_the_changed_list_of_a_process() {
    let server_log = ServerLog::new();
    let mut gateway = on_stdio("mutable-tools", &server_log);
    assert_change_in_a_process_is_noticed(&mut |call| by_stdio(&mut gateway, call), &server_log);
    // The grace period is long: the exit must not wait for the end of the subscription.
    assert_quiet(&gateway.end());
}

#[test]
fn http_clients_are_validated_against_the_changed_list_of_their_shared_process() {
    let (gateway, server_log) =
        ServerLog::with_gateway_in_mode("mutable-tools", &LISTS_NEVER_EXPIRE);
    assert_change_in_a_process_is_noticed(&mut |call| by_http(&gateway, "a", call), &server_log);
    // The only active client gets messages without a recipient, despite the gateway subscription.
    let body = call(8, "notify", &json!({ "text": "log" })).to_string();
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "notify"),
    ];
    let events = gateway.post(&headers, &body).events();
    assert_eq!((&events[0]["params"]["data"], &events[1]["id"]), (&json!("log"), &json!(8)));
    assert_eq!(gateway.end(), 0);
}

#[test]
fn client_subscription_is_kept_apart_from_the_gateway_subscription() {
    let (gateway, server_log) =
        ServerLog::with_gateway_in_mode("mutable-tools", &LISTS_NEVER_EXPIRE);
    by_http(&gateway, "a", &call(1, "echo", &json!({ "text": "a" })));
    server_log.wait_for("subscriptions/listen");
    let params = json!({ "_meta": meta(), "notifications": { "toolsListChanged": true } });
    let listen = json!({ "jsonrpc": "2.0", "id": "mine", "method": "subscriptions/listen",
                         "params": params });
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "subscriptions/listen")];
    let mut stream = gateway.open("POST", "/mcp", &headers, &listen.to_string());
    let acknowledged = stream.event().unwrap();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    by_http(&gateway, "a", &call(2, "change", &json!({ "text": "a" })));
    by_http(&gateway, "a", &call(3, "change", &json!({ "text": "a" })));
    for event in [acknowledged, stream.event().unwrap(), stream.event().unwrap()] {
        let id = &event["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(id, "mine", "{event}");
    }
    assert_eq!(gateway.end(), 0);
    let last = stream.event().unwrap();
    assert_eq!(last["id"], "mine", "one notification per change: {last}");
}

#[test]
fn process_without_subscription_support_is_asked_once() {
    let call_repeatedly = |send: &mut SendCall<'_>, server_log: &ServerLog| {
        send(&call(1, "echo", &json!({ "text": "a" })));
        server_log.wait_for("subscriptions/listen");
        // A list requested by the client updates the cache without another subscription attempt.
        for id in 2..5 {
            let mut list = call(id, "echo", &json!({}));
            list["method"] = "tools/list".into();
            list["params"] = json!({ "_meta": meta() });
            assert!(send(&list)["result"]["tools"].is_array());
            assert!(!is_rejected(&send(&call(id + 10, "echo", &json!({ "text": "a" })))));
        }
        assert_eq!(server_log.matching("subscriptions/listen").len(), 1);
        assert_eq!(server_log.matching("server/discover").len(), 1);
    };
    let server_log = ServerLog::new();
    let mut gateway = on_stdio("no-subscriptions", &server_log);
    call_repeatedly(&mut |call| by_stdio(&mut gateway, call), &server_log);
    assert_quiet(&gateway.end());
    let (gateway, server_log) =
        ServerLog::with_gateway_in_mode("no-subscriptions", &LISTS_NEVER_EXPIRE);
    let mut send = |call: &Value| match call["method"].as_str() {
        Some("tools/call") => by_http(&gateway, "a", call),
        method => {
            let method = method.unwrap();
            let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
            gateway.post(&headers, &call.to_string()).json()
        }
    };
    call_repeatedly(&mut send, &server_log);
}

/// A server at a URL with a tool `echo` that requires another field after `change`.
struct Remote {
    upstream: Upstream,
    has_changed: Arc<AtomicBool>,
}

impl Remote {
    fn start(takes_subscriptions: bool) -> Self {
        let has_changed: Arc<AtomicBool> = Arc::default();
        let state = Arc::clone(&has_changed);
        let upstream = Upstream::start(move |message| {
            let field = if state.load(Ordering::SeqCst) { "words" } else { "text" };
            let mut result = match message["method"].as_str() {
                Some("server/discover") => json!({ "supportedVersions": ["2026-07-28"],
                    "capabilities": { "tools": { "listChanged": true } } }),
                Some("tools/list") => json!({ "tools": [{ "name": "echo", "inputSchema": {
                    "type": "object", "required": [field],
                    "properties": { field: { "type": "string" } } } }] }),
                Some("tools/call") => json!({ "content": [] }),
                Some("subscriptions/listen") if takes_subscriptions => {
                    return subscription_response(message);
                }
                _ => {
                    let error = json!({ "code": -32601, "message": "Method not found" });
                    let id = &message["id"];
                    let body = json!({ "jsonrpc": "2.0", "id": id, "error": error });
                    return json_response(&body);
                }
            };
            result["resultType"] = "complete".into();
            result["ttlMs"] = 3_600_000.into();
            result["cacheScope"] = "private".into();
            json_response(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
        });
        Self { upstream, has_changed }
    }

    fn change(&self) {
        self.has_changed.store(true, Ordering::SeqCst);
        self.upstream.notify_list_changed();
    }

    fn lists(&self) -> usize {
        self.upstream.heads("tools/list").len()
    }

    fn subscriptions(&self) -> Vec<String> {
        self.upstream.heads("subscriptions/listen")
    }

    /// Waits until the gateway has subscribed and fetched the list again.
    fn settle(&self, send: &mut SendCall<'_>) {
        let (lists, subscribers) = (self.lists(), self.upstream.subscriber_count());
        assert!(!is_rejected(&send(&call(1, "echo", &json!({ "text": "a" })))));
        wait_until("there is a subscriber", || self.upstream.subscriber_count() > subscribers);
        wait_until_mut("the list was fetched again", || {
            assert!(!is_rejected(&send(&call(2, "echo", &json!({ "text": "a" })))));
            self.lists() == lists + 2
        });
    }

    fn assert_change_is_noticed(&self, send: &mut SendCall<'_>) {
        self.settle(send);
        let new = json!({ "words": "a" });
        assert!(is_rejected(&send(&call(3, "echo", &new))), "rejected by the current list");
        self.change();
        wait_until_mut("the new list is used", || !is_rejected(&send(&call(4, "echo", &new))));
        assert!(is_rejected(&send(&call(5, "echo", &json!({ "text": "a" })))));
    }
}

fn wait_until_mut(condition: &str, mut is_true: impl FnMut() -> bool) {
    let cell = std::cell::RefCell::new(&mut is_true);
    wait_until(condition, || (cell.borrow_mut())());
}

#[test]
fn http_clients_of_a_url_are_validated_against_the_changed_list_per_credential() {
    let remote = Remote::start(true);
    let gateway = Gateway::start_with(&["--url", &remote.upstream.url()], &LISTS_NEVER_EXPIRE);
    remote.settle(&mut |call| by_http(&gateway, "Bearer other", call));
    remote.assert_change_is_noticed(&mut |call| by_http(&gateway, "Bearer mine", call));
    // Each credential has a separate subscription and list.
    let new = call(6, "echo", &json!({ "words": "a" }));
    wait_until("the list of the other credential is refreshed", || {
        !is_rejected(&by_http(&gateway, "Bearer other", &new))
    });
    let all = remote.subscriptions();
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all[0].contains("bearer other") && all[1].contains("bearer mine"), "{all:?}");
    for head in &all {
        assert!(head.contains("mcp-method: subscriptions/listen"), "{head}");
        assert!(head.contains("mcp-protocol-version: 2026-07-28"), "{head}");
    }
    assert_eq!(gateway.end(), 0, "open streams do not block the exit");
}

#[test]
fn stdio_client_is_validated_against_the_changed_list_of_a_url() {
    let remote = Remote::start(true);
    let arguments = ["--grace", "300", "--url", &remote.upstream.url()];
    let mut gateway = crate::support::stdio::Gateway::with_env(&arguments, &LISTS_NEVER_EXPIRE);
    remote.assert_change_is_noticed(&mut |call| by_stdio(&mut gateway, call));
    assert_eq!(remote.subscriptions().len(), 1);
    // The grace period is long: the exit must not wait for the end of the subscription.
    assert_quiet(&gateway.end());
}

#[test]
fn closed_subscription_stream_is_reopened_and_the_list_refreshed() {
    let remote = Remote::start(true);
    let gateway = Gateway::start_with(&["--url", &remote.upstream.url()], &LISTS_NEVER_EXPIRE);
    let mut send = |call: &Value| by_http(&gateway, "a", call);
    remote.settle(&mut send);
    remote.upstream.close_subscriptions();
    // No notification is sent: there is no subscriber.
    remote.has_changed.store(true, Ordering::SeqCst);
    wait_until("the subscription is reopened", || remote.upstream.subscriber_count() == 1);
    let new = json!({ "words": "a" });
    wait_until_mut("the new list is used", || !is_rejected(&send(&call(3, "echo", &new))));
    assert_eq!(remote.subscriptions().len(), 2);
}

#[test]
fn url_without_subscription_support_is_asked_once() {
    let remote = Remote::start(false);
    let gateway = Gateway::start_with(&["--url", &remote.upstream.url()], &LISTS_NEVER_EXPIRE);
    let mut on_stdio = crate::support::stdio::Gateway::with_env(
        &["--url", &remote.upstream.url()],
        &LISTS_NEVER_EXPIRE,
    );
    let call_repeatedly = |send: &mut SendCall<'_>, attempts: usize| {
        send(&call(1, "echo", &json!({ "text": "a" })));
        wait_until("the server is asked", || remote.subscriptions().len() == attempts);
        for id in 2..20 {
            assert!(!is_rejected(&send(&call(id, "echo", &json!({ "text": "a" })))));
        }
        assert_eq!(remote.subscriptions().len(), attempts);
    };
    call_repeatedly(&mut |call| by_http(&gateway, "a", call), 1);
    call_repeatedly(&mut |call| by_stdio(&mut on_stdio, call), 2);
    assert_quiet(&on_stdio.end());
}
