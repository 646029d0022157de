//! Which revision a message is to be read by.

use stickler::tape::Node;

use super::Session;
use crate::protocol::{Era, Revision};

/// A revision by name, known or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spoken {
    Known(Revision),
    /// Some other: its shapes cannot be checked.
    Other,
}

/// The member of `_meta` by which a modern request says its revision.
pub(crate) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// The newest revision with a handshake: what is assumed where nothing is said.
const LAST_LEGACY: Revision = Revision::V2025_11_25;

impl Spoken {
    fn parse(name: &str) -> Self {
        Revision::parse(name).map_or(Self::Other, Self::Known)
    }

    fn revision(self) -> Option<Revision> {
        match self {
            Self::Known(revision) => Some(revision),
            Self::Other => None,
        }
    }
}

impl Session {
    /// Fixes the revision, whatever messages say.
    pub(crate) fn fix_revision(&mut self, revision: Revision) {
        self.fixed = Some(revision);
    }

    pub(crate) fn is_fixed(&self) -> bool {
        self.fixed.is_some()
    }

    /// The revision of a message that does not say one; `None` when it is one we do not know.
    pub(crate) fn revision(&self) -> Option<Revision> {
        if self.fixed.is_some() {
            return self.fixed;
        }
        match self.agreed.or(self.declared) {
            Some(spoken) => spoken.revision(),
            None => Some(LAST_LEGACY),
        }
    }

    /// The revision by which a request is to be read.
    pub(crate) fn revision_of_request(
        &self,
        method: &str,
        params: Option<Node<'_>>,
    ) -> Option<Revision> {
        if self.fixed.is_some() {
            return self.fixed;
        }
        if method == "initialize" {
            let version = params.and_then(|params| params.get("protocolVersion"));
            return Some(handshake_revision(version));
        }
        match self.declaration(method, params) {
            Some(spoken) => spoken.revision(),
            None => self.revision(),
        }
    }

    /// A request that speaks for itself goes on: what it says holds for what does not.
    pub(crate) fn declare(&mut self, method: &str, params: Option<Node<'_>>) {
        if let Some(spoken) = self.declaration(method, params) {
            self.declared = Some(spoken);
        }
    }

    /// What was declared is not spoken here.
    pub(crate) fn undeclare(&mut self) {
        self.declared = None;
    }

    fn declaration(&self, method: &str, params: Option<Node<'_>>) -> Option<Spoken> {
        let version = params.and_then(|params| params.get("_meta")?.get(VERSION_KEY));
        let is_modern = match version.map(Node::as_str) {
            Some(Some(name)) => return Some(Spoken::parse(&name)),
            // The member is there, though it names nothing: only a modern request has it.
            Some(None) => true,
            // No other revision has these two.
            None => matches!(method, "server/discover" | "subscriptions/listen"),
        };
        (is_modern && self.agreed.is_none()).then_some(Spoken::Known(Revision::V2026_07_28))
    }

    /// Whether the peers have shown that they do without a handshake.
    pub(crate) fn is_modern(&self) -> bool {
        self.revision().is_some_and(|revision| revision.era() == Era::Modern)
            || (self.agreed.is_none() && self.declared.is_some())
    }

    /// Learns what the handshake came to. `initialize` belongs to the legacy revisions, so a reply
    /// that names a newer one is read by the last of them.
    pub(super) fn agree(&mut self, reply: Option<Node<'_>>) {
        self.agree_on(reply.and_then(Node::as_str).as_deref());
    }

    pub(super) fn agree_on(&mut self, version: Option<&str>) {
        let spoken = version.map_or(Spoken::Other, Spoken::parse);
        self.agreed = Some(match spoken {
            Spoken::Known(revision) => Spoken::Known(revision.min(LAST_LEGACY)),
            Spoken::Other => Spoken::Other,
        });
    }

    /// Whether a request names a revision that we do not know, and is the first to do so.
    pub(crate) fn is_first_unknown(&mut self, params: Option<Node<'_>>) -> bool {
        self.fixed.is_none()
            && self.declaration("", params) == Some(Spoken::Other)
            && !std::mem::replace(&mut self.told_unknown, true)
    }

    pub(crate) fn has_agreed(&self) -> bool {
        self.agreed.or(self.declared).is_some()
    }

    pub(crate) fn agreed_on_unknown(&self) -> bool {
        self.fixed.is_none() && self.agreed == Some(Spoken::Other)
    }
}

/// The revision that the two sides of a handshake are read by.
pub(crate) fn handshake_revision(version: Option<Node<'_>>) -> Revision {
    let named = version.and_then(Node::as_str).and_then(|name| Revision::parse(&name));
    named.map_or(LAST_LEGACY, |revision| revision.min(LAST_LEGACY))
}
