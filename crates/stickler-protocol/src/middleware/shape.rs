//! Does a message have the shape that its revision gives it?

use stickler::ValidationError;
use stickler::internal::Answer;
use stickler::rules::MessageRule;
use stickler::tape::Node;

use super::case::Case;
use super::{Incoming, ValidationMiddleware};
use crate::protocol::{Method, MethodLookup, Revision};
use crate::side::Side;
use crate::verdict::Finding;

/// Longest piece of a peer's own text in a message of ours.
const QUOTED: usize = 80;

impl ValidationMiddleware {
    /// What the revision says of a method; what it does not know is told.
    pub(super) fn look_up<'v>(
        &'v self,
        case: &mut Case,
        side: Side,
        method: &str,
        revision: Revision,
    ) -> Option<&'v Method> {
        let validator = self.protocol.get(revision);
        let message = match validator.method(side, method) {
            MethodLookup::Known(known) => return Some(known),
            MethodLookup::WrongDirection(known) => {
                let sender = side.other();
                let message = format!("`{}` is sent by a {sender}, not by a {side}", known.name);
                let finding = Finding::new(MessageRule::WrongDirection, message).at("/method");
                case.tell(
                    finding.with(format!("a method of a {side}"), format!("one of a {sender}")),
                );
                return None;
            }
            MethodLookup::OtherRevisions(revisions) => {
                let first = revisions.first().map_or("", |revision| revision.as_str());
                let last = revisions.last().map_or("", |revision| revision.as_str());
                let span =
                    if first == last { first.to_owned() } else { format!("{first} to {last}") };
                let method = quoted(method);
                format!("`{method}` is not a method of {revision}; it is one of {span}")
            }
            MethodLookup::Unknown => {
                let known = validator.methods().filter(|known| known.is_sent_by(side));
                let known: Vec<String> = known.map(|known| known.name.clone()).collect();
                let suggestions = self.validator.find_suggestions(method, &known);
                let method = quoted(method);
                match suggestions.first() {
                    Some(meant) => {
                        format!("`{method}` is not a method of {revision}; did you mean `{meant}`?")
                    }
                    None => format!("`{method}` is not a method of {revision}"),
                }
            }
        };
        let finding = Finding::new(MessageRule::UnknownMethod, message).at("/method");
        case.tell(finding.with(format!("a method of {revision}"), format!("`{}`", quoted(method))));
        None
    }

    /// What is wrong with the shape of a part of a message; nothing when it is right.
    pub(super) fn misshapen(
        &self,
        revision: Revision,
        definition: &str,
        node: Node<'_>,
        place: &'static str,
    ) -> Vec<ValidationError> {
        let validator = self.protocol.get(revision);
        let config = self.validator.config();
        if validator.check(definition, node, &config.limits) == Answer::Valid {
            return Vec::new();
        }
        let errors = validator.explain_part(definition, node, place, config);
        if errors.is_empty() {
            let reason = format!("does not have the shape of `{definition}`");
            return vec![ValidationError::whole(reason)];
        }
        errors
    }

    /// What is wrong with a request or notification, the envelope excepted.
    pub(super) fn bad_params(
        &self,
        incoming: Incoming<'_>,
        revision: Revision,
        method: &Method,
    ) -> Vec<Finding> {
        let errors = self.misshapen(revision, &method.definition, incoming.node, "");
        let of_envelope =
            |error: &ValidationError| matches!(error.path.as_str(), "/jsonrpc" | "/id" | "/method");
        let errors = errors.into_iter().filter(|error| !of_envelope(error));
        errors.map(|error| Finding::from_schema(MessageRule::BadParams, "", error)).collect()
    }
}

/// A peer's text, cut to a length that can be shown.
pub(super) fn quoted(text: &str) -> String {
    if text.len() <= QUOTED {
        return text.to_owned();
    }
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
