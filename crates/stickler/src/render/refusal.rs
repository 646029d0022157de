//! The answer to a call that was not made, in each of its forms.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::told::{Told, told};
use crate::arguments::{McpValidator, ValidationErrorKind, ValidationResult};
use crate::finding::Finding;
use crate::rules::{Code, json_rpc};

/// The member of a result's `_meta` that holds the findings.
const VALIDATION_KEY: &str = "dev.stickler/validation";

/// A call that was refused, and what its caller is to be told.
///
/// ```
/// use serde_json::json;
/// use stickler::{AnswerForm, CallAnswer, CallRefusal, McpValidator, ToolDefinition, ValidationConfig};
///
/// let validator = McpValidator::new(ValidationConfig::default());
/// let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
/// validator.cache().populate("files", &[ToolDefinition::new("stat").with_input_schema(schema)]);
///
/// let result = validator.validate("files", "stat", &json!({ "pth": "a.txt" }));
/// let refusal = CallRefusal::new(&validator, "files", "stat", &result);
/// let CallAnswer::Result(answer) = refusal.answer(AnswerForm::ToolResult) else { panic!() };
/// assert_eq!(answer["isError"], true);
/// assert_eq!(answer["_meta"]["dev.stickler/validation"]["corrected"]["arguments"]["path"], "a.txt");
/// ```
#[derive(Debug, Clone)]
pub struct CallRefusal<'r> {
    validator: &'r McpValidator,
    server: &'r str,
    tool: &'r str,
    result: &'r ValidationResult,
    findings: Vec<Finding>,
    repeats: Repetition,
    turn: u64,
}

/// Whether a refusal of a call is a tool result, an error, or an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnswerForm {
    /// A tool result with `isError: true`, which models get to see.
    #[default]
    ToolResult,
    /// A JSON-RPC error.
    JsonRpcError,
    /// A tool result whose text is a retry observation.
    Observation,
}

/// What a refused call is answered with.
#[derive(Debug, Clone, PartialEq)]
pub enum CallAnswer {
    /// A tool result, as JSON; without the `resultType` that modern revisions want.
    Result(Value),
    /// A JSON-RPC error.
    Error {
        /// The code of JSON-RPC.
        code: i32,
        /// One sentence.
        message: String,
        /// The findings, the help and whatever else a program can use.
        data: Value,
    },
}

/// How often the very same call has been refused, this time included.
#[derive(Debug, Clone, Copy)]
struct Repetition {
    count: u32,
    /// From here on the answer is short; 0 for never.
    limit: u32,
}

#[derive(Debug, Serialize)]
struct Validation<'f> {
    findings: Vec<Told<'f>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    corrected: Option<Corrected<'f>>,
}

#[derive(Debug, Serialize)]
struct Corrected<'c> {
    name: &'c str,
    arguments: &'c RawValue,
}

impl<'r> CallRefusal<'r> {
    /// The refusal that a result of the validator's stands for.
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

    /// The findings to tell, where a policy left some out or others came before.
    #[must_use]
    pub fn with_findings(self, findings: &[Finding]) -> Self {
        Self { findings: findings.to_vec(), ..self }
    }

    /// How often the very same call has been refused, this time included, and from how many times
    /// on the answer becomes short; 0 for never.
    #[must_use]
    pub fn repeated(self, count: u32, limit: u32) -> Self {
        Self { repeats: Repetition { count, limit }, ..self }
    }

    /// The turn of the conversation that a retry observation names.
    #[must_use]
    pub fn in_turn(self, turn: u64) -> Self {
        Self { turn, ..self }
    }

    /// What there is to say about the call.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The answer. A tool that does not exist is always an error.
    pub fn answer(&self, form: AnswerForm) -> CallAnswer {
        if let Some(suggestions) = self.unknown_tool() {
            return self.unknown_tool_answer(suggestions);
        }
        match form {
            AnswerForm::JsonRpcError => {
                let message = format!(
                    "[{}] parameter validation failed for `{}`",
                    Code::InvalidArguments,
                    shortened(self.tool)
                );
                let mut data = json!(self.validation());
                data["help"] = self.help().into();
                CallAnswer::Error { code: json_rpc::INVALID_PARAMS, message, data }
            }
            AnswerForm::ToolResult => self.tool_result(&self.help()),
            AnswerForm::Observation => {
                let Self { validator, server, tool, result, turn, .. } = *self;
                let mut observation = validator.build_retry_observation(server, tool, result, turn);
                observation.set_stdout(self.help());
                self.tool_result(&observation.to_json())
            }
        }
    }

    fn unknown_tool_answer(&self, suggestions: &[String]) -> CallAnswer {
        let data = json!({
            "suggestions": suggestions,
            "available": self.validator.cache().tool_names(self.server),
            "help": self.help(),
        });
        let message = format!("Unknown tool: {}", shortened(self.tool));
        CallAnswer::Error { code: json_rpc::INVALID_PARAMS, message, data }
    }

    fn tool_result(&self, text: &str) -> CallAnswer {
        CallAnswer::Result(json!({
            "content": [{ "type": "text", "text": text }],
            "isError": true,
            "_meta": { VALIDATION_KEY: self.validation() },
        }))
    }

    /// The help, more explicit when the same call comes again, and short when it will not stop.
    fn help(&self) -> String {
        let Self { validator, server, tool, result, .. } = *self;
        let Repetition { count, limit } = self.repeats;
        if count <= 1 {
            return validator.build_help_prompt(server, tool, result).into();
        }
        if limit > 0 && count >= limit {
            let problem = result.errors.first().map_or("", |error| error.message.as_str());
            return format!(
                "Refused again: `{tool}` has been called {count} times with the same arguments. \
                 {problem} Change the arguments, or do something else."
            );
        }
        let help = validator.build_full_help_prompt(server, tool, result);
        format!(
            "This exact call has been refused {count} times. Sending it again unchanged will not \
             help: change what is listed under Problems.\n\n{help}"
        )
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
        Validation { findings: told(&self.findings), corrected }
    }
}

/// A name of the peer's own, cut to a length that can be shown.
fn shortened(name: &str) -> String {
    crate::arguments::cut(name, 120)
}
