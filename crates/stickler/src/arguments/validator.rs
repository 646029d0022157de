//! [`McpValidator`], the entry point for validating calls and results.

use serde_json::Value;

use super::comparison_budgets::ComparisonBudgets;
use super::explain::{self, Explanation};
use super::json_defects;
use super::result::{CorrectedCall, ValidationResult};
use super::verdict::{Verdict, evaluate};
use super::wording::{Subject, Wording};
use super::{ValidationError, ValidationErrorKind};
use crate::config::{Repair, UnknownFields, ValidationConfig};
use crate::discovery::{
    CachedSchema, JsonText, Lookup, SchemaStore, ToolDefinition, ToolSchemaCache,
};
use crate::error::{McpError, McpSchemaError, McpValidationFailed, UnknownToolError};
use crate::repair;
use crate::schema::Answer;
use crate::tape::{Kind, Node, SyntaxError, TapeBuffer};

/// JSON Pointer of the structured content within the response to a `tools/call`.
const STRUCTURED_CONTENT_POINTER: &str = "/result/structuredContent";

/// Validates tool calls against the schemas of the tools.
#[derive(Debug, Default)]
pub struct McpValidator {
    pub(super) cache: ToolSchemaCache,
    pub(super) config: ValidationConfig,
}

impl McpValidator {
    /// Creates a validator with an empty tool cache.
    pub fn new(config: ValidationConfig) -> Self {
        let cache = ToolSchemaCache::with_formats(config.limits, config.formats);
        Self::build(config, cache)
    }

    /// Shares compiled schemas with the other validators of a store. Replaces the tool cache by an empty one.
    #[must_use]
    pub fn with_schema_store(self, store: &SchemaStore) -> Self {
        let cache = ToolSchemaCache::in_store(store, self.config.limits, self.config.formats);
        Self::build(self.config, cache)
    }

    fn build(config: ValidationConfig, cache: ToolSchemaCache) -> Self {
        Self { cache: cache.compiling(config.compile_schemas), config }
    }

    /// Returns the cache of known tools.
    pub fn cache(&self) -> &ToolSchemaCache {
        &self.cache
    }

    /// Returns the configuration.
    pub fn config(&self) -> &ValidationConfig {
        &self.config
    }

    /// Registers one tool, with the description and example that are used for help. Returns an error if the schema
    /// cannot be used, or if the schema does not accept the example; help then has a generated example instead.
    pub fn register_tool_schema(
        &self,
        server: &str,
        tool: &ToolDefinition,
    ) -> Result<(), McpSchemaError> {
        self.cache.register(server, tool)?;
        let Some(example) = tool.example.as_ref().map(JsonText::to_value) else { return Ok(()) };
        let result = self.validate(server, &tool.name, &example);
        match result.errors.first() {
            Some(error) if !result.is_valid => Err(McpSchemaError {
                tool: tool.name.clone(),
                reason: format!("its example is invalid: {error}"),
            }),
            _ => Ok(()),
        }
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

    /// Returns whether a call is invalid, without explaining why: its tool is unknown, or the tool's schema
    /// does not accept the arguments.
    pub fn rejects(&self, server: &str, tool: &str, arguments: Node<'_>) -> bool {
        if !self.config.pre_validate {
            return false;
        }
        match self.cache.lookup(server, tool) {
            Lookup::Usable(cached) if self.counts_as_absent(&cached, arguments) => false,
            Lookup::Usable(cached) => {
                self.evaluate(&cached, arguments) != Verdict::Valid
                    || !json_defects::find(arguments, &self.config).0.is_empty()
            }
            Lookup::Unknown(_) => true,
            Lookup::Unchecked | Lookup::Quarantined(_) => false,
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
    pub fn ensure_valid(&self, server: &str, tool: &str, params: &Value) -> Result<(), McpError> {
        let result = self.validate(server, tool, params);
        if result.is_valid {
            return Ok(());
        }
        Err(self.rejection_error(server, tool, result))
    }

    /// Converts the result of a rejected call into an error with its help.
    pub fn rejection_error(&self, server: &str, tool: &str, result: ValidationResult) -> McpError {
        let help = self.build_help_prompt(server, tool, &result).into();
        if let Err(unknown) = self.require_tool(server, tool) {
            return McpError::UnknownTool(UnknownToolError { help, ..unknown });
        }
        let schema = self.cache.get(server, tool);
        let (required, available) = schema
            .map(|schema| (schema.required.clone(), schema.properties.clone()))
            .unwrap_or_default();
        let (tool, errors) = (tool.to_owned(), result.errors);
        McpError::Validation(McpValidationFailed { tool, errors, required, available, help })
    }

    pub(super) fn validate_cached(
        &self,
        cached: &CachedSchema,
        arguments: Node<'_>,
    ) -> ValidationResult {
        if self.counts_as_absent(cached, arguments) {
            return ValidationResult::valid();
        }
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
        if let Some(path) = explanation.as_ref().and_then(undecided_only)
            && errors.is_empty()
        {
            let reason = format!(
                "a pattern with lookaround was not matched against `{path}`, because that takes too long"
            );
            return ValidationResult::partially_checked(&cached.tool, &reason);
        }
        if let Some(explanation) = &explanation
            && errors.is_empty()
            && self.tolerates(cached, arguments, explanation)
        {
            return ValidationResult::accepted_with(explanation.shown().to_vec());
        }
        truncated |= explanation.as_ref().is_some_and(|explanation| !explanation.complete);
        let has_only_injected = errors.is_empty()
            && explanation
                .as_ref()
                .is_some_and(|all| all.errors.iter().all(|e| self.is_injected(e)));
        let mut result = ValidationResult::rejected(Vec::new(), truncated);
        if let Some(explanation) = &explanation
            && errors.is_empty()
        {
            let mode = if has_only_injected { Repair::Apply } else { self.config.repair };
            self.repair(mode, cached, (arguments, explanation), &comparisons, &mut result);
        }
        // Keys that the client injected are removed; the caller cannot do anything about them.
        let shown = explanation.into_iter().flat_map(Explanation::into_shown);
        errors.extend(shown.filter(|error| has_only_injected || !self.is_injected(error)));
        let room = self.config.limits.errors.saturating_sub(errors.len());
        errors.extend(result.errors.drain(..).take(room));
        result.errors = errors;
        result
    }

    /// Returns whether the arguments are `null` and the tool requires none. Some clients send `null` for a
    /// call without arguments; a configuration that repairs calls replaces it by `{}` instead.
    fn counts_as_absent(&self, cached: &CachedSchema, arguments: Node<'_>) -> bool {
        arguments.kind() == Kind::Null
            && self.config.repair != Repair::Apply
            && TapeBuffer::new()
                .read(b"{}", 1)
                .is_ok_and(|tape| self.evaluate(cached, tape.root()) == Verdict::Valid)
    }

    /// Returns whether a call has no other problems than unlisted fields that resemble no other field, and
    /// satisfies its schema as written.
    fn tolerates(
        &self,
        cached: &CachedSchema,
        arguments: Node<'_>,
        explanation: &Explanation,
    ) -> bool {
        let is_unrelated = |error: &ValidationError| {
            let found = explanation.match_at(&error.path);
            matches!(error.kind, ValidationErrorKind::UnknownField { .. })
                && found.is_none_or(|found| found.target.is_none())
        };
        self.config.unknown_fields == UnknownFields::RejectMistakes
            && arguments.kind() == Kind::Object
            && explanation.errors.iter().all(is_unrelated)
            && cached.compiled.check(arguments, self.config.limits.verdict_steps) == Answer::Valid
    }

    /// Returns whether an error is about a key that the client injected and the schema forbids.
    fn is_injected(&self, error: &ValidationError) -> bool {
        matches!(&error.kind, ValidationErrorKind::UnknownField { field, .. }
            if error.parent_path().is_empty() && self.config.is_injected(field))
    }

    pub(crate) fn evaluate(&self, cached: &CachedSchema, arguments: Node<'_>) -> Verdict {
        evaluate(&cached.compiled, arguments, &self.config, self.config.limits.verdict_steps)
    }

    /// Like [`evaluate`](Self::evaluate), with a smaller step limit, for a corrected call.
    pub(crate) fn evaluate_corrected(&self, cached: &CachedSchema, arguments: Node<'_>) -> Verdict {
        let limits = &self.config.limits;
        let by_size = u32::try_from(arguments.token_count()).unwrap_or(u32::MAX).saturating_mul(16);
        let max_steps = limits.explain_steps.saturating_mul(4).max(by_size);
        let steps = limits.verdict_steps.min(max_steps);
        evaluate(&cached.compiled, arguments, &self.config, steps)
    }

    pub(crate) fn explain(
        &self,
        cached: &CachedSchema,
        arguments: Node<'_>,
        comparisons: &ComparisonBudgets,
    ) -> Explanation {
        let mut explanation =
            explain::explain(&cached.compiled, arguments, &self.config, comparisons, &cached.tool);
        if explanation.errors.is_empty() && explanation.undecided.is_none() {
            explanation.errors.push(self.invalid("satisfy the tool's schema", arguments));
        }
        explanation
    }

    /// Adds the corrected call, and the problems that only the corrected names reveal.
    fn repair(
        &self,
        mode: Repair,
        cached: &CachedSchema,
        (arguments, explanation): (Node<'_>, &Explanation),
        comparisons: &ComparisonBudgets,
        result: &mut ValidationResult,
    ) {
        if mode == Repair::Off {
            return;
        }
        let hidden = &mut result.errors;
        let repaired = repair::repair(self, cached, arguments, explanation, comparisons, hidden);
        let Some(repaired) = repaired else {
            return;
        };
        let unambiguous = repaired.edits.iter().all(|edit| edit.is_unambiguous);
        result.edits = repaired.edits;
        result.repaired = mode == Repair::Apply && unambiguous;
        result.is_valid = result.repaired;
        result.corrected =
            Some(CorrectedCall { name: cached.tool.clone(), arguments: repaired.arguments });
    }

    fn invalid(&self, expected: &str, arguments: Node<'_>) -> ValidationError {
        let wording = Wording::new(self.config.mask_values, Subject::Arguments);
        wording.invalid("", String::new(), expected, Some(arguments))
    }
}

/// Returns the path of the value that could not be checked, if no problem was found.
fn undecided_only(explanation: &Explanation) -> Option<&str> {
    explanation.undecided.as_deref().filter(|_| explanation.errors.is_empty())
}
