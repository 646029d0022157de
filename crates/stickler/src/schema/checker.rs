//! A schema compiled for the yes-or-no check.

use jsonschema::{Draft, ValidationError, Validator};
use serde_json::Value;

use super::engine::{self, Engines};
use super::{SchemaRejection, dialect};
use crate::config::{Formats, Limits};
use crate::tape::{EngineNode, Node, StepBudget, TapeJson};

/// A schema compiled by the engine.
#[derive(Debug)]
pub struct Checker {
    validator: Validator<TapeJson>,
    /// Whether a match can end without a result, because a pattern has lookaround.
    backtracks: bool,
}

/// Result of the check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The schema accepts it.
    Valid,
    /// The schema rejects it.
    Invalid,
    /// The step budget was exhausted.
    GaveUp,
}

impl Checker {
    /// Compiles a schema.
    pub fn compile(
        raw: &Value,
        formats: Formats,
        limits: &Limits,
    ) -> Result<Self, SchemaRejection> {
        let engines = Engines::LinearOrBacktracking;
        Self::compile_measured(raw, dialect::of(raw)?, formats, engines, limits)
    }

    /// Compiles a schema of known dialect whose patterns were measured.
    pub(super) fn compile_measured(
        schema: &Value,
        dialect: Draft,
        formats: Formats,
        engines: Engines,
        limits: &Limits,
    ) -> Result<Self, SchemaRejection> {
        let validator = engine::build(schema, dialect, formats, engines, limits)?;
        Ok(Self { validator, backtracks: engines == Engines::LinearOrBacktracking })
    }

    /// Whether the schema accepts a value, within that many steps.
    pub fn check(&self, node: Node<'_>, steps: u32) -> Answer {
        let budget = StepBudget::new(steps);
        let valid = self.validator.is_valid(EngineNode::new(node, &budget));
        match (budget.is_spent(), valid) {
            (true, _) => Answer::GaveUp,
            (false, true) => Answer::Valid,
            (false, false) => Answer::Invalid,
        }
    }

    /// Returns the errors of an invalid value, within the budget.
    pub(super) fn errors<'i>(
        &'i self,
        node: Node<'i>,
        budget: &'i StepBudget,
    ) -> Vec<ValidationError<'i>> {
        if self.backtracks {
            budget.keep_whole(node);
        }
        let errors = self.validator.iter_errors(EngineNode::new(node, budget));
        let is_spent = budget.is_spent();
        // Errors reported after the budget was exhausted are not reliable.
        errors.filter(|error| !is_spent || !error.instance().is_null()).collect()
    }
}
