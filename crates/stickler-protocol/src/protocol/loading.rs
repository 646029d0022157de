//! Loads an official schema file that replaces the built-in definitions of a revision.

use serde_json::{Map, Value};
use stickler::Limits;
use stickler::internal::CompiledSchema;

use super::definitions::{DIALECT, Definitions};
use super::{ProtocolSchemaError, Revision, SchemaValidator};

impl SchemaValidator {
    /// Creates a validator from an official schema file. The file must contain every definition that the methods of
    /// the revision need, and all of its definitions must compile.
    pub fn from_schema(revision: Revision, schema: &Value) -> Result<Self, ProtocolSchemaError> {
        let reject = |reason: String| ProtocolSchemaError::new(revision, reason);
        CompiledSchema::measure(schema, &file_limits())
            .map_err(|rejection| reject(rejection.to_string()))?;
        let (section, schemas) = section_of(schema).ok_or_else(|| {
            reject("it has neither `$defs` nor `definitions` with schemas in it".to_owned())
        })?;
        let dialect = match schema.get("$schema") {
            Some(Value::String(dialect)) => dialect,
            Some(_) => return Err(reject("its `$schema` is not a string".to_owned())),
            None => DIALECT,
        };
        let validator = Self::new(revision, Definitions::loaded(dialect, section, schemas));
        let (methods, definitions) = (&validator.0.methods, &validator.0.definitions);
        for method in methods.iter() {
            if let Some(name) = method.definitions().find(|name| !definitions.contains(name)) {
                return Err(reject(format!(
                    "it has no definition `{name}`, which `{}` needs",
                    method.name
                )));
            }
        }
        if let Some((name, missing)) = definitions.dangling() {
            return Err(reject(format!(
                "its definition `{name}` refers to `{missing}`, which it does not have"
            )));
        }
        for name in definitions.names() {
            if let Some(Err(rejection)) = definitions.checker(name) {
                return Err(reject(format!("its definition `{name}` cannot be used: {rejection}")));
            }
        }
        Ok(validator)
    }
}

/// Limits for schema files: larger than those for tools, but bounded.
fn file_limits() -> Limits {
    let mut limits = Limits::default();
    limits.schema_bytes = 16 << 20;
    limits.schema_depth = 128;
    limits
}

fn section_of(schema: &Value) -> Option<(&'static str, &Map<String, Value>)> {
    ["$defs", "definitions"].into_iter().find_map(|section| {
        let schemas = schema.get(section)?.as_object()?;
        (!schemas.is_empty()).then_some((section, schemas))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Revision, SchemaValidator};
    use stickler::tape::TapeBuffer;

    #[test]
    fn exported_schema_can_be_loaded() {
        for revision in Revision::ALL {
            let schema = SchemaValidator::built_in(revision).schema();
            let loaded = SchemaValidator::from_schema(revision, &schema).unwrap();
            assert_eq!(loaded.schema(), schema);
            let mut buffer = TapeBuffer::new();
            let tape = buffer.read(br#"{"type": "text", "text": 1}"#, 128).unwrap();
            assert!(!loaded.is_valid("TextContent", tape.root()));
        }
    }

    #[test]
    fn schema_with_missing_parts_is_rejected_by_name() {
        let rejection = |change: fn(&mut Value)| {
            let revision = Revision::V2025_11_25;
            let mut schema = SchemaValidator::built_in(revision).schema();
            change(&mut schema);
            SchemaValidator::from_schema(revision, &schema).unwrap_err().to_string()
        };
        let lead = "not usable as the schema of 2025-11-25: ";
        let error =
            rejection(|schema| drop(schema["$defs"].as_object_mut().unwrap().remove("Tool")));
        let reason =
            "its definition `CreateMessageRequestParams` refers to `Tool`, which it does not have";
        assert_eq!(error, format!("{lead}{reason}"));
        let error = rejection(|schema| {
            schema["$defs"].as_object_mut().unwrap().remove("CallToolRequest");
        });
        let reason = "it has no definition `CallToolRequest`, which `tools/call` needs";
        assert_eq!(error, format!("{lead}{reason}"));
        let broken = rejection(|schema| schema["$defs"]["Tool"] = json!({ "type": "objekt" }));
        assert!(broken.contains("its definition `") && broken.contains("/type"), "{broken}");
        for invalid in
            [json!([]), json!(1), json!({}), json!({ "$defs": {} }), json!({ "$defs": 1 })]
        {
            assert!(
                SchemaValidator::from_schema(Revision::V2024_11_05, &invalid).is_err(),
                "{invalid}"
            );
        }
        let unknown = rejection(|schema| schema["$schema"] = json!("http://example.com/mine"));
        assert!(unknown.contains("`http://example.com/mine`"), "{unknown}");
    }

    #[test]
    fn infinitely_recursive_schema_is_rejected() {
        let mut deep = json!({});
        for _ in 0..200 {
            deep = json!({ "items": deep });
        }
        let schema = json!({ "$defs": { "Deep": deep } });
        let rejection = SchemaValidator::from_schema(Revision::V2024_11_05, &schema).unwrap_err();
        assert!(rejection.to_string().contains("128 levels"), "{rejection}");
    }
}
