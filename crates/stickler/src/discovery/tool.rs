//! A tool as its server describes it.

use serde_json::{Map, Value};

use super::JsonText;
use crate::config::Limits;
use crate::schema::{self, SchemaRefusal};
use crate::tape::{Kind, Node};

/// Name, description and schema of one tool.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// The name that calls use.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub input_schema: Option<JsonText>,
    /// The JSON Schema of its structured results.
    pub output_schema: Option<JsonText>,
    /// Arguments that show how it is meant to be called.
    pub example: Option<JsonText>,
    /// Where it is documented.
    pub documentation: Option<String>,
    /// Why the schema could not even be read.
    unreadable: Option<SchemaRefusal>,
}

impl ToolDefinition {
    /// A tool of which only the name is known.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: None,
            input_schema: None,
            output_schema: None,
            example: None,
            documentation: None,
            unreadable: None,
        }
    }

    /// Sets the JSON Schema of its arguments.
    #[must_use]
    pub fn with_input_schema(mut self, schema: Value) -> Self {
        self.input_schema = Some(schema.into());
        self
    }

    /// Sets the JSON Schema of its structured results.
    #[must_use]
    pub fn with_output_schema(mut self, schema: Value) -> Self {
        self.output_schema = Some(schema.into());
        self
    }

    /// Sets what it is for.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets arguments that show how it is meant to be called.
    #[must_use]
    pub fn with_example(mut self, example: Value) -> Self {
        self.example = Some(example.into());
        self
    }

    /// Sets where it is documented.
    #[must_use]
    pub fn with_documentation(mut self, url: impl Into<String>) -> Self {
        self.documentation = Some(url.into());
        self
    }

    /// One entry of a tool list; `None` when it has no name. Whatever else is odd about it stays
    /// its own trouble.
    pub(crate) fn read(entry: Node<'_>, limits: &Limits) -> Option<Self> {
        let text = |key: &str| Some(entry.get(key)?.as_str()?.into_owned());
        let mut tool = Self::new(text("name")?);
        tool.description = text("description");
        if let Some(meta) = entry.get("_meta") {
            tool.documentation = documentation(meta);
            let example = meta.get(EXAMPLE_KEY).filter(|node| readable(*node, limits).is_ok());
            tool.example = example.map(JsonText::of);
        }
        if let Some(schema) = entry.get("inputSchema").filter(|node| node.kind() != Kind::Null) {
            match readable(schema, limits) {
                Ok(()) => tool.input_schema = Some(JsonText::of(schema)),
                Err(refusal) => tool.unreadable = Some(refusal),
            }
        }
        let output = entry.get("outputSchema").filter(|schema| readable(*schema, limits).is_ok());
        tool.output_schema = output.filter(|node| node.kind() != Kind::Null).map(JsonText::of);
        Some(tool)
    }

    pub(crate) fn unreadable(&self) -> Option<&SchemaRefusal> {
        self.unreadable.as_ref()
    }
}

/// A schema is only kept when it is small enough to be turned into a tree of values.
fn readable(schema: Node<'_>, limits: &Limits) -> Result<(), SchemaRefusal> {
    schema::check_size(schema.raw().len(), limits.schema_bytes)?;
    if schema.depth() > limits.schema_depth {
        return Err(schema::too_deep(limits.schema_depth));
    }
    Ok(())
}

/// The name under which a server puts a valid call's arguments into a tool's `_meta`.
pub(crate) const EXAMPLE_KEY: &str = "dev.stickler/example";

/// The names under which servers put a link to a tool's documentation into its `_meta`.
const DOCUMENTATION_KEYS: [&str; 5] = [
    "dev.stickler/documentation",
    "documentation",
    "documentationUrl",
    "documentation_url",
    "docs",
];

fn documentation(meta: Node<'_>) -> Option<String> {
    DOCUMENTATION_KEYS.iter().find_map(|key| {
        let link = meta.get(key)?.as_str()?;
        (link.starts_with("https://") || link.starts_with("http://")).then(|| link.into_owned())
    })
}

/// As in a tool list.
impl From<ToolDefinition> for Value {
    fn from(tool: ToolDefinition) -> Self {
        let mut entry = Map::new();
        entry.insert("name".into(), tool.name.into());
        if let Some(description) = tool.description {
            entry.insert("description".into(), description.into());
        }
        if let Some(schema) = tool.input_schema {
            entry.insert("inputSchema".into(), schema.to_value());
        }
        if let Some(schema) = tool.output_schema {
            entry.insert("outputSchema".into(), schema.to_value());
        }
        Self::Object(entry)
    }
}
