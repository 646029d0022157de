//! The validator: the one object that a caller needs.

use serde_json::Value;

use super::ValidationError;
use super::effort::Effort;
use super::explain::{self, Explanation};
use super::oddities;
use super::result::{CorrectedCall, ValidationResult};
use super::verdict::{Verdict, judge};
use super::wording::{About, Wording};
use crate::config::{Repair, ValidationConfig};
use crate::discovery::{CachedSchema, Lookup, ServerTools, ToolDefinition, ToolSchemaCache};
use crate::error::{McpSchemaError, McpValidationFailed, UnknownToolError};
use crate::repair;
use crate::schema::Answer;
use crate::suggest::{self, Candidate, Scoring};
use crate::tape::{Node, SyntaxError, TapeBuffer};

/// Where the structured content of a result stands in its message.
const STRUCTURED: &str = "/result/structuredContent";

/// Checks calls against the schemas of the tools.
#[derive(Debug, Default)]
pub struct McpValidator {
    cache: ToolSchemaCache,
    config: ValidationConfig,
}

impl McpValidator {
    /// A validator that knows no tools yet.
    pub fn new(config: ValidationConfig) -> Self {
        let cache = ToolSchemaCache::with_limits(config.limits).compiling(config.compile_schemas);
        Self { cache, config }
    }

    /// The tools it knows.
    pub fn cache(&self) -> &ToolSchemaCache {
        &self.cache
    }

    /// What it was told to do.
    pub fn config(&self) -> &ValidationConfig {
        &self.config
    }

    /// Learns one tool, with an example and a description to help with.
    pub fn register_tool_schema(
        &self,
        server: &str,
        tool: &ToolDefinition,
    ) -> Result<(), McpSchemaError> {
        self.cache.register(server, tool)
    }

    /// Checks the arguments of a call.
    ///
    /// A server that was never populated passes everything: nothing is known. One that was
    /// populated without that tool does not have it.
    pub fn validate(&self, server: &str, tool: &str, params: &Value) -> ValidationResult {
        let text = params.to_string();
        match self.validate_text(server, tool, Some(text.as_bytes())) {
            Ok(result) => result,
            // Only nesting can be wrong with a text that was made from a value.
            Err(error) => {
                let wording = Wording::new(self.config.mask_values, About::Arguments);
                let expected = format!("be simpler: {}", error.kind());
                ValidationResult::refused(
                    vec![wording.invalid("", String::new(), &expected, None)],
                    false,
                )
            }
        }
    }

    /// Checks the arguments of a call as they were written; `None` when the call has none, which
    /// counts as `{}`. The error is for a text that is not JSON.
    pub fn validate_text(
        &self,
        server: &str,
        tool: &str,
        arguments: Option<&[u8]>,
    ) -> Result<ValidationResult, SyntaxError> {
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(arguments.unwrap_or(b"{}"), self.config.limits.message_depth)?;
        Ok(self.validate_node(server, tool, tape.root()))
    }

    /// Checks the arguments of a call on a tape.
    pub fn validate_node(&self, server: &str, tool: &str, arguments: Node<'_>) -> ValidationResult {
        if !self.config.pre_validate {
            return ValidationResult::valid();
        }
        match self.cache.lookup(server, tool) {
            Lookup::Usable(cached) => self.validate_cached(&cached, arguments),
            Lookup::Unchecked => ValidationResult::valid(),
            Lookup::Quarantined(error) => ValidationResult::unchecked(error.to_string()),
            Lookup::Unknown(tools) => self.unknown_tool(&tools, tool, arguments),
        }
    }

    /// What a tool's `outputSchema` has against the structured content of its result. A tool without
    /// one has nothing against anything.
    pub fn validate_output(
        &self,
        server: &str,
        tool: &str,
        structured: Option<&Value>,
    ) -> Vec<ValidationError> {
        let Some(structured) = structured else {
            return self.validate_output_node(server, tool, None);
        };
        let text = structured.to_string();
        let mut buffer = TapeBuffer::new();
        match buffer.read(text.as_bytes(), self.config.limits.message_depth) {
            Ok(tape) => self.validate_output_node(server, tool, Some(tape.root())),
            Err(error) => vec![ValidationError::whole(error.to_string())],
        }
    }

    /// The same for structured content on a tape.
    pub fn validate_output_node(
        &self,
        server: &str,
        tool: &str,
        structured: Option<Node<'_>>,
    ) -> Vec<ValidationError> {
        let Some(tools) = self.cache.server(server) else { return Vec::new() };
        let limits = &self.config.limits;
        let Some(schema) = tools.output(tool) else { return Vec::new() };
        let Some(structured) = structured else {
            let message =
                format!("`{tool}` has an `outputSchema`, but its result no `structuredContent`");
            let mut error = ValidationError::whole(message);
            "structured content".clone_into(&mut error.expected);
            "nothing".clone_into(&mut error.received);
            return vec![error];
        };
        match schema.check(structured, limits.verdict_steps) {
            Answer::Invalid => explain::explain_part(schema, structured, STRUCTURED, &self.config),
            _ => Vec::new(),
        }
    }

    /// As [`validate`](Self::validate), with a refusal as an error.
    pub fn ensure_valid(
        &self,
        server: &str,
        tool: &str,
        params: &Value,
    ) -> Result<(), crate::error::McpError> {
        let result = self.validate(server, tool, params);
        if result.is_valid {
            return Ok(());
        }
        Err(match self.require_tool(server, tool) {
            Err(unknown) => crate::error::McpError::UnknownTool(unknown),
            Ok(()) => crate::error::McpError::Validation(McpValidationFailed {
                tool: tool.to_owned(),
                errors: result.errors,
            }),
        })
    }

    /// An error when the server is known not to have that tool.
    pub fn require_tool(&self, server: &str, tool: &str) -> Result<(), UnknownToolError> {
        match self.cache.lookup(server, tool) {
            Lookup::Unknown(tools) => Err(UnknownToolError {
                name: tool.to_owned(),
                suggestions: self.nearest_tools(&tools, tool),
            }),
            _ => Ok(()),
        }
    }

    /// The names nearest to one that is not known, best first.
    pub fn find_suggestions(&self, name: &str, known: &[String]) -> Vec<String> {
        let nearest = self.nearest_among(name, known, &Scoring::unlimited());
        nearest.into_iter().map(|candidate| candidate.name.to_owned()).collect()
    }

    fn nearest_among<'k>(
        &self,
        name: &str,
        known: &'k [String],
        scoring: &Scoring,
    ) -> Vec<Candidate<'k>> {
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        suggest::nearest_of(name, &known, |_| true, self.config.suggestion_distance, scoring)
    }

    /// What comparing names that peers have sent may take.
    fn scoring(&self) -> Scoring {
        Scoring::new(self.config.limits.explain_steps)
    }

    fn validate_cached(&self, cached: &CachedSchema, arguments: Node<'_>) -> ValidationResult {
        let (mut errors, mut truncated) = oddities::find(arguments, &self.config);
        let verdict = self.judge(cached, arguments);
        if verdict == Verdict::Valid && errors.is_empty() {
            return match &cached.compiled.unchecked {
                None => ValidationResult::valid(),
                Some(reason) => ValidationResult::checked_in_part(&cached.tool, reason),
            };
        }
        let effort = Effort::new(self.config.limits.explain_steps);
        let explanation = match verdict {
            Verdict::Valid => None,
            Verdict::Invalid => Some(self.explain(cached, arguments, &effort)),
            Verdict::GaveUp => {
                errors.push(self.invalid("be simpler: checking them takes too long", arguments));
                None
            }
        };
        truncated |= explanation.as_ref().is_some_and(|one| !one.complete);
        let repairable = errors.is_empty();
        if let Some(explanation) = &explanation {
            errors.extend(explanation.shown().iter().cloned());
        }
        let mut result = ValidationResult::refused(errors, truncated);
        if let Some(explanation) = explanation
            && repairable
        {
            self.repair(cached, arguments, &explanation, &effort, &mut result);
        }
        result
    }

    pub(crate) fn judge(&self, cached: &CachedSchema, arguments: Node<'_>) -> Verdict {
        judge(&cached.compiled, arguments, self.config.unknown_fields, &self.config.limits)
    }

    /// The same for a corrected call, which is not looked at for as long.
    pub(crate) fn judge_corrected(&self, cached: &CachedSchema, arguments: Node<'_>) -> Verdict {
        let mut limits = self.config.limits;
        let by_size = u32::try_from(arguments.token_count()).unwrap_or(u32::MAX).saturating_mul(16);
        let most = limits.explain_steps.saturating_mul(4).max(by_size);
        limits.verdict_steps = limits.verdict_steps.min(most);
        judge(&cached.compiled, arguments, self.config.unknown_fields, &limits)
    }

    pub(crate) fn explain(
        &self,
        cached: &CachedSchema,
        arguments: Node<'_>,
        effort: &Effort,
    ) -> Explanation {
        let mut explanation = explain::explain(&cached.compiled, arguments, &self.config, effort);
        if explanation.errors.is_empty() {
            explanation.errors.push(self.invalid("satisfy the tool's schema", arguments));
        }
        explanation
    }

    fn repair(
        &self,
        cached: &CachedSchema,
        arguments: Node<'_>,
        explanation: &Explanation,
        effort: &Effort,
        result: &mut ValidationResult,
    ) {
        if self.config.repair == Repair::Off {
            return;
        }
        let repaired = repair::repair(self, cached, arguments, explanation, effort);
        let Some(repaired) = repaired else {
            return;
        };
        let beyond_doubt = repaired.edits.iter().all(|edit| edit.is_beyond_doubt);
        result.edits = repaired.edits;
        result.repaired = self.config.repair == Repair::Apply && beyond_doubt;
        result.is_valid = result.repaired;
        result.corrected =
            Some(CorrectedCall { name: cached.tool.clone(), arguments: repaired.arguments });
    }

    fn unknown_tool(
        &self,
        tools: &ServerTools,
        name: &str,
        arguments: Node<'_>,
    ) -> ValidationResult {
        let suggestions = self.nearest_tools(tools, name);
        let error = Wording::unknown_tool(name, suggestions);
        let mut result = ValidationResult::refused(vec![error], false);
        if self.config.repair != Repair::Off
            && let Some(meant) = self.meant_tool(tools, name)
            && let Some((arguments, edits)) = self.arguments_for(meant, arguments)
        {
            result.edits = vec![repair::Edit::rename_tool(name, &meant.tool)];
            result.edits.extend(edits);
            result.corrected = Some(CorrectedCall { name: meant.tool.clone(), arguments });
        }
        result
    }

    /// The tool whose name stands out among those near to a name that is not known.
    fn meant_tool<'t>(&self, tools: &'t ServerTools, name: &str) -> Option<&'t CachedSchema> {
        let nearest = self.nearest_among(name, tools.names(), &self.scoring());
        let meant = suggest::stands_out(&nearest)?;
        tools.get(meant.name).map(AsRef::as_ref)
    }

    /// The arguments in a form that the tool accepts.
    fn arguments_for(
        &self,
        tool: &CachedSchema,
        arguments: Node<'_>,
    ) -> Option<(Box<serde_json::value::RawValue>, Vec<repair::Edit>)> {
        let result = self.validate_cached(tool, arguments);
        if result.is_valid && !result.repaired {
            let text = arguments.raw().to_owned();
            return Some((serde_json::value::RawValue::from_string(text).ok()?, Vec::new()));
        }
        Some((result.corrected?.arguments, result.edits))
    }

    fn nearest_tools(&self, tools: &ServerTools, name: &str) -> Vec<String> {
        let nearest = self.nearest_among(name, tools.names(), &self.scoring());
        nearest.into_iter().map(|candidate| candidate.name.to_owned()).collect()
    }

    fn invalid(&self, expected: &str, arguments: Node<'_>) -> ValidationError {
        let wording = Wording::new(self.config.mask_values, About::Arguments);
        wording.invalid("", String::new(), expected, Some(arguments))
    }
}
