//! Which JSON Schema a schema is written in.

use jsonschema::Draft;
use serde_json::Value;

use super::SchemaRefusal;

/// By `$schema`; without one, 2020-12 as MCP says. A dialect that nobody here knows is refused by
/// name instead of being read as another.
pub(super) fn of(schema: &Value) -> Result<Draft, SchemaRefusal> {
    match schema.get("$schema") {
        None => Ok(Draft::Draft202012),
        Some(Value::String(uri)) => match Draft::from_schema_uri(uri.trim_end_matches('#')) {
            Draft::Unknown => Err(SchemaRefusal::new(format!(
                "its dialect `{uri}` is not one of draft-04, draft-06, draft-07, 2019-09 and \
                 2020-12"
            ))),
            known => Ok(known),
        },
        Some(_) => Err(SchemaRefusal::new("its `$schema` is not a string")),
    }
}

/// Up to draft-07 a `$ref` stands alone: what is beside it does not count.
pub(super) fn reference_stands_alone(dialect: Draft) -> bool {
    matches!(dialect, Draft::Draft4 | Draft::Draft6 | Draft::Draft7)
}
