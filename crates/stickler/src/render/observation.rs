//! The retry observation: a rejection in the envelope that agent loops feed back to the model.

use serde::Serialize;

use crate::arguments::{McpValidator, ValidationResult};

/// An observation that asks an agent to retry a call, with help.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RetryObservation {
    #[serde(rename = "type")]
    kind: &'static str,
    /// The conversation turn that the observation belongs to.
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
    /// The kind of problem.
    pub kind: &'static str,
    /// One sentence.
    pub message: String,
    /// What was expected.
    pub expected: String,
}

impl RetryObservation {
    /// The status of a call that was not made.
    pub const STATUS: &'static str = "VALIDATION_FAILED";

    /// Returns the name of the called tool.
    pub fn tool_name(&self) -> &str {
        &self.payload.observation.tool_name
    }

    pub(crate) fn set_stdout(&mut self, help: String) {
        self.payload.observation.stdout = help;
    }

    /// Returns the help prompt.
    pub fn stdout(&self) -> &str {
        &self.payload.observation.stdout
    }

    /// Returns the errors.
    pub fn errors(&self) -> &[ObservedError] {
        &self.payload.observation.errors
    }

    /// Serializes the envelope to JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl McpValidator {
    /// Builds the observation for a rejected call; `turn_index` comes from the caller's context.
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
