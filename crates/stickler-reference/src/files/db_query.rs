//! Tool `db_query`: reads rows from an SQLite database.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::workspace::{Access, Query, Workspace};

#[derive(Deserialize)]
struct DbQuery {
    sql: String,
    #[serde(default)]
    parameters: Vec<Value>,
    #[serde(default = "database")]
    database: String,
    #[serde(default = "rows")]
    max_rows: usize,
}

fn database() -> String {
    "project.db".to_owned()
}

fn rows() -> usize {
    100
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "sql": { "type": "string", "minLength": 1, "description": "One read-only SQL statement, with `?` as a placeholder for values" },
            "parameters": {
                "type": "array", "items": { "type": ["string", "number", "boolean", "null"] },
                "description": "The values for the `?` placeholders, in order",
            },
            "database": { "type": "string", "minLength": 1, "default": "project.db", "description": "The SQLite file, relative to the root" },
            "max_rows": { "type": "integer", "minimum": 1, "maximum": 1000, "default": 100, "description": "The maximum number of rows to return" },
        }),
        &["sql"],
        json!({ "sql": "SELECT name FROM users WHERE id = ?", "parameters": [1] }),
    );
    let description = "Runs a read-only SQL query on an SQLite database and returns its rows.";
    Tool::new("db_query", description, Effect::Reads, schema, check, run)
}

fn check(workspace: &Workspace, call: &DbQuery) -> Check {
    workspace.place(&call.database)?;
    Ok(Vec::new())
}

fn run(workspace: &Workspace, call: &DbQuery) -> Outcome {
    let place = workspace.place(&call.database)?;
    let query = Query {
        sql: &call.sql,
        parameters: &call.parameters,
        max_rows: call.max_rows,
        access: Access::Read,
    };
    Ok(Answer::data(workspace.query(&place, &query)?))
}
