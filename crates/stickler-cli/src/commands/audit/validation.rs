//! Validates the messages of a recording. One file is one session.

use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use stickler::{Finding, McpValidator, MessageRule, Mode, Severity, ValidationConfig};
use stickler_protocol::{Policy, Side, ValidationMiddleware, Verdict};

use super::Setup;
use super::reader::{Batch, Content, Item};
use super::tally::Tally;

/// Maximum number of findings per event; a batch of short lines can have very many.
const MAX_FINDINGS_PER_EVENT: usize = 1000;

/// A finding with its line.
#[derive(Debug)]
pub(super) struct AuditFinding {
    pub(super) line: usize,
    pub(super) side: Side,
    pub(super) rule: MessageRule,
    pub(super) severity: Severity,
    pub(super) path: String,
    pub(super) message: String,
    pub(super) expected: String,
    pub(super) received: String,
}

pub(super) struct SessionValidator<'s> {
    setup: &'s Setup,
    server: String,
    middleware: ValidationMiddleware,
    pub(super) tally: Tally,
}

impl<'s> SessionValidator<'s> {
    /// Creates the validator of a file. Files share compiled schemas, but not their tool lists.
    pub(super) fn new(path: &Path, setup: &'s Setup) -> Self {
        let server = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let middleware = middleware(&server, setup, Mode::Enforce);
        Self { setup, server, middleware, tally: Tally::default() }
    }

    /// Validates a batch and reports the findings in portions.
    pub(super) fn validate<E>(
        &mut self,
        batch: &Batch,
        report: impl Fn(Vec<AuditFinding>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.tally.skipped += batch.skipped;
        let mut portion = Vec::new();
        for item in &batch.items {
            let found = self.validate_line(batch, item);
            // An empty line is a finding, but does not count as a message.
            let is_message = !matches!(item.content, Content::ByGateway(_) | Content::Assisting);
            let is_empty = found.iter().any(|found| found.rule == MessageRule::EmptyLine);
            self.tally.messages += usize::from(is_message && !is_empty);
            for one in &found {
                self.tally.add(one.rule, one.severity);
            }
            portion.extend(found);
            if portion.len() >= MAX_FINDINGS_PER_EVENT {
                report(std::mem::take(&mut portion))?;
            }
        }
        if portion.is_empty() { Ok(()) } else { report(portion) }
    }

    fn validate_line(&mut self, batch: &Batch, item: &Item) -> Vec<AuditFinding> {
        let Item { line, side, time, content } = item;
        let verdict: Verdict = match content {
            Content::Message(range) => self.middleware.handle(*side, batch.text(range), *time),
            Content::TooLong(partial) => self.middleware.handle_oversized(*side, partial.clone()),
            Content::BrokenRecord => return vec![broken_record_finding(*line, *side)],
            Content::Judged(None) => return Vec::new(),
            Content::ByGateway(range) => {
                // The gateway's tool list, and its answers, which end requests.
                self.middleware.handle(*side, batch.text(range), *time);
                return Vec::new();
            }
            Content::Assisting => {
                self.middleware = middleware(&self.server, self.setup, Mode::Assist);
                return Vec::new();
            }
            Content::Judged(Some(verdict)) => {
                let findings = recorded_findings(batch.text(verdict));
                let shown = findings.into_iter().map(|finding| {
                    let is_masked = self.setup.config.mask_values;
                    if is_masked { finding.without_values() } else { finding }
                });
                return shown.map(|finding| AuditFinding::new(*line, *side, finding)).collect();
            }
        };
        verdict
            .findings
            .into_iter()
            .map(|finding| AuditFinding::new(*line, *side, finding))
            .collect()
    }
}

/// Creates the middleware of a session that was recorded in a mode. Nothing is enforced; in the mode `assist`, calls that
/// were repaired are noted as such.
fn middleware(server: &str, setup: &Setup, mode: Mode) -> ValidationMiddleware {
    let mut config = setup.config.clone();
    let of_mode = ValidationConfig::in_mode(mode);
    config.unknown_fields = setup.unknown_fields.unwrap_or(of_mode.unknown_fields);
    let mut policy = Policy::observing();
    if mode == Mode::Assist {
        config.repair = of_mode.repair;
        policy = Policy::in_mode(mode);
    }
    let validator = McpValidator::new(config).with_schema_store(&setup.tool_schemas);
    let middleware = ValidationMiddleware::new(server, Arc::new(validator))
        .with_policy(policy)
        .with_protocol(Arc::clone(&setup.schemas));
    match setup.revision {
        Some(revision) => middleware.with_revision(revision),
        None => middleware,
    }
}

impl AuditFinding {
    fn new(line: usize, side: Side, finding: Finding) -> Self {
        let Finding { rule, severity, path, message, expected, received, .. } = finding;
        Self { line, side, rule, severity, path, message, expected, received }
    }
}

/// A verdict in a recording of the gateway.
#[derive(Deserialize)]
struct RecordedVerdict {
    #[serde(default)]
    findings: Vec<RecordedFinding>,
}

#[derive(Deserialize)]
struct RecordedFinding {
    rule: String,
    severity: String,
    #[serde(default)]
    path: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    expected: String,
    #[serde(default)]
    received: String,
}

/// Returns the findings of a recorded verdict. Rules that this version does not know are left out.
fn recorded_findings(verdict: &[u8]) -> Vec<Finding> {
    let Ok(RecordedVerdict { findings }) = serde_json::from_slice(verdict) else {
        return Vec::new();
    };
    let known = findings.into_iter().filter_map(|one| {
        let rule = MessageRule::parse(&one.rule)?;
        let finding = Finding::new(rule, one.message).at(one.path);
        let mut finding = finding.with(one.expected, one.received);
        finding.severity = match one.severity.as_str() {
            "note" => Severity::Note,
            "warning" => Severity::Warning,
            _ => Severity::Error,
        };
        Some(finding)
    });
    known.collect()
}

fn broken_record_finding(line: usize, side: Side) -> AuditFinding {
    let rule = MessageRule::JsonSyntax;
    AuditFinding {
        line,
        side,
        rule,
        severity: rule.severity(),
        path: String::new(),
        message: "the record is truncated or not JSON, so its message cannot be read".to_owned(),
        expected: "a complete record".to_owned(),
        received: "an incomplete record".to_owned(),
    }
}
