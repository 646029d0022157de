//! Differential test: the engine returns the same result for a tape as for a tree of values.
//!
//! Generates random small schemas and instances, and compares validity and the errors with their order.

use std::sync::Arc;

use jsonschema::{Draft, PatternOptions, Retrieve, ValidationOptions, Validator};
use proptest::prelude::*;
use serde_json::Value;

use super::engine::{self, Engines};
use super::random_schemas::{document, instance};
use crate::config::{Formats, Limits};
use crate::tape::{EngineNode, StepBudget, TapeBuffer};

type Options<'r> = ValidationOptions<'r, Arc<dyn Retrieve>>;

/// Same as [`engine::build_with`], for trees of values.
pub(super) fn build_over_values<'r>(
    schema: &Value,
    dialect: Draft,
    limits: &Limits,
    finish: impl Fn(Options<'r>) -> Options<'r>,
) -> Result<Validator, String> {
    let options = || {
        finish(
            jsonschema::options()
                .with_draft(dialect)
                .should_validate_formats(true)
                .should_ignore_unknown_formats(true),
        )
    };
    let linear = PatternOptions::regex().size_limit(limits.pattern_bytes);
    if let Ok(validator) = options().with_pattern_options(linear).build(schema) {
        return Ok(validator);
    }
    let backtracking = PatternOptions::fancy_regex()
        .size_limit(limits.pattern_bytes)
        .backtrack_limit(limits.pattern_backtracks);
    options().with_pattern_options(backtracking).build(schema).map_err(|error| error.to_string())
}

/// Instance path, schema path, kind and message of an error.
type ErrorSummary = (String, String, String, String);

fn summarize<'e>(
    errors: impl Iterator<Item = jsonschema::ValidationError<'e>>,
) -> Vec<ErrorSummary> {
    let summary = |error: jsonschema::ValidationError<'e>| {
        (
            error.instance_path().to_string(),
            error.schema_path().to_string(),
            format!("{:?}", error.kind()),
            error.to_string(),
        )
    };
    errors.take(200).map(summary).collect()
}

fn compare(draft: Draft, schema: &Value, instances: &[Value]) -> Result<(), TestCaseError> {
    let limits = Limits::default();
    let over_values = build_over_values(schema, draft, &limits, |options| options);
    let over_tape =
        engine::build(schema, draft, Formats::Strict, Engines::LinearOrBacktracking, &limits);
    prop_assert_eq!(over_values.is_ok(), over_tape.is_ok());
    let (Ok(over_values), Ok(over_tape)) = (over_values, over_tape) else {
        return Ok(());
    };
    for instance in instances {
        let text = instance.to_string();
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(text.as_bytes(), 128).expect("a value is JSON");
        let budget = StepBudget::new(u32::MAX);
        let node = EngineNode::new(tape.root(), &budget);
        prop_assert_eq!(over_tape.is_valid(node), over_values.is_valid(instance), "{}", text);
        let tape_errors = summarize(over_tape.iter_errors(node));
        let value_errors = summarize(over_values.iter_errors(instance));
        prop_assert_eq!(tape_errors, value_errors, "{}", text);
    }
    Ok(())
}

/// Multiplies the default number of cases, which `PROPTEST_CASES` sets.
fn cases_times(factor: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: factor * default.cases, failure_persistence: None, ..default }
}

proptest! {
    #![proptest_config(cases_times(2))]

    #[test]
    fn tape_and_values_give_the_same_errors_in_draft_7(
        schema in document(), instances in prop::collection::vec(instance(), 4),
    ) {
        compare(Draft::Draft7, &schema, &instances)?;
    }

    #[test]
    fn tape_and_values_give_the_same_errors_in_2020_12(
        schema in document(), instances in prop::collection::vec(instance(), 4),
    ) {
        compare(Draft::Draft202012, &schema, &instances)?;
    }
}
