//! The definitions of one revision, each compiled on first use.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

use serde_json::{Map, Value, json};
use stickler::internal::{Checker, CompiledSchema, SchemaRejection};
use stickler::{Formats, Limits};

use super::{Revision, document};

/// Dialect of a schema without `$schema`.
pub(super) const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// A schema document that consists of definitions.
#[derive(Debug)]
pub(super) struct Definitions {
    /// `$schema`.
    dialect: String,
    /// Keyword that holds the definitions: `$defs`, or `definitions` before 2020-12.
    section: &'static str,
    by_name: HashMap<Cow<'static, str>, Definition>,
}

/// The lazily compiled forms of a definition.
#[derive(Debug)]
struct Definition {
    /// The revision to project the definition from; `None` for a loaded definition.
    revision: Option<Revision>,
    /// The plain schema; `None` if the revision does not define it.
    plain: OnceLock<Option<Value>>,
    /// Validator for the yes-or-no check.
    checker: OnceLock<Result<Checker, SchemaRejection>>,
    /// Compiled schema for explanations.
    compiled: OnceLock<Result<CompiledSchema, SchemaRejection>>,
}

/// Dialect that the built-in definitions are compiled in. They mean the same in every dialect since this one, and
/// the engine validates a schema against its meta-schema before compiling it, which is several times faster for
/// this dialect. The first message would otherwise wait for that.
const CHEAP_DIALECT: &str = "http://json-schema.org/draft-07/schema#";

impl Definitions {
    /// Creates the built-in definitions of a revision.
    pub(super) fn built_in(revision: Revision) -> Self {
        let by_name = document::definition_names()
            .map(|name| (name.into(), Definition::new(Some(revision), OnceLock::new())))
            .collect();
        Self { dialect: DIALECT.to_owned(), section: "$defs", by_name }
    }

    /// Creates definitions from a schema file.
    pub(super) fn loaded(
        dialect: &str,
        section: &'static str,
        schemas: &Map<String, Value>,
    ) -> Self {
        let by_name = schemas
            .iter()
            .map(|(name, schema)| {
                let plain = OnceLock::from(Some(schema.clone()));
                (name.clone().into(), Definition::new(None, plain))
            })
            .collect();
        Self { dialect: dialect.to_owned(), section, by_name }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|(name, _)| name)
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns the whole document.
    pub(super) fn document(&self) -> Value {
        let schemas: Map<String, Value> =
            self.iter().map(|(name, schema)| (name.to_owned(), schema.clone())).collect();
        json!({ "$schema": self.dialect, self.section: schemas })
    }

    /// Returns a definition together with everything it refers to.
    pub(super) fn standalone(&self, name: &str) -> Option<Value> {
        self.contains(name).then(|| {
            let schemas: Map<String, Value> = self
                .reachable(name)
                .into_iter()
                .filter_map(|name| Some((name.to_owned(), self.get(name)?.clone())))
                .collect();
            json!({
                "$schema": self.dialect,
                "$ref": format!("#/{}/{name}", self.section),
                self.section: schemas,
            })
        })
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.by_name.get(name)?.plain(name)
    }

    fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        let mut names: Vec<&str> = self.by_name.keys().map(Cow::as_ref).collect();
        names.sort_unstable();
        names.into_iter().filter_map(|name| Some((name, self.get(name)?)))
    }

    /// Returns the first dangling reference: the definition that contains it and the missing name.
    pub(super) fn dangling(&self) -> Option<(&str, &str)> {
        self.iter().find_map(|(name, schema)| {
            let mut missing = None;
            self.collect_references(schema, &mut |target| {
                if !self.contains(target) {
                    missing = Some(target);
                }
            });
            missing.map(|target| (name, target))
        })
    }

    /// Returns the validator for the yes-or-no check; `None` if the definition does not exist.
    pub(super) fn checker(&self, name: &str) -> Option<Result<&Checker, &SchemaRejection>> {
        let definition = self.by_name.get(name)?;
        let checker = definition.checker.get_or_init(|| {
            let mut schema = self.standalone(name).ok_or_else(absent)?;
            if definition.revision.is_some() {
                schema["$schema"] = CHEAP_DIALECT.into();
            }
            Checker::compile(&schema, Formats::Ignore, &Limits::default())
        });
        Some(checker.as_ref())
    }

    /// Compiled schema for explanations.
    pub(super) fn compiled(&self, name: &str) -> Option<Result<&CompiledSchema, &SchemaRejection>> {
        let compiled = self.by_name.get(name)?.compiled.get_or_init(|| {
            let schema = self.standalone(name).ok_or_else(absent)?;
            CompiledSchema::compile_shape(&schema, &Limits::default())
        });
        Some(compiled.as_ref())
    }

    /// Returns the names of a definition and of all definitions it refers to.
    fn reachable<'d>(&'d self, name: &'d str) -> BTreeSet<&'d str> {
        let mut reached = BTreeSet::from([name]);
        let mut pending = vec![name];
        while let Some(name) = pending.pop() {
            if let Some(schema) = self.get(name) {
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
                for inner in members.values() {
                    self.collect_references(inner, found);
                }
            }
            Value::Array(items) => {
                for inner in items {
                    self.collect_references(inner, found);
                }
            }
            _ => {}
        }
    }

    /// Returns the name of the definition that a reference points into.
    fn target<'r>(&self, reference: &'r str) -> Option<&'r str> {
        let path = reference.strip_prefix("#/")?.strip_prefix(self.section)?.strip_prefix('/')?;
        path.split('/').next()
    }
}

impl Definition {
    fn new(revision: Option<Revision>, plain: OnceLock<Option<Value>>) -> Self {
        Self { revision, plain, checker: OnceLock::new(), compiled: OnceLock::new() }
    }

    fn plain(&self, name: &str) -> Option<&Value> {
        self.plain.get_or_init(|| document::definition(name, self.revision?)).as_ref()
    }
}

fn absent() -> SchemaRejection {
    SchemaRejection::new("the revision does not have it")
}

#[cfg(test)]
mod tests {
    use super::Definitions;
    use crate::protocol::Revision;
    use serde_json::Value;

    /// Keywords that [`CHEAP_DIALECT`] does not define or defines differently.
    const NEWER: [&str; 9] = [
        "prefixItems",
        "dependentRequired",
        "dependentSchemas",
        "unevaluatedProperties",
        "unevaluatedItems",
        "minContains",
        "maxContains",
        "$dynamicRef",
        "$anchor",
    ];

    fn look(value: &Value, place: &str) {
        match value {
            Value::Object(members) => {
                let is_reference = members.get("$ref").is_some_and(Value::is_string);
                assert!(!is_reference || members.len() == 1, "{place} has more than a `$ref`");
                for (name, inner) in members {
                    assert!(!NEWER.contains(&name.as_str()), "{place} has `{name}`");
                    look(inner, &format!("{place}/{name}"));
                }
            }
            Value::Array(elements) => elements.iter().for_each(|inner| look(inner, place)),
            _ => {}
        }
    }

    #[test]
    fn built_in_definitions_use_only_keywords_of_the_cheap_dialect() {
        for revision in Revision::ALL {
            let definitions = Definitions::built_in(revision);
            look(&definitions.document()["$defs"], revision.as_str());
        }
    }
}
