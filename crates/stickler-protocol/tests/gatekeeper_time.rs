//! The gatekeeper and time: requests without an answer, calls that do not wait, a server that is
//! replaced.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    reason = "tests are blunt"
)]

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use stickler::{Code, McpValidator, ValidationConfig};
use stickler_protocol::{Gatekeeper, GatekeeperSettings, Outbox, Side, ValidationMiddleware};

struct Link {
    gatekeeper: Gatekeeper,
    now: Duration,
}

impl Link {
    fn with(change: impl FnOnce(&mut GatekeeperSettings)) -> Self {
        let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
        let middleware = ValidationMiddleware::new("server", Arc::clone(&validator));
        let mut settings = GatekeeperSettings::default();
        change(&mut settings);
        let gatekeeper = Gatekeeper::new("server", validator, middleware, settings);
        let mut link = Self { gatekeeper, now: Duration::ZERO };
        link.say(
            Side::Client,
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "c", "version": "1" },
        } }),
        );
        link.say(
            Side::Server,
            json!({ "jsonrpc": "2.0", "id": 0, "result": {
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "s", "version": "1" },
        } }),
        );
        link.say(Side::Client, json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        link
    }

    /// What goes to the client, and what to the server.
    fn say(&mut self, side: Side, message: Value) -> (Vec<Value>, Vec<Value>) {
        let message = message.to_string();
        read(&match side {
            Side::Client => self.gatekeeper.from_client(message.as_bytes(), self.now),
            Side::Server => self.gatekeeper.from_server(message.as_bytes(), self.now),
        })
    }

    fn wait(&mut self, seconds: u64) -> (Vec<Value>, Vec<Value>) {
        self.now += Duration::from_secs(seconds);
        read(&self.gatekeeper.timeout(self.now))
    }
}

fn read(outbox: &Outbox<'_>) -> (Vec<Value>, Vec<Value>) {
    let all = |messages: &[std::borrow::Cow<'_, [u8]>]| {
        messages.iter().map(|one| serde_json::from_slice(one).unwrap()).collect()
    };
    (all(&outbox.to_client), all(&outbox.to_server))
}

fn ping(id: impl Into<Value>) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": "ping" })
}

fn call(id: u32) -> Value {
    let params = json!({ "name": "stat", "arguments": { "pth": "a" } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

#[test]
fn a_request_without_an_answer_in_time_gets_an_error_and_is_cancelled() {
    let mut link = Link::with(|settings| {
        settings.request_timeout = Some(Duration::from_secs(10));
    });
    link.say(Side::Client, ping("a"));
    link.now += Duration::from_secs(6);
    link.say(Side::Client, ping(2));
    assert_eq!(link.gatekeeper.next_deadline(), Some(Duration::from_secs(10)));
    let (client, server) = link.wait(4);
    let message = client[0]["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("[STK-104]"), "{message}");
    assert_eq!((client.len(), &client[0]["id"]), (1, &json!("a")));
    assert_eq!(server[0]["method"], "notifications/cancelled");
    assert_eq!(server[0]["params"]["requestId"], "a");
    assert_eq!(link.gatekeeper.next_deadline(), Some(Duration::from_secs(16)));
    let late = json!({ "jsonrpc": "2.0", "id": "a", "result": {} });
    assert_eq!(link.say(Side::Server, late).0, [""; 0], "nothing is answered twice");
    let answer = json!({ "jsonrpc": "2.0", "id": 2, "result": {} });
    assert_eq!(link.say(Side::Server, answer).0.len(), 1);
    assert_eq!(link.wait(100), (vec![], vec![]));
    assert_eq!(link.gatekeeper.next_deadline(), None);
}

#[test]
fn without_a_limit_a_request_waits_for_as_long_as_it_takes() {
    let mut link = Link::with(|_| {});
    link.say(Side::Client, ping(1));
    assert_eq!(link.gatekeeper.next_deadline(), None);
    assert_eq!(link.wait(1_000_000), (vec![], vec![]));
}

#[test]
fn calls_that_need_not_wait_go_on_while_the_tools_are_asked_for() {
    let mut link = Link::with(|settings| settings.holds = false);
    let (client, server) = link.say(Side::Client, call(1));
    assert_eq!((client.len(), server.len()), (0, 2));
    assert_eq!((&server[0]["id"], &server[1]["method"]), (&json!(1), &json!("tools/list")));
    let tool = json!({ "name": "stat", "inputSchema": {
        "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"],
    } });
    let list = json!({ "jsonrpc": "2.0", "id": server[1]["id"], "result": { "tools": [tool] } });
    link.say(Side::Server, list);
    let (client, server) = link.say(Side::Client, call(2));
    assert_eq!((&client[0]["result"]["isError"], server.len()), (&json!(true), 0));
}

#[test]
fn a_server_in_the_place_of_another_is_asked_for_its_tools_at_once() {
    let mut link = Link::with(|_| {});
    link.say(Side::Server, json!({ "jsonrpc": "2.0", "id": "s", "method": "ping" }));
    let outbox = link.gatekeeper.server_gone(Code::ServerGone, "it ended", link.now);
    assert_eq!(read(&outbox), (vec![], vec![]));
    link.gatekeeper.server_replaced();
    let (_, server) = link.say(Side::Client, call(1));
    assert_eq!(server[0]["method"], "tools/list");
    let late = json!({ "jsonrpc": "2.0", "id": "s", "result": {} });
    assert_eq!(link.say(Side::Client, late).1, [""; 0], "nobody asked the new server's client");
}
