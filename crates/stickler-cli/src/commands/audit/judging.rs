//! The judging half of an audit: one file is one session.

use std::path::Path;
use std::sync::Arc;

use stickler::{Finding, McpValidator, MessageRule, Severity};
use stickler_protocol::{Policy, Side, ValidationMiddleware, Verdict};

use super::Setup;
use super::reading::{Batch, Content, Item};
use super::tally::Tally;

/// So many findings are told at once. A batch of very short lines can have very many.
const PORTION: usize = 1000;

/// A finding and where it was made.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) line: usize,
    pub(super) side: Side,
    pub(super) rule: MessageRule,
    pub(super) severity: Severity,
    pub(super) path: String,
    pub(super) message: String,
    pub(super) expected: String,
    pub(super) received: String,
}

pub(super) struct Judge {
    middleware: ValidationMiddleware,
    pub(super) tally: Tally,
}

impl Judge {
    /// Every file has a validator of its own: what one server is said to have is no other's.
    pub(super) fn new(path: &Path, setup: &Setup) -> Self {
        let server = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy();
        let validator = Arc::new(McpValidator::new(setup.config.clone()));
        let middleware = ValidationMiddleware::new(server, validator)
            .with_policy(Policy::observing())
            .with_protocol(Arc::clone(&setup.schemas));
        let middleware = match setup.revision {
            Some(revision) => middleware.with_revision(revision),
            None => middleware,
        };
        Self { middleware, tally: Tally::default() }
    }

    /// Judges a batch and tells what was found, in portions.
    pub(super) fn judge<E>(
        &mut self,
        batch: &Batch,
        tell: impl Fn(Vec<Found>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.tally.skipped += batch.skipped;
        let mut portion = Vec::new();
        for item in &batch.items {
            let found = self.judge_line(batch, item);
            // A line without anything in it is worth a note, but is no message.
            let is_empty = found.iter().any(|found| found.rule == MessageRule::EmptyLine);
            self.tally.messages += usize::from(!is_empty);
            for one in &found {
                self.tally.add(one.rule, one.severity);
            }
            portion.extend(found);
            if portion.len() >= PORTION {
                tell(std::mem::take(&mut portion))?;
            }
        }
        if portion.is_empty() { Ok(()) } else { tell(portion) }
    }

    fn judge_line(&mut self, batch: &Batch, item: &Item) -> Vec<Found> {
        let Item { line, side, time, content } = item;
        let verdict: Verdict = match content {
            Content::Message(range) => self.middleware.handle(*side, batch.text(range), *time),
            Content::TooLong(glimpse) => self.middleware.handle_overlong(*side, glimpse.clone()),
            Content::BrokenRecord => return vec![broken_record(*line, *side)],
        };
        verdict.findings.into_iter().map(|finding| Found::new(*line, *side, finding)).collect()
    }
}

impl Found {
    fn new(line: usize, side: Side, finding: Finding) -> Self {
        let Finding { rule, severity, path, message, expected, received, .. } = finding;
        Self { line, side, rule, severity, path, message, expected, received }
    }
}

fn broken_record(line: usize, side: Side) -> Found {
    let rule = MessageRule::JsonSyntax;
    Found {
        line,
        side,
        rule,
        severity: rule.severity(),
        path: String::new(),
        message: "the record breaks off or is not JSON, so its message cannot be read".to_owned(),
        expected: "a whole record".to_owned(),
        received: "part of one".to_owned(),
    }
}
