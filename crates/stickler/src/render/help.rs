//! Builds the help prompt: Markdown with which a language model can correct its call.
//!
//! Contract: a brief prompt reads no more of a long list or text than its token budget can hold.

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Write as _};

use serde_json::Value;

use super::detail::{BRIEF_LEVELS, Detail, FULL};
use super::tokens;
use super::unknown_tool;
use crate::arguments::{McpValidator, ValidationErrorKind, ValidationResult, type_of};
use crate::config::HelpDetail;
use crate::discovery::CachedSchema;
use crate::schema::{Members, NodeId, SchemaGraph};

/// Markdown that explains a rejected call. Deterministic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelpPrompt(String);

/// Minimum number of fields to prepare: the limit of the levels that list few fields.
const MIN_LISTED_FIELDS: usize = 12;

/// The last sentence of every help prompt.
pub(super) const CLOSING: &str = "Please correct your tool call arguments and try again.";

impl HelpPrompt {
    pub(super) fn new(text: String) -> Self {
        Self(text)
    }

    /// Returns the Markdown.
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
    /// Builds the help prompt for a rejected call; empty for a call that was not rejected.
    pub fn build_help_prompt(
        &self,
        server: &str,
        tool: &str,
        result: &ValidationResult,
    ) -> HelpPrompt {
        self.help_prompt(server, tool, result, self.config().help)
    }

    /// Builds the most detailed help prompt, including the schema, regardless of the configuration.
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
        let budget = self.config().help_token_budget;
        let max_fields = match detail {
            HelpDetail::Full => usize::MAX,
            HelpDetail::Brief => budget.max(MIN_LISTED_FIELDS),
        };
        let mut parts = match &cached {
            Some(schema) => Parts {
                documentation: schema.documented_at(self.config(), server),
                ..Parts::new(schema, result, self.config().mask_values, max_fields)
            },
            None => Parts::without_schema(tool, result),
        };
        HelpPrompt(match detail {
            HelpDetail::Full => {
                parts.schema = cached.as_ref().map(|schema| pretty(&schema.raw));
                render(&parts, &FULL)
            }
            HelpDetail::Brief => render_within(&parts, budget),
        })
    }
}

fn render_within(parts: &Parts<'_>, budget: usize) -> String {
    let corrected_fits =
        !parts.corrected.as_ref().is_some_and(|call| tokens::exceeds(call, budget));
    // Every listed field takes a line, and every line at least one token.
    let may_fit = |detail: &&Detail| {
        let optional = parts.optional.total.min(detail.optional);
        (corrected_fits || !detail.corrected)
            && parts.required.total.min(detail.required) + optional <= budget
    };
    for detail in BRIEF_LEVELS.iter().filter(may_fit) {
        let text = render(parts, detail);
        if !tokens::exceeds(&text, budget) {
            return text;
        }
    }
    // If the text is too long even at the lowest level, keep its beginning and the closing sentence.
    let text = BRIEF_LEVELS.last().map_or_else(String::new, |minimal| render(parts, minimal));
    let room = budget.saturating_sub(tokens::estimate(CLOSING) + 2);
    format!("{}\n\n{CLOSING}\n", tokens::cut(&text, room))
}

/// The contents of a prompt.
struct Parts<'p> {
    tool: &'p str,
    description: &'p str,
    documentation: Option<String>,
    problems: Vec<String>,
    truncated: bool,
    required: Fields,
    optional: Fields,
    example: Option<String>,
    corrected: Option<String>,
    /// The edits of the corrected call in words.
    edits: String,
    schema: Option<String>,
}

/// Fields of a tool: their total number, and those that can be listed.
#[derive(Default)]
struct Fields {
    total: usize,
    list: Vec<Field>,
}

struct Field {
    name: String,
    kind: String,
    description: String,
}

impl<'p> Parts<'p> {
    fn new(
        schema: &'p CachedSchema,
        result: &ValidationResult,
        mask_values: bool,
        max_fields: usize,
    ) -> Self {
        let required: HashSet<&str> = schema.required.iter().map(String::as_str).collect();
        let is_optional = |name: &&String| !required.contains(name.as_str());
        let nodes = members(schema);
        let fields = |names: Vec<&String>| Fields {
            total: names.len(),
            list: names
                .into_iter()
                .take(max_fields)
                .map(|name| Field::new(schema, name, nodes.get(name.as_str()).copied()))
                .collect(),
        };
        let corrected = result.corrected.as_ref().filter(|_| !mask_values);
        Self {
            description: schema.description.as_deref().unwrap_or_default(),
            required: fields(schema.required.iter().collect()),
            optional: fields(schema.properties.iter().filter(is_optional).collect()),
            example: schema.example().map(pretty),
            corrected: corrected.map(|call| {
                let name = crate::tape::quote(&call.name);
                format!("{{\"name\":{name},\"arguments\":{}}}", call.arguments.get())
            }),
            edits: result.edits_in_words(),
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
            required: Fields::default(),
            optional: Fields::default(),
            example: None,
            corrected: None,
            edits: String::new(),
            schema: None,
        }
    }
}

/// Returns the subschemas of the fields that the root lists directly or through `allOf` and `$ref`.
fn members(schema: &CachedSchema) -> HashMap<&str, NodeId> {
    let graph = &schema.compiled.graph;
    let mut pending = vec![SchemaGraph::ROOT];
    let (mut seen, mut found) = (HashSet::new(), HashMap::new());
    while let Some(id) = pending.pop() {
        if seen.insert(id) {
            let node = graph.node(id);
            for (name, member) in node.properties.iter().flat_map(Members::iter) {
                found.entry(name).or_insert(member);
            }
            pending.extend(&node.all_of);
        }
    }
    found
}

impl Field {
    fn new(schema: &CachedSchema, name: &str, node: Option<NodeId>) -> Self {
        let compiled = &schema.compiled;
        let keywords = node.and_then(|id| compiled.at(&compiled.graph.node(id).pointer));
        let description = keywords.and_then(|schema| schema.get("description")?.as_str());
        Self {
            name: name.to_owned(),
            kind: node.map_or_else(|| "any".to_owned(), |id| type_of(compiled, id)),
            description: one_line(description.unwrap_or_default()),
        }
    }
}

fn render(parts: &Parts<'_>, detail: &Detail) -> String {
    let mut text = format!("Tool call failed for: {}\n", tokens::cut(parts.tool, detail.name));
    let has_description = !parts.description.is_empty() || parts.documentation.is_some();
    if has_description && detail.description > 0 {
        let mut body = tokens::cut(parts.description.trim(), detail.description);
        if let Some(url) = &parts.documentation {
            let _ = write!(body, "\nDocumentation: {url}");
        }
        section(&mut text, "Description", body.trim_start());
    }
    if !parts.problems.is_empty() {
        section(&mut text, "Problems", &problems(parts, detail));
    }
    let required = fields(&parts.required, detail.required, detail.required_description, detail);
    section(&mut text, "Required Fields", &required);
    if parts.optional.total > 0 && detail.optional > 0 {
        let list = fields(&parts.optional, detail.optional, detail.optional_description, detail);
        section(&mut text, "Optional Fields", &list);
    }
    if let Some(example) = parts.example.as_deref().filter(|_| detail.example) {
        section(&mut text, "Valid Example", &fenced(example));
    }
    if let Some(corrected) = parts.corrected.as_deref().filter(|_| detail.corrected) {
        let body = format!("{}\nChanges: {}", fenced(corrected), parts.edits);
        section(&mut text, "Corrected Call", &body);
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
        _ if parts.truncated => list.push_str("… and possibly more: validation stopped here\n"),
        _ => {}
    }
    list
}

fn fields(fields: &Fields, max_listed: usize, description: usize, detail: &Detail) -> String {
    if fields.total == 0 {
        return "none".to_owned();
    }
    let mut list = String::new();
    for field in fields.list.iter().take(max_listed) {
        let name = tokens::cut(&field.name, detail.name);
        let kind = tokens::cut(&field.kind, detail.name);
        let _ = match tokens::cut(&field.description, description) {
            text if description > 0 && !field.description.is_empty() => {
                writeln!(list, "- {name} ({kind}): {text}")
            }
            _ => writeln!(list, "- {name} ({kind})"),
        };
    }
    if let Some(more) = fields.total.checked_sub(max_listed).filter(|more| *more > 0) {
        let _ = writeln!(list, "… and {more} more");
    }
    list
}

/// Encloses JSON in a fence that is longer than any run of backticks in it.
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
