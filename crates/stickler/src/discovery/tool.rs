//! Tool definitions.

use serde_json::{Map, Value};

use super::JsonText;
use crate::config::Limits;
use crate::schema::{self, SchemaRejection};
use crate::tape::{Kind, Node};

/// Name, description and schema of one tool.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// Name of the tool.
    pub name: String,
    /// Description.
    pub description: Option<String>,
    /// JSON Schema of the arguments.
    pub input_schema: Option<JsonText>,
    /// JSON Schema of the structured results.
    pub output_schema: Option<JsonText>,
    /// Example arguments.
    pub example: Option<JsonText>,
    /// Documentation link.
    pub documentation: Option<String>,
    /// Reason why the schema could not be read.
    unreadable: Option<SchemaRejection>,
}

impl ToolDefinition {
    /// Creates a tool without description and schemas.
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

    /// Sets the JSON Schema of the arguments.
    #[must_use]
    pub fn with_input_schema(mut self, schema: Value) -> Self {
        self.input_schema = Some(schema.into());
        self
    }

    /// Sets the JSON Schema of the structured results.
    #[must_use]
    pub fn with_output_schema(mut self, schema: Value) -> Self {
        self.output_schema = Some(schema.into());
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets example arguments.
    #[must_use]
    pub fn with_example(mut self, example: Value) -> Self {
        self.example = Some(example.into());
        self
    }

    /// Sets the documentation link.
    #[must_use]
    pub fn with_documentation(mut self, url: impl Into<String>) -> Self {
        self.documentation = Some(url.into());
        self
    }

    /// Reads an entry of a tool list; `None` if it does not have a name. Other faults of the entry affect only that tool.
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
                Err(rejection) => tool.unreadable = Some(rejection),
            }
        }
        let output = entry.get("outputSchema").filter(|schema| readable(*schema, limits).is_ok());
        tool.output_schema = output.filter(|node| node.kind() != Kind::Null).map(JsonText::of);
        Some(tool)
    }

    /// Returns the size of the texts, except those of the schemas.
    pub(crate) fn text_bytes(&self) -> usize {
        let texts = [self.description.as_ref(), self.documentation.as_ref()];
        let texts = texts.into_iter().flatten().map(String::len).sum::<usize>();
        let example = self.example.as_ref().map_or(0, |example| example.as_str().len());
        self.name.len() + texts + example
    }

    pub(crate) fn unreadable(&self) -> Option<&SchemaRejection> {
        self.unreadable.as_ref()
    }
}

/// Checks that a schema is small enough to be parsed into a tree of values.
fn readable(schema: Node<'_>, limits: &Limits) -> Result<(), SchemaRejection> {
    schema::check_size(schema.raw().len(), limits.schema_bytes)?;
    if schema.depth() > limits.schema_depth {
        return Err(schema::too_deep(limits.schema_depth));
    }
    Ok(())
}

/// Member of a tool's `_meta` with the arguments of a valid call.
pub(crate) const EXAMPLE_KEY: &str = "dev.stickler/example";

/// Members of a tool's `_meta` that servers use for a documentation link.
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

/// Serialises like an entry of a tool list.
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
