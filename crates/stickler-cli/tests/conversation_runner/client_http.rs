//! The client over HTTP: every message is a request on a connection of its own.
//!
//! A step that does not say otherwise gets the headers that a client would send: the session and the version
//! that were agreed, or the headers of a modern request. A notification or response must be answered with `202`.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::{Shutdown, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::net::sockopt::{set_socket_linger, set_tcp_cork};
use serde_json::Value;

use super::compare;
use super::http::Head;
use super::inbox::Inbox;
use super::request::Request;
use super::response::{Came, read_response};
use super::script::Step;
use super::template::{Bindings, bytes_of, fill, visible};

pub(crate) struct HttpClient {
    port: u16,
    inbox: Inbox<(String, Came)>,
    heads: BTreeMap<String, Head>,
    connections: BTreeMap<String, (TcpStream, JoinHandle<()>)>,
    /// Exchanges that the client has left.
    closed: Vec<String>,
    /// How many requests there were.
    count: usize,
    /// The revision that `initialize` agreed on.
    revision: Option<String>,
}

impl HttpClient {
    pub(crate) fn new(port: u16) -> Self {
        let (heads, connections) = (BTreeMap::new(), BTreeMap::new());
        Self {
            port,
            inbox: Inbox::default(),
            heads,
            connections,
            closed: Vec::new(),
            count: 0,
            revision: None,
        }
    }

    pub(crate) fn send(
        &mut self,
        step: &Step,
        bindings: &mut Bindings,
        deadline: Duration,
    ) -> Result<(), String> {
        let options = &step.options;
        if options.has("close") {
            let label = options.label.as_ref().ok_or("a label says what to close")?;
            return self.abort(label);
        }
        let body = bytes_of(&fill(&step.text, bindings)?);
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let request = Request { step, message: &message, body: &body, revision: &self.revision };
        let bytes = request.bytes(self.port, bindings)?;
        let is_one_way = request.method() == "POST"
            && message.is_object()
            && !(message.get("id").is_some() && message.get("method").is_some());
        self.count += 1;
        let label = options.label.clone().unwrap_or_else(|| format!("#{}", self.count));
        let mut connection =
            TcpStream::connect(("127.0.0.1", self.port)).map_err(|error| error.to_string())?;
        if options.has("half-close") {
            // The end must travel with the request, however slow this machine is.
            set_tcp_cork(&connection, true).map_err(|error| error.to_string())?;
        }
        let sent = connection.write_all(&bytes);
        sent.map_err(|error| format!("the gateway does not read: {error}"))?;
        if options.has("half-close") {
            connection.shutdown(Shutdown::Write).map_err(|error| error.to_string())?;
        }
        let reading = connection.try_clone().map_err(|error| error.to_string())?;
        let (inbox, name, as_bytes) = (self.inbox.clone(), label.clone(), options.has("bytes"));
        let reader = std::thread::spawn(move || read_response(&reading, &name, &inbox, as_bytes));
        self.connections.insert(label.clone(), (connection, reader));
        if is_one_way && options.label.is_none() && message.get("jsonrpc").is_some() {
            return self.accepted(&label, deadline);
        }
        if message["method"] == "initialize" {
            // The answer names a new session and its revision.
            bindings.remove("session");
            self.revision = None;
        }
        Ok(())
    }

    /// Resets the connection: unlike its mere end, that cannot be taken for a half-close.
    fn abort(&mut self, label: &str) -> Result<(), String> {
        let (connection, reader) = self.connections.remove(label).ok_or("no such exchange")?;
        set_socket_linger(&connection, Some(Duration::ZERO)).map_err(|error| error.to_string())?;
        // The reader must let go of the connection, too. A connection that has ended is none to shut down.
        let _ = connection.shutdown(Shutdown::Read);
        reader.join().map_err(|_| "the reader failed")?;
        self.closed.push(label.to_owned());
        Ok(())
    }

    /// A message that is not a request has been taken.
    fn accepted(&self, label: &str, deadline: Duration) -> Result<(), String> {
        match self.inbox.take(deadline, |(one, _)| one == label) {
            Some((_, Came::Head(head))) if head.status() == 202 => {
                match self.inbox.take(deadline, |(one, _)| one == label) {
                    Some((_, Came::End)) => Ok(()),
                    _ => Err("an answer of status 202 has a body".to_owned()),
                }
            }
            Some((_, Came::Head(head))) => Err(format!("expected status 202, came {}", head.first)),
            _ => Err("no answer came to a message that is not a request".to_owned()),
        }
    }

    /// The text of the next message; `None` where the step expects none and none came.
    pub(crate) fn receive(
        &mut self,
        step: &Step,
        bindings: &mut Bindings,
        deadline: Duration,
    ) -> Result<Option<String>, String> {
        let options = &step.options;
        let is_ours = |label: &str| options.label.as_deref().is_none_or(|wanted| wanted == label);
        let is_empty = step.text.is_empty() && options.number.is_some() && !options.has("stream");
        let wants_end = options.has("end") || options.has("broken") || is_empty;
        loop {
            let is_next =
                |(label, _): &(String, Came)| is_ours(label) && !self.closed.contains(label);
            let next = self.inbox.take(deadline, is_next);
            let (label, came) = next.ok_or("nothing came")?;
            let text = match came {
                Came::Head(head) => {
                    Self::learn(&head, bindings);
                    self.heads.insert(label.clone(), head);
                    if !options.has("stream") {
                        continue;
                    }
                    self.check_head(&label, step, bindings)?;
                    let is_stream = self.heads[&label].is_stream();
                    return if is_stream {
                        Ok(None)
                    } else {
                        Err(format!("not a stream: {:?}", self.heads[&label]))
                    };
                }
                Came::Event(event) if event.data.is_empty() && !options.has("event") => continue,
                Came::Event(event) => {
                    compare::fields(&event, options, bindings)?;
                    event.data.into_bytes()
                }
                Came::Body(body) => body,
                Came::End if wants_end && !options.has("broken") => {
                    self.check_head(&label, step, bindings)?;
                    return Ok(None);
                }
                Came::End if options.label.is_none() => continue,
                Came::End => return Err("the answer ended".to_owned()),
                Came::Broken if options.has("broken") => return Ok(None),
                Came::Broken => return Err("the response was interrupted".to_owned()),
            };
            self.check_head(&label, step, bindings)?;
            if wants_end {
                return Err(format!("a message came: {}", visible(&text)));
            }
            self.learn_revision(&text);
            return Ok(Some(visible(&text)));
        }
    }

    fn check_head(&self, label: &str, step: &Step, bindings: &mut Bindings) -> Result<(), String> {
        let head = self.heads.get(label).ok_or("no head came")?;
        let is_bare = step.options.number.is_none() && step.options.has("end");
        let expected = step.options.number.unwrap_or(200);
        if head.status() != expected && !is_bare {
            return Err(format!("expected status {expected}, came {}", head.first));
        }
        if step.options.has("event") {
            return Ok(());
        }
        compare::headers(head, &step.options, bindings)
    }

    fn learn(head: &Head, bindings: &mut Bindings) {
        if let Some(session) = head.header("mcp-session-id") {
            bindings.entry("session".to_owned()).or_insert_with(|| session.to_owned());
        }
    }

    fn learn_revision(&mut self, text: &[u8]) {
        let message: Value = serde_json::from_slice(text).unwrap_or_default();
        let revision = message["result"]["protocolVersion"].as_str().map(str::to_owned);
        self.revision = revision.or_else(|| self.revision.take());
    }

    pub(crate) fn rest(&self) -> Vec<String> {
        self.inbox.rest(|(label, came)| match came {
            _ if self.closed.contains(label) => None,
            Came::Body(body) => Some(format!("({label}) {}", visible(body))),
            Came::Event(event) if !event.data.is_empty() => {
                Some(format!("({label}) {}", event.data))
            }
            Came::Head(head) if head.status() >= 300 => Some(format!("({label}) {}", head.first)),
            _ => None,
        })
    }
}
