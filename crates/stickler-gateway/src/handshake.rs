//! The client's handshake, kept so that a server that is started again can be given it.

use stickler::tape::{Node, TapeBuffer};
use stickler_protocol::envelope::{Address, Bearing};

/// What our own ids begin with.
const PREFIX: &str = "stickler:initialize:";

/// What the client opened with.
#[derive(Debug, Default)]
pub(super) struct Handshake {
    initialize: Option<Vec<u8>>,
    is_initialized: bool,
    replays: u32,
}

/// What a server said to the handshake that it was given again.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// The version that it chose.
    Agreed(String),
    Refused(String),
}

impl Handshake {
    /// A message goes to the server.
    pub(super) fn watch(&mut self, message: &[u8]) {
        if self.is_initialized {
            return;
        }
        let address = Address::of(message);
        let is = |method: &str| address.has_method(message, method);
        match address.bearing {
            Bearing::Request if is("initialize") => self.initialize = Some(message.to_vec()),
            Bearing::Notification if is("notifications/initialized") => self.is_initialized = true,
            _ => {}
        }
    }

    /// The client's own `initialize`, with an id of ours in the place of its own.
    pub(super) fn replay(&mut self) -> Option<Vec<u8>> {
        let message = self.initialize.as_ref()?;
        let id = Address::of(message).id?;
        self.replays += 1;
        let (before, after) = (message.get(..id.start)?, message.get(id.end..)?);
        let own = format!("\"{}\"", self.id());
        Some([before, own.as_bytes(), after].concat())
    }

    /// What follows when the server has agreed.
    pub(super) fn confirmation(&self) -> Option<&'static [u8]> {
        let notice = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        self.is_initialized.then_some(notice)
    }

    /// Whether a message of the server's answers the last replay.
    pub(super) fn answer(&self, message: &[u8]) -> Option<Reply> {
        let id = self.id();
        memchr::memmem::find(message, id.as_bytes())?;
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(message, 1 << 10).ok()?;
        let root = tape.root();
        let is_ours = root.get("id").and_then(Node::as_str).is_some_and(|one| one == id.as_str());
        if !is_ours || root.get("method").is_some() {
            return None;
        }
        let text = |pointer| root.pointer(pointer).and_then(Node::as_str).map(String::from);
        Some(match root.get("result") {
            Some(_) => Reply::Agreed(text("/result/protocolVersion").unwrap_or_default()),
            None => Reply::Refused(text("/error/message").unwrap_or_default()),
        })
    }

    fn id(&self) -> String {
        format!("{PREFIX}{}", self.replays)
    }
}

#[cfg(test)]
mod tests {
    use super::{Handshake, Reply};

    #[test]
    fn the_clients_own_words_are_said_again_under_another_id() {
        let mut handshake = Handshake::default();
        assert_eq!(handshake.replay(), None);
        handshake.watch(br#"{"jsonrpc":"2.0", "id":"x","method":"initialize","params":{"a":1.0}}"#);
        assert_eq!(handshake.confirmation(), None);
        // Some writers escape slashes.
        handshake.watch(br#"{"jsonrpc":"2.0","method":"notifications\/initialized"}"#);
        assert!(handshake.confirmation().is_some());
        let replay = String::from_utf8(handshake.replay().unwrap()).unwrap();
        let expected = r#"{"jsonrpc":"2.0", "id":"stickler:initialize:1","method":"initialize","params":{"a":1.0}}"#;
        assert_eq!(replay, expected);
        let answer = br#"{"id":"stickler:initialize:1","result":{"protocolVersion":"v"}}"#;
        assert_eq!(handshake.answer(answer), Some(Reply::Agreed("v".to_owned())));
        assert_eq!(handshake.answer(br#"{"id":"x","result":"stickler:initialize:1"}"#), None);
    }
}
