//! Compiles parts of a schema that may refer to the rest of it.

use jsonschema::{Draft, Validator};
use referencing::Registry;
use serde_json::{Value, json};

use super::engine::Engines;
use super::mapping::BASE;
use super::{Answer, SchemaRejection, dialect, engine};
use crate::config::{Formats, Limits};
use crate::tape::{EngineNode, StepBudget, TapeBuffer, TapeJson};

/// A schema whose parts can be compiled separately.
pub(crate) struct Parts<'s> {
    registry: Registry<'s>,
    base: String,
    dialect: Draft,
}

impl<'s> Parts<'s> {
    pub(super) fn of(schema: &'s Value, dialect: Draft) -> Result<Self, SchemaRejection> {
        let resource = dialect.create_resource_ref(schema);
        let base = resource.id().unwrap_or(BASE).trim_end_matches('#').to_owned();
        let registry = Registry::new()
            .draft(dialect)
            .add(&base, resource)
            .and_then(referencing::RegistryBuilder::prepare)
            .map_err(|error| SchemaRejection::from_reference(&error))?;
        Ok(Self { registry, base, dialect })
    }

    /// Like [`of`](Self::of) for a schema of any dialect.
    pub(crate) fn of_schema(schema: &'s Value) -> Result<Self, SchemaRejection> {
        Self::of(schema, dialect::of(schema)?)
    }

    /// Compiles the part at a JSON Pointer.
    pub(super) fn compile(
        &self,
        pointer: &str,
        formats: Formats,
        engines: Engines,
        limits: &Limits,
    ) -> Result<Validator<TapeJson>, SchemaRejection> {
        let part = json!({ "$ref": format!("{}#{}", self.base, percent_encode(pointer)) });
        engine::build_with(&part, self.dialect, formats, engines, limits, |options| {
            options.with_registry(&self.registry).with_base_uri("json-schema:///branch")
        })
    }

    /// Checks values against the part at a JSON Pointer; `None` if it cannot be compiled.
    pub(crate) fn check(
        &self,
        pointer: &str,
        values: &[&Value],
        formats: Formats,
        limits: &Limits,
    ) -> Option<Vec<Answer>> {
        let validator =
            self.compile(pointer, formats, Engines::LinearOrBacktracking, limits).ok()?;
        let answer = |value: &&Value| {
            let text = value.to_string();
            let mut buffer = TapeBuffer::new();
            let Ok(tape) = buffer.read(text.as_bytes(), limits.message_depth) else {
                return Answer::GaveUp;
            };
            let budget = StepBudget::new(limits.explain_steps);
            let valid = validator.is_valid(EngineNode::new(tape.root(), &budget));
            match (budget.is_spent(), valid) {
                (true, _) => Answer::GaveUp,
                (false, true) => Answer::Valid,
                (false, false) => Answer::Invalid,
            }
        };
        Some(values.iter().map(answer).collect())
    }
}

/// Encodes a JSON Pointer as a URI fragment.
fn percent_encode(pointer: &str) -> String {
    let mut encoded = String::with_capacity(pointer.len());
    for byte in pointer.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' | b'$' => {
                encoded.push(char::from(byte));
            }
            _ => {
                use std::fmt::Write as _;
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    encoded
}
