//! Maps each value of a call to the part of the tool's schema that applies to it.
//!
//! Shares nothing with the validator it measures: references are followed and branches chosen here,
//! with the plain schema engine.

use std::cell::RefCell;
use std::collections::HashMap;

use jsonschema::Validator;
use serde_json::{Map, Value, json};
use stickler::{CachedSchema, ToolDefinition};

use super::tools::Server;

/// A tool as the bench sees it.
pub(super) struct Subject {
    pub(super) server: String,
    pub(super) tool: String,
    pub(super) schema: Value,
    validator: Validator,
    branches: RefCell<HashMap<String, Option<Validator>>>,
}

/// A place in a call.
pub(super) struct Spot<'s> {
    pub(super) path: String,
    pub(super) value: Value,
    /// What the schema says of it, references followed.
    pub(super) schema: &'s Value,
    /// It is a member that may be left out.
    pub(super) optional: bool,
    /// It is a member of an object whose names are all known.
    pub(super) in_closed_object: bool,
    /// The names that the object around it may have.
    pub(super) siblings: Vec<String>,
}

/// An object in a call, and the fields it could still have.
pub(super) struct ObjectSpot<'s> {
    pub(super) path: String,
    pub(super) closed: bool,
    pub(super) names: Vec<String>,
    /// Optional fields that are not there, with what the schema says of them.
    pub(super) absent: Vec<(String, &'s Value)>,
}

impl Subject {
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

    /// Follows references and the one branch that fits.
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

    /// Every value inside the arguments.
    pub(super) fn spots(&self, arguments: &Value) -> Vec<Spot<'_>> {
        let mut spots = Vec::new();
        self.collect(&self.schema, arguments, "", &mut spots);
        spots
    }

    fn collect<'s>(
        &'s self,
        schema: &'s Value,
        value: &Value,
        path: &str,
        spots: &mut Vec<Spot<'s>>,
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
                    spots.push(Spot {
                        path: inner_path.clone(),
                        value: inner.clone(),
                        schema: self.resolve(child, inner),
                        optional: !required.is_some_and(|all| all.iter().any(|name| name == key)),
                        in_closed_object: closed,
                        siblings: names.clone(),
                    });
                    self.collect(child, inner, &inner_path, spots);
                }
            }
            Value::Array(items) => {
                let Some(child) = schema.get("items").filter(|items| items.is_object()) else {
                    return;
                };
                for (index, inner) in items.iter().enumerate() {
                    let inner_path = format!("{path}/{index}");
                    spots.push(Spot {
                        path: inner_path.clone(),
                        value: inner.clone(),
                        schema: self.resolve(child, inner),
                        optional: false,
                        in_closed_object: false,
                        siblings: Vec::new(),
                    });
                    self.collect(child, inner, &inner_path, spots);
                }
            }
            _ => {}
        }
    }

    /// Every object inside the arguments, the arguments themselves first.
    pub(super) fn objects(&self, arguments: &Value) -> Vec<ObjectSpot<'_>> {
        let mut objects = Vec::new();
        self.collect_objects(&self.schema, arguments, "", &mut objects);
        objects
    }

    fn collect_objects<'s>(
        &'s self,
        schema: &'s Value,
        value: &Value,
        path: &str,
        objects: &mut Vec<ObjectSpot<'s>>,
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
                objects.push(ObjectSpot {
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

/// Lists its names, does not open itself, and nothing beside it may add to them.
fn is_closed(schema: &Value) -> bool {
    let says = |keyword: &str| schema.get(keyword).is_some();
    let alone = !["allOf", "anyOf", "oneOf", "if", "$ref", "patternProperties", "dependentSchemas"]
        .iter()
        .any(|keyword| says(keyword));
    let open = !matches!(schema.get("additionalProperties"), None | Some(Value::Bool(false)));
    says("properties") && alone && !open && !says("unevaluatedProperties")
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
