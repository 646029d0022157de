//! The handshake, and the checks of message order that depend on it.

use stickler::tape::Node;

use super::capabilities::Capabilities;
use super::revision::NamedRevision;
use crate::protocol::Revision;
use crate::side::Side;

/// What the peers have agreed on: revision, handshake and capabilities.
#[derive(Debug, Default)]
pub(crate) struct Lifecycle {
    /// The revision set outside of the messages, for example by an HTTP header.
    pub(super) fixed: Option<Revision>,
    handshake: Handshake,
    /// The revision that the handshake agreed on.
    pub(super) agreed: Option<NamedRevision>,
    /// The revision that the last self-contained request declared.
    pub(super) declared: Option<NamedRevision>,
    announced: [Option<Capabilities>; 2],
    pub(super) reported_unknown_revision: bool,
}

/// A message that the handshake does not allow yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutOfOrder {
    pub(crate) message: &'static str,
    /// The peers use no handshake; this is reported once.
    pub(crate) skips_handshake: bool,
}

impl OutOfOrder {
    fn because(message: &'static str) -> Self {
        Self { message, skips_handshake: false }
    }

    fn without_handshake(message: &'static str) -> Self {
        Self { message, skips_handshake: true }
    }
}

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

impl Lifecycle {
    /// Returns the capabilities that a side announced.
    pub(crate) fn announced(&self, side: Side) -> Option<Capabilities> {
        let [client, server] = self.announced;
        match side {
            Side::Client => client,
            Side::Server => server,
        }
    }

    pub(crate) fn announce(&mut self, side: Side, capabilities: Capabilities) {
        let [client, server] = &mut self.announced;
        *match side {
            Side::Client => client,
            Side::Server => server,
        } = Some(capabilities);
    }

    /// Returns whether the server announced tools; `None` during the handshake.
    pub(crate) fn server_has_tools(&self) -> Option<bool> {
        match self.announced(Side::Server) {
            Some(announced) => Some(announced.has("tools")),
            None if self.is_in_handshake() => None,
            None => Some(true),
        }
    }

    /// Checks whether the handshake allows a request.
    pub(crate) fn check_request_order(&self, side: Side, method: &str) -> Option<OutOfOrder> {
        let is_over = matches!(self.handshake, Handshake::Ready | Handshake::Skipped);
        match (side, method) {
            (Side::Client, "initialize")
                if !matches!(self.handshake, Handshake::NotStarted | Handshake::Skipped) =>
            {
                Some(OutOfOrder::because(
                    "`initialize` must be sent once, as the first request of a session",
                ))
            }
            (_, "initialize" | "ping" | "server/discover") => None,
            _ if is_over || self.is_fixed() || self.is_modern() => None,
            (Side::Client, _) if self.handshake == Handshake::Answered => None,
            (Side::Client, _) => Some(OutOfOrder::without_handshake(
                "only `ping` may be sent before `initialize` is answered",
            )),
            (Side::Server, _) => Some(OutOfOrder::without_handshake(
                "a server may send only `ping` before `notifications/initialized`",
            )),
        }
    }

    /// Checks whether the handshake allows a notification.
    pub(crate) fn check_notification_order(&self, side: Side, method: &str) -> Option<OutOfOrder> {
        if side != Side::Client || self.is_fixed() || self.is_modern() {
            return None;
        }
        let unanswered = matches!(self.handshake, Handshake::NotStarted | Handshake::InProgress);
        match method {
            "notifications/initialized" if self.handshake == Handshake::Ready => {
                Some(OutOfOrder::because("`notifications/initialized` must be sent once"))
            }
            "notifications/cancelled" => None,
            _ if unanswered => {
                Some(OutOfOrder::without_handshake("`initialize` is not answered yet"))
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
    pub(crate) fn skip_handshake(&mut self) {
        if self.handshake == Handshake::NotStarted {
            self.handshake = Handshake::Skipped;
        }
    }
}
