//! Decides on a call for an adapter: admit it, with repaired arguments or not, or answer it.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use stickler::{CallAnswer, ErrorEnhancer, ErrorRecord, ValidationError};

use crate::Validator;
use crate::check::is_valid_as_given;
use crate::config::Mode;

#[derive(Serialize)]
struct Admission<'r> {
    admitted: bool,
    /// The repaired arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'r RawValue>,
    /// The answer to a rejected call: `{"result": …}` or `{"error": …}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Value>,
    /// What the log should say, one sentence for each problem.
    problems: Vec<&'r str>,
    /// The edits in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    edits: String,
}

impl Validator {
    /// Decides on a call; `None` means that it is admitted as given, without a remark. Otherwise the result is a JSON
    /// object with `admitted`, `problems` and, depending on the decision, `arguments`, `edits` or `answer`. In the mode
    /// `observe` every call is admitted. Rejections are counted: repeated ones get another answer.
    pub fn admit(&self, name: &str, arguments: Option<&str>, turn: Option<u64>) -> Option<String> {
        let result = self.validate(name, arguments).into_result();
        if is_valid_as_given(&result) {
            return None;
        }
        let admitted = result.is_valid || self.settings.mode == Mode::Observe;
        let answer = (!admitted).then(|| {
            let rejection = self.rejection(name, arguments, &result, turn);
            into_json(rejection.answer(self.settings.answer.into()))
        });
        let mut problems: Vec<&str> = result.errors.iter().map(|e| e.message.as_str()).collect();
        problems.extend(result.unchecked.as_deref());
        let admission = Admission {
            admitted,
            arguments: result.arguments(),
            answer,
            problems,
            edits: if result.repaired { result.edits_in_words() } else { String::new() },
        };
        Some(serde_json::to_string(&admission).unwrap_or_default())
    }

    /// Checks the structured content of a result against the tool's `outputSchema`. Returns a JSON array of errors in
    /// the form of [`check`](Self::check), which is empty if the content is valid.
    pub fn check_output(&self, name: &str, structured: Option<&str>) -> String {
        let structured = structured.map(serde_json::from_str::<Value>);
        let errors = match structured.transpose() {
            Ok(structured) => self.core.validate_output(self.server(), name, structured.as_ref()),
            Err(error) => {
                vec![ValidationError::whole(format!(
                    "The structured content is not JSON: {error}."
                ))]
            }
        };
        let records: Vec<ErrorRecord<'_>> = errors.iter().map(ErrorRecord::from).collect();
        serde_json::to_string(&records).unwrap_or_default()
    }

    pub(crate) fn enhancer(&self) -> ErrorEnhancer<'_> {
        ErrorEnhancer::of(&self.core)
    }
}

fn into_json(answer: CallAnswer) -> Value {
    match answer {
        CallAnswer::Result(result) => json!({ "result": result }),
        CallAnswer::Error { code, message, data } => {
            json!({ "error": { "code": code, "message": message, "data": data } })
        }
    }
}
