//! Tool `get_project_context`: describes the project and its current state.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::inject_directive;
use crate::gates::{self, Gate};
use crate::tool::{Answer, Effect, Outcome, Tool, no_check, strict};
use crate::tool_failure::ToolFailure;
use crate::workspace::{Event, Workspace, clip};

/// Limits on the listed entries of the root and on the README excerpt in bytes.
const MAX_ENTRIES: usize = 200;
const MAX_README_BYTES: usize = 2000;

#[derive(Deserialize)]
struct Context {
    #[serde(default = "all")]
    sections: Vec<Section>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Section {
    Files,
    Git,
    Gates,
    Directives,
}

fn all() -> Vec<Section> {
    vec![Section::Files, Section::Git, Section::Gates, Section::Directives]
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "sections": {
                "type": "array", "minItems": 1, "uniqueItems": true,
                "items": { "type": "string", "enum": ["files", "git", "gates", "directives"] },
                "description": "The sections to return; default: all",
            },
        }),
        &[],
        json!({ "sections": ["files", "directives"] }),
    );
    let description =
        "Describes the project and its state: files, git status, open gates and directives.";
    Tool::new("get_project_context", description, Effect::Reads, schema, no_check::<Context>, run)
}

fn run(workspace: &Workspace, call: &Context) -> Outcome {
    let mut context = Map::new();
    for section in &call.sections {
        let (name, value) = match section {
            Section::Files => ("files", files(workspace)?),
            Section::Git => ("git", workspace.git_status().into()),
            Section::Gates => {
                let gates = gates::all(&workspace.open_state_read()?, &workspace.trust)?;
                let open = gates.iter().filter(|gate| gate.decision.is_none());
                ("gates", open.map(Gate::to_json).collect())
            }
            Section::Directives => {
                let events = workspace.open_state_read()?.active_events()?;
                let these = events.iter().filter(|event| event.kind == inject_directive::KIND);
                ("directives", these.map(Event::to_json).collect())
            }
        };
        context.insert(name.to_owned(), value);
    }
    Ok(Answer::data(Value::Object(context)))
}

fn files(workspace: &Workspace) -> Result<Value, ToolFailure> {
    let entries = workspace.dir().entries().map_err(|error| ToolFailure::file(".", &error))?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with(".stickler")).collect();
    names.sort();
    names.truncate(MAX_ENTRIES);
    let readme = workspace.place("README.md").and_then(|place| workspace.read_text(&place)).ok();
    let readme = readme.map(|text| clip(&text, MAX_README_BYTES).to_owned());
    Ok(json!({ "entries": names, "readme": readme }))
}
