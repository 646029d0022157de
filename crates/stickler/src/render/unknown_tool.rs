//! Builds the help prompt for a call to an unknown tool, and the list of tools for its answer.

use std::fmt::Write as _;

use super::help::{CLOSING, HelpPrompt, fenced};
use super::tokens;
use crate::arguments::{McpValidator, ValidationError, ValidationResult};
use crate::suggest;

/// Maximum number of tokens of one name.
const MAX_NAME_TOKENS: usize = 40;

/// Number of tokens of the line with the number of omitted tools.
const OMITTED_TOKENS: usize = 10;

/// Maximum number of cells of the distance tables that ranking the names can compute.
const MAX_DISTANCE_CELLS: usize = 4_000_000;

/// The tools of a server that an answer lists.
pub(super) struct AvailableTools {
    /// The names that fit, nearest first.
    pub(super) names: Vec<String>,
    /// The number of other tools.
    pub(super) omitted: usize,
}

/// Returns the names of the available tools, nearest first, as far as the budget of tokens allows. A name
/// that is too long for a list is omitted; it is never cut, so that each one can be called.
pub(super) fn available(
    validator: &McpValidator,
    server: &str,
    name: &str,
    result: &ValidationResult,
    budget: usize,
) -> AvailableTools {
    let names = nearest_first(validator, server, name, result);
    let total = names.len();
    // The brackets of the array.
    let mut spent = 2;
    let mut fits = |tool: &String| {
        spent += tokens::estimate(&crate::tape::quote(tool)) + 1;
        spent <= budget
    };
    let short = |tool: &String| !tokens::exceeds(tool, MAX_NAME_TOKENS);
    let names: Vec<String> = names.into_iter().filter(short).take_while(|t| fits(t)).collect();
    AvailableTools { omitted: total - names.len(), names }
}

/// Lists the available tools, nearest first, as far as the budget of tokens allows.
pub(super) fn help(
    validator: &McpValidator,
    server: &str,
    name: &str,
    result: &ValidationResult,
    budget: usize,
) -> HelpPrompt {
    let mut text = "Unknown tool name. Available tools:\n".to_owned();
    let names = nearest_first(validator, server, name, result);
    let start = tokens::estimate(&text) + OMITTED_TOKENS;
    let left = budget.saturating_sub(start + tokens::estimate(CLOSING) + 2);
    let ending = ending(validator, result, left.min(budget / 3));
    let room = budget.saturating_sub(start + tokens::estimate(&ending));
    let mut spent = 0;
    let mut listed = 0;
    for tool in &names {
        let line = format!("- {}\n", tokens::cut(tool, MAX_NAME_TOKENS));
        spent += tokens::estimate(&line);
        if spent > room {
            break;
        }
        text.push_str(&line);
        listed += 1;
    }
    if names.is_empty() {
        text.push_str("(none)\n");
    }
    if listed < names.len() {
        let _ = writeln!(text, "… and {} more", names.len() - listed);
    }
    text.push_str(&ending);
    HelpPrompt::new(text)
}

/// Returns the problem and the corrected call, as far as they fit into their share of the budget, and the closing
/// sentence.
fn ending(validator: &McpValidator, result: &ValidationResult, max_tokens: usize) -> String {
    let mut ending = String::new();
    let problem = result.errors.first().map(|error| format!("\n{}\n", error.message));
    let problem = problem.filter(|problem| tokens::estimate(problem) <= max_tokens);
    ending.push_str(problem.as_deref().unwrap_or_default());
    let max_tokens = max_tokens - tokens::estimate(&ending).min(max_tokens);
    if let Some(call) = result.corrected.as_ref().filter(|_| !validator.config().mask_values) {
        let name = crate::tape::quote(&call.name);
        let call = format!("{{\"name\":{name},\"arguments\":{}}}", call.arguments.get());
        let changes = result.edits_in_words();
        let section = format!("\n## Corrected Call\n{}\nChanges: {changes}\n", fenced(&call));
        if tokens::estimate(&section) <= max_tokens {
            ending.push_str(&section);
        }
    }
    let _ = write!(ending, "\n{CLOSING}\n");
    ending
}

/// Returns the names of all tools: the suggested ones, then the others by their distance.
fn nearest_first(
    validator: &McpValidator,
    server: &str,
    name: &str,
    result: &ValidationResult,
) -> Vec<String> {
    let suggested: Vec<&String> =
        result.errors.iter().flat_map(ValidationError::suggestions).collect();
    let rank = |name: &String| suggested.iter().position(|known| *known == name);
    let mut names = sorted_by_distance(name, validator.cache().tool_names(server));
    names.sort_by_key(|name| rank(name).unwrap_or(usize::MAX));
    names
}

fn sorted_by_distance(name: &str, mut names: Vec<String>) -> Vec<String> {
    // Only names of a similar length are ranked, within a budget; the others keep their order.
    let mut cells = MAX_DISTANCE_CELLS;
    names.sort_by_cached_key(|tool| {
        let close = tool.len().abs_diff(name.len()) <= 24 && name.len() <= 128;
        let left = cells.checked_sub(tool.len() * name.len()).filter(|_| close);
        cells = left.unwrap_or(cells);
        if left.is_some() { suggest::edit_distance(name, tool) } else { usize::MAX }
    });
    names
}
