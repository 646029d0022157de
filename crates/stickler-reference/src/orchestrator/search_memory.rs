//! Tool `search_memory`: searches the event log by words.

use std::cmp::Reverse;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::tool::{Answer, Effect, Outcome, Tool, no_check, strict};
use crate::workspace::Workspace;

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
            "query": { "type": "string", "minLength": 1, "description": "Words to search for, in any order" },
            "limit": { "type": "integer", "minimum": 1, "maximum": 100, "default": 10, "description": "The maximum number of entries to return" },
        }),
        &["query"],
        json!({ "query": "database", "limit": 5 }),
    );
    let description = "Searches the project's directives, gates, decisions and traces by words. Returns the best matches first.";
    Tool::new("search_memory", description, Effect::Reads, schema, no_check::<Search>, run)
}

fn run(workspace: &Workspace, call: &Search) -> Outcome {
    let words: Vec<String> = call.query.split_whitespace().map(str::to_lowercase).collect();
    let mut found: Vec<(usize, i64, Value)> = Vec::new();
    for event in workspace.open_state_read()?.active_events()? {
        let task = event.task.as_deref().unwrap_or_default();
        let text = format!("{} {task} {}", event.kind, event.data).to_lowercase();
        let score = words.iter().filter(|word| text.contains(word.as_str())).count();
        if score > 0 {
            found.push((score, event.id, event.to_json()));
        }
    }
    found.sort_by_key(|(score, id, _)| (Reverse(*score), Reverse(*id)));
    let total = found.len();
    let entries: Vec<Value> =
        found.into_iter().take(call.limit).map(|(_, _, entry)| entry).collect();
    Ok(Answer::data(json!({ "query": call.query, "entries": entries, "total": total })))
}
