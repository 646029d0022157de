//! The HTTP client of a conversation: sends every message as a request on a separate connection.
//!
//! Unless a step sets other headers, a request has those that a client would send: the negotiated session and
//! version, or the headers of a modern request. A notification or response must be answered with `202`.

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
use super::response::{Received, read_response};
use super::script::Step;
use super::template::{Bindings, bytes_of, fill, visible};

pub(crate) struct HttpClient {
    port: u16,
    inbox: Inbox<(String, Received)>,
    heads: BTreeMap<String, Head>,
    connections: BTreeMap<String, (TcpStream, JoinHandle<()>)>,
    /// Labels of the exchanges that the client has aborted.
    aborted: Vec<String>,
    /// Number of requests sent.
    count: usize,
    /// The negotiated revision.
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
            aborted: Vec::new(),
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
            let label = options.label.as_ref().ok_or("`close` requires a label")?;
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
            // Sends the FIN together with the request, however slow the machine is.
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
            return self.expect_accepted(&label, deadline);
        }
        if message["method"] == "initialize" {
            // The response assigns a new session and revision.
            bindings.remove("session");
            self.revision = None;
        }
        Ok(())
    }

    /// Resets the connection; a FIN could be taken for a half-close.
    fn abort(&mut self, label: &str) -> Result<(), String> {
        let (connection, reader) = self.connections.remove(label).ok_or("no such exchange")?;
        set_socket_linger(&connection, Some(Duration::ZERO)).map_err(|error| error.to_string())?;
        // The reader must release its handle, too. The connection may have ended already.
        let _ = connection.shutdown(Shutdown::Read);
        reader.join().map_err(|_| "the reader failed")?;
        self.aborted.push(label.to_owned());
        Ok(())
    }

    /// Waits for status 202, the response to a message that is not a request.
    fn expect_accepted(&self, label: &str, deadline: Duration) -> Result<(), String> {
        match self.inbox.take(deadline, |(one, _)| one == label) {
            Some((_, Received::Head(head))) if head.status() == 202 => {
                match self.inbox.take(deadline, |(one, _)| one == label) {
                    Some((_, Received::End)) => Ok(()),
                    _ => Err("a response with status 202 has a body".to_owned()),
                }
            }
            Some((_, Received::Head(head))) => {
                Err(format!("expected status 202, received {}", head.first))
            }
            _ => Err("no response to a message that is not a request".to_owned()),
        }
    }

    /// Returns the text of the next message; `None` if the step expects no message and there is none.
    pub(crate) fn receive(
        &mut self,
        step: &Step,
        bindings: &mut Bindings,
        deadline: Duration,
    ) -> Result<Option<String>, String> {
        let options = &step.options;
        let has_label = |label: &str| options.label.as_deref().is_none_or(|one| one == label);
        let is_empty = step.text.is_empty() && options.number.is_some() && !options.has("stream");
        let expects_end = options.has("end") || options.has("broken") || is_empty;
        loop {
            let is_next =
                |(label, _): &(String, Received)| has_label(label) && !self.aborted.contains(label);
            let next = self.inbox.take(deadline, is_next);
            let (label, received) = next.ok_or("nothing was received")?;
            let text = match received {
                Received::Head(head) => {
                    Self::store_session(&head, bindings);
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
                Received::Event(event) if event.data.is_empty() && !options.has("event") => {
                    continue;
                }
                Received::Event(event) => {
                    compare::fields(&event, options, bindings)?;
                    event.data.into_bytes()
                }
                Received::Body(body) => body,
                Received::End if expects_end && !options.has("broken") => {
                    self.check_head(&label, step, bindings)?;
                    return Ok(None);
                }
                Received::End if options.label.is_none() => continue,
                Received::End => return Err("the response ended".to_owned()),
                Received::Broken if options.has("broken") => return Ok(None),
                Received::Broken => return Err("the response was interrupted".to_owned()),
            };
            self.check_head(&label, step, bindings)?;
            if expects_end {
                return Err(format!("received a message: {}", visible(&text)));
            }
            self.store_revision(&text);
            return Ok(Some(visible(&text)));
        }
    }

    fn check_head(&self, label: &str, step: &Step, bindings: &mut Bindings) -> Result<(), String> {
        let head = self.heads.get(label).ok_or("no response head was received")?;
        let is_bare = step.options.number.is_none() && step.options.has("end");
        let expected = step.options.number.unwrap_or(200);
        if head.status() != expected && !is_bare {
            return Err(format!("expected status {expected}, received {}", head.first));
        }
        if step.options.has("event") {
            return Ok(());
        }
        compare::headers(head, &step.options, bindings)
    }

    fn store_session(head: &Head, bindings: &mut Bindings) {
        if let Some(session) = head.header("mcp-session-id") {
            bindings.entry("session".to_owned()).or_insert_with(|| session.to_owned());
        }
    }

    fn store_revision(&mut self, text: &[u8]) {
        let message: Value = serde_json::from_slice(text).unwrap_or_default();
        let revision = message["result"]["protocolVersion"].as_str().map(str::to_owned);
        self.revision = revision.or_else(|| self.revision.take());
    }

    /// Returns the messages that no step has consumed.
    pub(crate) fn unconsumed(&self) -> Vec<String> {
        self.inbox.unconsumed(|(label, received)| match received {
            _ if self.aborted.contains(label) => None,
            Received::Body(body) => Some(format!("({label}) {}", visible(body))),
            Received::Event(event) if !event.data.is_empty() => {
                Some(format!("({label}) {}", event.data))
            }
            Received::Head(head) if head.status() >= 300 => {
                Some(format!("({label}) {}", head.first))
            }
            _ => None,
        })
    }
}
