//! [`McpValidator`], the entry point for validating calls and results.

use serde_json::Value;

use super::ValidationError;
use super::comparison_budgets::ComparisonBudgets;
use super::explain::{self, Explanation};
use super::json_defects;
use super::result::{CorrectedCall, ValidationResult};
use super::verdict::{Verdict, evaluate};
use super::wording::{Subject, Wording};
use crate::config::{Repair, ValidationConfig};
use crate::discovery::{CachedSchema, Lookup, ServerTools, ToolDefinition, ToolSchemaCache};
use crate::error::{McpSchemaError, McpValidationFailed, UnknownToolError};
use crate::repair;
use crate::schema::Answer;
use crate::suggest::{self, Candidate, ComparisonBudget};
use crate::tape::{Node, SyntaxError, TapeBuffer};

/// JSON Pointer of the structured content within the response to a `tools/call`.
const STRUCTURED_CONTENT_POINTER: &str = "/result/structuredContent";

/// Validates tool calls against the schemas of the tools.
#[derive(Debug, Default)]
pub struct McpValidator {
    cache: ToolSchemaCache,
    config: ValidationConfig,
}

impl McpValidator {
    /// Creates a validator with an empty tool cache.
    pub fn new(config: ValidationConfig) -> Self {
        let cache = ToolSchemaCache::with_limits(config.limits).compiling(config.compile_schemas);
        Self { cache, config }
    }

    /// Returns the cache of known tools.
    pub fn cache(&self) -> &ToolSchemaCache {
        &self.cache
    }

    /// Returns the configuration.
    pub fn config(&self) -> &ValidationConfig {
        &self.config
    }

    /// Registers one tool, with the description and example that are used for help.
    pub fn register_tool_schema(
        &self,
        server: &str,
        tool: &ToolDefinition,
    ) -> Result<(), McpSchemaError> {
        self.cache.register(server, tool)
    }

    /// Validates the arguments of a call.
    ///
    /// Every call to a server that was never populated is valid. A tool that a populated server does
    /// not list is an unknown tool.
    pub fn validate(&self, server: &str, tool: &str, params: &Value) -> ValidationResult {
        let text = params.to_string();
        match self.validate_text(server, tool, Some(text.as_bytes())) {
            Ok(result) => result,
            // A text serialized from a value can only be nested too deeply.
            Err(error) => {
                let wording = Wording::new(self.config.mask_values, Subject::Arguments);
                let expected = format!("be simpler: {}", error.kind());
                ValidationResult::rejected(
                    vec![wording.invalid("", String::new(), &expected, None)],
                    false,
                )
            }
        }
    }

    /// Validates the JSON text of the arguments; `None` means that the call has no arguments and is
    /// equivalent to `{}`. Returns an error if the text is not JSON.
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

    /// Validates arguments that have been parsed to a tape.
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

    /// Validates the structured content of a result against the tool's `outputSchema`. Returns no errors
    /// for a tool without one.
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

    /// Like [`validate_output`](Self::validate_output), for structured content on a tape.
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
            let message = format!(
                "`{tool}` declares an `outputSchema`, but its result has no `structuredContent`"
            );
            let mut error = ValidationError::whole(message);
            "structured content".clone_into(&mut error.expected);
            "nothing".clone_into(&mut error.received);
            return vec![error];
        };
        match schema.check(structured, limits.verdict_steps) {
            Answer::Invalid => {
                explain::explain_part(schema, structured, STRUCTURED_CONTENT_POINTER, &self.config)
            }
            _ => Vec::new(),
        }
    }

    /// Like [`validate`](Self::validate), but returns a rejection as an error.
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

    /// Returns an error if the server is known not to have the tool.
    pub fn require_tool(&self, server: &str, tool: &str) -> Result<(), UnknownToolError> {
        match self.cache.lookup(server, tool) {
            Lookup::Unknown(tools) => Err(UnknownToolError {
                name: tool.to_owned(),
                suggestions: self.nearest_tools(&tools, tool),
            }),
            _ => Ok(()),
        }
    }

    /// Returns the known names nearest to an unknown name, best first.
    pub fn find_suggestions(&self, name: &str, known: &[String]) -> Vec<String> {
        let nearest = self.nearest_among(name, known, &ComparisonBudget::unlimited());
        nearest.into_iter().map(|candidate| candidate.name.to_owned()).collect()
    }

    fn nearest_among<'k>(
        &self,
        name: &str,
        known: &'k [String],
        budget: &ComparisonBudget,
    ) -> Vec<Candidate<'k>> {
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        suggest::nearest_of(name, &known, |_| true, self.config.suggestion_distance, budget)
    }

    /// Returns the budget for comparing names that a peer sent.
    fn comparison_budget(&self) -> ComparisonBudget {
        ComparisonBudget::new(self.config.limits.explain_steps)
    }

    fn validate_cached(&self, cached: &CachedSchema, arguments: Node<'_>) -> ValidationResult {
        let (mut errors, mut truncated) = json_defects::find(arguments, &self.config);
        let verdict = self.evaluate(cached, arguments);
        if verdict == Verdict::Valid && errors.is_empty() {
            return match &cached.compiled.unchecked {
                None => ValidationResult::valid(),
                Some(reason) => ValidationResult::partially_checked(&cached.tool, reason),
            };
        }
        let comparisons = ComparisonBudgets::new(self.config.limits.explain_steps);
        let explanation = match verdict {
            Verdict::Valid => None,
            Verdict::Invalid => Some(self.explain(cached, arguments, &comparisons)),
            Verdict::GaveUp => {
                errors.push(self.invalid("be simpler: checking them takes too long", arguments));
                None
            }
        };
        truncated |= explanation.as_ref().is_some_and(|explanation| !explanation.complete);
        let repairable = errors.is_empty();
        if let Some(explanation) = &explanation {
            errors.extend(explanation.shown().iter().cloned());
        }
        let mut result = ValidationResult::rejected(errors, truncated);
        if let Some(explanation) = explanation
            && repairable
        {
            self.repair(cached, arguments, &explanation, &comparisons, &mut result);
        }
        result
    }

    pub(crate) fn evaluate(&self, cached: &CachedSchema, arguments: Node<'_>) -> Verdict {
        evaluate(&cached.compiled, arguments, self.config.unknown_fields, &self.config.limits)
    }

    /// Like [`evaluate`](Self::evaluate), with a smaller step limit, for a corrected call.
    pub(crate) fn evaluate_corrected(&self, cached: &CachedSchema, arguments: Node<'_>) -> Verdict {
        let mut limits = self.config.limits;
        let by_size = u32::try_from(arguments.token_count()).unwrap_or(u32::MAX).saturating_mul(16);
        let max_steps = limits.explain_steps.saturating_mul(4).max(by_size);
        limits.verdict_steps = limits.verdict_steps.min(max_steps);
        evaluate(&cached.compiled, arguments, self.config.unknown_fields, &limits)
    }

    pub(crate) fn explain(
        &self,
        cached: &CachedSchema,
        arguments: Node<'_>,
        comparisons: &ComparisonBudgets,
    ) -> Explanation {
        let mut explanation =
            explain::explain(&cached.compiled, arguments, &self.config, comparisons, &cached.tool);
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
        comparisons: &ComparisonBudgets,
        result: &mut ValidationResult,
    ) {
        if self.config.repair == Repair::Off {
            return;
        }
        let mut hidden = Vec::new();
        let repaired =
            repair::repair(self, cached, arguments, explanation, comparisons, &mut hidden);
        let room = self.config.limits.errors.saturating_sub(result.errors.len());
        result.errors.extend(hidden.into_iter().take(room));
        let Some(repaired) = repaired else {
            return;
        };
        let unambiguous = repaired.edits.iter().all(|edit| edit.is_unambiguous);
        result.edits = repaired.edits;
        result.repaired = self.config.repair == Repair::Apply && unambiguous;
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
        let mut result = ValidationResult::rejected(vec![error], false);
        if self.config.repair != Repair::Off
            && let Some(intended) = self.intended_tool(tools, name)
            && let Some((arguments, edits)) = self.arguments_for(intended, arguments)
        {
            result.edits = vec![repair::Edit::rename_tool(name, &intended.tool)];
            result.edits.extend(edits);
            result.corrected = Some(CorrectedCall { name: intended.tool.clone(), arguments });
        }
        result
    }

    /// Returns the tool with the name nearest to an unknown name, if it is unambiguous.
    fn intended_tool<'t>(&self, tools: &'t ServerTools, name: &str) -> Option<&'t CachedSchema> {
        let nearest = self.nearest_among(name, tools.names(), &self.comparison_budget());
        let intended = suggest::unambiguous_best(&nearest)?;
        tools.get(intended.name).map(AsRef::as_ref)
    }

    /// Returns the arguments in a form that the tool accepts, with the edits made.
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
        let nearest = self.nearest_among(name, tools.names(), &self.comparison_budget());
        nearest.into_iter().map(|candidate| candidate.name.to_owned()).collect()
    }

    fn invalid(&self, expected: &str, arguments: Node<'_>) -> ValidationError {
        let wording = Wording::new(self.config.mask_values, Subject::Arguments);
        wording.invalid("", String::new(), expected, Some(arguments))
    }
}
