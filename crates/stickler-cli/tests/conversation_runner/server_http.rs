//! The server behind a URL: a listener that hands every request to the player and answers as the script says.
//!
//! What a script does not speak of is answered as a server would: notifications and responses with `202`, `GET`
//! with `405`, `DELETE` with `200`. A message that a script sends goes where a server would send it: a response
//! answers the request with its id, anything else goes on the stream of the last request without an answer.

use std::io::{BufReader, Read as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::compare;
use super::exchange::Exchange;
use super::http::Head;
use super::inbox::Inbox;
use super::script::{Actor, Step};
use super::template::{Bindings, bytes_of, fill, matches, visible};

pub(crate) struct Upstream {
    pub(crate) port: u16,
    inbox: Inbox<Came>,
    /// Requests that the script has seen, in the order of the script.
    exchanges: Vec<Exchange>,
}

enum Came {
    Request(Exchange),
    /// The gateway closed this connection.
    Closed(usize),
}

/// Which methods the script answers itself.
struct Own {
    get: bool,
    delete: bool,
}

impl Upstream {
    pub(crate) fn listen(steps: &[Step]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let expects = |method: &str| {
            let mut receiving = steps.iter().filter(|step| step.actor == Actor::ServerReceives);
            receiving.any(|step| step.options.method.as_deref() == Some(method))
        };
        let own = Arc::new(Own { get: expects("GET"), delete: expects("DELETE") });
        let inbox = Inbox::default();
        let events: Inbox<Came> = inbox.clone();
        std::thread::spawn(move || {
            for (number, stream) in (1..).zip(listener.incoming().map_while(Result::ok)) {
                let (events, own) = (events.clone(), Arc::clone(&own));
                std::thread::spawn(move || read_requests(number, &stream, &events, &own));
            }
        });
        Self { port, inbox, exchanges: Vec::new() }
    }

    /// The body of the next request; `None` for a connection that was closed, if the step expects that.
    pub(crate) fn receive(
        &mut self,
        step: &Step,
        bindings: &mut Bindings,
        deadline: Duration,
    ) -> Result<Option<String>, String> {
        let options = &step.options;
        if options.has("end") {
            let connection = self.open(step)?.connection;
            let is_it = |came: &Came| matches!(came, Came::Closed(number) if *number == connection);
            return self
                .inbox
                .take(deadline, is_it)
                .map(|_| None)
                .ok_or("the connection is still open".to_owned());
        }
        let method = options.method.as_deref().unwrap_or("POST");
        let is_wanted = |came: &Came| {
            let Came::Request(exchange) = came else { return false };
            let is_any = options.has("any");
            exchange.head.first.starts_with(method)
                && (!is_any || matches(&step.text, &visible(&exchange.body), &mut bindings.clone()))
        };
        let Some(Came::Request(mut exchange)) = self.inbox.take(deadline, is_wanted) else {
            return Err("nothing came".to_owned());
        };
        compare::headers(&exchange.head, options, bindings)?;
        let path = exchange.head.first.split(' ').nth(1).unwrap_or_default();
        if options.path.as_deref().is_some_and(|wanted| wanted != path) {
            return Err(format!("expected another path, came {}", exchange.head.first));
        }
        exchange.label.clone_from(&options.label);
        let body = visible(&exchange.body);
        self.exchanges.push(exchange);
        let is_bodiless = step.text.is_empty() && body.is_empty();
        Ok((!is_bodiless).then_some(body))
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
            .find(|one| is_response && one.is_open() && one.asks(&message["id"]));
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

    /// The request that a step means, or the last one that has no answer.
    fn open(&mut self, step: &Step) -> Result<&mut Exchange, String> {
        let label = step.options.label.as_ref();
        let is_get = step.options.has("get");
        let mut open = self.exchanges.iter_mut().rev().filter(|one| one.is_open());
        let found = match label {
            Some(label) => open.find(|one| one.label.as_ref() == Some(label)),
            None => open.find(|one| is_get == one.head.first.starts_with("GET")),
        };
        found.ok_or("no request of the gateway waits for an answer".to_owned())
    }

    pub(crate) fn rest(&self) -> Vec<String> {
        self.inbox.rest(|came| match came {
            Came::Request(exchange) => {
                Some(format!("{} {}", exchange.head.first, visible(&exchange.body)))
            }
            Came::Closed(_) => None,
        })
    }
}

fn read_requests(connection: usize, stream: &TcpStream, events: &Inbox<Came>, own: &Own) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some(head) = Head::read(&mut reader) {
        let length = head.header("content-length").and_then(|length| length.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        if reader.read_exact(&mut body).is_err() {
            break;
        }
        let mut exchange = Exchange::new(connection, stream.try_clone().unwrap(), head, body);
        let automatic = match exchange.head.first.split(' ').next() {
            Some("GET") if !own.get => Some(405),
            Some("DELETE") if !own.delete => Some(200),
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
        events.push(Came::Request(exchange));
    }
    let _ = stream.shutdown(Shutdown::Both);
    events.push(Came::Closed(connection));
}
