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

/// Which engines a schema's patterns may be compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Engines {
    /// None of them has lookaround or back references: what the linear engine rejects is an error.
    Linear,
    /// The backtracking engine, on a short leash, where the linear one rejects a pattern.
    LinearOrBacktracking,
}

type Options<'r> = ValidationOptions<'r, std::sync::Arc<dyn jsonschema::Retrieve>, TapeJson>;

/// Compiles a schema.
pub(super) fn build(
    schema: &Value,
    dialect: Draft,
    formats: Formats,
    engines: Engines,
    limits: &Limits,
) -> Result<Validator<TapeJson>, SchemaRefusal> {
    build_with(schema, dialect, formats, engines, limits, |options| options)
}

/// The same with a last word on the options, for parts of a schema that need its registry.
pub(super) fn build_with<'r>(
    schema: &Value,
    dialect: Draft,
    formats: Formats,
    engines: Engines,
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
    let built = options().with_pattern_options(linear).build(schema);
    if built.is_ok() || engines == Engines::Linear {
        return built.map_err(|error| SchemaRefusal::from_engine(&error));
    }
    let backtracking = PatternOptions::fancy_regex()
        .size_limit(limits.pattern_bytes)
        .backtrack_limit(limits.pattern_backtracks);
    options()
        .with_pattern_options(backtracking)
        .build(schema)
        .map_err(|error| SchemaRefusal::from_engine(&error))
}
