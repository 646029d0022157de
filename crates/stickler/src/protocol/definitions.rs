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
    checker: OnceLock<Option<Checker>>,
    /// For the explanation.
    schema: OnceLock<Option<CompiledSchema>>,
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

    pub(super) fn checker(&self, name: &str) -> Option<&Checker> {
        self.compiled.get(name)?.checker.get_or_init(|| self.compile(name).ok()).as_ref()
    }

    pub(super) fn compiled(&self, name: &str) -> Option<&CompiledSchema> {
        let compile = || CompiledSchema::compile_shape(&self.standalone(name)?, &limits()).ok();
        self.compiled.get(name)?.schema.get_or_init(compile).as_ref()
    }

    /// Compiles a definition for yes or no, or says why that cannot be done.
    pub(super) fn compile(&self, name: &str) -> Result<Checker, SchemaRefusal> {
        let schema = self.standalone(name).unwrap_or_default();
        Checker::compile(&schema, Formats::Annotate, &limits())
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

/// The protocol's shapes are not bounded as those of tools are; only patterns take a limit.
fn limits() -> Limits {
    Limits::default()
}
