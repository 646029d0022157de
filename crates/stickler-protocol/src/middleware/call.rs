//! The arguments stage: checks the arguments of a `tools/call` against the tool's schema.

use stickler::internal::ARGUMENTS_POINTER;
use stickler::rules::{MessageRule, Severity};
use stickler::tape::Node;
use stickler::tool_validation::{DEFAULT_METHOD, is_validation_tool};
use stickler::{CallRejection, Edit, ValidationError, ValidationErrorKind, ValidationResult};

use super::case::Case;
use super::shape::excerpt;
use super::{Incoming, ValidationMiddleware};
use crate::envelope::Envelope;
use crate::policy::{Action, AnswerForm};
use crate::reply::Reply;
use crate::verdict::{Decision, Finding};

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

impl ValidationMiddleware {
    /// Checks a call. Returns a decision if it is not the default one: the response to a rejected
    /// call, or the repaired call.
    pub(super) fn check_call(
        &mut self,
        case: &mut Case,
        incoming: Incoming<'_>,
        envelope: &Envelope<'_>,
        reply: Reply<'_>,
        deferred: DeferredFindings,
    ) -> Option<Decision> {
        let params = envelope.params?;
        let name = params.get("name").and_then(Node::as_str)?;
        case.subject.tool = Some(excerpt(&name));
        let result = self.check_arguments(&name, params.get("arguments"));
        if self.validator.cache().is_stale(&self.server, incoming.now) {
            // A stale list must neither reject nor repair a call.
            case.record_each(deferred.shape);
            case.record_each(deferred.duplicate_keys);
            if !case.is_rejected() {
                for mut finding in result.findings() {
                    finding.severity = Severity::Note;
                    case.note(finding);
                }
            }
            return None;
        }
        if let Some(reason) = &result.unchecked {
            case.record(unusable_schema(reason));
        }
        if result.is_valid {
            let rewrites = case.enforces(MessageRule::InvalidArguments);
            if let Some(repaired) = repaired(incoming.node, params, &result).filter(|_| rewrites) {
                note_repair(case, &result);
                return Some(Decision::Rewrite(repaired));
            }
            case.record_each(deferred.shape);
            case.record_each(deferred.duplicate_keys);
            return None;
        }
        if self.resembles_no_tool(&name, &result)
            && !self.validator.cache().was_listed(&self.server, &name)
        {
            let action = case.policy().unlisted_tool_action();
            result.findings().into_iter().for_each(|finding| case.record_as(action, finding));
            if action != Action::Enforce {
                case.record_each(deferred.shape);
                case.record_each(deferred.duplicate_keys);
                return None;
            }
        } else {
            case.record_each(result.findings());
        }
        if !case.is_rejected() {
            return None;
        }
        let arguments = params.get("arguments").map_or("", Node::raw);
        let count = self.session.rejection_counts.count(&self.server, &name, arguments);
        let turn = turn_of(params).unwrap_or_else(|| self.session.next_turn());
        let rejection = CallRejection::new(&self.validator, &self.server, &name, &result)
            .with_findings(case.findings())
            .repeated(count, case.policy().repeat_limit)
            .in_turn(turn);
        // A task has no result yet that could carry the help prompt.
        let form = match params.get("task") {
            Some(_) => AnswerForm::JsonRpcError,
            None => case.policy().answer,
        };
        Some(Decision::Answer(reply.call_rejection(&rejection, form)))
    }

    /// Returns whether the tool is unlisted and its name resembles no listed tool by form or
    /// last segment. A tool that only means the same may be one that the server does not list.
    fn resembles_no_tool(&self, name: &str, result: &ValidationResult) -> bool {
        let is_unknown =
            |error: &ValidationError| matches!(error.kind, ValidationErrorKind::UnknownTool { .. });
        let resembling = || self.validator.tools_resembling(&self.server, name);
        result.errors.iter().any(is_unknown)
            && resembling().iter().all(|tool| self.is_unlisted_service(tool))
    }

    /// Returns whether a name is the alias of the gateway's tool, which is not listed.
    fn is_unlisted_service(&self, name: &str) -> bool {
        let known = || self.validator.cache().get(&self.server, name);
        name == DEFAULT_METHOD && known().is_some_and(|known| is_validation_tool(&known))
    }

    fn check_arguments(&self, name: &str, arguments: Option<Node<'_>>) -> ValidationResult {
        match arguments {
            Some(arguments) => self.validator.validate_node(&self.server, name, arguments),
            None => self
                .validator
                .validate_text(&self.server, name, None)
                .unwrap_or_else(|_| ValidationResult::valid()),
        }
    }
}

/// Removes the rule prefix from the reason, because the finding names the rule itself.
fn unusable_schema(reason: &str) -> Finding {
    let rule = MessageRule::UnusableSchema;
    let code = format!("[{}] ", rule.as_str());
    Finding::new(rule, reason.strip_prefix(&code).unwrap_or(reason)).at("/params/name")
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
    let before = text.get(..place.start.checked_sub(start)?)?;
    let after = text.get(place.end.checked_sub(start)?..)?;
    Some([before, &insertion, after].concat().into_bytes())
}

fn turn_of(params: Node<'_>) -> Option<u64> {
    params.get("_meta")?.get(TURN_KEY)?.raw().parse().ok()
}
