//! The gatekeeper's own subscription to changes of a modern server's tools.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    reason = "tests are blunt"
)]

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use stickler::{Code, McpValidator, ValidationConfig};
use stickler_protocol::{
    Event, Gatekeeper, GatekeeperSettings, ValidationMiddleware, is_own_subscription,
};

const NOW: Duration = Duration::from_secs(1);

/// A modern client and server with a gatekeeper between them that trusts a list for a long time.
struct Link {
    gatekeeper: Gatekeeper,
    events: Vec<Event>,
}

impl Link {
    fn new() -> Self {
        let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
        let middleware = ValidationMiddleware::new("server", Arc::clone(&validator));
        let mut settings = GatekeeperSettings::default();
        settings.subscribes = true;
        settings.fresh_enough = Duration::from_secs(3600);
        settings.request_timeout = Some(Duration::from_secs(60));
        let gatekeeper = Gatekeeper::new("server", validator, middleware, settings);
        Self { gatekeeper, events: Vec::new() }
    }

    /// What goes to the client, and what to the server.
    fn client(&mut self, message: Value) -> (Vec<Value>, Vec<Value>) {
        let text = message.to_string();
        let outbox = self.gatekeeper.from_client(text.as_bytes(), NOW);
        (read(&outbox.to_client), read(&outbox.to_server))
    }

    fn server(&mut self, message: Value) -> (Vec<Value>, Vec<Value>) {
        let text = message.to_string();
        let outbox = self.gatekeeper.from_server(text.as_bytes(), NOW);
        self.events.extend(outbox.events);
        (read(&outbox.to_client), read(&outbox.to_server))
    }

    /// The server's answer to something that the gatekeeper asked: what it sends next.
    fn answer(&mut self, request: &Value, result: Value) -> Vec<Value> {
        let (client, server) =
            self.server(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }));
        assert!(client.is_empty(), "the client sees nothing of it: {client:?}");
        server
    }

    /// A notification on the gatekeeper's own subscription.
    fn tell(&mut self, listen: &Value, method: &str, params: Value) {
        let mut params = params;
        params["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": listen["id"] });
        let (client, server) =
            self.server(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
        assert!(client.is_empty() && server.is_empty(), "{client:?} {server:?}");
    }

    fn acknowledge(&mut self, listen: &Value) {
        let granted = json!({ "notifications": { "toolsListChanged": true } });
        self.tell(listen, "notifications/subscriptions/acknowledged", granted);
    }

    /// After a first call, whose tools the gatekeeper has learnt: what it has asked since.
    fn informed() -> (Self, Value) {
        let mut link = Self::new();
        let (_, asked) = link.client(call(1, json!({ "path": "a" })));
        let sent = link.answer(&asked[0], list("path"));
        assert_eq!(sent.len(), 2, "{sent:?}");
        assert_eq!(sent[0], call(1, json!({ "path": "a" })), "the call goes first");
        (link, sent[1].clone())
    }

    /// After the server has acknowledged the subscription, and the list was fetched once more.
    fn subscribed() -> (Self, Value) {
        let (mut link, discover) = Self::informed();
        assert_eq!(discover["method"], "server/discover");
        let listen = link.answer(&discover, capabilities(true)).remove(0);
        link.acknowledge(&listen);
        let (_, asked) = link.client(call(2, json!({ "path": "a" })));
        let sent = link.answer(&asked[0], list("path"));
        assert_eq!(sent, [call(2, json!({ "path": "a" }))], "nothing is asked twice");
        (link, listen)
    }
}

fn read(messages: &[std::borrow::Cow<'_, [u8]>]) -> Vec<Value> {
    messages.iter().map(|message| serde_json::from_slice(message).unwrap()).collect()
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

fn capabilities(tells: bool) -> Value {
    json!({ "resultType": "complete", "ttlMs": 1, "cacheScope": "public",
            "supportedVersions": ["2026-07-28"],
            "capabilities": { "tools": { "listChanged": tells } } })
}

#[test]
fn the_subscription_is_what_the_revision_asks_for_and_no_more() {
    let (_, listen) = Link::subscribed();
    assert!(is_own_subscription(listen.to_string().as_bytes()));
    assert_eq!(listen["method"], "subscriptions/listen");
    assert_eq!(listen["params"]["notifications"], json!({ "toolsListChanged": true }));
    let meta = &listen["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({}));
    let of_a_client = listen.to_string().replace("stickler:", "client:");
    assert!(!is_own_subscription(of_a_client.as_bytes()));
}

#[test]
fn after_a_change_the_next_call_is_judged_by_the_new_list() {
    let (mut link, listen) = Link::subscribed();
    let (refused, onward) = link.client(call(3, json!({ "file": "a" })));
    assert!(refused[0]["result"]["isError"] == true && onward.is_empty(), "by the list it has");
    link.tell(&listen, "notifications/tools/list_changed", json!({}));
    let (answered, asked) = link.client(call(4, json!({ "file": "a" })));
    assert!(answered.is_empty() && asked[0]["method"] == "tools/list", "{answered:?} {asked:?}");
    let sent = link.answer(&asked[0], list("file"));
    assert_eq!(sent, [call(4, json!({ "file": "a" }))]);
    let (refused, _) = link.client(call(5, json!({ "path": "a" })));
    assert_eq!(refused[0]["result"]["isError"], true);
}

#[test]
fn a_change_under_way_makes_the_list_old_before_it_is_there() {
    let (mut link, listen) = Link::subscribed();
    link.tell(&listen, "notifications/tools/list_changed", json!({}));
    let (_, asked) = link.client(call(3, json!({ "file": "a" })));
    link.tell(&listen, "notifications/tools/list_changed", json!({}));
    let again = link.answer(&asked[0], list("path"));
    assert_eq!((again.len(), &again[0]["method"]), (1, &json!("tools/list")), "{again:?}");
    // A server whose tools change all the time does not keep a call from being made.
    link.tell(&listen, "notifications/tools/list_changed", json!({}));
    assert_eq!(link.answer(&again[0], list("path")), [call(3, json!({ "file": "a" }))]);
}

#[test]
fn kept_answers_of_the_validation_tool_are_dropped() {
    let (mut link, listen) = Link::subscribed();
    let ask = |id| {
        let mut ask = call(id, json!({ "tool": "stat", "arguments": { "file": "a" } }));
        ask["params"]["name"] = "stickler_validate".into();
        ask
    };
    let (answered, _) = link.client(ask(3));
    assert_eq!(answered[0]["result"]["structuredContent"]["valid"], false);
    link.tell(&listen, "notifications/tools/list_changed", json!({}));
    let (_, asked) = link.client(ask(4));
    let text = json!({ "jsonrpc": "2.0", "id": asked[0]["id"], "result": list("file") });
    let (answered, _) = link.server(text);
    assert_eq!(answered[0]["id"], 4);
    assert_eq!(answered[0]["result"]["structuredContent"]["valid"], true);
}

#[test]
fn a_server_that_refuses_is_not_asked_again() {
    let (mut link, discover) = Link::informed();
    let listen = link.answer(&discover, capabilities(true)).remove(0);
    assert!(link.gatekeeper.wants_subscription());
    let error = json!({ "code": -32601, "message": "Method not found" });
    let refusal = json!({ "jsonrpc": "2.0", "id": listen["id"], "error": error });
    assert_eq!(link.server(refusal), (Vec::new(), Vec::new()));
    assert!(!link.gatekeeper.wants_subscription());
    link.client(json!({ "jsonrpc": "2.0", "id": 8, "method": "tools/list",
                        "params": { "_meta": meta() } }));
    let (client, server) =
        link.server(json!({ "jsonrpc": "2.0", "id": 8, "result": list("path") }));
    assert!(client.len() == 1 && server.is_empty(), "{server:?}");
    let told = link.events.iter().filter(|one| matches!(one, Event::Subscription { .. }));
    assert_eq!(told.count(), 1);
    // Another server may be of another mind.
    link.gatekeeper.server_gone(Code::ServerGone, "it exited", NOW);
    link.gatekeeper.server_replaced();
    let (_, asked) = link.client(call(9, json!({ "path": "a" })));
    let sent = link.answer(&asked[0], list("path"));
    assert_eq!(sent[1]["method"], "server/discover", "{sent:?}");
    assert_ne!(sent[1]["id"], discover["id"]);
}

#[test]
fn a_server_that_does_not_offer_it_is_not_asked_for_it() {
    let (mut link, discover) = Link::informed();
    assert!(link.answer(&discover, capabilities(false)).is_empty());
    let (mut link, discover) = Link::informed();
    let error = json!({ "code": -32601, "message": "Method not found" });
    let refusal = json!({ "jsonrpc": "2.0", "id": discover["id"], "error": error });
    assert_eq!(link.server(refusal), (Vec::new(), Vec::new()));
    // Nor is one whose client has asked what it offers already.
    for tells in [true, false] {
        let mut link = Link::new();
        link.client(json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover",
                            "params": { "_meta": meta() } }));
        link.server(json!({ "jsonrpc": "2.0", "id": 1, "result": capabilities(tells) }));
        let (_, asked) = link.client(call(2, json!({ "path": "a" })));
        let sent = link.answer(&asked[0], list("path"));
        let methods: Vec<&Value> = sent.iter().map(|one| &one["method"]).collect();
        let expected: &[&str] =
            if tells { &["tools/call", "subscriptions/listen"] } else { &["tools/call"] };
        assert_eq!(methods, expected);
    }
}

#[test]
fn nobody_waits_for_it() {
    let (mut link, listen) = Link::informed();
    link.server(json!({ "jsonrpc": "2.0", "id": 1, "result":
        { "resultType": "complete", "content": [] } }));
    assert_eq!(link.gatekeeper.in_flight(), 0);
    let later = link.gatekeeper.timeout(Duration::from_secs(1000));
    assert!(later.to_client.is_empty() && later.to_server.is_empty(), "no timeout for {listen}");
    let gone = link.gatekeeper.server_gone(Code::ServerGone, "it exited", NOW);
    assert!(gone.to_client.is_empty());
}

#[test]
fn its_end_is_for_nobody_else_and_a_clients_own_passes_untouched() {
    let (mut link, listen) = Link::subscribed();
    let own = json!({ "jsonrpc": "2.0", "id": "mine", "method": "subscriptions/listen",
        "params": { "_meta": meta(), "notifications": { "toolsListChanged": true } } });
    assert_eq!(link.client(own.clone()).1, [own]);
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
fn the_legacy_era_has_no_subscriptions() {
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
    let (_, asked) = link.client(old.clone());
    assert_eq!(link.answer(&asked[0], list("path")), [old]);
}
