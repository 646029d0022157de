//! Tool `inspect_state`: reports file counts, the git status and database tables.

use ignore::WalkBuilder;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::workspace::{Access, Place, Query, Workspace};

/// Limit on the files that are counted.
const MAX_FILES: usize = 100_000;

const TABLES: &str = "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name";

#[derive(Deserialize)]
struct Inspect {
    #[serde(default)]
    scope: Scope,
    path: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Scope {
    #[default]
    All,
    Files,
    Git,
    Database,
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "scope": { "type": "string", "enum": ["all", "files", "git", "database"], "default": "all", "description": "What to inspect" },
            "path": { "type": "string", "minLength": 1, "description": "The folder in which to count files, or the SQLite file in which to list tables, relative to the root" },
        }),
        &[],
        json!({ "scope": "files", "path": "src" }),
    );
    let description = "Reports the state of the project: the number of files, the git status and the tables of a database.";
    Tool::new("inspect_state", description, Effect::Reads, schema, check, run)
}

fn check(workspace: &Workspace, call: &Inspect) -> Check {
    workspace.place_or_root(call.path.as_deref())?;
    Ok(Vec::new())
}

fn run(workspace: &Workspace, call: &Inspect) -> Outcome {
    let place = workspace.place_or_root(call.path.as_deref())?;
    let database = || {
        let given = call.path.as_deref().unwrap_or("project.db");
        let query = Query { sql: TABLES, parameters: &[], max_rows: 500, access: Access::Read };
        Ok(workspace.query(&workspace.place(given)?, &query)?["rows"].take())
    };
    Ok(Answer::data(match call.scope {
        Scope::Files => json!({ "files": files(workspace, &place) }),
        Scope::Git => {
            workspace.require_repository()?;
            json!({ "git": workspace.git_status() })
        }
        Scope::Database => json!({ "tables": database()? }),
        Scope::All => json!({
            "files": files(workspace, &place),
            "git": workspace.git_status(),
            "events": workspace.open_state_read()?.active_events()?.len(),
        }),
    }))
}

fn files(workspace: &Workspace, place: &Place) -> Value {
    let mut walk = WalkBuilder::new(workspace.full_path(place));
    walk.require_git(false).parents(false).filter_entry(|entry| entry.file_name() != ".stickler");
    let mut count = 0_u64;
    let mut bytes = 0_u64;
    for entry in walk.build().flatten().take(MAX_FILES) {
        if entry.file_type().is_some_and(|kind| kind.is_file()) {
            count += 1;
            bytes += entry.metadata().map_or(0, |about| about.len());
        }
    }
    json!({ "path": place.given, "count": count, "bytes": bytes })
}
