//! Composes the text that follows the error text of the server.

use std::fmt::Write as _;

use super::argument_errors::{ArgumentError, ErrorKind, recognise, recognise_for};
use crate::arguments::names;
use crate::config::ValidationConfig;
use crate::discovery::{CachedSchema, Lookup, ToolSchemaCache};
use crate::error::listed;
use crate::render::{CLOSING, cut_to_tokens, estimate_tokens};
use crate::schema::SchemaGraph;
use crate::suggest::{self, ComparisonBudget, tool_names};
use crate::tape::unescape_segment;

/// Returns the addition to an error text; `None` if the text is not about the arguments, or if it has
/// an addition already.
pub(super) fn compose(
    cache: &ToolSchemaCache,
    config: &ValidationConfig,
    server: &str,
    tool: &str,
    text: &str,
) -> Option<String> {
    if text.contains(CLOSING) {
        return None;
    }
    let addition = match cache.lookup(server, tool) {
        Lookup::Usable(schema) => {
            let errors = recognise_for(text, tool, &schema.properties);
            argument_help(&schema, config, server, &errors)?
        }
        Lookup::Unknown(tools) => {
            let is_unknown =
                recognise(text).iter().any(|one| matches!(one.kind, ErrorKind::UnknownTool { .. }));
            let budget = ComparisonBudget::new(config.limits.explain_steps);
            let (listed, distance) = (tools.described(), config.suggestion_distance);
            let suggested = tool_names::suggestions(tool, &listed, distance, &budget);
            let best = suggested.first().filter(|best| is_unknown && !text.contains(*best))?;
            format!("Did you mean the tool `{best}`?")
        }
        _ => return None,
    };
    Some(cut_to_tokens(&addition, config.help_token_budget))
}

fn argument_help(
    schema: &CachedSchema,
    config: &ValidationConfig,
    server: &str,
    errors: &[ArgumentError],
) -> Option<String> {
    let is_argument_error =
        |one: &&ArgumentError| !matches!(one.kind, ErrorKind::UnknownTool { .. });
    errors.iter().find(is_argument_error)?;
    let mut text = String::new();
    let known = names(&schema.compiled, &[SchemaGraph::ROOT]);
    let budget = ComparisonBudget::new(config.limits.explain_steps);
    for error in errors.iter().filter(is_argument_error) {
        let line = suggestion(&known, error, config.suggestion_distance, &budget);
        if let Some(line) = line.filter(|line| !text.contains(line)) {
            let _ = writeln!(text, "{line}");
        }
    }
    let _ = writeln!(text, "Required: [{}]", listed(&schema.required));
    let _ = writeln!(text, "Valid fields: [{}]", listed(&schema.properties));
    if let Some(link) = schema.documented_at(config, server) {
        let _ = writeln!(text, "Documentation: {link}");
    }
    if let Some(example) = schema.example() {
        let example = format!("Valid example: {example}\n");
        if estimate_tokens(&text) + estimate_tokens(&example) < config.help_token_budget {
            text.push_str(&example);
        }
    }
    text.push_str(CLOSING);
    Some(text)
}

/// Suggests a known field for an unknown one.
fn suggestion(
    known: &[&str],
    error: &ArgumentError,
    distance: usize,
    budget: &ComparisonBudget,
) -> Option<String> {
    if error.kind != ErrorKind::UnknownField {
        return None;
    }
    let (_, last) = error.path.rsplit_once('/')?;
    let field = unescape_segment(last);
    let nearest = suggest::nearest_of(&field, known, |_| true, distance, budget);
    nearest.first().map(|best| format!("Did you mean `{}` instead of `{field}`?", best.name))
}
