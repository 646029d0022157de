//! The tool that is being linted, with its compiled schema.

use std::sync::Arc;

use serde_json::Value;

use super::report::{ExampleState, SchemaState, ToolSummary};
use crate::config::Limits;
use crate::discovery::{CachedSchema, JsonText, ToolDefinition};
use crate::schema::{CompiledSchema, SchemaRejection};
use crate::tape::Node;

/// A tool definition with the data that several rules need.
pub(super) struct Subject {
    /// Index in the list.
    pub(super) index: usize,
    pub(super) definition: ToolDefinition,
    /// `annotations`; null if they are missing or nested too deeply.
    pub(super) annotations: Value,
    /// The parsed schemas.
    input: Option<Value>,
    output: Option<Value>,
    /// The compiled input schema; `None` if the tool does not have one.
    pub(super) compiled: Option<Result<CachedSchema, SchemaRejection>>,
}

/// Maximum nesting of `annotations`. The protocol defines a flat object.
const MAX_ANNOTATION_DEPTH: usize = 8;

impl Subject {
    pub(super) fn read(index: usize, entry: Node<'_>, limits: &Limits) -> Option<Self> {
        let definition = ToolDefinition::read(entry, limits)?;
        let annotations = entry
            .get("annotations")
            .filter(|node| node.depth() <= MAX_ANNOTATION_DEPTH)
            .map_or(Value::Null, Node::to_value);
        let input = definition.input_schema.as_ref().map(JsonText::to_value);
        let output = definition.output_schema.as_ref().map(JsonText::to_value);
        let compiled = match (definition.unreadable(), &input) {
            (Some(rejection), _) => Some(Err(rejection.clone())),
            (None, None) => None,
            (None, Some(schema)) => Some(
                compile(schema, limits)
                    .map(|compiled| CachedSchema::new(&definition, Arc::new(compiled))),
            ),
        };
        Some(Self { index, definition, annotations, input, output, compiled })
    }

    /// Returns the input schema if it could be parsed.
    pub(super) fn input(&self) -> Option<&Value> {
        self.input.as_ref()
    }

    pub(super) fn output(&self) -> Option<&Value> {
        self.output.as_ref()
    }

    /// Returns both schemas, each with its JSON Pointer in the definition.
    pub(super) fn schemas(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        let input = self.input().map(|schema| ("/inputSchema", schema));
        input.into_iter().chain(self.output().map(|schema| ("/outputSchema", schema)))
    }

    pub(super) fn cached(&self) -> Option<&CachedSchema> {
        self.compiled.as_ref()?.as_ref().ok()
    }

    pub(super) fn is_described(&self) -> bool {
        self.definition.description.as_ref().is_some_and(|text| !text.trim().is_empty())
    }

    pub(super) fn summary(&self, example: ExampleState, tokens: usize) -> ToolSummary {
        ToolSummary {
            index: self.index,
            name: self.definition.name.clone(),
            schema: match &self.compiled {
                None => SchemaState::Missing,
                Some(Ok(_)) => SchemaState::Usable,
                Some(Err(_)) => SchemaState::Unusable,
            },
            described: self.is_described(),
            example,
            tokens,
        }
    }
}

pub(super) fn compile(schema: &Value, limits: &Limits) -> Result<CompiledSchema, SchemaRejection> {
    CompiledSchema::measure(schema, limits)?;
    CompiledSchema::compile(schema, limits)
}
