//! Tool `inspect_state`: reports file counts, the git status and the tables of databases.

use ignore::WalkBuilder;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::tool_failure::ToolFailure;
use crate::workspace::{Access, Place, Query, Workspace};

/// Limits on the files that are counted, on the databases that are shown, and on their depth below the
/// root.
const MAX_FILES: usize = 100_000;
const MAX_DATABASES: usize = 10;
const MAX_DATABASE_DEPTH: usize = 3;

const DATABASE_EXTENSIONS: [&str; 3] = ["db", "sqlite", "sqlite3"];

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
            "path": { "type": "string", "minLength": 1, "description": "The folder in which to count files, or the SQLite file to show, relative to the root; default: the root and the databases in it" },
        }),
        &[],
        json!({ "scope": "files", "path": "src" }),
    );
    let description = "Reports the state of the project: the number of files, the git status, and the tables of its SQLite databases with columns and row counts.";
    Tool::new("inspect_state", description, Effect::Reads, schema, check, run)
}

fn check(workspace: &Workspace, call: &Inspect) -> Check {
    workspace.place_or_root(call.path.as_deref())?;
    Ok(Vec::new())
}

fn run(workspace: &Workspace, call: &Inspect) -> Outcome {
    let place = workspace.place_or_root(call.path.as_deref())?;
    Ok(Answer::data(match call.scope {
        Scope::Files => json!({ "files": files(workspace, &place) }),
        Scope::Git => {
            workspace.require_repository()?;
            json!({ "git": workspace.git_status() })
        }
        Scope::Database => json!({ "databases": databases(workspace, call.path.as_deref())? }),
        Scope::All => json!({
            "files": files(workspace, &place),
            "git": workspace.git_status(),
            "databases": databases(workspace, None)?,
            "events": workspace.open_state_read()?.active_events()?.len(),
        }),
    }))
}

/// Describes one database, or those below the root. One that cannot be read has an error instead.
fn databases(workspace: &Workspace, given: Option<&str>) -> Result<Vec<Value>, ToolFailure> {
    if let Some(given) = given {
        return Ok(vec![json!({ "path": given, "tables": tables(workspace, given)? })]);
    }
    let mut walk = WalkBuilder::new(workspace.root());
    walk.require_git(false).parents(false).git_ignore(false).max_depth(Some(MAX_DATABASE_DEPTH));
    walk.filter_entry(|entry| entry.file_name() != ".stickler");
    let mut found: Vec<String> = walk
        .build()
        .flatten()
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .filter(|entry| {
            let extension = entry.path().extension().and_then(|text| text.to_str());
            extension.is_some_and(|extension| DATABASE_EXTENSIONS.contains(&extension))
        })
        .filter_map(|entry| {
            Some(entry.path().strip_prefix(workspace.root()).ok()?.display().to_string())
        })
        .collect();
    found.sort();
    found.truncate(MAX_DATABASES);
    Ok(found
        .iter()
        .map(|path| match tables(workspace, path) {
            Ok(tables) => json!({ "path": path, "tables": tables }),
            Err(failure) => json!({ "path": path, "error": failure.message }),
        })
        .collect())
}

/// Returns the tables and views of a database with their columns and row counts.
fn tables(workspace: &Workspace, path: &str) -> Result<Vec<Value>, ToolFailure> {
    let place = workspace.place(path)?;
    let rows = |sql: &str, parameters: &[Value]| {
        let query = Query { sql, parameters, max_rows: 500, access: Access::Read };
        let mut result = workspace.query(&place, &query)?;
        Ok::<Vec<Value>, ToolFailure>(
            result["rows"].as_array_mut().map(std::mem::take).unwrap_or_default(),
        )
    };
    let mut tables = rows(TABLES, &[])?;
    for table in &mut tables {
        let name = table["name"].as_str().unwrap_or_default().replace('"', "\"\"");
        let columns =
            rows("SELECT name, type FROM pragma_table_info(?)", &[table["name"].clone()])?;
        let count = rows(&format!("SELECT count(*) AS n FROM \"{name}\""), &[]);
        table["columns"] = columns.into();
        // A view can refer to a table that does not exist.
        table["row_count"] = count.ok().and_then(|rows| Some(rows.first()?["n"].clone())).into();
    }
    Ok(tables)
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
