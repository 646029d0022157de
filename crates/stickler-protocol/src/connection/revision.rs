//! Determines the revision that a message is checked against.

use stickler::tape::Node;

use super::lifecycle::Lifecycle;
use crate::protocol::{Era, Revision};

/// A revision named by a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NamedRevision {
    Known(Revision),
    /// An unknown revision. Its messages cannot be checked.
    Unknown,
}

/// The `_meta` member in which a modern request declares its revision.
pub(crate) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// The newest revision with a handshake, and the default if no revision is named.
const LAST_LEGACY: Revision = Revision::V2025_11_25;

impl NamedRevision {
    fn parse(name: &str) -> Self {
        Revision::parse(name).map_or(Self::Unknown, Self::Known)
    }

    fn revision(self) -> Option<Revision> {
        match self {
            Self::Known(revision) => Some(revision),
            Self::Unknown => None,
        }
    }
}

impl Lifecycle {
    /// Fixes the revision, overriding what messages declare.
    pub(crate) fn fix_revision(&mut self, revision: Revision) {
        self.fixed = Some(revision);
    }

    pub(crate) fn is_fixed(&self) -> bool {
        self.fixed.is_some()
    }

    /// Returns the revision of messages that do not declare one; `None` if it is unknown.
    pub(crate) fn revision(&self) -> Option<Revision> {
        if self.fixed.is_some() {
            return self.fixed;
        }
        match self.agreed.or(self.declared) {
            Some(named) => named.revision(),
            None => Some(LAST_LEGACY),
        }
    }

    /// Returns the revision of a request.
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
            Some(named) => named.revision(),
            None => self.revision(),
        }
    }

    /// Stores the revision that a request declares, for later messages without a declaration.
    pub(crate) fn declare(&mut self, method: &str, params: Option<Node<'_>>) {
        if let Some(named) = self.declaration(method, params) {
            self.declared = Some(named);
        }
    }

    /// Discards the declared revision after the server rejected it.
    pub(crate) fn undeclare(&mut self) {
        self.declared = None;
    }

    fn declaration(&self, method: &str, params: Option<Node<'_>>) -> Option<NamedRevision> {
        let version = params.and_then(|params| params.get("_meta")?.get(VERSION_KEY));
        let is_modern = match version.map(Node::as_str) {
            Some(Some(name)) => return Some(NamedRevision::parse(&name)),
            // Only modern requests have the member, even with an invalid value.
            Some(None) => true,
            // Only the modern revision has these two methods.
            None => matches!(method, "server/discover" | "subscriptions/listen"),
        };
        (is_modern && self.agreed.is_none()).then_some(NamedRevision::Known(Revision::V2026_07_28))
    }

    /// Returns whether the peers use a revision without a handshake.
    pub(crate) fn is_modern(&self) -> bool {
        self.revision().is_some_and(|revision| revision.era() == Era::Modern)
            || (self.agreed.is_none() && self.declared.is_some())
    }

    /// Stores the revision that the handshake agreed on. `initialize` belongs to the legacy
    /// revisions, so a newer name in the result counts as the last of them.
    pub(super) fn agree(&mut self, reply: Option<Node<'_>>) {
        self.agree_on(reply.and_then(Node::as_str).as_deref());
    }

    pub(super) fn agree_on(&mut self, version: Option<&str>) {
        let named = version.map_or(NamedRevision::Unknown, NamedRevision::parse);
        self.agreed = Some(match named {
            NamedRevision::Known(revision) => NamedRevision::Known(revision.min(LAST_LEGACY)),
            NamedRevision::Unknown => NamedRevision::Unknown,
        });
    }

    /// Returns whether a request declares an unknown revision and none was reported before.
    pub(crate) fn is_first_unknown_revision(&self, params: Option<Node<'_>>) -> bool {
        self.fixed.is_none()
            && !self.reported_unknown_revision
            && self.declaration("", params) == Some(NamedRevision::Unknown)
    }

    /// Makes later requests with an unknown revision pass without a note.
    pub(crate) fn unknown_revision_reported(&mut self) {
        self.reported_unknown_revision = true;
    }

    pub(crate) fn has_agreed(&self) -> bool {
        self.agreed.or(self.declared).is_some()
    }

    pub(crate) fn agreed_on_unknown(&self) -> bool {
        self.fixed.is_none() && self.agreed == Some(NamedRevision::Unknown)
    }
}

/// Returns the revision of `initialize` and its result.
pub(crate) fn handshake_revision(version: Option<Node<'_>>) -> Revision {
    let named = version.and_then(Node::as_str).and_then(|name| Revision::parse(&name));
    named.map_or(LAST_LEGACY, |revision| revision.min(LAST_LEGACY))
}
