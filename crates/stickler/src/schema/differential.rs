//! The engine says the same over the tape as over a tree of values.
//!
//! Random small schemas and instances: one verdict, and the same errors in the same order.

use std::sync::Arc;

use jsonschema::{Draft, PatternOptions, Retrieve, ValidationOptions, Validator};
use proptest::prelude::*;
use serde_json::Value;

use super::engine::{self, Engines, Formats};
use super::random_schemas::{document, instance};
use crate::config::Limits;
use crate::tape::{EngineNode, StepBudget, TapeBuffer};

type Options<'r> = ValidationOptions<'r, Arc<dyn Retrieve>>;

/// As [`engine::build_with`], for trees of values.
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

type Told = (String, String, String, String);

fn told<'e>(errors: impl Iterator<Item = jsonschema::ValidationError<'e>>) -> Vec<Told> {
    let tell = |error: jsonschema::ValidationError<'e>| {
        (
            error.instance_path().to_string(),
            error.schema_path().to_string(),
            format!("{:?}", error.kind()),
            error.to_string(),
        )
    };
    errors.take(200).map(tell).collect()
}

fn compare(draft: Draft, schema: &Value, instances: &[Value]) -> Result<(), TestCaseError> {
    let limits = Limits::default();
    let over_values = build_over_values(schema, draft, &limits, |options| options);
    let over_tape =
        engine::build(schema, draft, Formats::Assert, Engines::LinearOrBacktracking, &limits);
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
        let (ours, theirs) =
            (told(over_tape.iter_errors(node)), told(over_values.iter_errors(instance)));
        prop_assert_eq!(ours, theirs, "{}", text);
    }
    Ok(())
}

/// A multiple of the usual number of cases, which `PROPTEST_CASES` sets.
fn times(many: u32) -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: many * usual.cases, failure_persistence: None, ..usual }
}

proptest! {
    #![proptest_config(times(2))]

    #[test]
    fn both_representations_are_judged_alike_in_draft_7(
        schema in document(), instances in prop::collection::vec(instance(), 4),
    ) {
        compare(Draft::Draft7, &schema, &instances)?;
    }

    #[test]
    fn both_representations_are_judged_alike_in_2020_12(
        schema in document(), instances in prop::collection::vec(instance(), 4),
    ) {
        compare(Draft::Draft202012, &schema, &instances)?;
    }
}
