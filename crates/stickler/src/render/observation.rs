//! The retry observation: a refusal in the envelope that agent loops feed back to the model.

use serde::Serialize;

use crate::arguments::{McpValidator, ValidationResult};

/// An observation that tells an agent to try again, and how.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RetryObservation {
    #[serde(rename = "type")]
    kind: &'static str,
    /// The turn of the conversation that it belongs to.
    pub turn_index: u64,
    payload: Payload,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Payload {
    observation: Observation,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Observation {
    tool_name: String,
    status: &'static str,
    stdout: String,
    errors: Vec<ObservedError>,
}

/// One error of an observation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ObservedError {
    /// JSON Pointer within the arguments.
    pub path: String,
    /// The kind of mistake.
    pub kind: &'static str,
    /// One sentence.
    pub message: String,
    /// What would have been right.
    pub expected: String,
}

impl RetryObservation {
    /// The status that says the call was not made.
    pub const STATUS: &'static str = "VALIDATION_FAILED";

    /// The tool that was to be called.
    pub fn tool_name(&self) -> &str {
        &self.payload.observation.tool_name
    }

    pub(crate) fn set_stdout(&mut self, help: String) {
        self.payload.observation.stdout = help;
    }

    /// The help prompt.
    pub fn stdout(&self) -> &str {
        &self.payload.observation.stdout
    }

    /// What was wrong.
    pub fn errors(&self) -> &[ObservedError] {
        &self.payload.observation.errors
    }

    /// The envelope as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl McpValidator {
    /// The observation for a call that was refused; `turn_index` comes from the caller's context.
    pub fn build_retry_observation(
        &self,
        server: &str,
        tool: &str,
        result: &ValidationResult,
        turn_index: u64,
    ) -> RetryObservation {
        let errors = result.errors.iter().map(|error| ObservedError {
            path: error.path.clone(),
            kind: error.kind.name(),
            message: error.message.clone(),
            expected: error.expected.clone(),
        });
        RetryObservation {
            kind: "observation",
            turn_index,
            payload: Payload {
                observation: Observation {
                    tool_name: tool.to_owned(),
                    status: RetryObservation::STATUS,
                    stdout: self.build_help_prompt(server, tool, result).into(),
                    errors: errors.collect(),
                },
            },
        }
    }
}
