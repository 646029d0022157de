//! A tool with its compiled schema.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::{JsonText, ParamHeader, ToolDefinition};
use crate::arguments::{names, required_fields};
use crate::config::ValidationConfig;
use crate::example;
use crate::schema::{CompiledSchema, SchemaGraph};

/// A tool with its compiled schema.
pub struct CachedSchema {
    /// The tool's name.
    pub tool: String,
    /// Description of the tool.
    pub description: Option<String>,
    /// Documentation link.
    pub documentation: Option<String>,
    /// The schema as listed by the server.
    pub raw: Value,
    /// Fields that every call requires.
    pub required: Vec<String>,
    /// Fields that the schema lists, including those of its alternatives, in schema order.
    pub properties: Vec<String>,
    /// Arguments that HTTP headers repeat.
    #[doc(hidden)]
    pub param_headers: Vec<ParamHeader>,
    registered_example: Option<JsonText>,
    example: OnceLock<Option<Value>>,
    pub(crate) compiled: Arc<CompiledSchema>,
}

impl CachedSchema {
    pub(crate) fn new(tool: &ToolDefinition, compiled: Arc<CompiledSchema>) -> Self {
        let required = required_fields(&compiled, SchemaGraph::ROOT);
        let properties = names(&compiled, &[SchemaGraph::ROOT]);
        let properties = properties.into_iter().map(str::to_owned).collect();
        Self {
            tool: tool.name.clone(),
            description: tool.description.clone(),
            documentation: tool.documentation.clone(),
            param_headers: ParamHeader::of(&compiled.raw),
            raw: compiled.raw.clone(),
            required,
            properties,
            registered_example: tool.example.clone(),
            example: OnceLock::new(),
            compiled,
        }
    }

    /// Returns the documentation link of the server, or the one from the configured template.
    pub(crate) fn documented_at(&self, config: &ValidationConfig, server: &str) -> Option<String> {
        self.documentation.clone().or_else(|| {
            let template = config.documentation_url.as_ref()?;
            let server = super::server_of(server);
            Some(template.replace("{server}", server).replace("{tool}", &self.tool))
        })
    }

    /// Returns valid arguments: the registered example if it is valid, else a generated one.
    pub fn example(&self) -> Option<&Value> {
        self.example
            .get_or_init(|| {
                let accepts = |value: &Value| self.accepts(value);
                let registered = self.registered_example.as_ref().map(JsonText::to_value);
                let registered = registered.filter(accepts);
                registered.or_else(|| example::generate(&self.raw, &accepts))
            })
            .as_ref()
    }
}

impl fmt::Debug for CachedSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedSchema")
            .field("tool", &self.tool)
            .field("required", &self.required)
            .field("properties", &self.properties)
            .finish_non_exhaustive()
    }
}
