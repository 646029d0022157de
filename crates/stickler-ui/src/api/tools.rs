//! The tools of a session or of all sessions: how often they are called, and how it goes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use stickler::{McpValidator, estimate_tokens};

use crate::api::definitions::{Definitions, SERVER};
use crate::index::tool_stats::ToolStats;
use crate::library::Library;

/// Maximum number of tools in a list.
const MAX_TOOLS: usize = 2000;
/// Number of mistakes shown per tool.
const SHOWN_MISTAKES: usize = 6;
/// Number of sessions whose definitions are loaded for a list of all sessions.
const MAX_DEFINED_SESSIONS: usize = 8;

/// Returns the tools, those with the most calls first.
pub(crate) fn list(library: &Library, definitions: &Definitions, scope: Option<usize>) -> Value {
    let mut stats: BTreeMap<(String, String), (ToolStats, usize)> = BTreeMap::new();
    let mut with_lists = Vec::new();
    {
        let sessions = library.read();
        let in_scope = |number: &usize| scope.is_none_or(|scope| scope == *number);
        let all = sessions
            .all
            .iter()
            .enumerate()
            .filter(|(number, one)| in_scope(number) && !one.is_gone);
        for (number, session) in all {
            if !session.lists.is_empty() {
                with_lists.push((number, session.server.clone()));
            }
            for (label, one) in &session.tools {
                let key = (session.server.clone(), session.labels.get(*label).to_owned());
                let entry = stats.entry(key).or_insert_with(|| (ToolStats::default(), number));
                entry.0.merge(one);
                entry.1 = number;
            }
        }
    }
    // The newest definition of each server.
    let mut validators: BTreeMap<String, (Arc<McpValidator>, usize)> = BTreeMap::new();
    for (number, server) in with_lists.into_iter().rev() {
        if validators.len() >= MAX_DEFINED_SESSIONS || validators.contains_key(&server) {
            continue;
        }
        if let Some(validator) = definitions.of(library, number) {
            for tool in validator.cache().tool_names(SERVER) {
                stats
                    .entry((server.clone(), tool))
                    .or_insert_with(|| (ToolStats::default(), number));
            }
            validators.insert(server, (validator, number));
        }
    }
    let mut list: Vec<_> = stats.into_iter().collect();
    list.sort_by_key(|(_, (stats, _))| std::cmp::Reverse(stats.calls));
    let total = list.len();
    let tools: Vec<Value> = list
        .iter()
        .take(MAX_TOOLS)
        .map(|((server, tool), (stats, session))| {
            let defined = validators.get(server);
            summary(
                server,
                tool,
                stats,
                defined.map_or(*session, |one| one.1),
                defined.map(|one| &*one.0),
            )
        })
        .collect();
    json!({ "total": total, "tools": tools })
}

fn summary(
    server: &str,
    tool: &str,
    stats: &ToolStats,
    session: usize,
    validator: Option<&McpValidator>,
) -> Value {
    let mut mistakes: Vec<_> = stats.mistakes.iter().collect();
    mistakes.sort_by_key(|one| std::cmp::Reverse(one.count));
    let mistakes: Vec<Value> = mistakes
        .into_iter()
        .take(SHOWN_MISTAKES)
        .map(|one| json!({ "rule": one.rule, "message": one.message, "count": one.count }))
        .collect();
    let is_listed = validator.map(|validator| validator.cache().get(SERVER, tool).is_some());
    json!({
        "server": server,
        "tool": tool,
        "session": session,
        "listed": is_listed,
        "calls": stats.calls,
        "rejected": stats.rejected,
        "repaired": stats.repaired,
        "errors": stats.errors,
        "p50": stats.latency.percentile(50),
        "p95": stats.latency.percentile(95),
        "latency": stats.latency.buckets(),
        "result_tokens": (stats.results > 0).then(|| stats.result_tokens / u64::from(stats.results)),
        "mistakes": mistakes,
    })
}

/// Returns the definition of a tool with a valid example.
pub(crate) fn definition(validator: Option<&McpValidator>, tool: &str) -> Value {
    let Some(cached) = validator.and_then(|validator| validator.cache().get(SERVER, tool)) else {
        return Value::Null;
    };
    let schema = cached.raw.to_string();
    let description = cached.description.as_deref().unwrap_or_default();
    json!({
        "tool": cached.tool,
        "description": description,
        "documentation": cached.documentation,
        "schema": serde_json::to_string_pretty(&cached.raw).unwrap_or_default(),
        "example": cached.example().map(|example| serde_json::to_string_pretty(example).unwrap_or_default()),
        "tokens": estimate_tokens(&schema) + estimate_tokens(description) + estimate_tokens(tool),
    })
}
