//! A listed tool: its definition and, once called, its compiled schema.

use std::sync::{Arc, OnceLock};

use super::content::Content;
use super::{CachedSchema, JsonText, ParamHeader, ToolDefinition};
use crate::memory::{MemoryBudget, Reservation};
use crate::schema::{CompiledSchema, SchemaRejection};

/// Estimated memory of a tool, beside its texts.
const TOOL_OVERHEAD_BYTES: usize = 512;

/// A tool with a schema.
#[derive(Debug)]
pub(super) struct ListedTool {
    /// The definition without its schemas.
    definition: ToolDefinition,
    pub(super) input: Arc<Content>,
    pub(super) has_param_headers: bool,
    cached: OnceLock<Arc<CachedSchema>>,
    _memory: Reservation,
}

impl ListedTool {
    pub(super) fn new(tool: &ToolDefinition, input: Arc<Content>, memory: &MemoryBudget) -> Self {
        let mut definition = tool.clone();
        (definition.input_schema, definition.output_schema) = (None, None);
        let has_param_headers = has_param_headers(input.text());
        let memory = memory.charge(definition.text_bytes() + TOOL_OVERHEAD_BYTES);
        Self { definition, input, has_param_headers, cached: OnceLock::new(), _memory: memory }
    }

    /// Whether the tool was created from that definition.
    pub(super) fn is_of(&self, tool: &ToolDefinition, schema: &JsonText) -> bool {
        self.definition.name == tool.name
            && self.definition.description == tool.description
            && self.definition.documentation == tool.documentation
            && self.definition.example == tool.example
            && self.input.text() == schema
    }

    pub(super) fn description(&self) -> Option<&str> {
        self.definition.description.as_deref()
    }

    /// Returns the compiled tool if it exists.
    pub(super) fn ready(&self) -> Option<&Arc<CachedSchema>> {
        self.cached.get()
    }

    /// Returns the compiled tool, compiling it if needed.
    pub(super) fn cached<'t>(
        &'t self,
        compiled: impl FnOnce(&'t Content) -> Result<&'t Arc<CompiledSchema>, SchemaRejection>,
    ) -> Result<&'t Arc<CachedSchema>, SchemaRejection> {
        if let Some(cached) = self.cached.get() {
            return Ok(cached);
        }
        let compiled = Arc::clone(compiled(&self.input)?);
        let make = || Arc::new(CachedSchema::new(&self.definition, compiled));
        Ok(self.cached.get_or_init(make))
    }
}

/// Whether HTTP headers repeat some of the arguments. Only a schema that contains the annotation, plain or escaped, is
/// parsed.
fn has_param_headers(schema: &JsonText) -> bool {
    let mentions =
        |text: &str| memchr::memmem::find(schema.as_str().as_bytes(), text.as_bytes()).is_some();
    (mentions("x-mcp-header") || mentions("\\u00"))
        && !ParamHeader::of(&schema.to_value()).is_empty()
}
