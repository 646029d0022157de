//! Checks a call and renders the result as a record.

use std::cell::RefCell;

use serde::Serialize;
use serde_json::value::RawValue;
use stickler::tape::{SyntaxErrorKind, TapeBuffer, quote};
use stickler::{CallRecord, ValidationError, ValidationErrorKind, ValidationResult};

use crate::Validator;

/// The `kind` of an error about arguments that cannot be read.
const INVALID_JSON: &str = "invalid_json";

thread_local! {
    /// The tokens of the arguments that [`Validator::accepts`] checks, so that their memory is reused.
    static TOKENS: RefCell<TapeBuffer> = RefCell::new(TapeBuffer::new());
}

/// The outcome of checking the text of arguments.
pub enum CheckedArguments {
    /// The text is JSON.
    Json(ValidationResult),
    /// The text cannot be read; the result explains why and has a corrected call if the text can be recognised.
    NotJson(ValidationResult),
}

#[derive(Serialize)]
struct Record<'r> {
    valid: bool,
    /// The arguments to use instead of the given ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'r RawValue>,
    #[serde(flatten)]
    call: Call<'r>,
    /// Why the call was not checked completely.
    #[serde(skip_serializing_if = "Option::is_none")]
    unchecked: Option<&'r str>,
}

/// [`CallRecord`] without `valid`, which comes first.
#[derive(Serialize)]
struct Call<'r> {
    errors: Vec<stickler::ErrorRecord<'r>>,
    corrected: Option<stickler::CorrectedRecord<'r>>,
    edits: Vec<stickler::EditRecord<'r>>,
    help: Option<String>,
}

impl CheckedArguments {
    pub(crate) fn into_result(self) -> ValidationResult {
        match self {
            Self::Json(result) | Self::NotJson(result) => result,
        }
    }
}

impl Validator {
    /// Checks a call; `None` means that it is valid as given. Otherwise the result is a JSON object with `valid`,
    /// `errors`, `corrected`, `edits` and `help`, with `arguments` if they were repaired, and with `unchecked` if the
    /// schema could not be applied completely. Absent arguments are equivalent to `{}`.
    pub fn check(&self, name: &str, arguments: Option<&str>) -> Option<String> {
        let checked = self.validate(name, arguments);
        let is_json = matches!(checked, CheckedArguments::Json(_));
        let result = checked.into_result();
        if is_valid_as_given(&result) {
            return None;
        }
        let mut record = CallRecord::new(&self.core, self.server(), name, &result);
        if !is_json && let Some(first) = record.errors.first_mut() {
            first.kind = INVALID_JSON;
        }
        let CallRecord { valid, errors, corrected, edits, help, .. } = record;
        let call = Call { errors, corrected, edits, help };
        let unchecked = result.unchecked.as_deref();
        let record = Record { valid, arguments: result.arguments(), call, unchecked };
        Some(serde_json::to_string(&record).unwrap_or_default())
    }

    /// Returns whether a call is valid as given, that is, whether [`check`](Self::check) returns `None`.
    pub fn accepts(&self, name: &str, arguments: &[u8]) -> bool {
        let limits = &self.core.config().limits;
        if arguments.len() > limits.message_bytes {
            return false;
        }
        TOKENS.with_borrow_mut(|tokens| {
            tokens.read(arguments, limits.message_depth).is_ok_and(|tape| {
                let result = self.core.validate_node(self.server(), name, tape.root());
                is_valid_as_given(&result)
            })
        })
    }

    /// Returns the result for arguments that cannot be represented as JSON, in the form of [`check`](Self::check).
    pub fn unreadable(&self, name: &str, reason: &str) -> String {
        let result = unreadable(&format!("The arguments cannot be written as JSON: {reason}."));
        let mut record = CallRecord::new(&self.core, self.server(), name, &result);
        if let Some(first) = record.errors.first_mut() {
            first.kind = INVALID_JSON;
        }
        serde_json::to_string(&record).unwrap_or_default()
    }

    /// Validates the text of arguments. A text that is not JSON is validated as a string, because models send fenced or
    /// single-quoted JSON, for which there is a corrected call.
    pub fn validate(&self, name: &str, arguments: Option<&str>) -> CheckedArguments {
        let text = arguments.unwrap_or("{}");
        let limit = self.core.config().limits.message_bytes;
        if text.len() > limit {
            let message = format!("The arguments are longer than {limit} bytes and were not read.");
            return CheckedArguments::NotJson(unreadable(&message));
        }
        let server = self.server();
        let error = match self.core.validate_text(server, name, Some(text.as_bytes())) {
            Ok(result) => return CheckedArguments::Json(result),
            Err(error) => error,
        };
        let message = match error.kind() {
            SyntaxErrorKind::TooDeep => format!("The arguments cannot be read: {error}."),
            _ if text.trim().is_empty() => "The arguments are empty.".to_owned(),
            _ => format!("The arguments are not JSON: {error}."),
        };
        let mut result = unreadable(&message);
        let quoted = quote(text);
        if let Ok(as_string) = self.core.validate_text(server, name, Some(quoted.as_bytes())) {
            let names_tool = |error: &ValidationError| {
                matches!(error.kind, ValidationErrorKind::UnknownTool { .. })
            };
            result.errors.extend(as_string.errors.into_iter().filter(names_tool));
            result.corrected = as_string.corrected;
            result.edits = as_string.edits;
        }
        CheckedArguments::NotJson(result)
    }
}

/// Returns whether a result says nothing but that the call is valid.
pub(crate) fn is_valid_as_given(result: &ValidationResult) -> bool {
    result.is_valid && result.errors.is_empty() && result.unchecked.is_none()
}

fn unreadable(message: &str) -> ValidationResult {
    let reason = "must be a JSON object".to_owned();
    let mut error = ValidationError::new("", ValidationErrorKind::InvalidValue { reason }, message);
    "a JSON object".clone_into(&mut error.expected);
    "text that is not JSON".clone_into(&mut error.received);
    ValidationResult::from_errors(vec![error])
}
