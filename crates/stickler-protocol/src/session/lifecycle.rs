//! The handshake, and the checks of message order that depend on it.

use stickler::tape::Node;

use super::{Capabilities, Session};
use crate::side::Side;

/// State of the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Handshake {
    #[default]
    NotStarted,
    /// `initialize` is pending.
    InProgress,
    /// `initialize` was answered.
    Answered,
    /// The client sent `notifications/initialized`.
    Ready,
    /// No handshake was seen; this is reported at most once.
    Skipped,
}

impl Session {
    /// Returns a message if the handshake does not allow a request yet.
    pub(crate) fn check_request_order(&mut self, side: Side, method: &str) -> Option<&'static str> {
        let is_over = matches!(self.handshake, Handshake::Ready | Handshake::Skipped);
        match (side, method) {
            (Side::Client, "initialize")
                if !matches!(self.handshake, Handshake::NotStarted | Handshake::Skipped) =>
            {
                Some("`initialize` must be sent once, as the first request of a session")
            }
            (_, "initialize" | "ping" | "server/discover") => None,
            _ if is_over || self.is_fixed() || self.is_modern() => None,
            (Side::Client, _) if self.handshake == Handshake::Answered => None,
            (Side::Client, _) => {
                self.mark_handshake_skipped();
                Some("only `ping` may be sent before `initialize` is answered")
            }
            (Side::Server, _) => {
                self.mark_handshake_skipped();
                Some("a server may send only `ping` before `notifications/initialized`")
            }
        }
    }

    /// Returns a message if the handshake does not allow a notification yet.
    pub(crate) fn check_notification_order(
        &mut self,
        side: Side,
        method: &str,
    ) -> Option<&'static str> {
        if side != Side::Client || self.is_fixed() || self.is_modern() {
            return None;
        }
        let unanswered = matches!(self.handshake, Handshake::NotStarted | Handshake::InProgress);
        match method {
            "notifications/initialized" if self.handshake == Handshake::Ready => {
                Some("`notifications/initialized` must be sent once")
            }
            "notifications/cancelled" => None,
            _ if unanswered => {
                self.mark_handshake_skipped();
                Some("`initialize` is not answered yet")
            }
            _ => None,
        }
    }

    /// Handles the client's `initialize` request.
    pub(crate) fn handshake_started(&mut self, params: Option<Node<'_>>) {
        // A repeated `initialize` is reported and changes nothing until it is answered.
        if matches!(self.handshake, Handshake::NotStarted | Handshake::Skipped) {
            self.handshake = Handshake::InProgress;
        }
        if let Some(capabilities) = params.and_then(|params| params.get("capabilities")) {
            self.announce(Side::Client, Capabilities::read(capabilities));
        }
    }

    /// Handles the result of `initialize`.
    pub(crate) fn handshake_answered(&mut self, result: Node<'_>) {
        if self.handshake != Handshake::Ready {
            self.handshake = Handshake::Answered;
        }
        self.agree(result.get("protocolVersion"));
        if let Some(capabilities) = result.get("capabilities") {
            self.announce(Side::Server, Capabilities::read(capabilities));
        }
    }

    /// Handles a failed handshake; the client may try again.
    pub(crate) fn handshake_failed(&mut self) {
        if self.is_in_handshake() {
            self.handshake = Handshake::NotStarted;
        }
    }

    /// Returns whether `initialize` is pending.
    pub(crate) fn is_in_handshake(&self) -> bool {
        // Some clients send `notifications/initialized` before the response arrives.
        matches!(self.handshake, Handshake::InProgress | Handshake::Ready) && self.agreed.is_none()
    }

    /// Handles `notifications/initialized`.
    pub(crate) fn handshake_done(&mut self) {
        self.handshake = match self.handshake {
            // No `initialize` passed through here, so no response is expected.
            Handshake::NotStarted | Handshake::Skipped => Handshake::Skipped,
            _ => Handshake::Ready,
        };
    }

    /// Joins a session after a handshake elsewhere that agreed on `version`.
    pub(crate) fn join(&mut self, version: &str) {
        self.handshake = Handshake::Skipped;
        self.agree_on(Some(version));
    }

    /// Makes a session without a handshake report one finding instead of one per message.
    fn mark_handshake_skipped(&mut self) {
        if self.handshake == Handshake::NotStarted {
            self.handshake = Handshake::Skipped;
        }
    }
}
