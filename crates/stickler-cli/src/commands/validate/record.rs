//! Renders a result as one line of JSON. The format is documented and stable.

use serde::Serialize;
use stickler::{CallRecord, McpValidator};

use super::SERVER;
use super::call::CheckedInput;

#[derive(Serialize)]
pub(in crate::commands) struct Record<'r> {
    line: usize,
    tool: Option<&'r str>,
    #[serde(flatten)]
    call: CallRecord<'r>,
}

impl<'r> Record<'r> {
    pub(in crate::commands) fn new(
        validator: &McpValidator,
        line: usize,
        checked: &'r CheckedInput,
    ) -> Self {
        match checked {
            CheckedInput::Call { tool, result, .. } => {
                let call = CallRecord::new(validator, SERVER, tool, result);
                Self { line, tool: Some(tool), call }
            }
            CheckedInput::NotACall { kind, message, expected } => {
                let call = CallRecord::not_a_call(kind.name(), message, expected);
                Self { line, tool: None, call }
            }
        }
    }

    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
