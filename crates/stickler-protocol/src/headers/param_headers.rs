//! Headers that repeat arguments: `Mcp-Param-Region` for the property with `x-mcp-header: Region`.

use std::collections::BTreeMap;
use std::sync::Arc;

use stickler::CachedSchema;
use stickler::internal::param_header_values;

use super::{Fault, HeaderRejection, PARAM, compare, named};
use crate::envelope::Envelope;

/// The headers of one request that repeat arguments.
#[derive(Debug, Clone, Default)]
pub struct ParamHeaders(BTreeMap<String, Option<String>>);

impl ParamHeaders {
    /// Collects the headers that begin with [`PARAM`], with lower-case names; `None` for values that are not text. A
    /// header with two different values never matches.
    pub fn new(headers: impl IntoIterator<Item = (String, Option<String>)>) -> Self {
        let mut all: BTreeMap<String, Option<String>> = BTreeMap::new();
        for (name, value) in headers {
            match all.get_mut(&name) {
                Some(known) if *known != value => *known = None,
                Some(_) => {}
                None => drop(all.insert(name, value)),
            }
        }
        Self(all)
    }

    /// Compares the headers with a call. `tool` looks up the schema of a tool.
    pub(crate) fn check(
        &self,
        envelope: &Envelope<'_>,
        tool: impl Fn(&str) -> Option<Arc<CachedSchema>>,
    ) -> Result<(), HeaderRejection> {
        if envelope.method.as_deref() != Some("tools/call") {
            return Ok(());
        }
        let name = named("tools/call", envelope.params);
        let Some(tool) = name.and_then(|name| tool(&name)) else { return Ok(()) };
        let fault = |fault: Fault| fault.rejection(envelope.answerable_id());
        for (name, value) in param_header_values(&tool.param_headers, envelope.params) {
            let key = format!("{PARAM}{}", name.to_ascii_lowercase());
            let name = format!("Mcp-Param-{name}");
            let header = match self.0.get(&key) {
                Some(None) => return Err(fault(Fault::differs(&name))),
                Some(Some(header)) => Some(header.as_str()),
                None => None,
            };
            compare(&name, header, &value).map_err(fault)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Envelope, ParamHeaders};
    use serde_json::json;
    use stickler::tape::TapeBuffer;
    use stickler::{ToolDefinition, ToolSchemaCache};

    #[test]
    fn contradictory_or_binary_headers_are_rejected() {
        let schema = json!({ "properties": { "a": { "type": "string", "x-mcp-header": "A" } } });
        let cache = ToolSchemaCache::new();
        cache.populate("s", &[ToolDefinition::new("t").with_input_schema(schema)]);
        let call = br#"{"id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":""}}}"#;
        let passes = |values: &[Option<&str>]| {
            let name = || "mcp-param-a".to_owned();
            let all = values.iter().map(|value| (name(), value.map(str::to_owned)));
            let mut buffer = TapeBuffer::new();
            let tape = buffer.read(call, 8).unwrap();
            let envelope = Envelope::identify(tape.root());
            ParamHeaders::new(all).check(&envelope, |tool| cache.get("s", tool)).is_ok()
        };
        assert!(passes(&[Some("")]) && passes(&[Some(""), Some("")]));
        assert!(!passes(&[None]) && !passes(&[Some("x"), Some("y")]) && !passes(&[]));
    }
}
