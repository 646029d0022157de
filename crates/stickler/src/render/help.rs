//! Builds the help prompt: Markdown with which a language model can correct its call.
//!
//! Contract: a brief prompt reads no more of a long list or text than its token budget can hold.

use std::fmt::{self, Write as _};

use serde_json::Value;

use super::detail::{BRIEF_LEVELS, Detail, FULL};
use super::fields::{FieldLists, Fields, MAX_UNSORTED, MIN_FIELD_TOKENS};
use super::tokens;
use super::unknown_tool;
use crate::arguments::{McpValidator, ValidationErrorKind, ValidationResult};
use crate::config::HelpDetail;
use crate::discovery::CachedSchema;

/// Markdown that explains a rejected call. Deterministic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelpPrompt(String);

/// The last sentence of every help prompt.
pub(crate) const CLOSING: &str = "Please correct your tool call arguments and try again.";

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
        match self.config().help {
            HelpDetail::Full => self.build_full_help_prompt(server, tool, result),
            HelpDetail::Brief => {
                let budget = self.config().help_token_budget;
                self.help_prompt(server, tool, result, Form::Brief { budget, with_schema: false })
            }
        }
    }

    /// Builds the most detailed help prompt, including the schema, regardless of the configuration.
    pub fn build_full_help_prompt(
        &self,
        server: &str,
        tool: &str,
        result: &ValidationResult,
    ) -> HelpPrompt {
        self.help_prompt(server, tool, result, Form::Full)
    }

    /// Builds the help prompt for a call that was rejected before: as detailed as `max_tokens` allow, with the
    /// schema if it fits. Full help is not limited.
    pub(super) fn repeated_help_prompt(
        &self,
        server: &str,
        tool: &str,
        result: &ValidationResult,
        max_tokens: usize,
    ) -> HelpPrompt {
        let form = match self.config().help {
            HelpDetail::Full => Form::Full,
            HelpDetail::Brief => Form::Brief { budget: max_tokens, with_schema: true },
        };
        self.help_prompt(server, tool, result, form)
    }

    fn help_prompt(
        &self,
        server: &str,
        tool: &str,
        result: &ValidationResult,
        form: Form,
    ) -> HelpPrompt {
        let budget = match form {
            Form::Full => usize::MAX,
            Form::Brief { budget, .. } => budget,
        };
        let is_unknown = result
            .errors
            .iter()
            .any(|error| matches!(error.kind, ValidationErrorKind::UnknownTool { .. }));
        if is_unknown {
            return unknown_tool::help(self, server, tool, result, budget);
        }
        if result.errors.is_empty() {
            return HelpPrompt(String::new());
        }
        let cached = self.cache().get(server, tool);
        let max_fields = (budget / MIN_FIELD_TOKENS).max(MAX_UNSORTED);
        let mut parts = match &cached {
            Some(schema) => Parts {
                documentation: schema.documented_at(self.config(), server),
                ..Parts::new(schema, result, self.config().mask_values, max_fields)
            },
            None => Parts::without_schema(tool, result),
        };
        let shows_schema = form != Form::Brief { budget, with_schema: false };
        parts.schema = cached.as_ref().filter(|_| shows_schema).map(|schema| pretty(&schema.raw));
        HelpPrompt(match form {
            Form::Full => render(&parts, &FULL),
            Form::Brief { .. } => render_within(&parts, budget),
        })
    }
}

/// The extent of a prompt.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Full,
    /// At most `budget` tokens, with the schema if that is wanted and fits.
    Brief {
        budget: usize,
        with_schema: bool,
    },
}

fn render_within(parts: &Parts<'_>, budget: usize) -> String {
    let fits = |text: Option<&String>| !text.is_some_and(|text| tokens::exceeds(text, budget));
    let (corrected_fits, schema_fits) =
        (fits(parts.corrected.as_ref()), fits(parts.schema.as_ref()));
    let may_fit = |detail: &&Detail| {
        let optional = parts.optional.total.min(detail.optional.count);
        let fields = parts.required.total.min(detail.required.count).saturating_add(optional);
        (corrected_fits || !detail.corrected)
            && (schema_fits || !detail.schema)
            && fields.saturating_mul(MIN_FIELD_TOKENS) <= budget
    };
    let full = parts.schema.iter().map(|_| &FULL);
    for detail in full.chain(&BRIEF_LEVELS).filter(may_fit) {
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

impl<'p> Parts<'p> {
    fn new(
        schema: &'p CachedSchema,
        result: &ValidationResult,
        mask_values: bool,
        max_fields: usize,
    ) -> Self {
        let fields = FieldLists::new(schema, &result.errors, max_fields);
        let corrected = result.corrected.as_ref().filter(|_| !mask_values);
        Self {
            description: schema.description.as_deref().unwrap_or_default(),
            required: fields.required(),
            optional: fields.optional(),
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
    section(&mut text, "Required Fields", &parts.required.render(detail.name, &detail.required));
    if parts.optional.total > 0 && detail.optional.count > 0 {
        let list = parts.optional.render(detail.name, &detail.optional);
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

/// Encloses JSON in a fence that is longer than any run of backticks in it.
pub(super) fn fenced(json: &str) -> String {
    let longest = json.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}json\n{json}\n{fence}")
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
