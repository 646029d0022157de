//! Tool `search_memory`: searches the event log with SQLite's full-text index.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::tool::{Answer, Effect, Outcome, Tool, no_check, strict};
use crate::workspace::{Event, Workspace};

#[derive(Deserialize)]
struct Search {
    query: String,
    #[serde(default = "default_limit")]
    limit: usize,
}

fn default_limit() -> usize {
    10
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "query": { "type": "string", "minLength": 1, "description": "Words to search for, in any order and form (`deployed` finds `deploy`)" },
            "limit": { "type": "integer", "minimum": 1, "maximum": 100, "default": 10, "description": "The maximum number of entries to return" },
        }),
        &["query"],
        json!({ "query": "database", "limit": 5 }),
    );
    let description = "Searches what happened in the project: tool calls and their output, directives, gates, job runs and trace entries. Returns the best matches first.";
    Tool::new("search_memory", description, Effect::Reads, schema, no_check::<Search>, run)
        .unrecorded()
}

fn run(workspace: &Workspace, call: &Search) -> Outcome {
    let state = workspace.open_state_read()?;
    let active = state.active_events()?;
    let found: Vec<&Event> = state
        .search(&full_text(&call.query))?
        .into_iter()
        .filter_map(|id| active.binary_search_by_key(&id, |event| event.id).ok())
        .map(|position| &active[position])
        .collect();
    let entries: Vec<Value> = found.iter().take(call.limit).map(|event| event.to_json()).collect();
    Ok(Answer::data(json!({ "query": call.query, "entries": entries, "total": found.len() })))
}

/// Converts words to a query of SQLite's full-text search for events with any of them. A quoted
/// word has no operators; a `*` after it matches the words that begin with it.
fn full_text(query: &str) -> String {
    let words = query.split_whitespace().map(|word| format!("\"{}\"*", word.replace('"', "\"\"")));
    words.collect::<Vec<String>>().join(" OR ")
}
