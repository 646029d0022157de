//! The JSON Schema dialect of a schema.

use jsonschema::Draft;
use serde_json::Value;

use super::SchemaRejection;

/// Determines the dialect from `$schema`; 2020-12 without one, as MCP requires. An unknown dialect is rejected by name.
pub(super) fn of(schema: &Value) -> Result<Draft, SchemaRejection> {
    match schema.get("$schema") {
        None => Ok(Draft::Draft202012),
        Some(Value::String(uri)) => match Draft::from_schema_uri(uri.trim_end_matches('#')) {
            Draft::Unknown => Err(SchemaRejection::new(format!(
                "its dialect `{uri}` is not one of draft-04, draft-06, draft-07, 2019-09 and \
                 2020-12"
            ))),
            known => Ok(known),
        },
        Some(_) => Err(SchemaRejection::new("its `$schema` is not a string")),
    }
}

/// Whether keywords beside `$ref` are ignored, as up to draft-07.
pub(super) fn reference_stands_alone(dialect: Draft) -> bool {
    matches!(dialect, Draft::Draft4 | Draft::Draft6 | Draft::Draft7)
}
