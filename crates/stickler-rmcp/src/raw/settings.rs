//! Settings of the validation below rmcp.

use std::sync::Arc;
use std::time::Duration;

use stickler::{Limits, McpValidator, Revision, ValidationConfig};
use stickler_protocol::{Decision, Policy, ProtocolSchemas, Side, ValidationMiddleware, Verdict};

use super::arguments::{KnownTools, Resolution};
use crate::problems::Problems;

/// Settings for the validation of raw messages.
///
/// ```
/// use stickler_rmcp::{Policy, RawSettings};
///
/// let settings = RawSettings::default().with_policy(Policy::strict());
/// # let _ = settings;
/// ```
#[derive(Debug, Clone)]
pub struct RawSettings {
    policy: Arc<Policy>,
    protocol: Arc<ProtocolSchemas>,
    validator: Arc<McpValidator>,
    tools: Option<KnownTools>,
}

impl Default for RawSettings {
    fn default() -> Self {
        Self {
            policy: Arc::default(),
            protocol: Arc::default(),
            validator: Arc::new(McpValidator::new(without_argument_checks(Limits::default()))),
            tools: None,
        }
    }
}

/// Disables argument validation, which `Validated` does with the handler's current tool list.
fn without_argument_checks(limits: Limits) -> ValidationConfig {
    let mut config = ValidationConfig::default();
    config.pre_validate = false;
    config.limits = limits;
    config
}

impl RawSettings {
    /// Sets the policy for messages that violate a rule.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = Arc::new(policy);
        self
    }

    /// Sets the size limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.validator = Arc::new(McpValidator::new(without_argument_checks(limits)));
        self
    }

    /// Sets the schemas of the protocol.
    #[must_use]
    pub fn with_protocol(mut self, protocol: impl Into<Arc<ProtocolSchemas>>) -> Self {
        self.protocol = protocol.into();
        self
    }

    pub(crate) fn with_tools(mut self, tools: KnownTools) -> Self {
        self.tools = Some(tools);
        self
    }

    /// Returns the settings for messages of many sessions, whose rejections are not counted together.
    pub(super) fn without_session(mut self) -> Self {
        if let Some(tools) = &mut self.tools {
            tools.session = None;
        }
        self
    }

    /// Validates a message of the client; uses the cached tools for a more helpful response.
    pub(super) fn validate(
        &self,
        middleware: &mut ValidationMiddleware,
        message: &[u8],
        now: Duration,
    ) -> Verdict {
        let mut verdict = middleware.handle(Side::Client, message, now);
        let Some(tools) = &self.tools else { return verdict };
        let Decision::Answer(reply) = &verdict.decision else { return verdict };
        let mut reply = reply.clone();
        match tools.resolve(message, &verdict, middleware.revision()) {
            Some(Resolution::Answer(bytes, code)) => {
                reply.bytes = bytes;
                Arc::make_mut(&mut reply.header).code = code;
                verdict.decision = Decision::Answer(reply);
                verdict
            }
            Some(Resolution::Repaired(message)) => {
                let mut verdict = middleware.handle(Side::Client, &message, now);
                if verdict.is_forward() {
                    verdict.decision = Decision::Rewrite(message);
                }
                verdict
            }
            None => verdict,
        }
    }

    pub(super) fn message_bytes(&self) -> usize {
        self.validator.config().limits.message_bytes
    }

    /// Creates the middleware for one connection or one HTTP request.
    pub(super) fn middleware(&self, revision: Option<Revision>) -> ValidationMiddleware {
        let middleware = ValidationMiddleware::new("server", Arc::clone(&self.validator))
            .with_policy(Arc::clone(&self.policy))
            .with_protocol(Arc::clone(&self.protocol));
        match revision {
            Some(revision) => middleware.with_revision(revision),
            None => middleware,
        }
    }
}

/// Logs the findings of a message.
pub(super) fn log(sender: Side, verdict: &Verdict) {
    if verdict.findings.is_empty() {
        return;
    }
    let method = verdict.header.method.as_deref();
    let problems = Problems(&verdict.findings);
    let rule = problems.rule();
    if verdict.is_forward() {
        tracing::debug!(method, rule, "message from the {sender} noted: {problems}");
    } else {
        tracing::warn!(method, rule, "message from the {sender} rejected: {problems}");
    }
}
