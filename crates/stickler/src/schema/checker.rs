//! A schema compiled for the one question that every message asks: yes or no?

use jsonschema::{Draft, ValidationError, Validator};
use serde_json::Value;

use super::engine::{self, Engines, Formats};
use super::{SchemaRefusal, dialect};
use crate::config::Limits;
use crate::tape::{EngineNode, Node, StepBudget, TapeJson};

/// The engine's program for one schema.
#[derive(Debug)]
pub struct Checker(Validator<TapeJson>);

/// What the engine says of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The schema accepts it.
    Valid,
    /// The schema rejects it.
    Invalid,
    /// The question took more steps than it may.
    GaveUp,
}

impl Checker {
    /// Compiles a schema.
    pub fn compile(raw: &Value, formats: Formats, limits: &Limits) -> Result<Self, SchemaRefusal> {
        let engines = Engines::LinearOrBacktracking;
        engine::build(raw, dialect::of(raw)?, formats, engines, limits).map(Self)
    }

    /// A schema of known dialect whose patterns were measured.
    pub(super) fn compile_measured(
        schema: &Value,
        dialect: Draft,
        engines: Engines,
        limits: &Limits,
    ) -> Result<Self, SchemaRefusal> {
        engine::build(schema, dialect, Formats::Assert, engines, limits).map(Self)
    }

    /// Whether the schema accepts a value, within that many steps.
    pub fn check(&self, node: Node<'_>, steps: u32) -> Answer {
        let budget = StepBudget::new(steps);
        let valid = self.0.is_valid(EngineNode::new(node, &budget));
        match (budget.is_spent(), valid) {
            (true, _) => Answer::GaveUp,
            (false, true) => Answer::Valid,
            (false, false) => Answer::Invalid,
        }
    }

    /// Everything against an invalid value, as far as the budget goes.
    pub(super) fn errors<'i>(
        &'i self,
        node: Node<'i>,
        budget: &'i StepBudget,
    ) -> Vec<ValidationError<'i>> {
        let errors = self.0.iter_errors(EngineNode::new(node, budget));
        let is_spent = budget.is_spent();
        // What was found without a budget was not found by looking.
        errors.filter(|error| !is_spent || !error.instance().is_null()).collect()
    }
}
