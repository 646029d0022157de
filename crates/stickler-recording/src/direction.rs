//! Infers the sender of a raw message from its content and from the pending requests.
//!
//! A method that only one side may send identifies the sender. A response belongs to the side that has a pending
//! request with its id; if both have, to the later request, because a server sends nested requests before it
//! responds. Other messages have a default sender.

use std::collections::HashMap;

use stickler::tape::TapeBuffer;
use stickler_protocol::Side;
use stickler_protocol::envelope::RequestId;

use crate::outline::Outline;
use crate::senders::Senders;

/// Maximum number of pending requests per side; the core has the same limit.
const MAX_PENDING_REQUESTS: usize = 10_000;

/// State of one session of raw messages, as far as it is needed to infer senders.
#[derive(Debug)]
pub struct Directions<'s> {
    senders: &'s Senders,
    /// Pending requests with their sequence numbers.
    client: HashMap<RequestId, u64>,
    server: HashMap<RequestId, u64>,
    requests: u64,
    buffer: TapeBuffer,
}

/// Members of a message that identify its sender.
#[derive(Debug, Default)]
struct SenderHints<'m> {
    id: Option<&'m [u8]>,
    method: Option<&'m str>,
    params: Option<&'m [u8]>,
    is_response: bool,
}

impl<'s> Directions<'s> {
    /// Starts a session in which neither side has sent anything.
    pub fn new(senders: &'s Senders) -> Self {
        Self {
            senders,
            client: HashMap::new(),
            server: HashMap::new(),
            requests: 0,
            buffer: TapeBuffer::new(),
        }
    }

    /// Returns the sender of a line. The beginning of a message is sufficient.
    pub fn sender(&mut self, text: &[u8]) -> Side {
        if let Some(mut batch) = Outline::of_array(text) {
            // All messages of a batch have the sender of the first.
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
        let Some(hints) = SenderHints::of(text) else { return known.unwrap_or(Side::Server) };
        let id = hints.id.and_then(|id| self.id(id));
        match (hints.method, id) {
            (Some(method), Some(id)) => {
                let side = known.unwrap_or_else(|| self.requester(method, &id));
                self.add_pending(side, id);
                side
            }
            (Some(method), None) => known.unwrap_or_else(|| self.notifier(method, &hints)),
            (None, Some(id)) if hints.is_response => {
                let side = known.or_else(|| self.responder(&id)).unwrap_or(Side::Server);
                self.pending_of(side.other()).remove(&id);
                side
            }
            _ => known.unwrap_or(Side::Server),
        }
    }

    fn requester(&mut self, method: &str, id: &RequestId) -> Side {
        self.senders.of(method).unwrap_or_else(|| {
            // A side does not reuse the id of a pending request, so the other side sent this one.
            let is_second = self.client.contains_key(id) && !self.server.contains_key(id);
            if is_second { Side::Server } else { Side::Client }
        })
    }

    fn notifier(&mut self, method: &str, hints: &SenderHints<'_>) -> Side {
        if let Some(side) = self.senders.of(method) {
            return side;
        }
        match method {
            // The side that cancels a request has sent it.
            "notifications/cancelled" => {
                let id = hints.param(b"requestId").and_then(|id| self.id(id));
                let by_server = id.and_then(|id| self.responder(&id)) == Some(Side::Client);
                if by_server { Side::Server } else { Side::Client }
            }
            // Clients rarely send notifications without a pending request of the server.
            _ if self.client.is_empty() && !self.server.is_empty() => Side::Client,
            _ => Side::Server,
        }
    }

    /// Returns the side that must answer the request with this id.
    fn responder(&self, id: &RequestId) -> Option<Side> {
        match (self.client.get(id), self.server.get(id)) {
            (Some(by_client), Some(by_server)) if by_server > by_client => Some(Side::Client),
            (Some(_), _) => Some(Side::Server),
            (None, Some(_)) => Some(Side::Client),
            (None, None) => None,
        }
    }

    fn add_pending(&mut self, side: Side, id: RequestId) {
        self.requests += 1;
        let number = self.requests;
        let pending = self.pending_of(side);
        if pending.len() < MAX_PENDING_REQUESTS {
            pending.insert(id, number);
        }
    }

    fn pending_of(&mut self, side: Side) -> &mut HashMap<RequestId, u64> {
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

impl<'m> SenderHints<'m> {
    fn of(text: &'m [u8]) -> Option<Self> {
        let mut outline = Outline::of_object(text)?;
        let mut hints = Self::default();
        while let Some(key) = outline.next_key() {
            hints.is_response |= matches!(key, b"result" | b"error");
            // Large members usually come last and need not be scanned.
            if hints.is_complete() {
                break;
            }
            let value = outline.value();
            match key {
                b"id" => hints.id = Some(value),
                b"method" => hints.method = plain_string(value),
                b"params" => hints.params = Some(value),
                _ => {}
            }
        }
        Some(hints)
    }

    /// Whether the kind and the id of the message are known.
    fn is_complete(&self) -> bool {
        self.id.is_some() && (self.method.is_some() || self.is_response)
    }

    fn param(&self, name: &[u8]) -> Option<&'m [u8]> {
        let mut params = Outline::of_object(self.params?)?;
        std::iter::from_fn(|| params.next_member()).find(|(key, _)| *key == name).map(|(_, id)| id)
    }
}

/// Returns the contents of a string without escapes; no known method contains any.
fn plain_string(value: &[u8]) -> Option<&str> {
    str::from_utf8(value.strip_prefix(b"\"")?.strip_suffix(b"\"")?).ok()
}

#[cfg(test)]
mod tests {
    use super::Directions;
    use crate::senders::Senders;
    use stickler_protocol::{ProtocolSchemas, Side};

    /// Each line starts with the expected direction: `>` to the server, `<` to the client.
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
    fn methods_and_ids_identify_the_sender() {
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
    fn nested_request_of_the_server_is_answered_first() {
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
    fn cancellation_comes_from_the_requester() {
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
    fn batches_and_ambiguous_lines_have_a_sender() {
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
