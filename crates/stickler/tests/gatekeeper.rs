//! The gatekeeper learns the tools itself, lets calls wait for them, and serves `toolValidation`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::disallowed_methods,
    reason = "tests are blunt, and read files and start processes"
)]

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use stickler::{
    Code, Event, Gatekeeper, GatekeeperSettings, McpValidator, MessageRule, Outbox, Revision,
    ValidationConfig, ValidationMiddleware,
};

/// A client and a server with a gatekeeper between them, at some second.
struct Link {
    gatekeeper: Gatekeeper,
    now: u64,
}

/// What came out, as JSON.
#[derive(Debug, Default)]
struct Sent {
    client: Vec<Value>,
    server: Vec<Value>,
    events: Vec<Event>,
}

impl Link {
    fn new() -> Self {
        Self::with(|middleware| middleware)
    }

    fn with(begin: impl Fn(ValidationMiddleware) -> ValidationMiddleware) -> Self {
        Self::settled(begin, GatekeeperSettings::default())
    }

    fn settled(
        begin: impl Fn(ValidationMiddleware) -> ValidationMiddleware,
        settings: GatekeeperSettings,
    ) -> Self {
        let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
        let middleware = begin(ValidationMiddleware::new("server", Arc::clone(&validator)));
        Self { gatekeeper: Gatekeeper::new("server", validator, middleware, settings), now: 0 }
    }

    /// After a handshake with a server that has tools.
    fn ready() -> Self {
        let mut link = Self::new();
        link.client(initialize());
        link.server(initialized(json!({ "tools": { "listChanged": true } })));
        link.client(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        link
    }

    /// After the tools are known, too.
    fn informed() -> Self {
        let mut link = Self::ready();
        link.client(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
        link.server(json!({ "jsonrpc": "2.0", "id": 2, "result": { "tools": [stat()] } }));
        link
    }

    fn time(&self) -> Duration {
        Duration::from_secs(self.now)
    }

    fn client(&mut self, message: Value) -> Sent {
        let text = message.to_string();
        sent(self.gatekeeper.from_client(text.as_bytes(), Duration::from_secs(self.now)))
    }

    fn server(&mut self, message: Value) -> Sent {
        let text = message.to_string();
        sent(self.gatekeeper.from_server(text.as_bytes(), Duration::from_secs(self.now)))
    }
}

fn sent(outbox: Outbox<'_>) -> Sent {
    let read = |messages: Vec<std::borrow::Cow<'_, [u8]>>| {
        messages.iter().map(|message| serde_json::from_slice(message).unwrap()).collect()
    };
    Sent { client: read(outbox.to_client), server: read(outbox.to_server), events: outbox.events }
}

fn initialize() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "c", "version": "1" },
    } })
}

fn initialized(capabilities: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "result": {
        "protocolVersion": "2025-11-25",
        "capabilities": capabilities,
        "serverInfo": { "name": "s", "version": "1" },
    } })
}

fn stat() -> Value {
    json!({ "name": "stat", "inputSchema": {
        "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"],
    } })
}

fn call(id: u32, tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

fn list_of(request: &Value, tools: Value) -> Value {
    assert_eq!(request["method"], "tools/list");
    json!({ "jsonrpc": "2.0", "id": request["id"], "result": { "tools": tools } })
}

fn is_help(answer: &Value) -> bool {
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
    answer["result"]["isError"] == true && text.starts_with("Tool call failed for:")
}

#[test]
fn a_call_before_any_list_waits_for_the_list_that_the_gateway_asks_for() {
    let mut link = Link::ready();
    let waiting = link.client(call(7, "stat", json!({ "pth": "a" })));
    assert_eq!((waiting.client.len(), waiting.server.len()), (0, 1));
    let sent = link.server(list_of(&waiting.server[0], json!([stat()])));
    assert!(sent.server.is_empty(), "the bad call does not reach the server");
    assert_eq!(sent.client.len(), 1, "the client sees no answer to a question it did not ask");
    assert!(is_help(&sent.client[0]) && sent.client[0]["id"] == 7);
    // A good one goes straight on from now on.
    let good = call(8, "stat", json!({ "path": "a" }));
    assert_eq!(link.client(good.clone()).server, [good]);
}

#[test]
fn a_call_sent_before_the_handshake_is_over_waits_for_it() {
    let mut link = Link::new();
    link.client(initialize());
    link.client(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let waiting = link.client(call(7, "stat", json!({ "pth": "a" })));
    assert!(waiting.client.is_empty() && waiting.server.is_empty());
    let asked = link.server(initialized(json!({ "tools": {} })));
    assert_eq!((asked.client.len(), asked.server.len()), (1, 1));
    let sent = link.server(list_of(&asked.server[0], json!([stat()])));
    assert!(is_help(&sent.client[0]));
}

#[test]
fn a_handshake_that_nobody_asked_for_here_is_not_waited_for() {
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let fixed = |one: ValidationMiddleware| one.with_revision(Revision::V2025_11_25);
    let joined = |one: ValidationMiddleware| one.in_session("2025-11-25");
    let ways: [&dyn Fn(ValidationMiddleware) -> ValidationMiddleware; 3] =
        [&|one| one, &fixed, &joined];
    for (way, begin) in ways.into_iter().enumerate() {
        let mut link = Link::with(begin);
        link.client(ready.clone());
        let waiting = link.client(call(7, "stat", json!({ "pth": "a" })));
        assert_eq!(waiting.server.len(), 1, "{way}: the tools are asked for at once");
        let sent = link.server(list_of(&waiting.server[0], json!([stat()])));
        assert!(is_help(&sent.client[0]), "{way}: {sent:?}");
    }
}

#[test]
fn a_session_that_was_joined_late_is_read_by_the_version_it_has() {
    let findings = |version: &str, message: &Value| -> Vec<MessageRule> {
        let mut link = Link::with(|one| one.in_session(version));
        let sent = link.client(message.clone());
        let verdicts = sent.events.iter().filter_map(|event| match event {
            Event::Judged { verdict, .. } => Some(verdict),
            _ => None,
        });
        verdicts.flat_map(|verdict| verdict.findings.iter().map(|one| one.rule)).collect()
    };
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let read = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {} });
    let ask = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    for version in ["2025-03-26", "2025-11-25", "2026-07-28", "2031-01-01"] {
        assert_eq!(findings(version, &ready), [], "{version}");
        assert_eq!(findings(version, &ask), [], "{version}");
    }
    assert_eq!(findings("2025-11-25", &read), [MessageRule::BadParams]);
    assert_eq!(findings("2031-01-01", &read), [], "its shapes are not known");
}

#[test]
fn a_server_without_tools_is_not_asked_for_them() {
    let mut link = Link::new();
    link.client(initialize());
    let waiting = link.client(call(7, "stat", json!({})));
    assert!(waiting.server.is_empty());
    let sent = link.server(initialized(json!({})));
    assert_eq!(sent.server, [call(7, "stat", json!({}))]);
    assert_eq!(sent.client, [initialized(json!({}))], "and nothing is announced for it");
}

#[test]
fn all_pages_are_asked_for() {
    let mut link = Link::ready();
    let first = link.client(call(7, "stat", json!({})));
    let mut page = list_of(&first.server[0], json!([{ "name": "a", "inputSchema": {} }]));
    page["result"]["nextCursor"] = "two".into();
    let second = link.server(page);
    assert_eq!(second.server[0]["params"]["cursor"], "two");
    let sent = link.server(list_of(&second.server[0], json!([stat()])));
    assert!(is_help(&sent.client[0]));
}

#[test]
fn an_old_list_is_fetched_again_before_it_refuses() {
    let mut link = Link::informed();
    let at_once = link.client(call(7, "new", json!({})));
    assert_eq!(at_once.client[0]["error"]["code"], -32602, "a list of this second is fresh enough");
    link.now = 60;
    let waiting = link.client(call(8, "new", json!({})));
    assert!(waiting.client.is_empty());
    let tools = json!([stat(), { "name": "new", "inputSchema": { "type": "object" } }]);
    let sent = link.server(list_of(&waiting.server[0], tools));
    assert_eq!(sent.server, [call(8, "new", json!({}))]);
    assert!(sent.client.is_empty());
}

#[test]
fn a_list_that_cannot_be_confirmed_refuses_nothing() {
    let mut link = Link::informed();
    link.now = 60;
    let waiting = link.client(call(8, "stat", json!({ "pth": "a" })));
    let id = &waiting.server[0]["id"];
    let error = json!({ "code": -32603, "message": "not now" });
    let sent = link.server(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    assert_eq!(sent.server, [call(8, "stat", json!({ "pth": "a" }))]);
    assert!(sent.client.is_empty());
    assert!(matches!(&sent.events[0], Event::Degraded { reason } if reason.contains("not now")));
}

#[test]
fn a_call_does_not_wait_for_ever() {
    let mut link = Link::ready();
    link.client(call(7, "stat", json!({ "pth": "a" })));
    let deadline = link.gatekeeper.next_deadline().unwrap();
    assert_eq!(deadline, GatekeeperSettings::default().longest_wait);
    link.now = 6;
    let sent = sent(link.gatekeeper.timeout(link.time()));
    assert_eq!(sent.server, [call(7, "stat", json!({ "pth": "a" }))]);
    assert_eq!(link.gatekeeper.next_deadline(), None);
    // The server is left in peace for a while.
    assert_eq!(link.client(call(8, "stat", json!({}))).server, [call(8, "stat", json!({}))]);
}

#[test]
fn a_list_that_comes_too_late_is_learnt_and_not_passed_on() {
    let mut link = Link::ready();
    let asked = link.client(call(7, "stat", json!({ "pth": "a" }))).server;
    link.now += 6;
    let time = link.time();
    assert_eq!(sent(link.gatekeeper.timeout(time)).server.len(), 1, "the call goes on unchecked");
    let late = link.server(list_of(&asked[0], json!([stat()])));
    assert!(late.client.is_empty() && late.server.is_empty(), "{late:?}");
    let refused = link.client(call(8, "stat", json!({ "pth": "a" })));
    assert!(is_help(&refused.client[0]), "{refused:?}");
}

#[test]
fn a_cancellation_does_not_overtake_the_call_it_is_about() {
    let mut link = Link::ready();
    let waiting = link.client(call(7, "stat", json!({ "path": "a" })));
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } });
    assert!(link.client(cancel.clone()).server.is_empty());
    let sent = link.server(list_of(&waiting.server[0], json!([stat()])));
    assert_eq!(sent.server, [call(7, "stat", json!({ "path": "a" })), cancel]);
}

#[test]
fn after_a_change_the_next_call_is_judged_by_the_new_list() {
    let mut link = Link::informed();
    link.server(json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    let waiting = link.client(call(7, "stat", json!({ "path": "a" })));
    let sent = link.server(list_of(&waiting.server[0], json!([])));
    assert_eq!(sent.client[0]["error"]["message"], "Unknown tool: stat");
}

#[test]
fn the_capability_and_the_tool_are_spliced_in_and_nothing_else_changes() {
    let mut link = Link::new();
    link.client(initialize());
    let reply = br#"{ "jsonrpc":"2.0", "id":1, "result":{"protocolVersion":"2025-11-25", "capabilities":{"tools":{}, "experimental":{"x":1e2}},"serverInfo":{"name":"s","version":"1"}} }"#;
    let outbox = link.gatekeeper.from_server(reply, Duration::ZERO);
    let text = String::from_utf8(outbox.to_client[0].to_vec()).unwrap();
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
    let mut link = Link::informed();
    let ask = |link: &mut Link, id, tool, arguments| {
        let sent = link.client(call(id, tool, arguments));
        assert!(sent.server.is_empty());
        assert_eq!(sent.client.len(), 1);
        sent.client[0]["result"].clone()
    };
    let single = json!({ "tool": "server:stat", "arguments": { "pth": "a" } });
    let answer = ask(&mut link, 3, "stickler_validate", single.clone());
    let structured = &answer["structuredContent"];
    assert_eq!(structured["valid"], false);
    assert_eq!(structured["suggestions"], json!(["path"]));
    assert_eq!(structured["details"]["corrected"]["arguments"], json!({ "path": "a" }));
    assert_eq!(answer["content"][0]["text"], structured.to_string());
    let both = json!({ "calls": [single, { "tool": "stat", "arguments": { "path": "a" } }] });
    let answer = ask(&mut link, 4, "validate", both);
    let valid: Vec<&Value> = answer["structuredContent"]["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["valid"])
        .collect();
    assert_eq!(valid, [false, true]);
    assert!(is_help(
        &json!({ "result": ask(&mut link, 5, "stickler_validate", json!({ "tol": "stat" })) })
    ));
    assert_eq!(ask(&mut link, 6, "stickler_validate", json!({}))["isError"], true);
    assert_eq!(link.gatekeeper.in_flight(), 0);
}

#[test]
fn a_server_that_validates_itself_is_left_to_it() {
    let mut link = Link::new();
    link.client(initialize());
    let own = json!({ "tools": {}, "experimental": { "toolValidation": { "supported": true } } });
    assert_eq!(link.server(initialized(own.clone())).client, [initialized(own)]);
    link.client(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    let tools = json!([{ "name": "validate", "inputSchema": { "type": "object" } }]);
    let list = json!({ "jsonrpc": "2.0", "id": 2, "result": { "tools": tools } });
    assert_eq!(link.server(list.clone()).client, [list]);
    let asked = call(3, "validate", json!({}));
    assert_eq!(link.client(asked.clone()).server, [asked]);
}

/// A server that validates itself, and its tools.
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

fn question(id: u32, path: Value) -> Value {
    call(id, "validate", json!({ "tool": "stat", "arguments": { "path": path } }))
}

fn deep_answer(id: u32) -> Value {
    let report = json!({ "valid": false, "errors": ["there is no such file"] });
    let result = json!({ "content": [], "structuredContent": report });
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

#[test]
fn the_servers_own_validation_is_asked_only_about_what_satisfies_the_schema() {
    let mut link = validating(json!({ "enabled": false }));
    let sent = link.client(question(5, json!(7)));
    assert!(sent.server.is_empty());
    assert_eq!(sent.client[0]["result"]["structuredContent"]["valid"], false);
    let good = question(6, json!("a"));
    assert_eq!(link.client(good.clone()).server, [good]);
    assert_eq!(link.server(deep_answer(6)).client, [deep_answer(6)]);
    let again = question(7, json!("a"));
    assert_eq!(link.client(again.clone()).server, [again], "nothing is kept unless it may be");
}

#[test]
fn deep_answers_are_kept_for_as_long_as_the_server_says() {
    let mut link = validating(json!({ "enabled": true, "ttl": 60 }));
    link.client(question(6, json!("a")));
    link.server(deep_answer(6));
    let sent = link.client(question(7, json!("a")));
    assert!(sent.server.is_empty());
    assert_eq!(sent.client, [deep_answer(7)], "the same answer under the new id");
    assert_eq!(link.client(question(8, json!("b"))).server.len(), 1, "another question");
    link.now += 60;
    assert_eq!(link.client(question(9, json!("a"))).server.len(), 1, "its time is over");
}

#[test]
fn deep_answers_are_forgotten_when_tools_or_resources_change() {
    for method in ["notifications/tools/list_changed", "notifications/resources/updated"] {
        let mut link = validating(json!({ "enabled": true, "ttl": 60 }));
        link.client(question(6, json!("a")));
        link.server(deep_answer(6));
        link.server(
            json!({ "jsonrpc": "2.0", "method": method, "params": { "uri": "file:///a" } }),
        );
        let sent = link.client(question(7, json!("a")));
        assert!(sent.client.is_empty(), "{method}");
        assert_eq!(sent.server.len(), 1, "{method}");
    }
}

#[test]
fn own_answers_follow_the_list() {
    let mut link = Link::informed();
    let ask = |id| call(id, "stickler_validate", json!({ "tool": "stat", "arguments": {} }));
    for id in [5, 6] {
        let sent = link.client(ask(id));
        assert_eq!(sent.client[0]["id"], id);
        assert_eq!(sent.client[0]["result"]["structuredContent"]["valid"], false);
    }
    link.client(json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/list" }));
    let lenient = json!({ "name": "stat", "inputSchema": { "type": "object" } });
    link.server(json!({ "jsonrpc": "2.0", "id": 7, "result": { "tools": [lenient] } }));
    assert_eq!(link.client(ask(8)).client[0]["result"]["structuredContent"]["valid"], true);
}

#[test]
fn when_the_server_goes_everything_that_waits_is_answered_once() {
    let mut link = Link::ready();
    link.client(json!({ "jsonrpc": "2.0", "id": 3, "method": "ping" }));
    link.client(call(7, "stat", json!({})));
    let gone = link.gatekeeper.server_gone(Code::ServerGone, "it exited", link.time());
    let sent = sent(gone);
    let mut ids: Vec<i64> = sent.client.iter().map(|reply| reply["id"].as_i64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [3, 7]);
    assert!(sent.server.is_empty());
}

#[test]
fn the_first_page_of_a_list_is_no_list() {
    let mut link = Link::ready();
    link.client(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    let page = json!({ "tools": [stat()], "nextCursor": "2" });
    link.server(json!({ "jsonrpc": "2.0", "id": 2, "result": page }));
    let waiting = link.client(call(7, "other", json!({})));
    assert!(waiting.client.is_empty(), "{waiting:?}");
    assert_eq!(waiting.server[0]["method"], "tools/list", "all pages are asked for");
}

/// The client is a gatekeeper, too, and asks the same.
#[test]
fn gatekeepers_in_a_row_do_not_take_each_others_answers() {
    let mut settings = GatekeeperSettings::default();
    settings.first_number = 200;
    let mut link = Link::settled(|middleware| middleware, settings);
    link.client(initialize());
    link.server(initialized(json!({ "tools": {} })));
    link.client(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let asked = link.client(call(7, "stat", json!({ "path": "a" }))).server;
    let [ours] = asked.as_slice() else { panic!("the tools are asked for: {asked:?}") };
    let theirs = "stickler:tools:1";
    link.client(json!({ "jsonrpc": "2.0", "id": theirs, "method": "tools/list" }));
    let list = |id: &Value| json!({ "jsonrpc": "2.0", "id": id, "result": { "tools": [stat()] } });
    let sent = link.server(list(&json!(theirs)));
    let told: Vec<&Value> = sent.client.iter().map(|message| &message["id"]).collect();
    assert_eq!(told, [&json!(theirs)], "it is not for us");
    let sent = link.server(list(&ours["id"]));
    assert!(sent.client.is_empty(), "{sent:?}");
}
