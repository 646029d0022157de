//! Tool `db_bridge`: runs a SQL statement on a database of the project.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::workspace::{Access, Query, Workspace};

#[derive(Deserialize)]
struct Bridge {
    query: String,
    #[serde(default)]
    mode: Mode,
    #[serde(default)]
    parameters: Vec<Value>,
    #[serde(default = "database")]
    database: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Read,
    Write,
}

fn database() -> String {
    "project.db".to_owned()
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "query": { "type": "string", "minLength": 1, "description": "One SQL statement, with `?` as a placeholder for values" },
            "mode": { "type": "string", "enum": ["read", "write"], "default": "read", "description": "`write` for statements that change data, if the server allows them" },
            "parameters": {
                "type": "array", "items": { "type": ["string", "number", "boolean", "null"] },
                "description": "The values for the `?` placeholders, in order",
            },
            "database": { "type": "string", "minLength": 1, "default": "project.db", "description": "The SQLite file, relative to the root" },
        }),
        &["query"],
        json!({ "query": "SELECT count(*) AS users FROM users", "mode": "read" }),
    );
    let description = "Runs one SQL statement on an SQLite database of the project.";
    Tool::new("db_bridge", description, Effect::Changes, schema, check, run)
}

fn check(workspace: &Workspace, call: &Bridge) -> Check {
    workspace.place(&call.database)?;
    if call.mode == Mode::Write {
        workspace.require_sql_writes()?;
    }
    Ok(Vec::new())
}

fn run(workspace: &Workspace, call: &Bridge) -> Outcome {
    let place = workspace.place(&call.database)?;
    let access = if call.mode == Mode::Write { Access::Write } else { Access::Read };
    let query = Query { sql: &call.query, parameters: &call.parameters, max_rows: 500, access };
    Ok(Answer::data(workspace.query(&place, &query)?))
}
