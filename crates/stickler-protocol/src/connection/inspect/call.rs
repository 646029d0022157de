//! The arguments stage: checks the arguments of a `tools/call` against the tool's schema.

use std::sync::Arc;

use stickler::internal::ARGUMENTS_POINTER;
use stickler::rules::{MessageRule, Severity};
use stickler::tape::{Kind, Node, splice};
use stickler::{
    CallRejection, Edit, Freshness, Repair, ValidationError, ValidationErrorKind, ValidationResult,
};

use super::{Case, Connection, Incoming, ListUse, WaitFor};
use crate::envelope::{Envelope, excerpt};
use crate::policy::{AnswerForm, RuleAction};
use crate::reply::Responder;
use crate::verdict::{Finding, Reply};

/// Protocol findings about `arguments`, deferred because the tool's schema gives better messages.
#[derive(Debug)]
pub(super) struct DeferredFindings {
    /// `arguments` is not an object.
    pub(super) shape: Vec<Finding>,
    /// `arguments` contains duplicate keys.
    pub(super) duplicate_keys: Vec<Finding>,
}

/// The `_meta` member that carries the agent's turn number.
const TURN_KEY: &str = "dev.stickler/turn_index";

/// The outcome of inspecting the arguments of a call.
#[derive(Debug)]
pub(super) enum CallOutcome<'m> {
    /// The other findings decide.
    Pass,
    /// The message with repaired arguments.
    Repaired(Vec<u8>),
    /// The call is rejected.
    Reject(RejectedCall<'m>),
    /// The call cannot be decided on yet: a newer list could change the decision, or the explanation takes long.
    MustWait(WaitFor),
}

/// A rejected call, before its response is rendered.
#[derive(Debug)]
pub(super) struct RejectedCall<'m> {
    tool: Box<str>,
    params: Node<'m>,
    result: ValidationResult,
}

impl DeferredFindings {
    pub(super) fn record(self, case: &mut Case) {
        case.record_each(self.shape);
        case.record_each(self.duplicate_keys);
    }
}

impl Connection {
    /// Inspects the arguments of a call.
    pub(super) fn inspect_call<'m>(
        &self,
        case: &mut Case,
        incoming: Incoming<'m>,
        envelope: &Envelope<'m>,
        mut deferred: DeferredFindings,
    ) -> CallOutcome<'m> {
        let name = envelope.params.and_then(|params| params.get("name")).and_then(Node::as_str);
        let (Some(params), Some(name)) = (envelope.params, name) else { return CallOutcome::Pass };
        Arc::make_mut(&mut case.header).tool = Some(excerpt(&name).into());
        let arguments = params.get("arguments");
        let freshness = self.validator.cache().freshness(&self.server);
        let is_stale = incoming.attempt.list != ListUse::Confirmed
            && freshness.is_some_and(|freshness| freshness.is_stale(incoming.now));
        if !is_stale && self.is_outdated_rejection(case, incoming, freshness, &name, arguments) {
            return CallOutcome::MustWait(WaitFor::NewerList);
        }
        if let Some(task) = self.needs_explanation(incoming, &name, arguments) {
            return CallOutcome::MustWait(WaitFor::Work(task));
        }
        let result = self.check_arguments(incoming, &name, arguments);
        if is_stale {
            // A stale list must neither reject nor repair a call.
            deferred.record(case);
            if !case.is_rejected() {
                for mut finding in result.findings() {
                    finding.severity = Severity::Note;
                    case.note(finding);
                }
            }
            return CallOutcome::Pass;
        }
        if let Some(reason) = &result.unchecked {
            case.record(unusable_schema(reason).at("/params/name"));
        }
        if result.is_valid {
            let rewrites = case.enforces(MessageRule::InvalidArguments);
            if let Some(repaired) = repaired(incoming.node, params, &result).filter(|_| rewrites) {
                note_repair(case, &result);
                return CallOutcome::Repaired(repaired);
            }
            for error in result.tolerated() {
                let rule = MessageRule::InvalidArguments;
                let finding = Finding::from_schema(rule, ARGUMENTS_POINTER, error);
                case.record_as(RuleAction::Warn, finding);
            }
            if self.accepts_null(&name, arguments) {
                deferred.shape.clear();
            }
            deferred.record(case);
            return CallOutcome::Pass;
        }
        if self.resembles_no_tool(&name, &result)
            && !self.validator.cache().was_listed(&self.server, &name)
        {
            let action = case.policy().unlisted_tool_action();
            result.findings().into_iter().for_each(|finding| case.record_as(action, finding));
            if action != RuleAction::Enforce {
                deferred.record(case);
                return CallOutcome::Pass;
            }
        } else {
            case.record_each(result.findings());
        }
        if !case.is_rejected() {
            return CallOutcome::Pass;
        }
        CallOutcome::Reject(RejectedCall { tool: name.into(), params, result })
    }

    /// Returns whether the arguments of a valid call are `null`, which the schema of a listed tool accepts as
    /// absent, although the protocol's schema does not.
    fn accepts_null(&self, tool: &str, arguments: Option<Node<'_>>) -> bool {
        arguments.is_some_and(|arguments| arguments.kind() == Kind::Null)
            && self.validator.cache().get(&self.server, tool).is_some()
    }

    /// Returns whether an old list rejects a call and can be refreshed first. Such a rejection is not
    /// explained. A call that may be repaired instead has to be explained.
    fn is_outdated_rejection(
        &self,
        case: &Case,
        incoming: Incoming<'_>,
        freshness: Option<Freshness>,
        tool: &str,
        arguments: Option<Node<'_>>,
    ) -> bool {
        let rejects = case.enforces(MessageRule::InvalidArguments)
            && case.enforces(MessageRule::UnknownTool)
            && self.validator.config().repair != Repair::Apply;
        rejects
            && incoming.attempt.list == ListUse::Refreshable
            && self.is_old(freshness, incoming.now)
            && self.is_new_request(case)
            && arguments
                .is_some_and(|arguments| self.validator.rejects(&self.server, tool, arguments))
    }

    /// Returns whether a forwarded request becomes a pending one. A duplicate does not, so it is not held.
    fn is_new_request(&self, case: &Case) -> bool {
        let requests = self.pending.of(case.side());
        let id = case.header.id.as_ref();
        id.is_some_and(|id| !requests.is_pending(id)) && !requests.is_full()
    }

    /// Counts a rejected call and renders the response to it.
    pub(super) fn reject_call(
        &mut self,
        case: &Case,
        call: &RejectedCall<'_>,
        responder: Responder<'_>,
    ) -> Reply {
        let RejectedCall { tool, params, result } = call;
        let arguments = params.get("arguments").map_or("", Node::raw);
        let count = self.rejected_calls.count(&self.server, tool, arguments);
        let turn = turn_of(*params).unwrap_or_else(|| self.rejected_calls.next_turn());
        let rejection = CallRejection::new(&self.validator, &self.server, tool, result)
            .with_findings(case.findings())
            .repeated(count, case.policy().repeat_limit)
            .in_turn(turn);
        // A task has no result yet that could carry the help prompt.
        let form = match params.get("task") {
            Some(_) => AnswerForm::JsonRpcError,
            None => case.policy().answer,
        };
        responder.call_rejection(&rejection, form)
    }

    /// Returns whether the tool is unlisted and its name resembles no listed tool by form or
    /// last segment. A tool that only means the same may be one that the server does not list.
    fn resembles_no_tool(&self, name: &str, result: &ValidationResult) -> bool {
        let is_unknown =
            |error: &ValidationError| matches!(error.kind, ValidationErrorKind::UnknownTool { .. });
        result.errors.iter().any(is_unknown)
            && self.validator.tools_resembling(&self.server, name).is_empty()
    }
}

/// Removes the rule prefix from the reason, because the finding names the rule itself.
pub(in crate::connection) fn unusable_schema(reason: &str) -> Finding {
    let rule = MessageRule::UnusableSchema;
    let code = format!("[{}] ", rule.as_str());
    Finding::new(rule, reason.strip_prefix(&code).unwrap_or(reason))
}

/// Notes the repaired errors, which no longer affect the verdict.
fn note_repair(case: &mut Case, result: &ValidationResult) {
    case.edits.clone_from(&result.edits);
    case.edits.iter_mut().for_each(Edit::mask);
    for error in &result.errors {
        let mut finding =
            Finding::from_schema(MessageRule::InvalidArguments, ARGUMENTS_POINTER, error);
        finding.severity = Severity::Note;
        finding.message = format!("repaired: {}", finding.message);
        case.note(finding);
    }
}

/// Returns the message with the repaired arguments spliced in.
fn repaired(message: Node<'_>, params: Node<'_>, result: &ValidationResult) -> Option<Vec<u8>> {
    let arguments = result.arguments()?.get();
    let start = message.span().start;
    let text = message.raw();
    let (place, insertion) = if let Some(old) = params.get("arguments") {
        (old.span(), arguments.to_owned())
    } else {
        let end = params.span().end.checked_sub(1)?;
        (end..end, format!(",\"arguments\":{arguments}"))
    };
    let place = place.start.checked_sub(start)?..place.end.checked_sub(start)?;
    Some(splice(text, vec![(place, insertion)]).into_bytes())
}

fn turn_of(params: Node<'_>) -> Option<u64> {
    params.get("_meta")?.get(TURN_KEY)?.raw().parse().ok()
}
