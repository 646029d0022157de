//! Configuration of the `jsonschema` engine.

use jsonschema::{Draft, PatternOptions, ValidationOptions, Validator};
use serde_json::Value;

use super::SchemaRejection;
use super::formats::register;
use crate::config::{Formats, Limits};
use crate::tape::TapeJson;

/// Which engines a schema's patterns may be compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Engines {
    /// Linear engine only: a pattern that it rejects is an error.
    Linear,
    /// Backtracking engine with a low limit if the linear engine rejects a pattern.
    LinearOrBacktracking,
}

pub(super) type Options<'r> =
    ValidationOptions<'r, std::sync::Arc<dyn jsonschema::Retrieve>, TapeJson>;

/// Compiles a schema.
pub(super) fn build(
    schema: &Value,
    dialect: Draft,
    formats: Formats,
    engines: Engines,
    limits: &Limits,
) -> Result<Validator<TapeJson>, SchemaRejection> {
    build_with(schema, dialect, formats, engines, limits, |options| options)
}

/// Like [`build`] with adjusted options, for parts of a schema that need its registry.
pub(super) fn build_with<'r>(
    schema: &Value,
    dialect: Draft,
    formats: Formats,
    engines: Engines,
    limits: &Limits,
    finish: impl Fn(Options<'r>) -> Options<'r>,
) -> Result<Validator<TapeJson>, SchemaRejection> {
    let options = || {
        let options = jsonschema::options_for::<TapeJson>().with_draft(dialect);
        finish(register(options, formats).should_ignore_unknown_formats(true))
    };
    let linear = PatternOptions::regex().size_limit(limits.pattern_bytes);
    let built = options().with_pattern_options(linear).build(schema);
    if built.is_ok() || engines == Engines::Linear {
        return built.map_err(|error| SchemaRejection::from_engine(&error));
    }
    let backtracking = PatternOptions::fancy_regex()
        .size_limit(limits.pattern_bytes)
        .backtrack_limit(limits.pattern_backtracks);
    options()
        .with_pattern_options(backtracking)
        .build(schema)
        .map_err(|error| SchemaRejection::from_engine(&error))
}
