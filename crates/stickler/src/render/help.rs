//! The help prompt: what a language model needs to correct its call.

use std::fmt::{self, Write as _};

use serde_json::Value;

use super::detail::{Detail, FULL, STEPS};
use super::tokens;
use super::unknown_tool;
use crate::arguments::{McpValidator, ValidationErrorKind, ValidationResult, type_of};
use crate::config::HelpDetail;
use crate::discovery::CachedSchema;
use crate::schema::SchemaGraph;

/// Markdown that explains a refusal. Deterministic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelpPrompt(String);

/// How every help prompt ends.
pub(super) const CLOSING: &str = "Please correct your tool call arguments and try again.";

impl HelpPrompt {
    pub(super) fn new(text: String) -> Self {
        Self(text)
    }

    /// The Markdown.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HelpPrompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<HelpPrompt> for String {
    fn from(help: HelpPrompt) -> Self {
        help.0
    }
}

impl McpValidator {
    /// The help for a call that was refused; empty for one that was not.
    pub fn build_help_prompt(
        &self,
        server: &str,
        tool: &str,
        result: &ValidationResult,
    ) -> HelpPrompt {
        self.help_prompt(server, tool, result, self.config().help)
    }

    /// The same with everything there is, the schema included, whatever the configuration says.
    pub fn build_full_help_prompt(
        &self,
        server: &str,
        tool: &str,
        result: &ValidationResult,
    ) -> HelpPrompt {
        self.help_prompt(server, tool, result, HelpDetail::Full)
    }

    fn help_prompt(
        &self,
        server: &str,
        tool: &str,
        result: &ValidationResult,
        detail: HelpDetail,
    ) -> HelpPrompt {
        let is_unknown = result
            .errors
            .iter()
            .any(|error| matches!(error.kind, ValidationErrorKind::UnknownTool { .. }));
        if is_unknown {
            return unknown_tool::help(self, server, tool, result);
        }
        if result.errors.is_empty() {
            return HelpPrompt(String::new());
        }
        let cached = self.cache().get(server, tool);
        let parts = match &cached {
            Some(schema) => Parts {
                documentation: schema.documented_at(self.config(), server),
                ..Parts::new(schema, result, self.config().mask_values)
            },
            None => Parts::without_schema(tool, result),
        };
        HelpPrompt(match detail {
            HelpDetail::Full => render(&parts, &FULL),
            HelpDetail::Brief => render_within(&parts, self.config().help_token_budget),
        })
    }
}

fn render_within(parts: &Parts<'_>, budget: usize) -> String {
    let mut text = String::new();
    for detail in &STEPS {
        text = render(parts, detail);
        if tokens::estimate(&text) <= budget {
            return text;
        }
    }
    // Names and messages that are long even when cut: keep the beginning and the closing sentence.
    let room = budget.saturating_sub(tokens::estimate(CLOSING) + 2);
    format!("{}\n\n{CLOSING}\n", tokens::cut(&text, room))
}

/// What a prompt is made of.
struct Parts<'p> {
    tool: &'p str,
    description: &'p str,
    documentation: Option<String>,
    problems: Vec<String>,
    truncated: bool,
    required: Vec<Field>,
    optional: Vec<Field>,
    example: Option<String>,
    corrected: Option<String>,
    schema: Option<String>,
}

struct Field {
    name: String,
    kind: String,
    description: String,
}

impl<'p> Parts<'p> {
    fn new(schema: &'p CachedSchema, result: &ValidationResult, mask_values: bool) -> Self {
        let field = |name: &String| Field::new(schema, name);
        let is_optional = |name: &&String| !schema.required.contains(name);
        let corrected = result.corrected.as_ref().filter(|_| !mask_values);
        Self {
            description: schema.description.as_deref().unwrap_or_default(),
            required: schema.required.iter().map(field).collect(),
            optional: schema.properties.iter().filter(is_optional).map(field).collect(),
            example: schema.example().map(pretty),
            corrected: corrected.map(|call| {
                let name = crate::tape::quote(&call.name);
                format!("{{\"name\":{name},\"arguments\":{}}}", call.arguments.get())
            }),
            schema: Some(pretty(&schema.raw)),
            ..Self::without_schema(&schema.tool, result)
        }
    }

    fn without_schema(tool: &'p str, result: &ValidationResult) -> Self {
        let problem = |error: &crate::arguments::ValidationError| {
            let named = error.message.starts_with(&format!("`{}`", error.path));
            if error.path.is_empty() || named {
                error.message.clone()
            } else {
                format!("`{}`: {}", error.path, error.message)
            }
        };
        Self {
            tool,
            description: "",
            documentation: None,
            problems: result.errors.iter().map(problem).collect(),
            truncated: result.truncated,
            required: Vec::new(),
            optional: Vec::new(),
            example: None,
            corrected: None,
            schema: None,
        }
    }
}

impl Field {
    fn new(schema: &CachedSchema, name: &str) -> Self {
        let compiled = &schema.compiled;
        let graph = &compiled.graph;
        let mut pending = vec![SchemaGraph::ROOT];
        let mut seen = Vec::new();
        let mut found = None;
        // The root may list it itself, or through `allOf` and `$ref`.
        while let (None, Some(id)) = (found, pending.pop()) {
            if !seen.contains(&id) {
                seen.push(id);
                let node = graph.node(id);
                found = node.properties.as_ref().and_then(|members| members.get(name));
                pending.extend(&node.all_of);
            }
        }
        let keywords = found.and_then(|id| compiled.at(&graph.node(id).pointer));
        let description = keywords.and_then(|schema| schema.get("description")?.as_str());
        Self {
            name: name.to_owned(),
            kind: found.map_or_else(|| "any".to_owned(), |id| type_of(compiled, id)),
            description: one_line(description.unwrap_or_default()),
        }
    }
}

fn render(parts: &Parts<'_>, detail: &Detail) -> String {
    let mut text = format!("Tool call failed for: {}\n", tokens::cut(parts.tool, detail.name));
    let has_description = !parts.description.is_empty() || parts.documentation.is_some();
    if has_description && detail.description > 0 {
        let mut body = tokens::cut(parts.description.trim(), detail.description);
        if let Some(place) = &parts.documentation {
            let _ = write!(body, "\nDocumentation: {place}");
        }
        section(&mut text, "Description", body.trim_start());
    }
    if !parts.problems.is_empty() {
        section(&mut text, "Problems", &problems(parts, detail));
    }
    let required = fields(&parts.required, detail.required, detail.required_description, detail);
    section(&mut text, "Required Fields", &required);
    if !parts.optional.is_empty() && detail.optional > 0 {
        let list = fields(&parts.optional, detail.optional, detail.optional_description, detail);
        section(&mut text, "Optional Fields", &list);
    }
    if let Some(example) = parts.example.as_deref().filter(|_| detail.example) {
        section(&mut text, "Valid Example", &fenced(example));
    }
    if let Some(corrected) = parts.corrected.as_deref().filter(|_| detail.corrected) {
        section(&mut text, "Corrected Call", &fenced(corrected));
    }
    if let Some(schema) = parts.schema.as_deref().filter(|_| detail.schema) {
        section(&mut text, "Schema", &fenced(schema));
    }
    let _ = writeln!(text, "\n{CLOSING}");
    text
}

fn section(text: &mut String, title: &str, body: &str) {
    let _ = write!(text, "\n## {title}\n{}\n", body.trim_end());
}

fn problems(parts: &Parts<'_>, detail: &Detail) -> String {
    let mut list = String::new();
    for (index, problem) in parts.problems.iter().take(detail.problems).enumerate() {
        let _ = writeln!(list, "{}. {}", index + 1, tokens::cut(problem, detail.problem));
    }
    match parts.problems.len().checked_sub(detail.problems) {
        Some(more) if more > 0 => {
            let _ = writeln!(list, "… and {more} more");
        }
        _ if parts.truncated => list.push_str("… and perhaps more: looking stopped here\n"),
        _ => {}
    }
    list
}

fn fields(fields: &[Field], most: usize, description: usize, detail: &Detail) -> String {
    if fields.is_empty() {
        return "none".to_owned();
    }
    let mut list = String::new();
    for field in fields.iter().take(most) {
        let name = tokens::cut(&field.name, detail.name);
        let kind = tokens::cut(&field.kind, detail.name);
        let _ = match tokens::cut(&field.description, description) {
            text if description > 0 && !field.description.is_empty() => {
                writeln!(list, "- {name} ({kind}): {text}")
            }
            _ => writeln!(list, "- {name} ({kind})"),
        };
    }
    if let Some(more) = fields.len().checked_sub(most).filter(|more| *more > 0) {
        let _ = writeln!(list, "… and {more} more");
    }
    list
}

/// A fence longer than any run of backticks in the text, so that nothing breaks out of it.
pub(super) fn fenced(json: &str) -> String {
    let longest = json.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}json\n{json}\n{fence}")
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
