//! Maps each value of a call to the part of the tool's schema that applies to it.
//!
//! Contract: shares no code with the validator that is measured. References are followed and branches
//! selected here, with the plain schema engine.

use std::cell::RefCell;
use std::collections::HashMap;

use jsonschema::Validator;
use serde_json::{Map, Value, json};
use stickler::{CachedSchema, ToolDefinition};

use super::tools::Server;

/// The tool that is measured.
pub(super) struct ToolUnderTest {
    pub(super) server: String,
    pub(super) tool: String,
    pub(super) schema: Value,
    validator: Validator,
    branches: RefCell<HashMap<String, Option<Validator>>>,
}

/// A value inside the arguments of a call.
pub(super) struct Location<'s> {
    pub(super) path: String,
    pub(super) value: Value,
    /// The schema of the value, with references resolved.
    pub(super) schema: &'s Value,
    /// The value belongs to an optional field.
    pub(super) optional: bool,
    /// The value belongs to an object that allows only listed names.
    pub(super) in_closed_object: bool,
    /// The names that the enclosing object lists.
    pub(super) siblings: Vec<String>,
}

/// An object inside the arguments of a call.
pub(super) struct ObjectLocation<'s> {
    pub(super) path: String,
    pub(super) closed: bool,
    pub(super) names: Vec<String>,
    /// Optional fields that the object does not have, with their schemas.
    pub(super) absent: Vec<(String, &'s Value)>,
}

impl ToolUnderTest {
    pub(super) fn new(
        server: &Server,
        tool: &ToolDefinition,
        cached: &CachedSchema,
    ) -> Option<Self> {
        let schema = cached.raw.clone();
        let validator = compile(&schema)?;
        Some(Self {
            server: server.name.clone(),
            tool: tool.name.clone(),
            schema,
            validator,
            branches: RefCell::default(),
        })
    }

    pub(super) fn accepts(&self, arguments: &Value) -> bool {
        self.validator.is_valid(arguments)
    }

    /// Follows references and the one matching branch.
    pub(super) fn resolve<'s>(&'s self, schema: &'s Value, value: &Value) -> &'s Value {
        let mut here = schema;
        for _ in 0..16 {
            if let Some(target) = reference(&self.schema, here) {
                here = target;
            } else if let Some([only]) =
                here.get("allOf").and_then(Value::as_array).map(Vec::as_slice)
                && here.get("properties").is_none()
            {
                here = only;
            } else if let Some(branch) = self.branch(here, value) {
                here = branch;
            } else {
                break;
            }
        }
        here
    }

    fn branch<'s>(&'s self, schema: &'s Value, value: &Value) -> Option<&'s Value> {
        let branches = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
        if schema.get("properties").is_some() {
            return None;
        }
        // If several branches match, the intended one is ambiguous.
        let mut fitting = branches.iter().filter(|branch| self.branch_accepts(branch, value));
        let first = fitting.next();
        first.filter(|_| fitting.next().is_none())
    }

    pub(super) fn branch_accepts(&self, branch: &Value, value: &Value) -> bool {
        let key = branch.to_string();
        let mut known = self.branches.borrow_mut();
        let validator = known.entry(key).or_insert_with(|| {
            let mut whole = Map::new();
            for name in ["$schema", "$defs", "definitions"] {
                if let Some(part) = self.schema.get(name) {
                    whole.insert(name.to_owned(), part.clone());
                }
            }
            whole.insert("allOf".to_owned(), json!([branch]));
            compile(&Value::Object(whole))
        });
        validator.as_ref().is_some_and(|validator| validator.is_valid(value))
    }

    /// Returns every value inside the arguments.
    pub(super) fn locations(&self, arguments: &Value) -> Vec<Location<'_>> {
        let mut locations = Vec::new();
        self.collect(&self.schema, arguments, "", &mut locations);
        locations
    }

    fn collect<'s>(
        &'s self,
        schema: &'s Value,
        value: &Value,
        path: &str,
        locations: &mut Vec<Location<'s>>,
    ) {
        let schema = self.resolve(schema, value);
        match value {
            Value::Object(members) => {
                let closed = is_closed(schema);
                let names = names(schema);
                let required = schema.get("required").and_then(Value::as_array);
                for (key, inner) in members {
                    let Some(child) = schema.get("properties").and_then(|all| all.get(key)) else {
                        continue;
                    };
                    let inner_path = format!("{path}/{}", escape(key));
                    locations.push(Location {
                        path: inner_path.clone(),
                        value: inner.clone(),
                        schema: self.resolve(child, inner),
                        optional: !required.is_some_and(|all| all.iter().any(|name| name == key)),
                        in_closed_object: closed,
                        siblings: names.clone(),
                    });
                    self.collect(child, inner, &inner_path, locations);
                }
            }
            Value::Array(items) => {
                let Some(child) = schema.get("items").filter(|items| items.is_object()) else {
                    return;
                };
                for (index, inner) in items.iter().enumerate() {
                    let inner_path = format!("{path}/{index}");
                    locations.push(Location {
                        path: inner_path.clone(),
                        value: inner.clone(),
                        schema: self.resolve(child, inner),
                        optional: false,
                        in_closed_object: false,
                        siblings: Vec::new(),
                    });
                    self.collect(child, inner, &inner_path, locations);
                }
            }
            _ => {}
        }
    }

    /// Returns every object inside the arguments, beginning with the arguments themselves.
    pub(super) fn objects(&self, arguments: &Value) -> Vec<ObjectLocation<'_>> {
        let mut objects = Vec::new();
        self.collect_objects(&self.schema, arguments, "", &mut objects);
        objects
    }

    fn collect_objects<'s>(
        &'s self,
        schema: &'s Value,
        value: &Value,
        path: &str,
        objects: &mut Vec<ObjectLocation<'s>>,
    ) {
        let schema = self.resolve(schema, value);
        match value {
            Value::Object(members) => {
                let required = schema.get("required").and_then(Value::as_array);
                let properties = schema.get("properties").and_then(Value::as_object);
                let absent = properties.into_iter().flatten().filter(|(name, _)| {
                    !members.contains_key(*name)
                        && !required.is_some_and(|all| all.iter().any(|one| one == *name))
                });
                objects.push(ObjectLocation {
                    path: path.to_owned(),
                    closed: is_closed(schema),
                    names: names(schema),
                    absent: absent.map(|(name, schema)| (name.clone(), schema)).collect(),
                });
                for (key, inner) in members {
                    if let Some(child) = properties.and_then(|all| all.get(key)) {
                        let path = format!("{path}/{}", escape(key));
                        self.collect_objects(child, inner, &path, objects);
                    }
                }
            }
            Value::Array(items) => {
                if let Some(child) = schema.get("items").filter(|items| items.is_object()) {
                    for (index, inner) in items.iter().enumerate() {
                        self.collect_objects(child, inner, &format!("{path}/{index}"), objects);
                    }
                }
            }
            _ => {}
        }
    }
}

/// The target of a local reference.
pub(super) fn reference<'s>(root: &'s Value, schema: &Value) -> Option<&'s Value> {
    let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
    root.pointer(pointer)
}

/// Returns whether an object schema lists all allowed names: it has `properties`, no
/// `additionalProperties` schema, and no keyword that could allow more.
fn is_closed(schema: &Value) -> bool {
    let has = |keyword: &str| schema.get(keyword).is_some();
    let is_combined =
        ["allOf", "anyOf", "oneOf", "if", "$ref", "patternProperties", "dependentSchemas"]
            .iter()
            .any(|keyword| has(keyword));
    let open = !matches!(schema.get("additionalProperties"), None | Some(Value::Bool(false)));
    has("properties") && !is_combined && !open && !has("unevaluatedProperties")
}

fn names(schema: &Value) -> Vec<String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.map(|all| all.keys().cloned().collect()).unwrap_or_default()
}

pub(super) fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn compile(schema: &Value) -> Option<Validator> {
    jsonschema::options()
        .should_validate_formats(true)
        .should_ignore_unknown_formats(true)
        .build(schema)
        .ok()
}
