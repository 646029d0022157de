//! Event store of sessions in front of a command: broken streams are resumed with `Last-Event-ID`.

use std::time::{Duration, Instant};

use crate::support::http::{
    Gateway, Response, StreamingResponse, call, initialize, scripted_server,
};
use serde_json::{Value, json};

/// A session with the scripted server in the mode `manual-release`.
struct Session {
    gateway: Gateway,
    name: String,
}

impl Session {
    fn open(options: &[&str]) -> Self {
        let server = scripted_server();
        let command = ["--", server.to_str().unwrap(), "--mode", "manual-release"];
        let gateway = Gateway::start(&[options, &command].concat());
        let name = gateway.session();
        Self { gateway, name }
    }

    fn headers(&self) -> [(&str, &str); 2] {
        [("mcp-session-id", &self.name), ("mcp-protocol-version", "2025-11-25")]
    }

    /// Makes a call that accepts no stream, so that its response carries no other messages.
    fn call_without_stream(&self, id: u32, tool: &str, count: u32) {
        let headers = [self.headers().as_slice(), &[("accept", "application/json")]].concat();
        let body = call(id, tool, &json!({ "text": "", "millis": count }));
        let response = self.gateway.post(&headers, &body);
        assert_eq!((response.status, &response.json()["id"]), (200, &json!(id)), "{response:?}");
    }

    /// Starts a call that completes on `release`; returns its stream and the id of the first event.
    fn hold(&self, id: u32) -> (StreamingResponse, String) {
        let mut body: Value =
            serde_json::from_str(&call(id, "hold", &json!({ "text": "held" }))).unwrap();
        body["params"]["_meta"] = json!({ "progressToken": id });
        let mut stream = self.gateway.open("POST", "/mcp", &self.headers(), &body.to_string());
        let (event, message) = next(&mut stream);
        assert_eq!(message["params"]["progressToken"], id);
        (stream, event)
    }

    fn listen(&self, after: Option<&str>) -> StreamingResponse {
        let mut headers = self.headers().to_vec();
        headers.extend(after.map(|id| ("last-event-id", id)));
        self.gateway.open("GET", "/mcp", &headers, "")
    }

    fn replay_after(&self, event: &str) -> Response {
        self.listen(Some(event)).finish()
    }
}

/// Id and message of the next event with data.
fn next(stream: &mut StreamingResponse) -> (String, Value) {
    loop {
        let id = stream.line("id: ").expect("an event with an id");
        let data = stream.line("data:").unwrap();
        if let Some(message) = data.strip_prefix("data: ") {
            return (id["id: ".len()..].to_owned(), serde_json::from_str(message).unwrap());
        }
    }
}

/// The numbers in the next `count` log messages.
fn numbers(stream: &mut StreamingResponse, count: usize) -> Vec<Value> {
    (0..count).map(|_| next(stream).1["params"]["data"].clone()).collect()
}

fn response_ids(response: &Response) -> Vec<Value> {
    assert_eq!(response.header("content-type"), Some("text/event-stream"), "{response:?}");
    response.events().iter().map(|event| event["id"].clone()).collect()
}

#[test]
fn missed_messages_are_replayed_when_the_get_stream_is_resumed() {
    let session = Session::open(&[]);
    let mut stream = session.listen(None);
    session.call_without_stream(1, "burst", 1);
    let (last_event_id, first) = next(&mut stream);
    assert_eq!(first["params"]["data"], 0);
    drop(stream);
    session.call_without_stream(2, "burst", 20);
    let mut stream = session.listen(Some(&last_event_id));
    assert_eq!(stream.status, 200);
    assert_eq!(numbers(&mut stream, 20), (0..20).map(Value::from).collect::<Vec<_>>());
    session.call_without_stream(3, "burst", 2);
    assert_eq!(numbers(&mut stream, 2), [0, 1], "new messages follow without duplicates");
}

#[test]
fn response_is_stored_while_its_stream_is_disconnected() {
    let session = Session::open(&[]);
    let (stream, last_event_id) = session.hold(1);
    drop(stream);
    session.call_without_stream(2, "release", 0);
    let replayed = session.replay_after(&last_event_id);
    assert_eq!(response_ids(&replayed), [1]);
    assert_eq!(replayed.events()[0]["result"]["content"][0]["text"], "held");
    let last = replayed.text();
    let last = last.lines().find_map(|line| line.strip_prefix("id: ")).unwrap();
    assert_eq!(session.replay_after(last).text(), "", "nothing follows the response");
}

#[test]
fn stream_resumed_before_the_response_receives_it() {
    let session = Session::open(&[]);
    let (mut cut, last_event_id) = session.hold(1);
    // The first connection may still be open: the resumed one replaces it.
    let mut stream = session.listen(Some(&last_event_id));
    assert!(cut.ends_without_event(), "the first connection is closed");
    let mut listener = session.listen(None);
    session.call_without_stream(2, "release", 0);
    assert_eq!(next(&mut stream).1["id"], 1);
    assert!(stream.ends_without_event(), "the response ends the stream");
    session.call_without_stream(3, "burst", 1);
    assert_eq!(numbers(&mut listener, 1), [0], "the GET stream has only its own messages");
}

#[test]
fn streams_are_resumed_independently() {
    let session = Session::open(&[]);
    let mut listener = session.listen(None);
    session.call_without_stream(1, "burst", 1);
    let (listener_event, _) = next(&mut listener);
    let (one, last_of_one) = session.hold(11);
    let (other, last_of_other) = session.hold(12);
    drop((listener, one, other));
    session.call_without_stream(2, "release", 0);
    session.call_without_stream(3, "release", 0);
    assert_eq!(response_ids(&session.replay_after(&last_of_other)), [12]);
    assert_eq!(response_ids(&session.replay_after(&last_of_one)), [11]);
    session.call_without_stream(4, "burst", 1);
    let mut listener = session.listen(Some(&listener_event));
    assert_eq!(numbers(&mut listener, 1), [0]);
}

#[test]
fn unknown_event_ids_and_ids_of_another_session_are_rejected() {
    let session = Session::open(&[]);
    let (_stream, last_event_id) = session.hold(1);
    let other = session.gateway.session();
    let stream = &last_event_id[..last_event_id.rfind('-').unwrap()];
    let unknown = [format!("{stream}-99"), format!("{stream}9-0"), "7".to_owned(), String::new()];
    let attempts = unknown.iter().map(|id| (session.name.as_str(), id.as_str()));
    for (name, id) in attempts.chain([(other.as_str(), last_event_id.as_str())]) {
        let headers = [("mcp-session-id", name), ("last-event-id", id)];
        let response = session.gateway.open("GET", "/mcp", &headers, "").finish();
        assert_eq!(response.status, 400, "{id:?}: {response:?}");
        assert!(
            response.text().contains("`Last-Event-ID` is not the id of a stored event"),
            "{}",
            response.text()
        );
    }
    let headers = [("mcp-session-id", "unknown"), ("last-event-id", last_event_id.as_str())];
    assert_eq!(session.gateway.open("GET", "/mcp", &headers, "").finish().status, 404);
}

#[test]
fn event_store_keeps_the_last_256_messages() {
    let session = Session::open(&[]);
    let mut stream = session.listen(None);
    session.call_without_stream(1, "burst", 1);
    let (last_event_id, _) = next(&mut stream);
    drop(stream);
    session.call_without_stream(2, "burst", 3000);
    // The server responds to this call after all log messages.
    session.call_without_stream(3, "echo", 0);
    let mut stream = session.listen(Some(&last_event_id));
    let kept = numbers(&mut stream, 256);
    assert_eq!(kept, (3000 - 256..3000).map(Value::from).collect::<Vec<_>>());
}

#[test]
fn stream_without_messages_can_be_resumed() {
    let session = Session::open(&["--keep-alive", "1"]);
    let body = call(1, "hold", &json!({ "text": "" }));
    let mut stream = session.gateway.open("POST", "/mcp", &session.headers(), &body);
    let last_event_id = stream.line("id: ").unwrap();
    assert_eq!(stream.line("data:").as_deref(), Some("data:"));
    drop(stream);
    session.call_without_stream(2, "release", 0);
    assert_eq!(response_ids(&session.replay_after(&last_event_id["id: ".len()..])), [1]);
}

#[test]
fn stream_begins_with_an_event_id_to_resume_from() {
    let session = Session::open(&[]);
    let mut body: Value =
        serde_json::from_str(&call(1, "hold", &json!({ "text": "held" }))).unwrap();
    body["params"]["_meta"] = json!({ "progressToken": 1 });
    let body = body.to_string();
    let mut stream = session.gateway.open("POST", "/mcp", &session.headers(), &body);
    let last_event_id = stream.line("id: ").unwrap();
    assert_eq!(stream.line("data:").as_deref(), Some("data:"));
    drop(stream);
    session.call_without_stream(2, "release", 0);
    let replayed = session.replay_after(&last_event_id["id: ".len()..]);
    assert_eq!(replayed.events()[0]["params"]["progressToken"], 1, "{replayed:?}");
    assert_eq!(replayed.events().last().unwrap()["id"], 1);
}

#[test]
fn older_clients_get_no_empty_events() {
    let session = Session::open(&["--keep-alive", "1"]);
    let handshake = initialize().replace("2025-11-25", "2025-06-18");
    let opened = session.gateway.post(&[], &handshake);
    let name = opened.header("mcp-session-id").unwrap();
    let headers = [("mcp-session-id", name), ("mcp-protocol-version", "2025-06-18")];
    let body = call(1, "hold", &json!({ "text": "" }));
    let stream = session.gateway.open("POST", "/mcp", &headers, &body);
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    let release = call(2, "release", &json!({ "text": "" }));
    session.gateway.post(&headers, &release);
    let response = stream.finish();
    assert_eq!(response_ids(&response), [1]);
    let is_empty = |line: &str| line.trim_end() == "data:";
    assert!(!response.text().lines().any(is_empty), "{}", response.text());
}

#[test]
fn abandoned_stream_does_not_keep_its_process() {
    let session = Session::open(&["--idle-timeout", "1"]);
    let (stream, _) = session.hold(1);
    drop(stream);
    let deadline = Instant::now() + Duration::from_secs(20);
    while session.gateway.children() > 0 {
        assert!(Instant::now() < deadline, "the server of the abandoned session is still running");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn cancelled_request_has_nothing_to_replay() {
    let session = Session::open(&[]);
    let (stream, last_event_id) = session.hold(1);
    drop(stream);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    assert_eq!(session.gateway.post(&session.headers(), cancel).status, 202);
    assert_eq!(session.replay_after(&last_event_id).text(), "");
}
