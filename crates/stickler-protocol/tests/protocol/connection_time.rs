//! Time-dependent behaviour of the connection: request timeouts, calls that are not held, and a
//! replaced server.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use stickler::{Code, McpValidator, ValidationConfig};
use stickler_protocol::{Actions, Connection, ConnectionSettings, Side};

struct Link {
    connection: Connection,
    now: Duration,
}

impl Link {
    fn with(change: impl FnOnce(&mut ConnectionSettings)) -> Self {
        let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
        let mut settings = ConnectionSettings::default();
        change(&mut settings);
        let connection = Connection::new("server", validator, settings);
        let mut link = Self { connection, now: Duration::ZERO };
        link.receive(
            Side::Client,
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "c", "version": "1" },
        } }),
        );
        link.receive(
            Side::Server,
            json!({ "jsonrpc": "2.0", "id": 0, "result": {
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "s", "version": "1" },
        } }),
        );
        link.receive(
            Side::Client,
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        );
        link
    }

    /// Passes a message from a side; returns the messages to the client and to the server.
    fn receive(&mut self, side: Side, message: Value) -> (Vec<Value>, Vec<Value>) {
        let message = message.to_string();
        read(&match side {
            Side::Client => self.connection.handle_client(
                message.as_bytes(),
                &stickler_protocol::RequestContext::default(),
                self.now,
            ),
            Side::Server => self.connection.handle_server(message.as_bytes(), self.now),
        })
    }

    fn wait(&mut self, seconds: u64) -> (Vec<Value>, Vec<Value>) {
        self.now += Duration::from_secs(seconds);
        read(&self.connection.handle_timeout(self.now))
    }
}

fn read(actions: &Actions<'_>) -> (Vec<Value>, Vec<Value>) {
    let all = |to: Side| {
        let messages = crate::support::sent::messages(actions, to).into_iter();
        messages.map(|one| serde_json::from_slice(one).unwrap()).collect()
    };
    (all(Side::Client), all(Side::Server))
}

fn ping(id: impl Into<Value>) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": "ping" })
}

fn call(id: u32) -> Value {
    let params = json!({ "name": "stat", "arguments": { "pth": "a" } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

#[test]
fn timed_out_request_is_answered_with_an_error_and_cancelled() {
    let mut link = Link::with(|settings| {
        settings.request_timeout = Some(Duration::from_secs(10));
    });
    link.receive(Side::Client, ping("a"));
    link.now += Duration::from_secs(6);
    link.receive(Side::Client, ping(2));
    assert_eq!(link.connection.poll_timeout(), Some(Duration::from_secs(10)));
    let (client, server) = link.wait(4);
    let message = client[0]["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("[STK-104]"), "{message}");
    assert_eq!((client.len(), &client[0]["id"]), (1, &json!("a")));
    assert_eq!(server[0]["method"], "notifications/cancelled");
    assert_eq!(server[0]["params"]["requestId"], "a");
    assert_eq!(link.connection.poll_timeout(), Some(Duration::from_secs(16)));
    let late = json!({ "jsonrpc": "2.0", "id": "a", "result": {} });
    assert_eq!(link.receive(Side::Server, late).0, [""; 0], "a late response is dropped");
    let answer = json!({ "jsonrpc": "2.0", "id": 2, "result": {} });
    assert_eq!(link.receive(Side::Server, answer).0.len(), 1);
    assert_eq!(link.wait(100), (vec![], vec![]));
    assert_eq!(link.connection.poll_timeout(), None);
}

#[test]
fn request_without_a_timeout_waits_indefinitely() {
    let mut link = Link::with(|_| {});
    link.receive(Side::Client, ping(1));
    assert_eq!(link.connection.poll_timeout(), None);
    assert_eq!(link.wait(1_000_000), (vec![], vec![]));
}

#[test]
fn calls_are_forwarded_during_the_list_request_when_holding_is_disabled() {
    let mut link = Link::with(|settings| settings.hold_calls = false);
    let (client, server) = link.receive(Side::Client, call(1));
    assert_eq!((client.len(), server.len()), (0, 2));
    assert_eq!((&server[0]["id"], &server[1]["method"]), (&json!(1), &json!("tools/list")));
    let tool = json!({ "name": "stat", "inputSchema": {
        "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"],
    } });
    let list = json!({ "jsonrpc": "2.0", "id": server[1]["id"], "result": { "tools": [tool] } });
    link.receive(Side::Server, list);
    let (client, server) = link.receive(Side::Client, call(2));
    assert_eq!((&client[0]["result"]["isError"], server.len()), (&json!(true), 0));
}

#[test]
fn tools_of_a_replaced_server_are_requested_on_the_next_call() {
    let mut link = Link::with(|_| {});
    link.receive(Side::Server, json!({ "jsonrpc": "2.0", "id": "s", "method": "ping" }));
    let outbox = link.connection.server_gone(Code::ServerGone, "it ended", link.now);
    assert_eq!(read(&outbox), (vec![], vec![]));
    link.connection.server_replaced();
    let (_, server) = link.receive(Side::Client, call(1));
    assert_eq!(server[0]["method"], "tools/list");
    let late = json!({ "jsonrpc": "2.0", "id": "s", "result": {} });
    assert_eq!(
        link.receive(Side::Client, late).1,
        [""; 0],
        "the new server did not send this request"
    );
}
