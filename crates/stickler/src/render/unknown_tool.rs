//! Help for a call of a tool that is not there.

use std::fmt::Write as _;

use super::help::{CLOSING, HelpPrompt, fenced};
use super::tokens;
use crate::arguments::{McpValidator, ValidationResult};
use crate::config::HelpDetail;
use crate::suggest;

/// Tokens of one name.
const LONGEST_NAME: usize = 40;

/// Letters of one name times those of the others that it is compared with.
const MOST_CELLS: usize = 4_000_000;

/// The tools there are, the nearest first, as many as the budget holds.
pub(super) fn help(
    validator: &McpValidator,
    server: &str,
    name: &str,
    result: &ValidationResult,
) -> HelpPrompt {
    let budget = match validator.config().help {
        HelpDetail::Brief => validator.config().help_token_budget,
        HelpDetail::Full => usize::MAX,
    };
    let ending = ending(validator, result, budget / 3);
    let mut text = "Unknown tool name. Available tools:\n".to_owned();
    let names = by_nearness(name, validator.cache().tool_names(server));
    // Room for the line that says how many were left out.
    let room = budget.saturating_sub(tokens::estimate(&text) + tokens::estimate(&ending) + 10);
    let mut spent = 0;
    let mut listed = 0;
    for tool in &names {
        let line = format!("- {}\n", tokens::cut(tool, LONGEST_NAME));
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

/// The corrected call, if it fits into a share of the budget, and the closing sentence.
fn ending(validator: &McpValidator, result: &ValidationResult, most: usize) -> String {
    let mut ending = String::new();
    if let Some(call) = result.corrected.as_ref().filter(|_| !validator.config().mask_values) {
        let name = crate::tape::quote(&call.name);
        let call = format!("{{\"name\":{name},\"arguments\":{}}}", call.arguments.get());
        let section = format!("\n## Corrected Call\n{}\n", fenced(&call));
        if tokens::estimate(&section) <= most {
            ending.push_str(&section);
        }
    }
    let _ = write!(ending, "\n{CLOSING}\n");
    ending
}

fn by_nearness(name: &str, mut names: Vec<String>) -> Vec<String> {
    // The order of thousands is of no use: rank what could be near, keep the rest.
    let mut cells = MOST_CELLS;
    names.sort_by_cached_key(|tool| {
        let close = tool.len().abs_diff(name.len()) <= 24 && name.len() <= 128;
        let left = cells.checked_sub(tool.len() * name.len()).filter(|_| close);
        cells = left.unwrap_or(cells);
        if left.is_some() { suggest::edit_distance(name, tool) } else { usize::MAX }
    });
    names
}
