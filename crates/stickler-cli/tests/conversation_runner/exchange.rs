//! One HTTP request of the gateway to the server behind a URL, and the response that the script writes.

use std::io::{Result, Write as _};
use std::net::{Shutdown, TcpStream};

use serde_json::Value;

use super::http::Head;

pub(crate) struct Exchange {
    /// The number of the connection.
    pub(crate) connection: usize,
    stream: TcpStream,
    pub(crate) head: Head,
    pub(crate) body: Vec<u8>,
    pub(crate) label: Option<String>,
    state: State,
}

#[derive(PartialEq)]
enum State {
    Waiting,
    Streaming,
    Done,
}

impl Exchange {
    pub(crate) fn new(connection: usize, stream: TcpStream, head: Head, body: Vec<u8>) -> Self {
        Self { connection, stream, head, body, label: None, state: State::Waiting }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.state != State::Done
    }

    pub(crate) fn is_streaming(&self) -> bool {
        self.state == State::Streaming
    }

    fn message(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Returns whether the body is a notification or a response, which is answered with `202` only.
    pub(crate) fn is_one_way(&self) -> bool {
        let message = self.message();
        let has = |name: &str| message.get(name).is_some();
        has("jsonrpc") && !(has("id") && has("method"))
    }

    /// Returns whether the body contains a request with this id.
    pub(crate) fn has_request(&self, id: &Value) -> bool {
        let message = self.message();
        match message.as_array() {
            Some(batch) => batch.iter().any(|one| one.get("id") == Some(id)),
            None => message.get("id") == Some(id),
        }
    }

    /// Sends a response with a `content-length`.
    pub(crate) fn answer(
        &mut self,
        status: u16,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Result<()> {
        self.state = State::Done;
        let mut head = format!("HTTP/1.1 {status} -\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        self.stream.write_all(&[head.as_bytes(), b"\r\n", body].concat())
    }

    /// Sends a message as the response; the response to `initialize` also assigns a session.
    pub(crate) fn answer_message(&mut self, body: &[u8]) -> Result<()> {
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        if self.message()["method"] == "initialize" {
            headers.push(("mcp-session-id".to_owned(), "upstream-session".to_owned()));
        }
        self.answer(200, &headers, body)
    }

    /// Sends an event; opens the stream first if necessary.
    pub(crate) fn event(&mut self, fields: &[(String, String)], data: &[u8]) -> Result<()> {
        let mut event = String::new();
        for (name, value) in fields {
            event.push_str(&format!("{name}: {value}\n"));
        }
        event.push_str(&format!("data: {}\n\n", String::from_utf8_lossy(data)));
        self.write_to_stream(event.as_bytes())
    }

    pub(crate) fn write_to_stream(&mut self, bytes: &[u8]) -> Result<()> {
        if self.state == State::Waiting {
            self.state = State::Streaming;
            let kind = "content-type: text/event-stream\r\ntransfer-encoding: chunked";
            let session = self.message()["method"] == "initialize";
            let session = if session { "mcp-session-id: upstream-session\r\n" } else { "" };
            write!(self.stream, "HTTP/1.1 200 -\r\n{session}{kind}\r\n\r\n")?;
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let chunk = [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat();
        self.stream.write_all(&chunk)
    }

    pub(crate) fn end_stream(&mut self) -> Result<()> {
        self.state = State::Done;
        self.stream.write_all(b"0\r\n\r\n")
    }

    pub(crate) fn drop_connection(&mut self) -> Result<()> {
        self.state = State::Done;
        self.stream.shutdown(Shutdown::Both)
    }
}
