//! `stickler explain`: prints the meaning, the reason and the fix of codes and rules.

use std::io::Write as _;

use serde::Serialize;
use stickler::Rule;
use stickler::rules::{self, find};

use crate::cli::{ExplainOptions, Format};
use crate::exit::{Exit, Failure, Outcome};

pub(crate) fn run(options: &ExplainOptions) -> Outcome {
    let rules: Vec<&Rule> = match &options.id {
        None => rules::all().collect(),
        Some(id) => vec![find(id).ok_or_else(|| unknown(id))?],
    };
    let width = rules.iter().map(|rule| rule.id.len()).max().unwrap_or_default();
    let mut out = std::io::stdout().lock();
    for rule in &rules {
        match options.format {
            Format::Json => {
                let line = serde_json::to_string(&Described::from(*rule)).unwrap_or_default();
                writeln!(out, "{line}")?;
            }
            Format::Text if options.id.is_none() => {
                writeln!(out, "{:<width$}  {}", rule.id, rule.summary)?;
            }
            Format::Text => write!(out, "{}", page(rule))?,
        }
    }
    Ok(Exit::Success)
}

/// A rule as JSON.
#[derive(Serialize)]
struct Described<'r> {
    id: &'r str,
    severity: String,
    summary: &'r str,
    why: &'r str,
    fix: &'r str,
    json_rpc: Option<i32>,
}

impl<'r> From<&'r Rule> for Described<'r> {
    fn from(rule: &'r Rule) -> Self {
        Self {
            id: rule.id,
            severity: rule.severity.to_string(),
            summary: rule.summary,
            why: rule.why,
            fix: rule.fix,
            json_rpc: rule.json_rpc,
        }
    }
}

fn page(rule: &Rule) -> String {
    let response = rule.json_rpc.map_or_else(String::new, |code| {
        format!("\nJSON-RPC error code of the response: {code}.\n")
    });
    format!(
        "{} ({}): {}\n\n{}\n\nHow to fix it: {}\n{response}",
        rule.id, rule.severity, rule.summary, rule.why, rule.fix
    )
}

fn unknown(id: &str) -> Failure {
    let nearest = rules::all().min_by_key(|rule| stickler::edit_distance(id, rule.id));
    let hint = nearest
        .filter(|rule| stickler::edit_distance(id, rule.id) <= 3)
        .map_or_else(String::new, |rule| format!("; did you mean `{}`?", rule.id));
    Failure::Usage(format!(
        "unknown code or rule `{id}`{hint}\n\nhint: `stickler explain` lists all codes and rules"
    ))
}
