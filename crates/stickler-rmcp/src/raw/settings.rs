//! What can be chosen about the layer beneath rmcp.

use std::sync::Arc;

use stickler::{
    Finding, Limits, McpValidator, Policy, ProtocolSchemas, Revision, Side, ValidationConfig,
    ValidationMiddleware, Verdict,
};

/// How raw messages are judged.
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
}

impl Default for RawSettings {
    fn default() -> Self {
        Self {
            policy: Arc::default(),
            protocol: Arc::default(),
            validator: Arc::new(McpValidator::new(unchecked(Limits::default()))),
        }
    }
}

/// Arguments are judged above, by what the handler lists at that moment.
fn unchecked(limits: Limits) -> ValidationConfig {
    let mut config = ValidationConfig::default();
    config.pre_validate = false;
    config.limits = limits;
    config
}

impl RawSettings {
    /// What becomes of messages that break a rule.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = Arc::new(policy);
        self
    }

    /// How much is too much.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.validator = Arc::new(McpValidator::new(unchecked(limits)));
        self
    }

    /// The protocol's schemas.
    #[must_use]
    pub fn with_protocol(mut self, protocol: impl Into<Arc<ProtocolSchemas>>) -> Self {
        self.protocol = protocol.into();
        self
    }

    pub(super) fn message_bytes(&self) -> usize {
        self.validator.config().limits.message_bytes
    }

    /// For one connection, or one request over HTTP.
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

/// What was not passed on goes into the log.
pub(super) fn log(sender: Side, verdict: &Verdict) {
    if verdict.findings.is_empty() {
        return;
    }
    let method = verdict.subject.method.as_deref().unwrap_or_default();
    let findings: Vec<String> = verdict.findings.iter().map(Finding::masked).collect();
    let findings = findings.join("; ");
    if verdict.is_forward() {
        tracing::debug!(%sender, method, findings, "message noted");
    } else {
        tracing::warn!(%sender, method, findings, "message refused");
    }
}
