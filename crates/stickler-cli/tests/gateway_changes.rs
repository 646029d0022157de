//! Modern servers tell only subscribers of changes to their tools: the gateway subscribes, and no
//! client sees anything of it. No list grows old in these tests, so that nothing but a subscription
//! can be why a new one is fetched.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::format_push_string,
    reason = "tests are blunt, and start processes"
)]

mod support {
    pub(crate) mod heard;
    pub(crate) mod http;
    pub(crate) mod stdio;
    pub(crate) mod upstream;
}

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use support::heard::Heard;
use support::http::{Gateway, scripted_server};
use support::stdio::until;
use support::upstream::{Upstream, json_answer, subscribed};

const FOR_LONG: [(&str, &str); 1] = [("STICKLER_FRESH_ENOUGH", "3600")];

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

/// Nothing was left on the wire, and nobody was warned.
fn is_quiet(end: &support::stdio::End) {
    assert_eq!((end.status, end.stdout.as_str()), (0, ""), "{}", end.stderr);
    let is_odd = |line: &&str| line.contains("subscri") || line.contains("when its tools change");
    assert_eq!(end.stderr.lines().find(is_odd), None);
}

fn is_refused(answer: &Value) -> bool {
    answer["result"]["isError"] == true
}

/// A client, wherever it is: gives the one message that answers a call.
type Ask<'a> = dyn FnMut(&Value) -> Value + 'a;

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

fn by_stdio(gateway: &mut support::stdio::Gateway, call: &Value) -> Value {
    gateway.send(call);
    let answer = gateway.receive();
    assert_eq!(answer["id"], call["id"], "the client sees nothing but answers: {answer}");
    answer
}

/// A scripted server changes its tools; what it hears is in its log.
fn a_change_in_a_process_is_heard(ask: &mut Ask<'_>, heard: &Heard) {
    let old = json!({ "text": "a" });
    let first = call(1, "echo", &old);
    assert_eq!(ask(&first)["result"]["content"][0]["text"], "a");
    // Where clients share a process the id is another; nothing else is.
    let received = heard.wait_for("tools/call");
    let id = serde_json::from_str::<Value>(&received).unwrap()["id"].to_string();
    let expected = first.to_string().replace("\"id\":1,", &format!("\"id\":{id},"));
    assert_eq!(received, expected);
    let listen: Value = serde_json::from_str(&heard.wait_for("subscriptions/listen")).unwrap();
    assert_eq!(listen["params"]["notifications"], json!({ "toolsListChanged": true }));
    // On a pipe the answer comes after the acknowledgement, and the next call after both.
    for id in 2..4 {
        assert!(!is_refused(&ask(&call(id, "echo", &old))));
    }
    let new = json!({ "words": "a" });
    assert!(is_refused(&ask(&call(4, "echo", &new))), "by the list that the gateway has");
    let lists = heard.all("tools/list").len();
    assert!(!is_refused(&ask(&call(5, "change", &old))));
    assert!(!is_refused(&ask(&call(6, "echo", &new))), "the next call is judged by the new list");
    assert!(is_refused(&ask(&call(7, "echo", &old))));
    assert_eq!(heard.all("tools/list").len(), lists + 1, "which was asked for once");
    assert_eq!(heard.all("subscriptions/listen").len(), 1);
    assert_eq!(heard.all("server/discover").len(), 1);
}

fn on_stdio(mode: &str, heard: &Heard) -> support::stdio::Gateway {
    let server = scripted_server();
    let log = heard.path();
    let arguments =
        ["--grace", "300", "--", server.to_str().unwrap(), "--mode", mode, "--log", log];
    support::stdio::Gateway::with_env(&arguments, &FOR_LONG)
}

#[test]
fn a_client_on_stdio_is_judged_by_the_new_list_of_a_process() {
    let heard = Heard::new();
    let mut gateway = on_stdio("changing", &heard);
    a_change_in_a_process_is_heard(&mut |call| by_stdio(&mut gateway, call), &heard);
    // The grace is long: nothing waits for the end of the subscription.
    is_quiet(&gateway.end());
}

#[test]
fn clients_over_http_are_judged_by_the_new_list_of_the_process_that_they_share() {
    let (gateway, heard) = Heard::behind_a_gateway_with("changing", &FOR_LONG);
    a_change_in_a_process_is_heard(&mut |call| by_http(&gateway, "a", call), &heard);
    // Whoever is alone with the server hears what names nobody, our own subscription or not.
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
fn a_clients_own_subscription_is_its_own() {
    let (gateway, heard) = Heard::behind_a_gateway_with("changing", &FOR_LONG);
    by_http(&gateway, "a", &call(1, "echo", &json!({ "text": "a" })));
    heard.wait_for("subscriptions/listen");
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
    assert_eq!(last["id"], "mine", "one for each change and no more: {last}");
}

#[test]
fn a_process_that_takes_no_subscriptions_is_asked_once() {
    let ask_often = |ask: &mut Ask<'_>, heard: &Heard| {
        ask(&call(1, "echo", &json!({ "text": "a" })));
        heard.wait_for("subscriptions/listen");
        // A list of the client's own is learnt too, and no reason to ask again.
        for id in 2..5 {
            let mut list = call(id, "echo", &json!({}));
            list["method"] = "tools/list".into();
            list["params"] = json!({ "_meta": meta() });
            assert!(ask(&list)["result"]["tools"].is_array());
            assert!(!is_refused(&ask(&call(id + 10, "echo", &json!({ "text": "a" })))));
        }
        assert_eq!(heard.all("subscriptions/listen").len(), 1);
        assert_eq!(heard.all("server/discover").len(), 1);
    };
    let heard = Heard::new();
    let mut gateway = on_stdio("unwilling", &heard);
    ask_often(&mut |call| by_stdio(&mut gateway, call), &heard);
    is_quiet(&gateway.end());
    let (gateway, heard) = Heard::behind_a_gateway_with("unwilling", &FOR_LONG);
    let mut ask = |call: &Value| match call["method"].as_str() {
        Some("tools/call") => by_http(&gateway, "a", call),
        method => {
            let method = method.unwrap();
            let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
            gateway.post(&headers, &call.to_string()).json()
        }
    };
    ask_often(&mut ask, &heard);
}

/// A server behind a URL whose tool `echo` wants another field once it has changed.
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
                Some("subscriptions/listen") if takes_subscriptions => return subscribed(message),
                _ => {
                    let error = json!({ "code": -32601, "message": "Method not found" });
                    let id = &message["id"];
                    let body = json!({ "jsonrpc": "2.0", "id": id, "error": error });
                    return json_answer(&body);
                }
            };
            result["resultType"] = "complete".into();
            result["ttlMs"] = 3_600_000.into();
            result["cacheScope"] = "private".into();
            json_answer(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
        });
        Self { upstream, has_changed }
    }

    fn change(&self) {
        self.has_changed.store(true, Ordering::SeqCst);
        self.upstream.tell_of_change();
    }

    fn lists(&self) -> usize {
        self.upstream.heads("tools/list").len()
    }

    fn subscriptions(&self) -> Vec<String> {
        self.upstream.heads("subscriptions/listen")
    }

    /// Subscribed, and the list fetched once more because of that.
    fn settle(&self, ask: &mut Ask<'_>) {
        let (lists, subscribers) = (self.lists(), self.upstream.subscribers());
        assert!(!is_refused(&ask(&call(1, "echo", &json!({ "text": "a" })))));
        until("there is a subscriber", || self.upstream.subscribers() > subscribers);
        until_so("the list was fetched again", || {
            assert!(!is_refused(&ask(&call(2, "echo", &json!({ "text": "a" })))));
            self.lists() == lists + 2
        });
    }

    fn a_change_is_heard(&self, ask: &mut Ask<'_>) {
        self.settle(ask);
        let new = json!({ "words": "a" });
        assert!(is_refused(&ask(&call(3, "echo", &new))), "by the list that the gateway has");
        self.change();
        until_so("the new list holds", || !is_refused(&ask(&call(4, "echo", &new))));
        assert!(is_refused(&ask(&call(5, "echo", &json!({ "text": "a" })))));
    }
}

fn until_so(what: &str, mut is_true: impl FnMut() -> bool) {
    let cell = std::cell::RefCell::new(&mut is_true);
    until(what, || (cell.borrow_mut())());
}

#[test]
fn clients_over_http_are_judged_by_the_new_list_of_a_url_each_by_its_own() {
    let remote = Remote::start(true);
    let gateway = Gateway::start_with(&["--url", &remote.upstream.url()], &FOR_LONG);
    remote.settle(&mut |call| by_http(&gateway, "Bearer other", call));
    remote.a_change_is_heard(&mut |call| by_http(&gateway, "Bearer mine", call));
    // What one has heard is not for the other; it has heard of it too.
    let new = call(6, "echo", &json!({ "words": "a" }));
    until("the other's list is new", || !is_refused(&by_http(&gateway, "Bearer other", &new)));
    let all = remote.subscriptions();
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all[0].contains("bearer other") && all[1].contains("bearer mine"), "{all:?}");
    for head in &all {
        assert!(head.contains("mcp-method: subscriptions/listen"), "{head}");
        assert!(head.contains("mcp-protocol-version: 2026-07-28"), "{head}");
    }
    assert_eq!(gateway.end(), 0, "streams that are open keep nobody here");
}

#[test]
fn a_client_on_stdio_is_judged_by_the_new_list_of_a_url() {
    let remote = Remote::start(true);
    let arguments = ["--grace", "300", "--url", &remote.upstream.url()];
    let mut gateway = support::stdio::Gateway::with_env(&arguments, &FOR_LONG);
    remote.a_change_is_heard(&mut |call| by_stdio(&mut gateway, call));
    assert_eq!(remote.subscriptions().len(), 1);
    // The grace is long: nothing waits for the end of the subscription.
    is_quiet(&gateway.end());
}

#[test]
fn a_stream_that_ends_is_opened_again_and_what_happened_meanwhile_is_not_missed() {
    let remote = Remote::start(true);
    let gateway = Gateway::start_with(&["--url", &remote.upstream.url()], &FOR_LONG);
    let mut ask = |call: &Value| by_http(&gateway, "a", call);
    remote.settle(&mut ask);
    remote.upstream.hang_up();
    // Told to nobody: there is no subscriber.
    remote.has_changed.store(true, Ordering::SeqCst);
    until("it is opened again", || remote.upstream.subscribers() == 1);
    let new = json!({ "words": "a" });
    until_so("the new list holds", || !is_refused(&ask(&call(3, "echo", &new))));
    assert_eq!(remote.subscriptions().len(), 2);
}

#[test]
fn a_url_that_takes_no_subscriptions_is_asked_once() {
    let remote = Remote::start(false);
    let gateway = Gateway::start_with(&["--url", &remote.upstream.url()], &FOR_LONG);
    let mut on_stdio =
        support::stdio::Gateway::with_env(&["--url", &remote.upstream.url()], &FOR_LONG);
    let ask_often = |ask: &mut Ask<'_>, asked: usize| {
        ask(&call(1, "echo", &json!({ "text": "a" })));
        until("it is asked", || remote.subscriptions().len() == asked);
        for id in 2..20 {
            assert!(!is_refused(&ask(&call(id, "echo", &json!({ "text": "a" })))));
        }
        assert_eq!(remote.subscriptions().len(), asked);
    };
    ask_often(&mut |call| by_http(&gateway, "a", call), 1);
    ask_often(&mut |call| by_stdio(&mut on_stdio, call), 2);
    is_quiet(&on_stdio.end());
}
