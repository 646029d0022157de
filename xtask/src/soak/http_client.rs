//! Clients over Streamable HTTP: legacy sessions and modern requests.

use std::fmt::Write as _;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use stickler_protocol::frame::{SseFrame, SseFramer};
use stickler_protocol::headers;

use super::calls::{Served, initialize, initialized};
use super::tally::{Requests, Tally};
use crate::random::Random;

/// A response that takes longer is lost.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

/// Size limit of an event.
const MAX_EVENT: usize = 1 << 24;

/// A client of a gateway on a port.
pub(super) struct Client<'c> {
    pub(super) port: u16,
    pub(super) served: Served,
    pub(super) tally: &'c Tally,
    /// The session id.
    session: Option<String>,
    /// The id of the last request. Clients of other sessions use the same ids.
    last_id: u64,
}

/// How a client reads a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    AtOnce,
    Slowly,
    /// The client disconnects.
    Never,
}

struct Response {
    status: u16,
    session: Option<String>,
    messages: Vec<Value>,
    /// The id of the last event, from which the stream can be resumed.
    last_event: Option<String>,
}

/// The bytes of a response, and why there are no more.
#[derive(Debug, Default)]
struct Received {
    bytes: Vec<u8>,
    error: Option<io::Error>,
}

impl Received {
    fn read(mut stream: TcpStream, pause: Duration, is_enough: impl Fn(&[u8]) -> bool) -> Self {
        let mut received = Self::default();
        let mut chunk = vec![0; if pause.is_zero() { 1 << 16 } else { 256 }];
        while !is_enough(&received.bytes) {
            std::thread::sleep(pause);
            match stream.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => received.bytes.extend_from_slice(chunk.get(..read).unwrap_or_default()),
                Err(error) => {
                    received.error = Some(error);
                    break;
                }
            }
        }
        received
    }
}

impl<'c> Client<'c> {
    pub(super) fn new(port: u16, served: Served, tally: &'c Tally) -> Self {
        Self { port, served, tally, session: None, last_id: 0 }
    }

    /// Sends requests of the legacy era in a session.
    pub(super) fn run_session(&mut self, random: &mut Random, seed: u64) {
        Tally::count(&self.tally.clients);
        self.session = self.request(0, None, &initialize(0), Reading::AtOnce);
        if self.session.is_none() {
            // The gateway has no process left for a session.
            return;
        }
        self.post(&initialized(), Reading::AtOnce);
        // A stream that is opened and not read.
        let unread = random.chance(20).then(|| self.send("GET", None, None));
        for _ in 0..=random.below(8) {
            self.burst(random, seed, false);
        }
        drop(unread);
        if random.chance(70) {
            let ended = self.send("DELETE", None, None);
            drop(ended.map(|stream| Received::read(stream, Duration::ZERO, |_| false)));
        }
    }

    /// Sends requests of the modern era.
    pub(super) fn run_modern(&mut self, random: &mut Random, seed: u64) {
        Tally::count(&self.tally.clients);
        for _ in 0..=random.below(8) {
            self.burst(random, seed, true);
        }
    }

    /// Sends several requests at once, each on a connection of its own.
    fn burst(&mut self, random: &mut Random, seed: u64, is_modern: bool) {
        let one_way = |random: &mut Random| match random.below(20) {
            0 => Reading::Never,
            1 => Reading::Slowly,
            _ => Reading::AtOnce,
        };
        let first = self.last_id + 1;
        self.last_id += 1 + random.below(5) as u64;
        let (this, last) = (&*self, self.last_id);
        std::thread::scope(|scope| {
            for id in first..=last {
                let token = format!("<{seed:x}-{:x}-{id}>", random.next());
                let request = self.served.request(random, &token);
                let reading = one_way(random);
                let message = request.message(id, is_modern);
                scope.spawn(move || this.request(id, request.expected, &message, reading));
            }
        });
        std::thread::sleep(Duration::from_millis(random.next() % 40));
    }

    /// Posts a request, resumes its stream if it breaks, counts the messages of the response, and returns the id of a new session.
    fn request(
        &self,
        id: u64,
        expected: Option<String>,
        message: &Value,
        reading: Reading,
    ) -> Option<String> {
        let mut requests = Requests::new(self.tally);
        requests.send(id, expected);
        let received = self.post(message, reading);
        if reading == Reading::Never {
            requests.abandon();
            return None;
        }
        let mut heard = String::from_utf8_lossy(&received.bytes).into_owned();
        let response = parse(&received.bytes);
        if let Some(response) = &response {
            Self::count(&mut requests, id, response);
        }
        let last_event = response.as_ref().and_then(|one| one.last_event.clone());
        if let Some(last_event) = last_event.filter(|_| requests.open() > 0) {
            // The stream ended before the response: the client resumes it.
            let resumed = self.resume(&last_event);
            heard.push_str(", then ");
            heard.push_str(&String::from_utf8_lossy(&resumed.bytes));
            if let Some(response) = parse(&resumed.bytes) {
                Self::count(&mut requests, id, &response);
            }
        }
        let error = received.error;
        requests.finish(&format!(
            "no response over HTTP to {message} in session {:?}, but {error:?} {heard:?}:",
            self.session
        ));
        response?.session
    }

    fn count(requests: &mut Requests<'_>, id: u64, response: &Response) {
        for message in &response.messages {
            let has_no_id = message.get("id").is_none_or(Value::is_null);
            if response.status < 400 || !has_no_id {
                requests.receive(message);
            }
        }
        if response.status >= 400 {
            requests.fail(id);
        }
    }

    fn post(&self, message: &Value, reading: Reading) -> Received {
        let stream = self.send("POST", Some(message), None);
        match (stream, reading) {
            (Ok(_), Reading::Never) => Received::default(),
            (Ok(stream), reading) => {
                let pause = if reading == Reading::Slowly { 50 } else { 0 };
                Received::read(stream, Duration::from_millis(pause), |_| false)
            }
            (Err(error), _) => Received { bytes: Vec::new(), error: Some(error) },
        }
    }

    /// Resumes a stream until it ends or brings a response.
    fn resume(&self, last_event: &str) -> Received {
        match self.send("GET", None, Some(last_event)) {
            Ok(stream) => Received::read(stream, Duration::ZERO, |bytes| {
                let messages = parse(bytes).map(|response| response.messages);
                messages.is_some_and(|all| all.iter().any(|one| one.get("method").is_none()))
            }),
            Err(error) => Received { bytes: Vec::new(), error: Some(error) },
        }
    }

    fn send(
        &self,
        method: &str,
        message: Option<&Value>,
        last_event: Option<&str>,
    ) -> io::Result<TcpStream> {
        let body = message.map(Value::to_string).unwrap_or_default();
        let mut head = format!(
            "{method} /mcp HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nconnection: close\r\n\
             accept: application/json, text/event-stream\r\n",
            self.port
        );
        if let Some(session) = &self.session {
            head.push_str("mcp-protocol-version: 2025-11-25\r\n");
            let _ = write!(head, "mcp-session-id: {session}\r\n");
        } else if body.contains(headers::VERSION_KEY) {
            for (name, value) in headers::for_body(body.as_bytes(), header_schema) {
                let _ = write!(head, "{name}: {value}\r\n");
            }
        }
        if let Some(last_event) = last_event {
            let _ = write!(head, "last-event-id: {last_event}\r\n");
        }
        if message.is_some() {
            head.push_str("content-type: application/json\r\n");
        }
        let _ = write!(head, "content-length: {}\r\n\r\n{body}", body.len());
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(RESPONSE_TIMEOUT))?;
        stream.set_write_timeout(Some(RESPONSE_TIMEOUT))?;
        stream.write_all(head.as_bytes())?;
        Ok(stream)
    }
}

/// The tool of the scripted server that repeats an argument in a header.
fn header_schema(tool: &str) -> Option<Value> {
    let text = json!({ "type": "string", "x-mcp-header": "Text" });
    (tool == "region").then(|| json!({ "type": "object", "properties": { "text": text } }))
}

/// Parses a complete response: JSON or events. One that was cut off has no messages.
fn parse(bytes: &[u8]) -> Option<Response> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = str::from_utf8(bytes.get(..end)?).ok()?;
    let body = bytes.get(end + 4..)?;
    let header = |name: &str| {
        let lines = head.lines().filter_map(|line| line.split_once(':'));
        let mut found = lines.filter(|(key, _)| key.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.trim().to_owned())
    };
    let body = match header("transfer-encoding") {
        Some(_) => dechunk(body),
        None => body.to_vec(),
    };
    let is_stream = header("content-type").is_some_and(|kind| kind.contains("event-stream"));
    let (messages, last_event) = if is_stream {
        events(&body)
    } else {
        (serde_json::from_slice(&body).into_iter().collect(), None)
    };
    let status = head.split_whitespace().nth(1)?.parse().ok()?;
    Some(Response { status, session: header("mcp-session-id"), messages, last_event })
}

/// Returns the messages of a stream, and the id of its last event.
fn events(body: &[u8]) -> (Vec<Value>, Option<String>) {
    let mut framer = SseFramer::new(MAX_EVENT);
    framer.push(body);
    let (mut messages, mut last_event) = (Vec::new(), None);
    while let Some(frame) = framer.next_frame() {
        if let SseFrame::Event(event) = frame {
            last_event = event.id.or(last_event);
            let data = event.data.filter(|data| !data.is_empty());
            messages.extend(data.map(|data| serde_json::from_slice(&data).unwrap_or_default()));
        }
    }
    (messages, last_event)
}

fn dechunk(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = body.windows(2).position(|window| window == b"\r\n") {
        let length = body
            .get(..end)
            .and_then(|text| str::from_utf8(text).ok())
            .map(|text| usize::from_str_radix(text, 16));
        let Some(Ok(length)) = length else { break };
        let Some(chunk) = body.get(end + 2..end + 2 + length).filter(|chunk| !chunk.is_empty())
        else {
            break;
        };
        whole.extend_from_slice(chunk);
        body = body.get(end + 4 + length..).unwrap_or_default();
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::parse;
    use serde_json::json;

    #[test]
    fn responses_are_parsed_as_json_and_as_events() {
        let text = b"HTTP/1.1 200 OK\r\nMcp-Session-Id: x\r\ncontent-length: 8\r\n\r\n{\"id\":1}";
        let response = parse(text).unwrap();
        assert_eq!((response.status, response.session.as_deref()), (200, Some("x")));
        assert_eq!(response.messages, [json!({ "id": 1 })]);
        let text = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n\
            10\r\ndata: {\"id\":1}\n\n\r\n10\r\ndata: {\"id\":2}\n\n\r\n0\r\n\r\n";
        assert_eq!(parse(text).unwrap().messages, [json!({ "id": 1 }), json!({ "id": 2 })]);
        assert!(parse(b"HTTP/1.1 200 OK\r\n").is_none());
    }
}
