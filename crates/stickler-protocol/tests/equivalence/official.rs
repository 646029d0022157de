//! Loads the official schemas from the folder next to the project.

use std::path::{Path, PathBuf};

use referencing::{Draft, Registry};
use serde_json::{Map, Value, json};
use stickler::Revision;

const SCHEMA_URI: &str = "mcp:///schema";

/// The official schema of one revision.
pub(crate) struct Official {
    pub(crate) revision: Revision,
    pub(crate) schema: Value,
    section: &'static str,
    draft: Draft,
    registry: Registry<'static>,
    examples: PathBuf,
}

/// Loads the schemas of all revisions; `None` if the folder does not exist.
pub(crate) fn all() -> Option<Vec<Official>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/mcp-schema");
    folder.is_dir().then(|| {
        Revision::ALL
            .map(|revision| Official::read(&folder.join(revision.as_str()), revision))
            .into()
    })
}

impl Official {
    fn read(folder: &Path, revision: Revision) -> Self {
        let text = std::fs::read_to_string(folder.join("schema.json")).unwrap();
        let schema: Value = serde_json::from_str(&text).unwrap();
        let old = schema.get("definitions").is_some();
        let section = if old { "definitions" } else { "$defs" };
        let draft = if old { Draft::Draft7 } else { Draft::Draft202012 };
        let registry = Registry::new()
            .draft(draft)
            .add(SCHEMA_URI, draft.create_resource(schema.clone()))
            .unwrap()
            .prepare()
            .unwrap();
        let examples = folder.join("examples");
        Self { revision, schema, section, draft, registry, examples }
    }

    fn definitions(&self) -> &Map<String, Value> {
        self.schema[self.section].as_object().unwrap()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.definitions().keys().map(String::as_str)
    }

    pub(crate) fn definition(&self, name: &str) -> &Value {
        &self.definitions()[name]
    }

    /// The definition that a reference names.
    pub(crate) fn resolve(&self, reference: &str) -> &Value {
        self.definition(reference.rsplit('/').next().unwrap())
    }

    /// Compiles a definition. `format` is not asserted: in the protocol's schemas it is an annotation.
    pub(crate) fn validator(&self, name: &str) -> jsonschema::Validator {
        let schema = json!({ "$ref": format!("{SCHEMA_URI}#/{}/{name}", self.section) });
        jsonschema::options()
            .with_draft(self.draft)
            .with_registry(&self.registry)
            .with_base_uri("mcp:///definition")
            .should_validate_formats(false)
            .build(&schema)
            .unwrap()
    }

    /// The official example messages of a definition.
    pub(crate) fn examples(&self, name: &str) -> Vec<Value> {
        let Ok(folder) = std::fs::read_dir(self.examples.join(name)) else {
            return Vec::new();
        };
        let mut paths: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
            .iter()
            .map(|path| serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())
            .collect()
    }
}
