//! What is added below a server's own words.

use std::fmt::Write as _;

use super::complaint::{About, Complaint};
use crate::arguments::names;
use crate::config::ValidationConfig;
use crate::discovery::{CachedSchema, Lookup, ToolSchemaCache};
use crate::render::{cut_to_tokens, estimate_tokens};
use crate::schema::SchemaGraph;
use crate::suggest::{self, Scoring};
use crate::tape::unescape_segment;

/// Names listed before a list is cut.
const MOST_NAMES: usize = 40;

pub(super) fn compose(
    cache: &ToolSchemaCache,
    config: &ValidationConfig,
    server: &str,
    tool: &str,
    complaints: &[Complaint],
) -> Option<String> {
    let addition = match cache.lookup(server, tool) {
        Lookup::Usable(schema) => about_arguments(&schema, config, server, complaints)?,
        Lookup::Unknown(tools) => {
            let is_unknown =
                complaints.iter().any(|one| matches!(one.about, About::UnknownTool { .. }));
            let known: Vec<&str> = tools.names().iter().map(String::as_str).collect();
            let scoring = Scoring::new(config.limits.explain_steps);
            let distance = config.suggestion_distance;
            let nearest = suggest::nearest_of(tool, &known, |_| true, distance, &scoring);
            let best = nearest.first().filter(|_| is_unknown)?.name;
            format!("Did you mean the tool `{best}`?")
        }
        _ => return None,
    };
    Some(cut_to_tokens(&addition, config.help_token_budget))
}

fn about_arguments(
    schema: &CachedSchema,
    config: &ValidationConfig,
    server: &str,
    complaints: &[Complaint],
) -> Option<String> {
    let about_this = |one: &&Complaint| !matches!(one.about, About::UnknownTool { .. });
    complaints.iter().find(about_this)?;
    let mut text = String::new();
    let known = names(&schema.compiled, &[SchemaGraph::ROOT]);
    let scoring = Scoring::new(config.limits.explain_steps);
    for complaint in complaints.iter().filter(about_this) {
        let line = suggestion(&known, complaint, config.suggestion_distance, &scoring);
        if let Some(line) = line.filter(|line| !text.contains(line)) {
            let _ = writeln!(text, "{line}");
        }
    }
    let _ = writeln!(text, "Required: [{}]", list(&schema.required));
    let _ = writeln!(text, "Valid fields: [{}]", list(&schema.properties));
    if let Some(link) = schema.documented_at(config, server) {
        let _ = writeln!(text, "Documentation: {link}");
    }
    if let Some(example) = schema.example() {
        let example = format!("Valid example: {example}\n");
        if estimate_tokens(&text) + estimate_tokens(&example) < config.help_token_budget {
            text.push_str(&example);
        }
    }
    text.push_str("Please correct your tool call arguments and try again.");
    Some(text)
}

/// The name that was probably meant.
fn suggestion(
    known: &[&str],
    complaint: &Complaint,
    distance: usize,
    scoring: &Scoring,
) -> Option<String> {
    if complaint.about != About::UnknownField {
        return None;
    }
    let (_, last) = complaint.path.rsplit_once('/')?;
    let field = unescape_segment(last);
    let nearest = suggest::nearest_of(&field, known, |_| true, distance, scoring);
    nearest.first().map(|best| format!("Did you mean `{}` instead of `{field}`?", best.name))
}

fn list(names: &[String]) -> String {
    let more = if names.len() > MOST_NAMES { ", …" } else { "" };
    let few: Vec<&str> = names.iter().take(MOST_NAMES).map(String::as_str).collect();
    format!("{}{more}", few.join(", "))
}
