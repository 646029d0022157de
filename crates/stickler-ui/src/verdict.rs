//! The verdict on a message: as recorded by the gateway, or computed here for recordings without verdicts.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use stickler::{McpValidator, SchemaStore, ValidationConfig};
use stickler_protocol::{Decision, ProtocolSchemas, Side, ValidationMiddleware};

use crate::index::row::Outcome;

/// What was decided about a message, and why.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Verdict {
    pub(crate) decision: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) would: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<String>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) edits: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) corrected: Option<Corrected>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) help: Option<String>,
}

/// One rule violation.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Finding {
    pub(crate) rule: String,
    pub(crate) severity: String,
    /// JSON Pointer within the message.
    pub(crate) path: String,
    pub(crate) message: String,
    pub(crate) expected: String,
    pub(crate) received: String,
}

/// The call as it was probably meant.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Corrected {
    pub(crate) name: String,
    pub(crate) arguments: Value,
}

impl Verdict {
    /// Reads a recorded verdict.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok()
    }

    /// Returns the outcome of a message of that side, as far as the verdict determines it.
    pub(crate) fn outcome(&self, side: Side) -> Outcome {
        match (self.decision.as_str(), side) {
            _ if self.would.is_some() => Outcome::WouldReject,
            ("answer" | "split", _) | ("drop", Side::Client) => Outcome::Rejected,
            ("drop", Side::Server) => Outcome::Noise,
            ("rewrite", _) if !self.edits.is_empty() => Outcome::Repaired,
            _ if !self.findings.is_empty() => Outcome::Noted,
            _ => Outcome::Passed,
        }
    }

    /// Returns the rule of the first problem.
    pub(crate) fn first_rule(&self) -> Option<&str> {
        let first = || self.findings.first().map(|finding| finding.rule.as_str());
        self.rule.as_deref().or_else(first).filter(|rule| !rule.is_empty())
    }
}

/// Checks the messages of a recording that has no verdicts, as `stickler audit` does.
#[derive(Debug)]
pub(crate) struct Checker(ValidationMiddleware);

static PROTOCOL: LazyLock<Arc<ProtocolSchemas>> = LazyLock::new(Arc::default);
/// Recordings often repeat the same tool lists.
static SCHEMAS: LazyLock<SchemaStore> = LazyLock::new(SchemaStore::new);

impl Checker {
    pub(crate) fn new(server: &str) -> Self {
        let validator = Arc::new(new_validator());
        let middleware = ValidationMiddleware::new(server, validator);
        Self(middleware.with_protocol(Arc::clone(&PROTOCOL)))
    }

    /// Returns the verdict on a message; `None` if it is forwarded without findings.
    pub(crate) fn check(&mut self, side: Side, text: &[u8], seconds: f64) -> Option<Verdict> {
        let now = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let verdict = self.0.handle(side, text, now);
        let (decision, would) = match verdict.decision {
            Decision::Forward | Decision::Rewrite(_) => ("forward", None),
            // The message was sent all the same.
            Decision::Answer(_) | Decision::Split { .. } => ("forward", Some("answer".to_owned())),
            Decision::Drop if side == Side::Server => ("drop", None),
            Decision::Drop => ("forward", Some("drop".to_owned())),
        };
        if decision == "forward" && would.is_none() && verdict.findings.is_empty() {
            return None;
        }
        let findings: Vec<Finding> = verdict.findings.iter().map(Finding::from).collect();
        Some(Verdict {
            decision: decision.to_owned(),
            would,
            rule: findings.first().map(|finding| finding.rule.clone()),
            findings,
            ..Verdict::default()
        })
    }
}

/// Creates a validator that shares compiled schemas with all others.
pub(crate) fn new_validator() -> McpValidator {
    McpValidator::new(ValidationConfig::default()).with_schema_store(&SCHEMAS)
}

impl From<&stickler::Finding> for Finding {
    fn from(finding: &stickler::Finding) -> Self {
        Self {
            rule: finding.rule.as_str().to_owned(),
            severity: finding.severity.to_string(),
            path: finding.path.clone(),
            message: finding.message.clone(),
            expected: finding.expected.clone(),
            received: finding.received.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Checker, Verdict};
    use crate::index::row::Outcome;
    use stickler_protocol::Side;

    fn outcome(text: &str, side: Side) -> Outcome {
        Verdict::read(text.as_bytes()).unwrap().outcome(side)
    }

    #[test]
    fn recorded_decisions_have_outcomes() {
        assert_eq!(outcome(r#"{"decision":"answer"}"#, Side::Client), Outcome::Rejected);
        assert_eq!(outcome(r#"{"decision":"drop"}"#, Side::Server), Outcome::Noise);
        assert_eq!(
            outcome(r#"{"decision":"forward","would":"answer"}"#, Side::Client),
            Outcome::WouldReject
        );
        assert_eq!(
            outcome(r#"{"decision":"rewrite","edits":[{}]}"#, Side::Client),
            Outcome::Repaired
        );
        // The announced capability is a rewrite, too.
        assert_eq!(outcome(r#"{"decision":"rewrite"}"#, Side::Server), Outcome::Passed);
        assert_eq!(
            outcome(r#"{"decision":"forward","findings":[{"rule":"r"}]}"#, Side::Client),
            Outcome::Noted
        );
    }

    #[test]
    fn recording_without_verdicts_is_checked() {
        let mut checker = Checker::new("files");
        let noise = checker.check(Side::Server, b"Server started", 0.0).unwrap();
        assert_eq!(
            (noise.outcome(Side::Server), noise.first_rule()),
            (Outcome::Noise, Some("stdout-noise"))
        );
        assert!(
            checker
                .check(Side::Client, br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, 1.0)
                .is_none()
        );
    }
}
