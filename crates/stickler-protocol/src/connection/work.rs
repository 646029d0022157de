//! Work that takes long: compiling the schemas of a tool, and explaining a large rejected call.
//!
//! A connection never does such work itself if [`defer_work`](super::ConnectionSettings::defer_work) is set. It holds
//! the call and returns the work as an action. The caller runs it wherever it likes, on as many threads as it likes,
//! and returns the outcome through [`Connection::handle_done`]. Other messages proceed meanwhile, later calls too.
//!
//! Three kinds of explanations are not deferred, because they have no call to hold: those of a call in a batch, of a
//! call that a validation tool asks about, and of a result that does not match its `outputSchema`. Their step budgets
//! bound them.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use stickler::tape::Node;
use stickler::{McpValidator, ValidationResult};

use super::inspect::{Attempt, Incoming};
use super::{Actions, Connection};
use crate::envelope::{Envelope, Shape};
use crate::side::Side;

/// Size from which explaining a call counts as work that takes long. Explaining takes about ten times as long as
/// parsing.
const LARGE_CALL_BYTES: usize = 64 << 10;

/// Work for the caller of a connection. It needs no access to the connection.
#[derive(Debug, Clone)]
pub struct Work {
    number: u64,
    validator: Arc<McpValidator>,
    server: Arc<str>,
    task: Task,
}

/// What is to be done before a call can be decided on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Task {
    /// Compile the schemas of these tools.
    Compile(Vec<Box<str>>),
    /// Validate the arguments of a call and explain their problems.
    Explain { tool: Box<str>, arguments: Box<str> },
}

/// The outcome of [`Work`].
#[derive(Debug)]
pub struct Done {
    number: u64,
    explained: Option<ValidationResult>,
}

/// What was done for a message before it is inspected.
#[derive(Debug, Clone, Copy)]
pub(super) enum Prepared<'r> {
    /// Nothing: work may be deferred.
    Nothing,
    /// The schemas are compiled; an explanation may be deferred.
    Compiled,
    /// The call was validated.
    Explained(&'r ValidationResult),
    /// Nothing, and no work may be deferred: it is done at once.
    Inline,
    /// Nothing, and no work may be done: the call is not validated if that takes long.
    Unavailable,
}

impl Work {
    pub(super) fn new(connection: &Connection, number: u64, task: Task) -> Self {
        let validator = Arc::clone(&connection.validator);
        Self { number, validator, server: Arc::clone(&connection.server), task }
    }

    /// Does the work. It never fails: what cannot be done is decided when the call is inspected.
    pub fn run(&self) -> Done {
        let explained = match &self.task {
            Task::Compile(tools) => {
                for tool in tools {
                    self.validator.cache().compile(&self.server, tool);
                }
                None
            }
            Task::Explain { tool, arguments } => {
                let arguments = Some(arguments.as_bytes());
                self.validator.validate_text(&self.server, tool, arguments).ok()
            }
        };
        Done { number: self.number, explained }
    }

    pub(super) fn explains(&self) -> bool {
        matches!(self.task, Task::Explain { .. })
    }

    /// Returns the outcome of work that was not done. Its call is decided on without it.
    pub fn not_done(&self) -> Done {
        Done { number: self.number, explained: None }
    }
}

impl PartialEq for Work {
    fn eq(&self, other: &Self) -> bool {
        (self.number, &self.server, &self.task) == (other.number, &other.server, &other.task)
    }
}

impl Eq for Work {}

impl Connection {
    /// Handles the outcome of work: decides on the call that waits for it.
    pub fn handle_done(&mut self, done: &Done, now: Duration) -> Actions<'static> {
        let mut out = Actions::default();
        // The call may have been cancelled or answered in the meantime.
        if let Some(held) = self.pending.of_mut(Side::Client).release_prepared(done.number) {
            let prepared = done.explained.as_ref().map_or(Prepared::Compiled, Prepared::Explained);
            let attempt =
                Attempt { list: held.list, prepared, no_room: None, context: &held.context };
            self.process_client_message(Cow::Owned(held.bytes), now, attempt, &mut out);
        }
        self.arm_timeout(now);
        out
    }

    /// Returns the schemas to compile before a message is inspected.
    pub(super) fn needs_compilation(
        &self,
        incoming: Incoming<'_>,
        envelope: &Envelope<'_>,
    ) -> Option<Task> {
        let may_wait = matches!(incoming.attempt.prepared, Prepared::Nothing);
        if !may_wait || incoming.side != Side::Client {
            return None;
        }
        let mut tools = Vec::new();
        match envelope.shape {
            Shape::Batch => {
                for message in incoming.node.elements() {
                    self.add_uncompiled(&Envelope::identify(message), &mut tools);
                }
            }
            _ => self.add_uncompiled(envelope, &mut tools),
        }
        (!tools.is_empty()).then_some(Task::Compile(tools))
    }

    /// Adds the tool of a call, and those that the call of a validation tool asks about, if they are not compiled.
    fn add_uncompiled(&self, envelope: &Envelope<'_>, tools: &mut Vec<Box<str>>) {
        // A request without a usable id is rejected at once.
        let Some(id) = envelope.request_id() else { return };
        let is_call = envelope.method.as_deref() == Some("tools/call");
        let Some(params) = envelope.params.filter(|_| is_call) else { return };
        if self.pending.of(Side::Client).is_pending(&id) {
            return;
        }
        let arguments = params.get("arguments");
        let calls = arguments.and_then(|arguments| arguments.get("calls"));
        let asked = calls.into_iter().flat_map(Node::elements).chain(arguments);
        let asked = asked.filter_map(|call| call.get("tool"));
        let is_validation = |name: &str| self.is_validation_tool_name(name);
        let Some(name) = params.get("name").and_then(Node::as_str) else { return };
        let asked = asked.filter(|_| is_validation(&name)).filter_map(Node::as_str);
        for name in std::iter::once(name.clone()).chain(asked) {
            if self.validator.cache().needs_compilation(&self.server, &name) {
                tools.push(name.into());
            }
        }
    }

    /// Returns the explanation that a rejected call needs, if it takes long.
    pub(super) fn needs_explanation(
        &self,
        incoming: Incoming<'_>,
        tool: &str,
        arguments: Option<Node<'_>>,
    ) -> Option<Task> {
        let may_wait = matches!(incoming.attempt.prepared, Prepared::Nothing | Prepared::Compiled);
        let arguments = arguments.filter(|one| may_wait && one.raw().len() >= LARGE_CALL_BYTES)?;
        let is_rejected = self.validator.rejects(&self.server, tool, arguments);
        is_rejected.then(|| Task::Explain { tool: tool.into(), arguments: arguments.raw().into() })
    }

    /// Validates the arguments of a call, or returns the result of the work.
    pub(super) fn check_arguments(
        &self,
        incoming: Incoming<'_>,
        name: &str,
        arguments: Option<Node<'_>>,
    ) -> ValidationResult {
        let is_large = || arguments.is_some_and(|one| one.raw().len() >= LARGE_CALL_BYTES);
        match (incoming.attempt.prepared, arguments) {
            (Prepared::Explained(result), _) => result.clone(),
            (Prepared::Unavailable, _)
                if is_large() || self.validator.cache().needs_compilation(&self.server, name) =>
            {
                ValidationResult::valid()
            }
            (_, Some(arguments)) => self.validator.validate_node(&self.server, name, arguments),
            (_, None) => self
                .validator
                .validate_text(&self.server, name, None)
                .unwrap_or_else(|_| ValidationResult::valid()),
        }
    }
}
