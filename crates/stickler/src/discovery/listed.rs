//! A tool of a list: its definition, and what is made of it when it is called.

use std::sync::{Arc, OnceLock};

use super::content::Content;
use super::{CachedSchema, JsonText, Mirror, ToolDefinition};
use crate::schema::{CompiledSchema, SchemaRefusal};

/// A tool with a schema.
#[derive(Debug)]
pub(super) struct ListedTool {
    /// Without its schemas.
    definition: ToolDefinition,
    pub(super) input: Arc<Content>,
    pub(super) has_mirrors: bool,
    cached: OnceLock<Arc<CachedSchema>>,
}

impl ListedTool {
    pub(super) fn new(tool: &ToolDefinition, input: Arc<Content>) -> Self {
        let mut definition = tool.clone();
        (definition.input_schema, definition.output_schema) = (None, None);
        let has_mirrors = has_mirrors(input.text());
        Self { definition, input, has_mirrors, cached: OnceLock::new() }
    }

    /// Whether that is what it was made from.
    pub(super) fn is_of(&self, tool: &ToolDefinition, schema: &JsonText) -> bool {
        self.definition.name == tool.name
            && self.definition.description == tool.description
            && self.definition.documentation == tool.documentation
            && self.definition.example == tool.example
            && self.input.text() == schema
    }

    /// What calls are checked by, where it is there already.
    pub(super) fn ready(&self) -> Option<&Arc<CachedSchema>> {
        self.cached.get()
    }

    /// The same, made now if need be.
    pub(super) fn cached<'t>(
        &'t self,
        compiled: impl FnOnce(&'t Content) -> Result<&'t Arc<CompiledSchema>, SchemaRefusal>,
    ) -> Result<&'t Arc<CachedSchema>, SchemaRefusal> {
        if let Some(cached) = self.cached.get() {
            return Ok(cached);
        }
        let compiled = Arc::clone(compiled(&self.input)?);
        let make = || Arc::new(CachedSchema::new(&self.definition, compiled));
        Ok(self.cached.get_or_init(make))
    }
}

/// Whether headers repeat some of the arguments. Only a schema that mentions the annotation, in plain
/// letters or possibly in escaped ones, is parsed.
fn has_mirrors(schema: &JsonText) -> bool {
    let mentions =
        |text: &str| memchr::memmem::find(schema.as_str().as_bytes(), text.as_bytes()).is_some();
    (mentions("x-mcp-header") || mentions("\\u00")) && !Mirror::of(&schema.to_value()).is_empty()
}
