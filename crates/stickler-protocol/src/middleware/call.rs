//! The arguments stage: do the arguments of a `tools/call` satisfy the tool's schema?

use stickler::internal::ARGUMENTS;
use stickler::rules::{MessageRule, Severity};
use stickler::tape::Node;
use stickler::tool_validation::{DEFAULT_METHOD, is_validation_tool};
use stickler::{CallRefusal, Edit, ValidationErrorKind, ValidationResult};

use super::case::Case;
use super::shape::quoted;
use super::{Incoming, ValidationMiddleware};
use crate::envelope::Envelope;
use crate::policy::{Action, AnswerForm};
use crate::reply::Reply;
use crate::verdict::{Decision, Finding};

/// What the protocol stage has against the arguments, kept for the tool's own check to say better.
#[derive(Debug)]
pub(super) struct Withheld {
    /// They are no object.
    pub(super) shape: Vec<Finding>,
    /// They have keys given twice.
    pub(super) repeated: Vec<Finding>,
}

/// The member of `_meta` by which an agent numbers its turns.
const TURN_KEY: &str = "dev.stickler/turn_index";

impl ValidationMiddleware {
    /// Checks a call. Gives the decision where it is a special one: an answer in the form that
    /// refused calls get, or the repaired call.
    pub(super) fn call(
        &mut self,
        case: &mut Case,
        incoming: Incoming<'_>,
        envelope: &Envelope<'_>,
        reply: Reply<'_>,
        withheld: Withheld,
    ) -> Option<Decision> {
        let params = envelope.params?;
        let name = params.get("name").and_then(Node::as_str)?;
        case.subject.tool = Some(quoted(&name));
        let result = self.check_arguments(&name, params.get("arguments"));
        if self.validator.cache().is_stale(&self.server, incoming.now) {
            // A list that may have changed is never the reason for a refusal, nor for a repair.
            case.tell_each(withheld.shape);
            case.tell_each(withheld.repeated);
            if !case.is_refused() {
                for mut doubt in result.findings() {
                    doubt.severity = Severity::Note;
                    case.remark(doubt);
                }
            }
            return None;
        }
        if let Some(reason) = &result.unchecked {
            case.tell(unusable_schema(reason));
        }
        if result.is_valid {
            let rewrites = case.enforces(MessageRule::InvalidArguments);
            if let Some(repaired) = repaired(incoming.node, params, &result).filter(|_| rewrites) {
                tell_repair(case, &result);
                return Some(Decision::Rewrite(repaired));
            }
            case.tell_each(withheld.shape);
            case.tell_each(withheld.repeated);
            return None;
        }
        if self.is_like_no_tool(&result) && !self.validator.cache().was_listed(&self.server, &name)
        {
            let action = case.policy().unlisted_tool_action();
            result.findings().into_iter().for_each(|finding| case.tell_by(action, finding));
            if action != Action::Enforce {
                case.tell_each(withheld.shape);
                case.tell_each(withheld.repeated);
                return None;
            }
        } else {
            case.tell_each(result.findings());
        }
        if !case.is_refused() {
            return None;
        }
        let arguments = params.get("arguments").map_or("", Node::raw);
        let count = self.session.repeats.count(&self.server, &name, arguments);
        let turn = turn_of(params).unwrap_or_else(|| self.session.next_turn());
        let refusal = CallRefusal::new(&self.validator, &self.server, &name, &result)
            .with_findings(case.findings())
            .repeated(count, case.policy().repeat_limit)
            .in_turn(turn);
        // A task has no result yet that could carry the help.
        let form = match params.get("task") {
            Some(_) => AnswerForm::JsonRpcError,
            None => case.policy().answer,
        };
        Some(Decision::Answer(reply.call_refusal(&refusal, form)))
    }

    /// Whether the tool is none that is listed, and its name is like none of those.
    fn is_like_no_tool(&self, result: &ValidationResult) -> bool {
        result.errors.iter().any(|error| match &error.kind {
            ValidationErrorKind::UnknownTool { suggestions, .. } => {
                suggestions.iter().all(|name| self.is_unlisted_service(name))
            }
            _ => false,
        })
    }

    /// Whether a name is the one that the gateway answers to beside that which it lists.
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

/// The reason stands alone elsewhere and so begins with its rule, which a finding has anyway.
fn unusable_schema(reason: &str) -> Finding {
    let rule = MessageRule::UnusableSchema;
    let code = format!("[{}] ", rule.as_str());
    Finding::new(rule, reason.strip_prefix(&code).unwrap_or(reason)).at("/params/name")
}

/// What was wrong is told, but nothing is wrong any more.
fn tell_repair(case: &mut Case, result: &ValidationResult) {
    case.edits.clone_from(&result.edits);
    case.edits.iter_mut().for_each(Edit::mask);
    for error in &result.errors {
        let mut finding =
            Finding::from_schema(MessageRule::InvalidArguments, ARGUMENTS, error.clone());
        finding.severity = Severity::Note;
        finding.message = format!("repaired: {}", finding.message);
        case.remark(finding);
    }
}

/// The message with the arguments that are to be passed on in place of those that came.
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
