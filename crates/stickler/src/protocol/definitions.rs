//! The definitions of one revision, each compiled when it is first asked.

use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use crate::config::Limits;
use crate::schema::{Checker, CompiledSchema, Formats, SchemaRefusal};

/// A schema document that is nothing but definitions.
#[derive(Debug)]
pub(super) struct Definitions {
    /// `$schema`.
    dialect: String,
    /// Where the definitions stand: `$defs`, or `definitions` before 2020-12.
    section: &'static str,
    schemas: Map<String, Value>,
    compiled: HashMap<String, Compiled>,
}

/// What has been made of a definition so far.
#[derive(Debug, Default)]
struct Compiled {
    /// For yes or no, which most messages never go beyond.
    checker: OnceLock<Result<Checker, SchemaRefusal>>,
    /// For the explanation.
    schema: OnceLock<Result<CompiledSchema, SchemaRefusal>>,
}

impl Definitions {
    pub(super) fn new(
        dialect: impl Into<String>,
        section: &'static str,
        schemas: Map<String, Value>,
    ) -> Self {
        let compiled = schemas.keys().map(|name| (name.clone(), Compiled::default())).collect();
        Self { dialect: dialect.into(), section, schemas, compiled }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.schemas.keys().map(String::as_str)
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.schemas.contains_key(name)
    }

    /// The whole document.
    pub(super) fn document(&self) -> Value {
        json!({ "$schema": self.dialect, self.section: self.schemas })
    }

    /// A definition with all it refers to, so that it can stand alone.
    pub(super) fn standalone(&self, name: &str) -> Option<Value> {
        let (name, _) = self.schemas.get_key_value(name)?;
        let reached = self.reachable(name);
        // In the order of the document, whatever the order in which they were reached.
        let schemas: Map<String, Value> = self
            .schemas
            .iter()
            .filter(|(name, _)| reached.contains(name.as_str()))
            .map(|(name, schema)| (name.clone(), schema.clone()))
            .collect();
        Some(json!({
            "$schema": self.dialect,
            "$ref": format!("#/{}/{name}", self.section),
            self.section: schemas,
        }))
    }

    /// The first reference that leads nowhere: where it stands, and the name that is missing.
    pub(super) fn dangling(&self) -> Option<(&str, &str)> {
        self.schemas.iter().find_map(|(name, schema)| {
            let mut missing = None;
            self.collect_references(schema, &mut |target| {
                if !self.contains(target) {
                    missing = Some(target);
                }
            });
            missing.map(|target| (name.as_str(), target))
        })
    }

    /// For yes or no; `None` where there is no such definition.
    pub(super) fn checker(&self, name: &str) -> Option<Result<&Checker, &SchemaRefusal>> {
        let compiled = self.compiled.get(name)?;
        let checker = compiled.checker.get_or_init(|| {
            let schema = self.standalone(name).unwrap_or_default();
            Checker::compile(&schema, Formats::Annotate, &Limits::default())
        });
        Some(checker.as_ref())
    }

    /// For the explanation.
    pub(super) fn compiled(&self, name: &str) -> Option<Result<&CompiledSchema, &SchemaRefusal>> {
        let compiled = self.compiled.get(name)?;
        let schema = compiled.schema.get_or_init(|| {
            let schema = self.standalone(name).unwrap_or_default();
            CompiledSchema::compile_shape(&schema, &Limits::default())
        });
        Some(schema.as_ref())
    }

    /// The definitions that one needs, itself included.
    fn reachable<'d>(&'d self, name: &'d str) -> BTreeSet<&'d str> {
        let mut reached = BTreeSet::from([name]);
        let mut pending = vec![name];
        while let Some(name) = pending.pop() {
            if let Some(schema) = self.schemas.get(name) {
                self.collect_references(schema, &mut |target| {
                    if reached.insert(target) {
                        pending.push(target);
                    }
                });
            }
        }
        reached
    }

    fn collect_references<'d>(&self, value: &'d Value, found: &mut impl FnMut(&'d str)) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(reference)) = members.get("$ref")
                    && let Some(target) = self.target(reference)
                {
                    found(target);
                }
                members.values().for_each(|inner| self.collect_references(inner, found));
            }
            Value::Array(items) => {
                items.iter().for_each(|inner| self.collect_references(inner, found));
            }
            _ => {}
        }
    }

    /// The definition that a reference leads into.
    fn target<'r>(&self, reference: &'r str) -> Option<&'r str> {
        let path = reference.strip_prefix("#/")?.strip_prefix(self.section)?.strip_prefix('/')?;
        path.split('/').next()
    }
}
