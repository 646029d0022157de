//! The gateway's subscription to tool list changes of a modern server.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use stickler::{Code, McpValidator, ValidationConfig};
use stickler_protocol::{Action, Actions, Connection, ConnectionSettings, Event, Purpose, Side};

const NOW: Duration = Duration::from_secs(1);

/// A connection between a modern client and server with a long maximum list age.
struct Link {
    connection: Connection,
    events: Vec<Event>,
    purposes: Vec<Purpose>,
}

impl Link {
    fn new() -> Self {
        let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
        let mut settings = ConnectionSettings::default();
        settings.subscribe = true;
        settings.max_list_age = Duration::from_secs(3600);
        settings.request_timeout = Some(Duration::from_secs(60));
        let connection = Connection::new("server", validator, settings);
        Self { connection, events: Vec::new(), purposes: Vec::new() }
    }

    /// Passes a client message; returns the messages to the client and to the server.
    fn client(&mut self, message: Value) -> (Vec<Value>, Vec<Value>) {
        let text = message.to_string();
        let outbox = self.connection.handle_client(
            text.as_bytes(),
            &stickler_protocol::RequestContext::default(),
            NOW,
        );
        read(&outbox)
    }

    fn server(&mut self, message: Value) -> (Vec<Value>, Vec<Value>) {
        let text = message.to_string();
        let outbox = self.connection.handle_server(text.as_bytes(), NOW);
        self.events.extend(crate::support::sent::events(&outbox));
        self.purposes.extend(outbox.iter().filter_map(|action| match action {
            Action::Request { purpose, .. } => Some(*purpose),
            _ => None,
        }));
        read(&outbox)
    }

    /// Sends the server's response to a gateway request; returns the next messages to the server.
    fn answer(&mut self, request: &Value, result: Value) -> Vec<Value> {
        let (client, server) =
            self.server(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }));
        assert!(client.is_empty(), "the client receives nothing: {client:?}");
        server
    }

    /// Sends a notification on the gateway's subscription.
    fn notify(&mut self, listen: &Value, method: &str, params: Value) {
        let mut params = params;
        params["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": listen["id"] });
        let (client, server) =
            self.server(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
        assert!(client.is_empty() && server.is_empty(), "{client:?} {server:?}");
    }

    fn acknowledge(&mut self, listen: &Value) {
        let granted = json!({ "notifications": { "toolsListChanged": true } });
        self.notify(listen, "notifications/subscriptions/acknowledged", granted);
    }

    /// A connection after a first call and its list request; also returns the next gateway request.
    fn with_known_tools() -> (Self, Value) {
        let mut link = Self::new();
        let (_, requests) = link.client(call(1, json!({ "path": "a" })));
        let sent = link.answer(&requests[0], list("path"));
        assert_eq!(sent.len(), 2, "{sent:?}");
        assert_eq!(sent[0], call(1, json!({ "path": "a" })), "the call is sent first");
        (link, sent[1].clone())
    }

    /// A connection with an acknowledged subscription and a refreshed list.
    fn subscribed() -> (Self, Value) {
        let (mut link, discover) = Self::with_known_tools();
        assert_eq!(discover["method"], "server/discover");
        let listen = link.answer(&discover, capabilities(true)).remove(0);
        link.acknowledge(&listen);
        let (_, requests) = link.client(call(2, json!({ "path": "a" })));
        let sent = link.answer(&requests[0], list("path"));
        assert_eq!(sent, [call(2, json!({ "path": "a" }))], "no gateway request is repeated");
        (link, listen)
    }
}

fn read(actions: &Actions<'_>) -> (Vec<Value>, Vec<Value>) {
    let all = |to: Side| {
        let messages = crate::support::sent::messages(actions, to).into_iter();
        messages.map(|message| serde_json::from_slice(message).unwrap()).collect()
    };
    (all(Side::Client), all(Side::Server))
}

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

fn call(id: u32, arguments: Value) -> Value {
    let params = json!({ "name": "stat", "arguments": arguments, "_meta": meta() });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

fn list(field: &str) -> Value {
    let schema = json!({
        "type": "object", "properties": { field: { "type": "string" } }, "required": [field],
    });
    json!({ "resultType": "complete", "ttlMs": 3_600_000, "cacheScope": "public",
            "tools": [{ "name": "stat", "inputSchema": schema }] })
}

fn capabilities(list_changed: bool) -> Value {
    json!({ "resultType": "complete", "ttlMs": 1, "cacheScope": "public",
            "supportedVersions": ["2026-07-28"],
            "capabilities": { "tools": { "listChanged": list_changed } } })
}

#[test]
fn subscription_requests_only_tool_list_changes() {
    let (link, listen) = Link::subscribed();
    assert_eq!(link.purposes, [Purpose::Discover, Purpose::Subscribe]);
    assert_eq!(listen["method"], "subscriptions/listen");
    assert_eq!(listen["params"]["notifications"], json!({ "toolsListChanged": true }));
    let meta = &listen["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({}));
}

#[test]
fn next_call_after_list_changed_is_validated_against_the_new_list() {
    let (mut link, listen) = Link::subscribed();
    let (rejected, forwarded) = link.client(call(3, json!({ "file": "a" })));
    assert!(
        rejected[0]["result"]["isError"] == true && forwarded.is_empty(),
        "the current list is used"
    );
    link.notify(&listen, "notifications/tools/list_changed", json!({}));
    let (answered, requests) = link.client(call(4, json!({ "file": "a" })));
    assert!(
        answered.is_empty() && requests[0]["method"] == "tools/list",
        "{answered:?} {requests:?}"
    );
    let sent = link.answer(&requests[0], list("file"));
    assert_eq!(sent, [call(4, json!({ "file": "a" }))]);
    let (rejected, _) = link.client(call(5, json!({ "path": "a" })));
    assert_eq!(rejected[0]["result"]["isError"], true);
}

#[test]
fn list_changed_during_a_refresh_triggers_another_refresh() {
    let (mut link, listen) = Link::subscribed();
    link.notify(&listen, "notifications/tools/list_changed", json!({}));
    let (_, requests) = link.client(call(3, json!({ "file": "a" })));
    link.notify(&listen, "notifications/tools/list_changed", json!({}));
    let again = link.answer(&requests[0], list("path"));
    assert_eq!((again.len(), &again[0]["method"]), (1, &json!("tools/list")), "{again:?}");
    // A server that changes its tools continuously does not block the call.
    link.notify(&listen, "notifications/tools/list_changed", json!({}));
    assert_eq!(link.answer(&again[0], list("path")), [call(3, json!({ "file": "a" }))]);
}

#[test]
fn cached_validation_results_are_dropped_after_list_changed() {
    let (mut link, listen) = Link::subscribed();
    let validate = |id| {
        let mut validate = call(id, json!({ "tool": "stat", "arguments": { "file": "a" } }));
        validate["params"]["name"] = "stickler_validate".into();
        validate
    };
    let (answered, _) = link.client(validate(3));
    assert_eq!(answered[0]["result"]["structuredContent"]["valid"], false);
    link.notify(&listen, "notifications/tools/list_changed", json!({}));
    let (_, requests) = link.client(validate(4));
    let text = json!({ "jsonrpc": "2.0", "id": requests[0]["id"], "result": list("file") });
    let (answered, _) = link.server(text);
    assert_eq!(answered[0]["id"], 4);
    assert_eq!(answered[0]["result"]["structuredContent"]["valid"], true);
}

#[test]
fn rejected_subscription_is_not_retried() {
    let (mut link, discover) = Link::with_known_tools();
    let listen = link.answer(&discover, capabilities(true)).remove(0);
    assert!(link.connection.has_subscription());
    let error = json!({ "code": -32601, "message": "Method not found" });
    let rejection = json!({ "jsonrpc": "2.0", "id": listen["id"], "error": error });
    assert_eq!(link.server(rejection), (Vec::new(), Vec::new()));
    assert!(!link.connection.has_subscription());
    link.client(json!({ "jsonrpc": "2.0", "id": 8, "method": "tools/list",
                        "params": { "_meta": meta() } }));
    let (client, server) =
        link.server(json!({ "jsonrpc": "2.0", "id": 8, "result": list("path") }));
    assert!(client.len() == 1 && server.is_empty(), "{server:?}");
    let subscriptions = link.events.iter().filter(|one| matches!(one, Event::Subscription { .. }));
    assert_eq!(subscriptions.count(), 1);
    // A replaced server is discovered again.
    link.connection.server_gone(Code::ServerGone, "it exited", NOW);
    link.connection.server_replaced();
    let (_, requests) = link.client(call(9, json!({ "path": "a" })));
    let sent = link.answer(&requests[0], list("path"));
    assert_eq!(sent[1]["method"], "server/discover", "{sent:?}");
    assert_ne!(sent[1]["id"], discover["id"]);
}

#[test]
fn subscription_is_not_requested_without_the_capability() {
    let (mut link, discover) = Link::with_known_tools();
    assert!(link.answer(&discover, capabilities(false)).is_empty());
    let (mut link, discover) = Link::with_known_tools();
    let error = json!({ "code": -32601, "message": "Method not found" });
    let rejection = json!({ "jsonrpc": "2.0", "id": discover["id"], "error": error });
    assert_eq!(link.server(rejection), (Vec::new(), Vec::new()));
    // The capabilities from a client's own `server/discover` request are used as well.
    for list_changed in [true, false] {
        let mut link = Link::new();
        link.client(json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover",
                            "params": { "_meta": meta() } }));
        link.server(json!({ "jsonrpc": "2.0", "id": 1, "result": capabilities(list_changed) }));
        let (_, requests) = link.client(call(2, json!({ "path": "a" })));
        let sent = link.answer(&requests[0], list("path"));
        let methods: Vec<&Value> = sent.iter().map(|one| &one["method"]).collect();
        let expected: &[&str] =
            if list_changed { &["tools/call", "subscriptions/listen"] } else { &["tools/call"] };
        assert_eq!(methods, expected);
    }
}

#[test]
fn gateway_subscription_is_not_a_pending_request() {
    let (mut link, listen) = Link::with_known_tools();
    link.server(json!({ "jsonrpc": "2.0", "id": 1, "result":
        { "resultType": "complete", "content": [] } }));
    assert_eq!(link.connection.pending_requests(), 0);
    let later = link.connection.handle_timeout(Duration::from_secs(1000));
    assert!(later.is_empty(), "no timeout for {listen}");
    let gone = link.connection.server_gone(Code::ServerGone, "it exited", NOW);
    assert!(gone.is_empty());
}

#[test]
fn end_of_the_gateway_subscription_is_hidden_and_client_subscriptions_are_forwarded() {
    let (mut link, listen) = Link::subscribed();
    let listen_request = json!({ "jsonrpc": "2.0", "id": "mine", "method": "subscriptions/listen",
        "params": { "_meta": meta(), "notifications": { "toolsListChanged": true } } });
    assert_eq!(link.client(listen_request.clone()).1, [listen_request]);
    let change = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed",
        "params": { "_meta": { "io.modelcontextprotocol/subscriptionId": "mine" } } });
    assert_eq!(link.server(change.clone()).0, [change]);
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": listen["id"] } });
    assert_eq!(link.server(cancel), (Vec::new(), Vec::new()));
    let end = json!({ "resultType": "complete",
        "_meta": { "io.modelcontextprotocol/subscriptionId": listen["id"] } });
    assert!(link.answer(&listen, end).is_empty());
}

#[test]
fn legacy_revisions_have_no_subscriptions() {
    let mut link = Link::new();
    link.client(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "c", "version": "1" } } }));
    link.server(json!({ "jsonrpc": "2.0", "id": 0, "result": {
        "protocolVersion": "2025-11-25", "capabilities": { "tools": { "listChanged": true } },
        "serverInfo": { "name": "s", "version": "1" } } }));
    link.client(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let mut old = call(1, json!({ "path": "a" }));
    old["params"].as_object_mut().unwrap().remove("_meta");
    let (_, requests) = link.client(old.clone());
    assert_eq!(link.answer(&requests[0], list("path")), [old]);
}
