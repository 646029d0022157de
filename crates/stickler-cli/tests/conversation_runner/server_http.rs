//! The server behind a URL: passes every request to the player and answers as the script defines.
//!
//! Requests without a step are answered by default: notifications and responses with `202`, `GET` with `405`,
//! `DELETE` with `200`. A response in the script is sent to the request with its id, any other message on the
//! stream of the most recent pending request.

use std::io::{BufReader, Read as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::compare;
use super::exchange::Exchange;
use super::http::Head;
use super::inbox::Inbox;
use super::script::{Action, Step};
use super::template::{Bindings, bytes_of, fill, matches, visible};

pub(crate) struct Upstream {
    pub(crate) port: u16,
    inbox: Inbox<ServerEvent>,
    /// Requests that steps have consumed, in order.
    exchanges: Vec<Exchange>,
}

enum ServerEvent {
    Request(Exchange),
    /// The gateway closed this connection.
    Closed(usize),
}

/// The methods that the script answers, instead of the default response.
struct ScriptedMethods {
    get: bool,
    delete: bool,
}

impl Upstream {
    pub(crate) fn listen(steps: &[Step]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let expects = |method: &str| {
            let mut receiving = steps.iter().filter(|step| step.action == Action::ServerReceives);
            receiving.any(|step| step.options.method.as_deref() == Some(method))
        };
        let scripted = Arc::new(ScriptedMethods { get: expects("GET"), delete: expects("DELETE") });
        let inbox = Inbox::default();
        let events: Inbox<ServerEvent> = inbox.clone();
        std::thread::spawn(move || {
            for (number, stream) in (1..).zip(listener.incoming().map_while(Result::ok)) {
                let (events, scripted) = (events.clone(), Arc::clone(&scripted));
                std::thread::spawn(move || read_requests(number, &stream, &events, &scripted));
            }
        });
        Self { port, inbox, exchanges: Vec::new() }
    }

    /// Returns the body of the next request; `None` if the step expects a closed connection.
    pub(crate) fn receive(
        &mut self,
        step: &Step,
        bindings: &mut Bindings,
        deadline: Duration,
    ) -> Result<Option<String>, String> {
        let options = &step.options;
        if options.has("end") {
            let connection = self.open(step)?.connection;
            let is_closed = |event: &ServerEvent| matches!(event, ServerEvent::Closed(number) if *number == connection);
            return self
                .inbox
                .take(deadline, is_closed)
                .map(|_| None)
                .ok_or("the connection is still open".to_owned());
        }
        let method = options.method.as_deref().unwrap_or("POST");
        let is_match = |event: &ServerEvent| {
            let ServerEvent::Request(exchange) = event else { return false };
            let is_any = options.has("any");
            exchange.head.first.starts_with(method)
                && (!is_any || matches(&step.text, &visible(&exchange.body), &mut bindings.clone()))
        };
        let Some(ServerEvent::Request(mut exchange)) = self.inbox.take(deadline, is_match) else {
            return Err("nothing was received".to_owned());
        };
        compare::headers(&exchange.head, options, bindings)?;
        let path = exchange.head.first.split(' ').nth(1).unwrap_or_default();
        if options.path.as_deref().is_some_and(|expected| expected != path) {
            return Err(format!("expected another path, received {}", exchange.head.first));
        }
        exchange.label.clone_from(&options.label);
        let body = visible(&exchange.body);
        self.exchanges.push(exchange);
        let has_no_body = step.text.is_empty() && body.is_empty();
        Ok((!has_no_body).then_some(body))
    }

    pub(crate) fn send(&mut self, step: &Step, bindings: &Bindings) -> Result<(), String> {
        let options = &step.options;
        let body = bytes_of(&fill(&step.text, bindings)?);
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let is_response = message.get("method").is_none() && message.get("id").is_some();
        let answered = self
            .exchanges
            .iter_mut()
            .rev()
            .find(|one| is_response && one.is_open() && one.has_request(&message["id"]));
        let is_explicit = options.label.is_some() || options.has("get");
        let exchange = match answered.filter(|_| !is_explicit) {
            Some(exchange) => exchange,
            None => self.open(step)?,
        };
        let written = if options.has("close") {
            exchange.drop_connection()
        } else if options.has("end") {
            exchange.end_stream()
        } else if let Some(status) = options.number {
            exchange.answer(status, &options.headers, &body)
        } else if options.has("raw") {
            exchange.write_to_stream(&body)
        } else if options.has("stream")
            || options.has("event")
            || exchange.is_streaming()
            || !is_response && !message.is_array()
        {
            exchange.event(&options.headers, &body).and_then(|()| {
                let is_last = is_response && !options.has("get") && !options.has("event");
                if is_last { exchange.end_stream() } else { Ok(()) }
            })
        } else {
            exchange.answer_message(&body)
        };
        written.map_err(|error| format!("the gateway has closed the connection: {error}"))
    }

    /// Returns the request that a step refers to, or the most recent pending one.
    fn open(&mut self, step: &Step) -> Result<&mut Exchange, String> {
        let label = step.options.label.as_ref();
        let is_get = step.options.has("get");
        let mut open = self.exchanges.iter_mut().rev().filter(|one| one.is_open());
        let found = match label {
            Some(label) => open.find(|one| one.label.as_ref() == Some(label)),
            None => open.find(|one| is_get == one.head.first.starts_with("GET")),
        };
        found.ok_or("no request of the gateway is pending".to_owned())
    }

    /// Returns the requests that no step has consumed.
    pub(crate) fn unconsumed(&self) -> Vec<String> {
        self.inbox.unconsumed(|event| match event {
            ServerEvent::Request(exchange) => {
                Some(format!("{} {}", exchange.head.first, visible(&exchange.body)))
            }
            ServerEvent::Closed(_) => None,
        })
    }
}

fn read_requests(
    connection: usize,
    stream: &TcpStream,
    events: &Inbox<ServerEvent>,
    scripted: &ScriptedMethods,
) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some(head) = Head::read(&mut reader) {
        let length = head.header("content-length").and_then(|length| length.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        if reader.read_exact(&mut body).is_err() {
            break;
        }
        let mut exchange = Exchange::new(connection, stream.try_clone().unwrap(), head, body);
        let automatic = match exchange.head.first.split(' ').next() {
            Some("GET") if !scripted.get => Some(405),
            Some("DELETE") if !scripted.delete => Some(200),
            Some("POST") if exchange.is_one_way() => Some(202),
            _ => None,
        };
        if let Some(status) = automatic {
            let is_post = status == 202;
            let _ = exchange.answer(status, &[], b"");
            if !is_post {
                continue;
            }
        }
        events.push(ServerEvent::Request(exchange));
    }
    let _ = stream.shutdown(Shutdown::Both);
    events.push(ServerEvent::Closed(connection));
}
