//! Checks messages against the schema of their revision.

use stickler::ValidationError;
use stickler::internal::Answer;
use stickler::rules::MessageRule;
use stickler::tape::Node;

use super::{Case, Connection, Incoming};
use crate::envelope::excerpt;
use crate::protocol::{Method, MethodLookup, Revision};
use crate::side::Side;
use crate::verdict::Finding;

impl Connection {
    /// Looks up a method in the revision; records a finding if the sender must not use it.
    pub(super) fn lookup_method<'v>(
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
                case.record(
                    finding.with(format!("a method of a {side}"), format!("one of a {sender}")),
                );
                return None;
            }
            MethodLookup::OtherRevisions(revisions) => {
                let first = revisions.first().map_or("", |revision| revision.as_str());
                let last = revisions.last().map_or("", |revision| revision.as_str());
                let span =
                    if first == last { first.to_owned() } else { format!("{first} to {last}") };
                let method = excerpt(method);
                format!("`{method}` is not a method of {revision}; it is one of {span}")
            }
            MethodLookup::Unknown => {
                let known = validator.methods().filter(|known| known.is_sent_by(side));
                let known: Vec<String> = known.map(|known| known.name.clone()).collect();
                let suggestions = self.validator.find_suggestions(method, &known);
                let method = excerpt(method);
                match suggestions.first() {
                    Some(suggestion) => {
                        format!(
                            "`{method}` is not a method of {revision}; did you mean `{suggestion}`?"
                        )
                    }
                    None => format!("`{method}` is not a method of {revision}"),
                }
            }
        };
        let finding = Finding::new(MessageRule::UnknownMethod, message).at("/method");
        case.record(
            finding.with(format!("a method of {revision}"), format!("`{}`", excerpt(method))),
        );
        None
    }

    /// Returns the schema errors of a part of a message; none if it is valid.
    pub(super) fn schema_errors(
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
            let reason = format!("does not match `{definition}`");
            return vec![ValidationError::whole(reason)];
        }
        errors
    }

    /// Returns the findings about a request or notification, except those about its envelope.
    pub(super) fn params_findings(
        &self,
        incoming: Incoming<'_>,
        revision: Revision,
        method: &Method,
    ) -> Vec<Finding> {
        let errors = self.schema_errors(revision, &method.definition, incoming.node, "");
        let is_envelope =
            |error: &ValidationError| matches!(error.path.as_str(), "/jsonrpc" | "/id" | "/method");
        let errors = errors.into_iter().filter(|error| !is_envelope(error));
        errors.map(|error| Finding::from_schema(MessageRule::BadParams, "", &error)).collect()
    }
}
