//! Inspects a message, decides on it and commits the decision.
//!
//! Inspection changes nothing: it reads the state of the connection and collects findings in a [`Case`]. The
//! decision follows from the findings and the policy. If a newer tool list could change it, or if it needs work that
//! takes long, the message is held and inspected again from its bytes. Only a commit changes the state, and only a commit explains and renders
//! a rejection, so nothing is ever undone.

mod batch;
mod call;
mod case;
mod malformed;
mod notification;
mod request;
mod request_checks;
mod response;
mod shape;

use std::sync::Arc;
use std::time::Duration;

use stickler::Limits;
use stickler::tape::{Kind, Node, SyntaxErrorKind, TapeBuffer};

use super::held::NoRoom;
use super::work::{Prepared, Task};
use super::{Connection, RequestContext};
use crate::envelope::{Envelope, Header, PartialHeader, Shape};
use crate::side::Side;
use crate::verdict::{Decision, Verdict};
pub(super) use batch::{combine_decisions, forwarded_header};
pub(super) use call::unusable_schema;
pub(super) use case::Case;

/// Nesting limit of the second parse, which distinguishes deep JSON from invalid JSON.
const MAX_REPARSE_DEPTH: usize = 1 << 16;

/// A parsed message with its sender and time of arrival.
#[derive(Debug, Clone, Copy)]
pub(super) struct Incoming<'m> {
    pub(super) side: Side,
    pub(super) node: Node<'m>,
    pub(super) now: Duration,
    pub(super) attempt: Attempt<'m>,
}

/// How a message may be decided on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt<'c> {
    pub(super) list: ListUse,
    pub(super) prepared: Prepared<'c>,
    /// The message had to wait, but cannot be held: its calls are rejected.
    pub(super) no_room: Option<NoRoom>,
    pub(super) context: &'c RequestContext,
}

/// Whether a decision may wait for a newer tool list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListUse {
    /// The message is held if a newer list could change the decision.
    Refreshable,
    /// The list is used as it is.
    AsIs,
    /// The list was current when the work for the message began, and no newer one may be awaited: it is used even if a
    /// change was announced since.
    Confirmed,
}

/// The verdict on a message whose decision is committed, or the reason to hold the message.
pub(super) type Checked = Result<Verdict, Box<MustWait>>;

/// A message that cannot be decided on yet. Nothing has changed.
#[derive(Debug)]
pub(super) struct MustWait {
    pub(super) header: Header,
    /// The `_meta` of its request, as JSON.
    pub(super) meta: Option<Box<str>>,
    pub(super) wait: WaitFor,
}

/// What a message waits for.
#[derive(Debug)]
pub(super) enum WaitFor {
    /// A newer tool list, which could change the decision.
    NewerList,
    /// The tool list, which is unknown or stale.
    UnknownList,
    /// Work that takes long.
    Work(Task),
}

impl Connection {
    /// Checks a message: inspects it, decides on it and commits the decision.
    pub(super) fn check(
        &mut self,
        side: Side,
        bytes: &[u8],
        now: Duration,
        attempt: Attempt<'_>,
    ) -> Checked {
        // The tape borrows its buffer while the connection changes.
        let mut buffer = std::mem::take(&mut self.buffer);
        let checked = self.read(&mut buffer, (side, bytes), now, attempt);
        self.buffer = buffer;
        checked
    }

    /// Checks a message with the tool list as it is.
    pub(crate) fn check_now(&mut self, side: Side, bytes: &[u8], now: Duration) -> Verdict {
        let context = RequestContext::default();
        let attempt = Attempt {
            list: ListUse::AsIs,
            prepared: Prepared::Inline,
            no_room: None,
            context: &context,
        };
        let checked = self.check(side, bytes, now, attempt);
        // A message waits neither for a list that is used as it is, nor for work that is done at once.
        checked.unwrap_or_else(|must_wait| self.case(side, must_wait.header).forward())
    }

    fn read(
        &mut self,
        buffer: &mut TapeBuffer,
        (side, bytes): (Side, &[u8]),
        now: Duration,
        attempt: Attempt<'_>,
    ) -> Checked {
        let limits = *self.limits();
        // As in the framer, a trailing `\r` belongs to the line ending.
        if bytes.strip_suffix(b"\r").unwrap_or(bytes).len() > limits.message_bytes {
            return Ok(self.oversized(side, PartialHeader::of(bytes)));
        }
        if bytes.trim_ascii().is_empty() {
            return Ok(self.empty(side));
        }
        Ok(match buffer.read(bytes, limits.message_depth) {
            Ok(tape) => return self.message(Incoming { side, node: tape.root(), now, attempt }),
            Err(error) if error.kind() != SyntaxErrorKind::TooDeep => {
                self.invalid_json(side, bytes, &error, now)
            }
            // Invalid JSON takes precedence over excessive nesting.
            Err(_) => match buffer.read(bytes, MAX_REPARSE_DEPTH) {
                Err(error) if error.kind() != SyntaxErrorKind::TooDeep => {
                    self.invalid_json(side, bytes, &error, now)
                }
                Ok(tape) if tape.root().kind() == Kind::Array => {
                    self.too_deep_batch(side, tape.root())
                }
                _ => self.too_deep(side, bytes),
            },
        })
    }

    fn message(&mut self, incoming: Incoming<'_>) -> Checked {
        let envelope = Envelope::identify(incoming.node);
        if incoming.attempt.list == ListUse::Refreshable
            && let Some(must_wait) = self.needs_list(incoming, &envelope)
        {
            return Err(Box::new(must_wait));
        }
        if let Some(task) = self.needs_compilation(incoming, &envelope) {
            return Err(Box::new(MustWait::of(incoming.node, &envelope, WaitFor::Work(task))));
        }
        if let Some(rejection) = self.check_param_headers(incoming, &envelope) {
            if incoming.attempt.list == ListUse::Refreshable && self.is_list_old(incoming.now) {
                let wait = WaitFor::NewerList;
                return Err(Box::new(MustWait::of(incoming.node, &envelope, wait)));
            }
            return Ok(rejection.into());
        }
        match envelope.shape {
            Shape::Batch => Ok(self.batch(incoming)),
            _ => self.single(incoming, &envelope),
        }
    }

    fn single(&mut self, incoming: Incoming<'_>, envelope: &Envelope<'_>) -> Checked {
        Ok(match envelope.shape {
            Shape::Request => return self.request(incoming, envelope),
            Shape::Notification => self.notification(incoming, envelope),
            Shape::Result | Shape::Error => self.response(incoming, envelope),
            Shape::Batch | Shape::Noise => self.noise(incoming),
        })
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.validator.config().limits
    }

    /// Returns the verdict on the cancellation of a held call: nothing is forwarded.
    pub(super) fn discarded(&self, header: Header) -> Verdict {
        self.case(Side::Client, header).decide(Decision::Drop)
    }

    fn case(&self, side: Side, header: Header) -> Case {
        Case::new(Arc::clone(&self.policy), side, header)
    }
}

impl MustWait {
    pub(super) fn of(message: Node<'_>, envelope: &Envelope<'_>, wait: WaitFor) -> Self {
        let header = match envelope.shape {
            Shape::Batch => {
                let part = |node| Header::of(&Envelope::identify(node));
                Header::of_batch(message.elements().map(part).collect())
            }
            _ => Header::of(envelope),
        };
        let meta = envelope.params.and_then(|params| params.get("_meta"));
        Self { header, meta: meta.map(|meta| meta.raw().into()), wait }
    }
}
