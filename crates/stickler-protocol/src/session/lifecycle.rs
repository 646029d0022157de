//! The handshake, and what may be said before it is over.

use stickler::tape::Node;

use super::{Capabilities, Session};
use crate::side::Side;

/// How far the handshake has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Handshake {
    #[default]
    Fresh,
    /// `initialize` is in flight.
    Asked,
    /// `initialize` has been answered.
    Answered,
    /// The client has said that it is ready.
    Ready,
    /// Nobody cares: there was none, and that has been told.
    Skipped,
}

impl Session {
    /// What is untimely about a request, as a sentence.
    pub(crate) fn untimely_request(&mut self, side: Side, method: &str) -> Option<&'static str> {
        let over = matches!(self.handshake, Handshake::Ready | Handshake::Skipped);
        match (side, method) {
            (Side::Client, "initialize")
                if !matches!(self.handshake, Handshake::Fresh | Handshake::Skipped) =>
            {
                Some("`initialize` comes once, as the first request of a session")
            }
            (_, "initialize" | "ping" | "server/discover") => None,
            _ if over || self.is_fixed() || self.is_modern() => None,
            (Side::Client, _) if self.handshake == Handshake::Answered => None,
            (Side::Client, _) => {
                self.told_that_there_was_none();
                Some("only `ping` may be sent before `initialize` has been answered")
            }
            (Side::Server, _) => {
                self.told_that_there_was_none();
                Some("a server sends no requests but `ping` before `notifications/initialized`")
            }
        }
    }

    /// What is untimely about a notification.
    pub(crate) fn untimely_notification(
        &mut self,
        side: Side,
        method: &str,
    ) -> Option<&'static str> {
        if side != Side::Client || self.is_fixed() || self.is_modern() {
            return None;
        }
        let unanswered = matches!(self.handshake, Handshake::Fresh | Handshake::Asked);
        match method {
            "notifications/initialized" if self.handshake == Handshake::Ready => {
                Some("`notifications/initialized` comes once")
            }
            "notifications/cancelled" => None,
            _ if unanswered => {
                self.told_that_there_was_none();
                Some("`initialize` has not been answered yet")
            }
            _ => None,
        }
    }

    /// The client's `initialize` goes on.
    pub(crate) fn handshake_asked(&mut self, params: Option<Node<'_>>) {
        // A second one is told, and changes nothing until it is answered.
        if matches!(self.handshake, Handshake::Fresh | Handshake::Skipped) {
            self.handshake = Handshake::Asked;
        }
        if let Some(capabilities) = params.and_then(|params| params.get("capabilities")) {
            self.announce(Side::Client, Capabilities::read(capabilities));
        }
    }

    /// The server has agreed.
    pub(crate) fn handshake_answered(&mut self, result: Node<'_>) {
        if self.handshake != Handshake::Ready {
            self.handshake = Handshake::Answered;
        }
        self.agree(result.get("protocolVersion"));
        if let Some(capabilities) = result.get("capabilities") {
            self.announce(Side::Server, Capabilities::read(capabilities));
        }
    }

    /// The server has refused; the client may ask again.
    pub(crate) fn handshake_failed(&mut self) {
        if self.is_in_handshake() {
            self.handshake = Handshake::Fresh;
        }
    }

    /// Whether `initialize` waits for its answer.
    pub(crate) fn is_in_handshake(&self) -> bool {
        // A hasty client says that it is ready before it knows.
        matches!(self.handshake, Handshake::Asked | Handshake::Ready) && self.agreed.is_none()
    }

    /// The client is ready.
    pub(crate) fn handshake_done(&mut self) {
        self.handshake = match self.handshake {
            // Nothing was asked here, so no answer is about to come: it was asked elsewhere, if at
            // all.
            Handshake::Fresh | Handshake::Skipped => Handshake::Skipped,
            _ => Handshake::Ready,
        };
    }

    /// The handshake took place where nobody looked on, and came to this version.
    pub(crate) fn join(&mut self, version: &str) {
        self.handshake = Handshake::Skipped;
        self.agree_on(Some(version));
    }

    /// One finding for a session without a handshake, not one for each message.
    fn told_that_there_was_none(&mut self) {
        if self.handshake == Handshake::Fresh {
            self.handshake = Handshake::Skipped;
        }
    }
}
