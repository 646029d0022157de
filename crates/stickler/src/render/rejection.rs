//! The response to a rejected call, in each of its forms.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::reported_finding::{ReportedFinding, reported_findings};
use super::{tokens, unknown_tool};
use crate::arguments::{McpValidator, ValidationErrorKind, ValidationResult};
use crate::finding::Finding;
use crate::rules::json_rpc;

/// The key in the `_meta` of a result under which the findings are stored.
pub(crate) const VALIDATION_KEY: &str = "dev.stickler/validation";

/// A rejected call, ready to be rendered as a response.
///
/// ```
/// use serde_json::json;
/// use stickler::{AnswerForm, CallAnswer, CallRejection, McpValidator, ToolDefinition, ValidationConfig};
///
/// let validator = McpValidator::new(ValidationConfig::default());
/// let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
/// validator.cache().populate("files", &[ToolDefinition::new("stat").with_input_schema(schema)]);
///
/// let result = validator.validate("files", "stat", &json!({ "pth": "a.txt" }));
/// let rejection = CallRejection::new(&validator, "files", "stat", &result);
/// let CallAnswer::Result(answer) = rejection.answer(AnswerForm::ToolResult) else { panic!() };
/// assert_eq!(answer["isError"], true);
/// assert_eq!(answer["_meta"]["dev.stickler/validation"]["corrected"]["arguments"]["path"], "a.txt");
/// ```
#[derive(Debug, Clone)]
pub struct CallRejection<'r> {
    validator: &'r McpValidator,
    server: &'r str,
    tool: &'r str,
    result: &'r ValidationResult,
    findings: Vec<Finding>,
    repeats: Repetition,
    turn: u64,
}

/// The form of the response to a rejected call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnswerForm {
    /// A tool result with `isError: true`, which is visible to the model.
    #[default]
    ToolResult,
    /// A JSON-RPC error.
    JsonRpcError,
    /// A tool result with a retry observation as its text.
    Observation,
}

/// The response to a rejected call.
#[derive(Debug, Clone, PartialEq)]
pub enum CallAnswer {
    /// A tool result as JSON, without the `resultType` that modern revisions require.
    Result(Value),
    /// A JSON-RPC error.
    Error {
        /// The JSON-RPC error code.
        code: i32,
        /// The help prompt; for an unknown tool, one sentence with suggestions.
        message: String,
        /// The findings in machine-readable form, and the help for an unknown tool.
        data: Value,
    },
}

/// How often the same call has been rejected, including this time.
#[derive(Debug, Clone, Copy)]
struct Repetition {
    count: u32,
    /// The count from which the response is short; 0 disables this.
    limit: u32,
}

#[derive(Debug, Serialize)]
struct Validation<'f> {
    findings: Vec<ReportedFinding<'f>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    corrected: Option<Corrected<'f>>,
}

#[derive(Debug, Serialize)]
struct Corrected<'c> {
    name: &'c str,
    arguments: &'c RawValue,
}

impl<'r> CallRejection<'r> {
    /// Creates the rejection for a validation result.
    pub fn new(
        validator: &'r McpValidator,
        server: &'r str,
        tool: &'r str,
        result: &'r ValidationResult,
    ) -> Self {
        let repeats = Repetition { count: 1, limit: 0 };
        let findings = result.findings();
        Self { validator, server, tool, result, findings, repeats, turn: 0 }
    }

    /// Replaces the findings to report, for callers that filter them or add others.
    #[must_use]
    pub fn with_findings(self, findings: &[Finding]) -> Self {
        Self { findings: findings.to_vec(), ..self }
    }

    /// Sets how often the same call has been rejected, including this time, and the count from which
    /// the response is short; a limit of 0 disables this.
    #[must_use]
    pub fn repeated(self, count: u32, limit: u32) -> Self {
        Self { repeats: Repetition { count, limit }, ..self }
    }

    /// Sets the conversation turn that a retry observation contains.
    #[must_use]
    pub fn in_turn(self, turn: u64) -> Self {
        Self { turn, ..self }
    }

    /// Returns the findings about the call.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Renders the response.
    pub fn answer(&self, form: AnswerForm) -> CallAnswer {
        match form {
            AnswerForm::JsonRpcError => match self.unknown_tool() {
                Some(suggestions) => self.unknown_tool_error(suggestions),
                None => CallAnswer::Error {
                    code: json_rpc::INVALID_PARAMS,
                    message: self.help(),
                    data: json!(self.validation()),
                },
            },
            AnswerForm::ToolResult => self.tool_result(&self.help()),
            AnswerForm::Observation => {
                let Self { validator, server, tool, result, turn, .. } = *self;
                let mut observation = validator.build_retry_observation(server, tool, result, turn);
                observation.set_stdout(self.help());
                self.tool_result(&observation.to_json())
            }
        }
    }

    /// Lists the available tools within the budget for the help: a server can have thousands.
    fn unknown_tool_error(&self, suggestions: &[String]) -> CallAnswer {
        let Self { validator, server, tool, result, .. } = *self;
        let budget = validator.config().help_token_budget;
        let available = unknown_tool::available(validator, server, tool, result, budget);
        let mut data = json!({
            "suggestions": suggestions,
            "available": available.names,
            "help": self.help(),
        });
        if available.omitted > 0 {
            data["omitted"] = available.omitted.into();
        }
        let message = result.errors.first().map_or_else(String::new, ToString::to_string);
        CallAnswer::Error { code: json_rpc::INVALID_PARAMS, message, data }
    }

    fn tool_result(&self, text: &str) -> CallAnswer {
        CallAnswer::Result(json!({
            "content": [{ "type": "text", "text": text }],
            "isError": true,
            "_meta": { VALIDATION_KEY: self.validation() },
        }))
    }

    /// Returns the help text: with the schema on a repeated call if it fits into the budget, and short once
    /// the limit is reached.
    fn help(&self) -> String {
        let Self { validator, server, tool, result, .. } = *self;
        let Repetition { count, limit } = self.repeats;
        if count <= 1 {
            return validator.build_help_prompt(server, tool, result).into();
        }
        let budget = validator.config().help_token_budget;
        if limit > 0 && count >= limit {
            let problem = result.errors.first().map_or("", |error| error.message.as_str());
            let start = format!(
                "Rejected again: `{}` has been called {count} times with the same arguments.",
                shortened(tool)
            );
            let end = "Change the arguments or take a different approach.";
            let room = budget.saturating_sub(tokens::estimate(&start) + tokens::estimate(end));
            return format!("{start} {} {end}", tokens::cut(problem, room));
        }
        let advice = match self.unknown_tool() {
            Some(_) => "call one of the listed tools",
            None => "fix the items listed under Problems",
        };
        let warning = format!(
            "This exact call has been rejected {count} times. Sending it again unchanged will not \
             help; {advice}.\n\n"
        );
        let room = budget.saturating_sub(tokens::estimate(&warning));
        let help = validator.repeated_help_prompt(server, tool, result, room);
        format!("{warning}{help}")
    }

    fn unknown_tool(&self) -> Option<&'r [String]> {
        self.result.errors.iter().find_map(|error| match &error.kind {
            ValidationErrorKind::UnknownTool { suggestions, .. } => Some(suggestions.as_slice()),
            _ => None,
        })
    }

    fn validation(&self) -> Validation<'_> {
        let masked = self.validator.config().mask_values;
        let corrected = self.result.corrected.as_ref().filter(|_| !masked);
        let corrected =
            corrected.map(|call| Corrected { name: &call.name, arguments: &call.arguments });
        Validation { findings: reported_findings(&self.findings), corrected }
    }
}

/// Cuts a name that a peer sent to a displayable length.
fn shortened(name: &str) -> String {
    crate::arguments::cut(name, 120)
}
