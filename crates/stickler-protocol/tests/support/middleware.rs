//! Builds a middleware, passes messages to it and inspects the verdicts.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use stickler::{Limits, McpValidator, Revision, ValidationConfig};
use stickler_protocol::{Decision, Side, ValidationMiddleware, Verdict};

pub(crate) fn middleware() -> ValidationMiddleware {
    with_limits(Limits::default())
}

pub(crate) fn with_limits(limits: Limits) -> ValidationMiddleware {
    let mut config = ValidationConfig::default();
    config.limits = limits;
    ValidationMiddleware::new("server", Arc::new(McpValidator::new(config)))
        .with_revision(Revision::V2025_11_25)
}

pub(crate) fn handle(middleware: &mut ValidationMiddleware, side: Side, message: &str) -> Verdict {
    middleware.handle(side, message.as_bytes(), Duration::ZERO)
}

pub(crate) fn rules(verdict: &Verdict) -> Vec<&'static str> {
    verdict.findings.iter().map(|finding| finding.rule.as_str()).collect()
}

pub(crate) fn answer(verdict: &Verdict) -> Value {
    match &verdict.decision {
        Decision::Answer(bytes) => serde_json::from_slice(bytes).unwrap(),
        other => panic!("expected an answer, got {other:?}"),
    }
}

pub(crate) const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
