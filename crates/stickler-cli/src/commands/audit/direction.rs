//! Who sent a raw message, worked out from the message and from what was asked before.
//!
//! A method that only one side may send says it. A response goes to the side that has its id in
//! flight; where both have, to the one that asked last, because a server that asks back does so
//! before it answers. What is left has a likely sender.

use std::collections::HashMap;

use stickler::tape::TapeBuffer;
use stickler_protocol::Side;
use stickler_protocol::envelope::RequestId;

use super::outline::Outline;
use super::senders::Senders;

/// More than these are not remembered at once; the core allows no more in flight either.
const REMEMBERED: usize = 10_000;

/// The raw messages of one session, followed as far as is needed to tell who sends the next.
#[derive(Debug)]
pub(super) struct Directions<'s> {
    senders: &'s Senders,
    /// Requests without an answer, with their place in the order of requests.
    client: HashMap<RequestId, u64>,
    server: HashMap<RequestId, u64>,
    requests: u64,
    buffer: TapeBuffer,
}

/// The members of a message that tell its sender.
#[derive(Debug, Default)]
struct Sketch<'m> {
    id: Option<&'m [u8]>,
    method: Option<&'m str>,
    params: Option<&'m [u8]>,
    is_response: bool,
}

impl<'s> Directions<'s> {
    pub(super) fn new(senders: &'s Senders) -> Self {
        Self {
            senders,
            client: HashMap::new(),
            server: HashMap::new(),
            requests: 0,
            buffer: TapeBuffer::new(),
        }
    }

    /// The sender of a message, or of what stands in its place. The beginning of one is enough.
    pub(super) fn sender(&mut self, text: &[u8]) -> Side {
        if let Some(mut batch) = Outline::of_array(text) {
            // All messages of a batch have one sender, and the first tells it.
            let Some(first) = batch.next_element() else { return Side::Server };
            let side = self.sender_of_one(first, None);
            while let Some(next) = batch.next_element() {
                self.sender_of_one(next, Some(side));
            }
            return side;
        }
        self.sender_of_one(text, None)
    }

    fn sender_of_one(&mut self, text: &[u8], known: Option<Side>) -> Side {
        let Some(sketch) = Sketch::of(text) else { return known.unwrap_or(Side::Server) };
        let id = sketch.id.and_then(|id| self.id(id));
        match (sketch.method, id) {
            (Some(method), Some(id)) => {
                let side = known.unwrap_or_else(|| self.requester(method, &id));
                self.remember(side, id);
                side
            }
            (Some(method), None) => known.unwrap_or_else(|| self.notifier(method, &sketch)),
            (None, Some(id)) if sketch.is_response => {
                let side = known.or_else(|| self.responder(&id)).unwrap_or(Side::Server);
                self.asked_by(side.other()).remove(&id);
                side
            }
            _ => known.unwrap_or(Side::Server),
        }
    }

    fn requester(&mut self, method: &str, id: &RequestId) -> Side {
        self.senders.of(method).unwrap_or_else(|| {
            // Nobody uses an id twice at a time, so the other side does.
            let is_second = self.client.contains_key(id) && !self.server.contains_key(id);
            if is_second { Side::Server } else { Side::Client }
        })
    }

    fn notifier(&mut self, method: &str, sketch: &Sketch<'_>) -> Side {
        if let Some(side) = self.senders.of(method) {
            return side;
        }
        match method {
            // Who cancels a request has made it.
            "notifications/cancelled" => {
                let id = sketch.param(b"requestId").and_then(|id| self.id(id));
                let by_server = id.and_then(|id| self.responder(&id)) == Some(Side::Client);
                if by_server { Side::Server } else { Side::Client }
            }
            // Clients seldom have anything to tell that they were not asked for.
            _ if self.client.is_empty() && !self.server.is_empty() => Side::Client,
            _ => Side::Server,
        }
    }

    /// Who is to answer the request with that id.
    fn responder(&self, id: &RequestId) -> Option<Side> {
        match (self.client.get(id), self.server.get(id)) {
            (Some(by_client), Some(by_server)) if by_server > by_client => Some(Side::Client),
            (Some(_), _) => Some(Side::Server),
            (None, Some(_)) => Some(Side::Client),
            (None, None) => None,
        }
    }

    fn remember(&mut self, side: Side, id: RequestId) {
        self.requests += 1;
        let number = self.requests;
        let asked = self.asked_by(side);
        if asked.len() < REMEMBERED {
            asked.insert(id, number);
        }
    }

    fn asked_by(&mut self, side: Side) -> &mut HashMap<RequestId, u64> {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }

    fn id(&mut self, text: &[u8]) -> Option<RequestId> {
        let tape = self.buffer.read(text, 1).ok()?;
        RequestId::of(tape.root())
    }
}

impl<'m> Sketch<'m> {
    fn of(text: &'m [u8]) -> Option<Self> {
        let mut outline = Outline::of_object(text)?;
        let mut sketch = Self::default();
        while let Some(key) = outline.next_key() {
            sketch.is_response |= matches!(key, b"result" | b"error");
            // What is large comes last in most messages, and need not be gone through.
            if sketch.is_enough() {
                break;
            }
            let value = outline.value();
            match key {
                b"id" => sketch.id = Some(value),
                b"method" => sketch.method = plain_string(value),
                b"params" => sketch.params = Some(value),
                _ => {}
            }
        }
        Some(sketch)
    }

    /// Whether it is known by now what the message is, and which.
    fn is_enough(&self) -> bool {
        self.id.is_some() && (self.method.is_some() || self.is_response)
    }

    fn param(&self, name: &[u8]) -> Option<&'m [u8]> {
        let mut params = Outline::of_object(self.params?)?;
        std::iter::from_fn(|| params.next_member()).find(|(key, _)| *key == name).map(|(_, id)| id)
    }
}

/// No method that anyone knows is written with escapes.
fn plain_string(value: &[u8]) -> Option<&str> {
    str::from_utf8(value.strip_prefix(b"\"")?.strip_suffix(b"\"")?).ok()
}

#[cfg(test)]
mod tests {
    use super::Directions;
    use crate::commands::audit::senders::Senders;
    use stickler_protocol::{ProtocolSchemas, Side};

    /// Each line begins with the direction that is expected: `>` to the server, `<` to the client.
    fn check(session: &str) {
        let senders = Senders::new(&ProtocolSchemas::new(), None);
        let mut directions = Directions::new(&senders);
        for line in session.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (sign, message) = line.split_at(1);
            let expected = if sign == ">" { Side::Client } else { Side::Server };
            assert_eq!(directions.sender(message.as_bytes()), expected, "{message}");
        }
    }

    #[test]
    fn methods_and_ids_tell() {
        check(
            r#"
            >{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}
            <{"jsonrpc":"2.0","id":0,"result":{}}
            >{"jsonrpc":"2.0","method":"notifications/initialized"}
            <{"jsonrpc":"2.0","id":0,"method":"roots/list"}
            >{"jsonrpc":"2.0","id":0,"result":{"roots":[]}}
            <{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}
            >{"jsonrpc":"2.0","id":1,"method":"ping"}
            <{"jsonrpc":"2.0","id":1,"method":"ping"}
            >{"id":1,"result":{},"jsonrpc":"2.0"}
            <{"id":1,"result":{},"jsonrpc":"2.0"}
            "#,
        );
    }

    #[test]
    fn a_server_that_asks_back_is_answered_first() {
        check(
            r#"
            >{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}
            <{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}
            >{"jsonrpc":"2.0","id":1,"result":{}}
            <{"jsonrpc":"2.0","id":1.0,"result":{}}
            "#,
        );
    }

    #[test]
    fn who_cancels_has_asked() {
        check(
            r#"
            <{"jsonrpc":"2.0","id":"s","method":"elicitation/create","params":{}}
            <{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s"}}
            >{"jsonrpc":"2.0","id":"c","method":"tools/list"}
            >{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c"}}
            <{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1}}
            "#,
        );
    }

    #[test]
    fn batches_and_what_is_unclear() {
        check(
            r#"
            >[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/list"}]
            <[{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":1,"result":{}}]
            <[]
            <Server started
            <{"level":"info"}
            <{"jsonrpc":"2.0","id":77,"result":{}}
            <{"jsonrpc":"2.0","error":{"code":-32700,"message":"?"}}
            >{"jsonrpc":"2.0","id":3,"method":"vendor/own"}
            >{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"arguments":{"text":"breaks o
            <{"jsonrpc":"2.0","id":4,"result":{"content":[
            "#,
        );
    }
}
