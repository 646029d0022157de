//! One revision of the protocol, ready to be asked.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

use super::definitions::Definitions;
use super::methods::Methods;
use super::{Method, MethodLookup, ProtocolSchemaError, Revision, document};
use crate::arguments::{ValidationError, explain_part};
use crate::config::{Limits, ValidationConfig};
use crate::schema::{Answer, CompiledSchema};
use crate::side::Side;
use crate::tape::Node;

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The methods and shapes of one revision. As cheap to clone as a reference; each shape is compiled
/// when it is first asked for.
#[derive(Debug, Clone)]
pub struct SchemaValidator(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    revision: Revision,
    methods: Methods,
    definitions: Definitions,
}

impl SchemaValidator {
    /// The revision as Stickler knows it.
    pub fn built_in(revision: Revision) -> Self {
        static BUILT: [OnceLock<SchemaValidator>; Revision::ALL.len()] =
            [const { OnceLock::new() }; Revision::ALL.len()];
        let build = || {
            let schemas = document::definitions(revision);
            Self::new(revision, Definitions::new(DIALECT, "$defs", schemas))
        };
        match BUILT.get(revision as usize) {
            Some(built) => built.get_or_init(build).clone(),
            None => build(),
        }
    }

    /// The revision as an official schema file has it. The file must have every definition that
    /// the revision's methods need, and all of its definitions must be usable.
    pub fn from_schema(revision: Revision, schema: &Value) -> Result<Self, ProtocolSchemaError> {
        let refuse = |reason: String| ProtocolSchemaError::new(revision, reason);
        CompiledSchema::measure(schema, &file_limits())
            .map_err(|refusal| refuse(refusal.to_string()))?;
        let (section, schemas) = section_of(schema).ok_or_else(|| {
            refuse("it has neither `$defs` nor `definitions` with schemas in it".to_owned())
        })?;
        let dialect = match schema.get("$schema") {
            Some(Value::String(dialect)) => dialect,
            Some(_) => return Err(refuse("its `$schema` is not a string".to_owned())),
            None => DIALECT,
        };
        let validator = Self::new(revision, Definitions::new(dialect, section, schemas.clone()));
        let Inner { methods, definitions, .. } = &*validator.0;
        for method in methods.iter() {
            if let Some(name) = method.definitions().find(|name| !definitions.contains(name)) {
                return Err(refuse(format!(
                    "it has no definition `{name}`, which `{}` needs",
                    method.name
                )));
            }
        }
        for name in definitions.names() {
            definitions.compile(name).map_err(|refusal| {
                refuse(format!("its definition `{name}` cannot be used: {refusal}"))
            })?;
        }
        Ok(validator)
    }

    fn new(revision: Revision, definitions: Definitions) -> Self {
        Self(Arc::new(Inner { revision, methods: Methods::of(revision), definitions }))
    }

    /// Which revision it is.
    pub fn revision(&self) -> Revision {
        self.0.revision
    }

    /// What the revision says of a method that this side sends.
    pub fn method(&self, sender: Side, name: &str) -> MethodLookup<'_> {
        self.0.methods.look_up(sender, name)
    }

    /// All methods of the revision.
    pub fn methods(&self) -> impl Iterator<Item = &Method> {
        self.0.methods.iter()
    }

    /// The names of all definitions.
    pub fn definition_names(&self) -> impl Iterator<Item = &str> {
        self.0.definitions.names()
    }

    /// The definitions whose names are nearest to one that is not there, best first.
    pub fn nearest_definitions(&self, name: &str) -> Vec<&str> {
        let distance = ValidationConfig::default().suggestion_distance;
        let nearest = crate::suggest::nearest(name, self.definition_names(), distance);
        nearest.into_iter().map(|candidate| candidate.name).collect()
    }

    /// The revision's whole schema.
    pub fn schema(&self) -> Value {
        self.0.definitions.document()
    }

    /// A definition with all it refers to, as a schema of its own.
    pub fn definition_schema(&self, name: &str) -> Option<Value> {
        self.0.definitions.standalone(name)
    }

    /// Whether a value has the shape of a definition. Nothing has the shape of one that the
    /// revision does not have.
    pub fn is_valid(&self, definition: &str, node: Node<'_>) -> bool {
        self.check(definition, node, &Limits::default()) == Answer::Valid
    }

    /// The same within the caller's limits.
    pub(crate) fn check(&self, definition: &str, node: Node<'_>, limits: &Limits) -> Answer {
        match self.0.definitions.checker(definition) {
            Some(checker) => checker.check(node, limits.verdict_steps),
            None => Answer::Invalid,
        }
    }

    /// Why a value does not have the shape of a definition, with paths from that value on. Slow;
    /// for values that [`is_valid`](Self::is_valid) refuses.
    pub fn explain(
        &self,
        definition: &str,
        node: Node<'_>,
        config: &ValidationConfig,
    ) -> Vec<ValidationError> {
        self.explain_part(definition, node, "", config)
    }

    /// The same for a part of a message, so that the sentences name its place there.
    pub(crate) fn explain_part(
        &self,
        definition: &str,
        node: Node<'_>,
        place: &'static str,
        config: &ValidationConfig,
    ) -> Vec<ValidationError> {
        match self.0.definitions.compiled(definition) {
            Some(schema) => explain_part(schema, node, place, config),
            None => Vec::new(),
        }
    }
}

/// A file that a person chose may be large, but not without end.
fn file_limits() -> Limits {
    Limits { schema_bytes: 16 << 20, schema_depth: 128, ..Limits::default() }
}

fn section_of(schema: &Value) -> Option<(&'static str, &Map<String, Value>)> {
    ["$defs", "definitions"].into_iter().find_map(|section| {
        let schemas = schema.get(section)?.as_object()?;
        (!schemas.is_empty()).then_some((section, schemas))
    })
}
