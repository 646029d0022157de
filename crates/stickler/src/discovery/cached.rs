//! A tool with its compiled schema.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::{JsonText, ParamHeader, ToolDefinition};
use crate::config::ValidationConfig;
use crate::example;
use crate::schema::{CompiledSchema, Members, SchemaGraph};

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
    /// Required fields.
    pub required: Vec<String>,
    /// Listed fields in schema order.
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
        let graph = &compiled.graph;
        let mut required = Vec::new();
        let mut properties = Vec::new();
        let mut pending = vec![SchemaGraph::ROOT];
        let mut seen = Vec::new();
        // Fields that the root lists through `allOf` and `$ref` count, too.
        while let Some(id) = pending.pop() {
            if seen.contains(&id) {
                continue;
            }
            seen.push(id);
            let node = graph.node(id);
            let keywords = compiled.at(&node.pointer);
            let names = keywords.and_then(|schema| schema.get("required")?.as_array());
            add_missing(&mut required, names.into_iter().flatten().filter_map(Value::as_str));
            let listed = node.properties.iter().flat_map(Members::iter);
            add_missing(&mut properties, listed.map(|(name, _)| name));
            pending.extend(node.all_of.iter().rev());
        }
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

fn add_missing<'a>(list: &mut Vec<String>, names: impl Iterator<Item = &'a str>) {
    for name in names {
        if !list.iter().any(|known| known == name) {
            list.push(name.to_owned());
        }
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
