//! Streams of sessions in front of a command: they break off, and are taken up where they did.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::format_push_string,
    reason = "tests are blunt, and start processes"
)]

mod support {
    pub(crate) mod http;
}

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::http::{Answer, Gateway, Open, call, initialize, scripted_server};

/// A session with the server that does as it is told, step by step.
struct Session {
    gateway: Gateway,
    name: String,
}

impl Session {
    fn open(options: &[&str]) -> Self {
        let server = scripted_server();
        let command = ["--", server.to_str().unwrap(), "--mode", "stepwise"];
        let gateway = Gateway::start(&[options, &command].concat());
        let name = gateway.session();
        Self { gateway, name }
    }

    fn headers(&self) -> [(&str, &str); 2] {
        [("mcp-session-id", &self.name), ("mcp-protocol-version", "2025-11-25")]
    }

    /// A call whose client takes no stream, so that nothing else comes with its answer.
    fn quietly(&self, id: u32, tool: &str, count: u32) {
        let headers = [self.headers().as_slice(), &[("accept", "application/json")]].concat();
        let body = call(id, tool, &json!({ "text": "", "millis": count }));
        let answer = self.gateway.post(&headers, &body);
        assert_eq!((answer.status, &answer.json()["id"]), (200, &json!(id)), "{answer:?}");
    }

    /// A call that lasts until it is released; its stream, and the id of the first event.
    fn hold(&self, id: u32) -> (Open, String) {
        let mut body: Value =
            serde_json::from_str(&call(id, "hold", &json!({ "text": "held" }))).unwrap();
        body["params"]["_meta"] = json!({ "progressToken": id });
        let mut stream = self.gateway.open("POST", "/mcp", &self.headers(), &body.to_string());
        let (event, message) = next(&mut stream);
        assert_eq!(message["params"]["progressToken"], id);
        (stream, event)
    }

    fn listen(&self, after: Option<&str>) -> Open {
        let mut headers = self.headers().to_vec();
        headers.extend(after.map(|id| ("last-event-id", id)));
        self.gateway.open("GET", "/mcp", &headers, "")
    }

    fn rest_after(&self, event: &str) -> Answer {
        self.listen(Some(event)).finish()
    }
}

/// The next event with a message: its id and its message.
fn next(stream: &mut Open) -> (String, Value) {
    loop {
        let id = stream.line("id: ").expect("an event with an id");
        let data = stream.line("data:").unwrap();
        if let Some(message) = data.strip_prefix("data: ") {
            return (id["id: ".len()..].to_owned(), serde_json::from_str(message).unwrap());
        }
    }
}

/// The numbers of log messages that come, as many as that.
fn numbers(stream: &mut Open, count: usize) -> Vec<Value> {
    (0..count).map(|_| next(stream).1["params"]["data"].clone()).collect()
}

fn answered(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.header("content-type"), Some("text/event-stream"), "{answer:?}");
    answer.events().iter().map(|event| event["id"].clone()).collect()
}

#[test]
fn what_a_listener_misses_it_gets_when_it_comes_back() {
    let session = Session::open(&[]);
    let mut stream = session.listen(None);
    session.quietly(1, "burst", 1);
    let (seen, first) = next(&mut stream);
    assert_eq!(first["params"]["data"], 0);
    drop(stream);
    session.quietly(2, "burst", 20);
    let mut stream = session.listen(Some(&seen));
    assert_eq!(stream.status, 200);
    assert_eq!(numbers(&mut stream, 20), (0..20).map(Value::from).collect::<Vec<_>>());
    session.quietly(3, "burst", 2);
    assert_eq!(numbers(&mut stream, 2), [0, 1], "nothing twice, and then what is new");
}

#[test]
fn an_answer_that_comes_while_nobody_is_there_is_kept() {
    let session = Session::open(&[]);
    let (stream, seen) = session.hold(1);
    drop(stream);
    session.quietly(2, "release", 0);
    let rest = session.rest_after(&seen);
    assert_eq!(answered(&rest), [1]);
    assert_eq!(rest.events()[0]["result"]["content"][0]["text"], "held");
    let last = rest.text();
    let last = last.lines().find_map(|line| line.strip_prefix("id: ")).unwrap();
    assert_eq!(session.rest_after(last).text(), "", "it has all there is");
}

#[test]
fn a_client_that_comes_back_before_the_answer_waits_for_it() {
    let session = Session::open(&[]);
    let (mut cut, seen) = session.hold(1);
    // The first connection may still be there: the client knows better.
    let mut stream = session.listen(Some(&seen));
    assert!(cut.is_over(), "its place is taken");
    let mut listener = session.listen(None);
    session.quietly(2, "release", 0);
    assert_eq!(next(&mut stream).1["id"], 1);
    assert!(stream.is_over(), "the answer ends it");
    session.quietly(3, "burst", 1);
    assert_eq!(numbers(&mut listener, 1), [0], "the other stream had nothing of it");
}

#[test]
fn each_stream_is_taken_up_for_itself() {
    let session = Session::open(&[]);
    let mut listener = session.listen(None);
    session.quietly(1, "burst", 1);
    let (heard, _) = next(&mut listener);
    let (one, seen_of_one) = session.hold(11);
    let (other, seen_of_other) = session.hold(12);
    drop((listener, one, other));
    session.quietly(2, "release", 0);
    session.quietly(3, "release", 0);
    assert_eq!(answered(&session.rest_after(&seen_of_other)), [12]);
    assert_eq!(answered(&session.rest_after(&seen_of_one)), [11]);
    session.quietly(4, "burst", 1);
    let mut listener = session.listen(Some(&heard));
    assert_eq!(numbers(&mut listener, 1), [0]);
}

#[test]
fn ids_of_another_session_and_of_nobody_are_refused() {
    let session = Session::open(&[]);
    let (_stream, seen) = session.hold(1);
    let other = session.gateway.session();
    let own = &seen[..seen.rfind('-').unwrap()];
    let strange = [format!("{own}-99"), format!("{own}9-0"), "7".to_owned(), String::new()];
    let refused = strange.iter().map(|id| (session.name.as_str(), id.as_str()));
    for (name, id) in refused.chain([(other.as_str(), seen.as_str())]) {
        let headers = [("mcp-session-id", name), ("last-event-id", id)];
        let answer = session.gateway.open("GET", "/mcp", &headers, "").finish();
        assert_eq!(answer.status, 400, "{id:?}: {answer:?}");
        assert!(answer.text().contains("`Last-Event-ID` names no event"), "{}", answer.text());
    }
    let headers = [("mcp-session-id", "nobody"), ("last-event-id", seen.as_str())];
    assert_eq!(session.gateway.open("GET", "/mcp", &headers, "").finish().status, 404);
}

#[test]
fn only_so_much_is_kept() {
    let session = Session::open(&[]);
    let mut stream = session.listen(None);
    session.quietly(1, "burst", 1);
    let (seen, _) = next(&mut stream);
    drop(stream);
    session.quietly(2, "burst", 3000);
    // It is answered when the server has said everything.
    session.quietly(3, "echo", 0);
    let mut stream = session.listen(Some(&seen));
    let kept = numbers(&mut stream, 256);
    assert_eq!(kept, (3000 - 256..3000).map(Value::from).collect::<Vec<_>>());
}

#[test]
fn a_stream_that_has_nothing_to_say_yet_can_be_taken_up_too() {
    let session = Session::open(&["--keep-alive", "1"]);
    let body = call(1, "hold", &json!({ "text": "" }));
    let mut stream = session.gateway.open("POST", "/mcp", &session.headers(), &body);
    let seen = stream.line("id: ").unwrap();
    assert_eq!(stream.line("data:").as_deref(), Some("data:"));
    drop(stream);
    session.quietly(2, "release", 0);
    assert_eq!(answered(&session.rest_after(&seen["id: ".len()..])), [1]);
}

#[test]
fn a_stream_begins_with_a_place_to_come_back_to_whatever_it_has_to_say() {
    let session = Session::open(&[]);
    let mut body: Value =
        serde_json::from_str(&call(1, "hold", &json!({ "text": "held" }))).unwrap();
    body["params"]["_meta"] = json!({ "progressToken": 1 });
    let body = body.to_string();
    let mut stream = session.gateway.open("POST", "/mcp", &session.headers(), &body);
    let seen = stream.line("id: ").unwrap();
    assert_eq!(stream.line("data:").as_deref(), Some("data:"));
    drop(stream);
    session.quietly(2, "release", 0);
    let rest = session.rest_after(&seen["id: ".len()..]);
    assert_eq!(rest.events()[0]["params"]["progressToken"], 1, "{rest:?}");
    assert_eq!(rest.events().last().unwrap()["id"], 1);
}

#[test]
fn older_clients_get_messages_only() {
    let session = Session::open(&["--keep-alive", "1"]);
    let opening = initialize().replace("2025-11-25", "2025-06-18");
    let opened = session.gateway.post(&[], &opening);
    let name = opened.header("mcp-session-id").unwrap();
    let headers = [("mcp-session-id", name), ("mcp-protocol-version", "2025-06-18")];
    let body = call(1, "hold", &json!({ "text": "" }));
    let stream = session.gateway.open("POST", "/mcp", &headers, &body);
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    let release = call(2, "release", &json!({ "text": "" }));
    session.gateway.post(&headers, &release);
    assert_eq!(answered(&stream.finish()), [1]);
}

#[test]
fn a_request_that_nobody_comes_back_for_keeps_no_server() {
    let session = Session::open(&["--idle-timeout", "1"]);
    let (stream, _) = session.hold(1);
    drop(stream);
    let deadline = Instant::now() + Duration::from_secs(20);
    while session.gateway.children() > 0 {
        assert!(Instant::now() < deadline, "the server of a session that was left is still there");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_request_that_was_cancelled_has_no_rest() {
    let session = Session::open(&[]);
    let (stream, seen) = session.hold(1);
    drop(stream);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    assert_eq!(session.gateway.post(&session.headers(), cancel).status, 202);
    assert_eq!(session.rest_after(&seen).text(), "");
}
