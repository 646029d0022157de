//! Recognises the messages of Ajv, as text or as a JSON array of errors.
//!
//! `data must have required property 'name', data/n must be integer`,
//! `/mode must be equal to one of the allowed values`, `must NOT have additional properties`.

use super::prefix::{ErrorMessage, Scope};
use super::tokens::{is_path, is_type_name, quoted_words};
use super::{ArgumentError, ErrorKind, field_path, issue_array};
use serde_json::Value;

pub(super) fn recognise(message: &ErrorMessage<'_>) -> Vec<ArgumentError> {
    if let Some(errors) = issue_array::find(message, is_error) {
        return errors.iter().filter_map(|error| from_json(error, message.scope)).collect();
    }
    let sentences = message.body.lines().flat_map(|line| line.split(", "));
    let mut found = Vec::new();
    for sentence in sentences.flat_map(|part| part.split("; ")) {
        match from_sentence(sentence.trim(), message.scope) {
            Some(error) => found.push(error),
            // Without a prefix about the call, every sentence must be one of Ajv.
            None if !message.is_about_the_call() => return Vec::new(),
            None => {}
        }
    }
    found
}

fn is_error(value: &Value) -> bool {
    let is_text = |key| value.get(key).is_some_and(Value::is_string);
    is_text("keyword") && (is_text("instancePath") || is_text("dataPath"))
}

fn from_json(error: &Value, scope: Scope) -> Option<ArgumentError> {
    let text = |key| error.get(key).and_then(Value::as_str);
    let params = error.get("params");
    let param = |key| params.and_then(|params| params.get(key));
    let name_in = |key| param(key).and_then(Value::as_str).map(str::to_owned);
    let mut path = field_path::segments(text("instancePath").or_else(|| text("dataPath"))?);
    let kind = match text("keyword")? {
        "required" => {
            path.extend(name_in("missingProperty"));
            ErrorKind::MissingField
        }
        "additionalProperties" | "unevaluatedProperties" => {
            path.extend(name_in("additionalProperty").or_else(|| name_in("unevaluatedProperty")));
            ErrorKind::UnknownField
        }
        "type" => ErrorKind::WrongType { expected: name_in("type"), received: None },
        "enum" => {
            let values = param("allowedValues").and_then(Value::as_array);
            let texts = values.into_iter().flatten().filter_map(Value::as_str);
            ErrorKind::NotInEnum { allowed: texts.map(str::to_owned).collect() }
        }
        _ => ErrorKind::InvalidArguments,
    };
    field_path::error_at(&path, scope, kind)
}

fn from_sentence(sentence: &str, scope: Scope) -> Option<ArgumentError> {
    let (subject, demand) = match sentence.strip_prefix("must ") {
        Some(demand) => ("", demand),
        None => sentence.split_once(" must ")?,
    };
    let mut path = subject_path(subject.trim_end_matches(':'))?;
    let (kind, child) = demand_kind(demand)?;
    path.extend(child);
    field_path::error_at(&path, scope, kind)
}

/// Returns the segments of `data/a`, `/a` or an empty subject.
fn subject_path(subject: &str) -> Option<Vec<String>> {
    if subject.is_empty() {
        return Some(Vec::new());
    }
    let roots = ["data", "arguments", "args", "input", "params", "instance"];
    let within = roots.iter().find_map(|root| subject.strip_prefix(root)).unwrap_or(subject);
    if within.is_empty() {
        return Some(Vec::new());
    }
    (within.starts_with(['/', '.', '[']) && is_path(within.trim_start_matches('.')))
        .then(|| field_path::segments(within))
}

fn demand_kind(demand: &str) -> Option<(ErrorKind, Option<String>)> {
    let demand = demand.trim_end_matches('.');
    if let Some(field) = demand.strip_prefix("have required property ") {
        return Some((ErrorKind::MissingField, Some(quoted_words(field).into_iter().next()?)));
    }
    if let Some(rest) = demand.strip_prefix("NOT have additional properties") {
        return Some((ErrorKind::UnknownField, quoted_words(rest).into_iter().next()));
    }
    if let Some(rest) = demand.strip_prefix("be equal to one of the allowed values") {
        return Some((ErrorKind::NotInEnum { allowed: quoted_words(rest) }, None));
    }
    let types = demand.strip_prefix("be ")?;
    types
        .split([',', '|'])
        .all(|word| is_type_name(word.trim()))
        .then(|| (ErrorKind::WrongType { expected: Some(types.to_owned()), received: None }, None))
}

#[cfg(test)]
mod tests {
    use crate::enhance::argument_errors::{ArgumentError, ErrorKind, recognise};

    fn at(path: &str, kind: ErrorKind) -> ArgumentError {
        ArgumentError { kind, path: path.into() }
    }

    fn wrong(expected: &str) -> ErrorKind {
        ErrorKind::WrongType { expected: Some(expected.into()), received: None }
    }

    #[test]
    fn joined_messages_are_split() {
        let text = "Invalid arguments: data must have required property 'name', data/o/n must be integer,null";
        let expected = [at("/name", ErrorKind::MissingField), at("/o/n", wrong("integer,null"))];
        assert_eq!(recognise(text), expected);
    }

    #[test]
    fn subject_can_be_a_pointer_or_empty() {
        assert_eq!(recognise("/a/0 must be string"), [at("/a/0", wrong("string"))]);
        assert_eq!(
            recognise("must have required property 'q'"),
            [at("/q", ErrorKind::MissingField)]
        );
        assert_eq!(
            recognise("must NOT have additional properties"),
            [at("", ErrorKind::UnknownField)]
        );
        let not_in = ErrorKind::NotInEnum { allowed: Vec::new() };
        assert_eq!(
            recognise("data/m must be equal to one of the allowed values"),
            [at("/m", not_in)]
        );
    }

    #[test]
    fn json_form_contains_the_additional_property_and_the_allowed_values() {
        let text = r#"Invalid params: [{"instancePath":"/o","keyword":"additionalProperties","params":{"additionalProperty":"x"},"message":"must NOT have additional properties"},{"instancePath":"/m","keyword":"enum","params":{"allowedValues":["a","b"]}},{"instancePath":"","keyword":"required","params":{"missingProperty":"q"}}]"#;
        let not_in = ErrorKind::NotInEnum { allowed: vec!["a".into(), "b".into()] };
        let expected = [
            at("/o/x", ErrorKind::UnknownField),
            at("/m", not_in),
            at("/q", ErrorKind::MissingField),
        ];
        assert_eq!(recognise(text), expected);
    }

    #[test]
    fn sentences_about_other_requirements_are_ignored() {
        for text in [
            "/tmp must be writable",
            "/tmp must be string\nfor the harp",
            "data must be backed up",
            "You must be string theorists",
            "Visitors must be integer",
        ] {
            assert_eq!(recognise(text), [], "{text}");
        }
    }
}
