//! The `jsonschema` engine, set up the way every schema is compiled.

use jsonschema::{Draft, PatternOptions, ValidationOptions, Validator};
use serde_json::Value;

use super::SchemaRefusal;
use crate::config::Limits;
use crate::tape::TapeJson;

/// What `format` is in a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Formats {
    /// A rule: a tool that names a format means it.
    Assert,
    /// A remark, as 2020-12 has it and as the protocol's own schemas use it.
    Annotate,
}

type Options<'r> = ValidationOptions<'r, std::sync::Arc<dyn jsonschema::Retrieve>, TapeJson>;

/// Patterns run on the linear engine. Only a schema that this engine refuses (lookaround, back
/// references) gets the backtracking one, on a short leash.
pub(super) fn build(
    schema: &Value,
    dialect: Draft,
    formats: Formats,
    limits: &Limits,
) -> Result<Validator<TapeJson>, SchemaRefusal> {
    build_with(schema, dialect, formats, limits, |options| options)
}

/// The same with a last word on the options, for parts of a schema that need its registry.
pub(super) fn build_with<'r>(
    schema: &Value,
    dialect: Draft,
    formats: Formats,
    limits: &Limits,
    finish: impl Fn(Options<'r>) -> Options<'r>,
) -> Result<Validator<TapeJson>, SchemaRefusal> {
    let options = || {
        finish(
            jsonschema::options_for::<TapeJson>()
                .with_draft(dialect)
                .should_validate_formats(formats == Formats::Assert)
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
    options()
        .with_pattern_options(backtracking)
        .build(schema)
        .map_err(|error| SchemaRefusal::from_engine(&error))
}
