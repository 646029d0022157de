//! Recognises the issues of zod (versions 3 and 4) in JSON.
//!
//! `Invalid arguments for tool f: [{"code":"invalid_type","expected":"string","path":["name"],
//! "message":"Invalid input: expected string, received number"}]`

use super::field_path::MAX_PATH_SEGMENTS;
use super::prefix::{ErrorMessage, Scope};
use super::{ArgumentError, ErrorKind, MAX_ERRORS, field_path, issue_array, zod_union};
use serde_json::Value;

pub(super) fn recognise(message: &ErrorMessage<'_>) -> Vec<ArgumentError> {
    let issues = issue_array::find(message, is_issue).unwrap_or_default();
    issues.iter().flat_map(|issue| argument_errors(issue, &[], message.scope)).collect()
}

/// GraphQL and other errors also have a code, a path and a message, so the code must be one of
/// zod's.
fn is_issue(value: &Value) -> bool {
    let code = text(value, "code");
    let is_zod_code = !code.is_empty() && CODES.split(' ').any(|known| known == code);
    is_zod_code && value.get("path").is_some_and(Value::is_array)
}

const CODES: &str = "custom invalid_date invalid_element invalid_enum_value invalid_format \
                     invalid_key invalid_literal invalid_string invalid_type invalid_union \
                     invalid_union_discriminator invalid_value not_multiple_of too_big too_small \
                     unrecognized_keys";

/// Returns the errors of one issue, with its path relative to `parent`.
pub(super) fn argument_errors(
    issue: &Value,
    parent: &[String],
    scope: Scope,
) -> Vec<ArgumentError> {
    let mut path = parent.to_vec();
    path.extend(list(issue, "path").iter().take(MAX_PATH_SEGMENTS).map(text_of));
    let kind = match text(issue, "code") {
        "unrecognized_keys" => return unknown_keys(issue, &path, scope),
        "invalid_union" => {
            return zod_union::argument_error(issue, &path, scope).into_iter().collect();
        }
        "invalid_type" => wrong_type(issue),
        "invalid_enum_value" | "invalid_union_discriminator" => not_in(list(issue, "options")),
        "invalid_value" => not_in(list(issue, "values")),
        "invalid_literal" => not_in(issue.get("expected").map_or(&[], std::slice::from_ref)),
        _ => ErrorKind::InvalidArguments,
    };
    field_path::error_at(&path, scope, kind).into_iter().collect()
}

fn wrong_type(issue: &Value) -> ErrorKind {
    let expected = issue.get("expected").map(text_of);
    // In version 4, only the message contains the received type.
    let in_message = text(issue, "message").rsplit_once("received ").map(|(_, got)| got.to_owned());
    let received = issue.get("received").map(text_of).or(in_message);
    let is_missing =
        received.as_deref() == Some("undefined") || text(issue, "message") == "Required";
    if is_missing { ErrorKind::MissingField } else { ErrorKind::WrongType { expected, received } }
}

fn not_in(values: &[Value]) -> ErrorKind {
    ErrorKind::NotInEnum { allowed: values.iter().map(text_of).collect() }
}

fn unknown_keys(issue: &Value, path: &[String], scope: Scope) -> Vec<ArgumentError> {
    let with_key = |key: &Value| [path, &[text_of(key)]].concat();
    let keys = list(issue, "keys").iter().take(MAX_ERRORS);
    keys.filter_map(|key| field_path::error_at(&with_key(key), scope, ErrorKind::UnknownField))
        .collect()
}

pub(super) fn text<'v>(issue: &'v Value, key: &str) -> &'v str {
    issue.get(key).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn list<'v>(issue: &'v Value, key: &str) -> &'v [Value] {
    issue.get(key).map_or(&[], items)
}

pub(super) fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns a string unchanged and any other value as JSON.
fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use crate::enhance::argument_errors::{ArgumentError, ErrorKind, recognise};

    fn one(issue: &str) -> (ErrorKind, String) {
        let mut found = recognise(&format!("Invalid arguments for tool f: [{issue}]"));
        assert_eq!(found.len(), 1, "{found:?}");
        found.pop().map(|ArgumentError { kind, path }| (kind, path)).unwrap()
    }

    fn wrong(expected: &str, received: &str) -> ErrorKind {
        ErrorKind::WrongType { expected: Some(expected.into()), received: Some(received.into()) }
    }

    #[test]
    fn wrong_types_of_both_versions_are_recognised() {
        let v3 = r#"{"code":"invalid_type","expected":"string","received":"number","path":["a",0,"b"],"message":"Expected string, received number"}"#;
        assert_eq!(one(v3), (wrong("string", "number"), "/a/0/b".into()));
        let v4 = r#"{"code":"invalid_type","expected":"string","path":["a"],"message":"Invalid input: expected string, received null"}"#;
        assert_eq!(one(v4), (wrong("string", "null"), "/a".into()));
    }

    #[test]
    fn undefined_value_is_a_missing_field() {
        let v3 = r#"{"code":"invalid_type","expected":"string","received":"undefined","path":["a"],"message":"Required"}"#;
        assert_eq!(one(v3), (ErrorKind::MissingField, "/a".into()));
        let v4 = r#"{"code":"invalid_type","expected":"string","path":["a"],"message":"Invalid input: expected string, received undefined"}"#;
        assert_eq!(one(v4), (ErrorKind::MissingField, "/a".into()));
    }

    #[test]
    fn every_unrecognised_key_is_reported_with_its_path() {
        let text = r#"[{"code":"unrecognized_keys","keys":["x","y"],"path":["o"],"message":"Unrecognized keys"}]"#;
        let paths: Vec<String> = recognise(text).into_iter().map(|c| c.path).collect();
        assert_eq!(paths, ["/o/x", "/o/y"]);
    }

    #[test]
    fn allowed_values_of_both_versions_are_recognised() {
        let allowed = ErrorKind::NotInEnum { allowed: vec!["p".into(), "q".into()] };
        let v3 = r#"{"code":"invalid_enum_value","options":["p","q"],"received":"z","path":["a"],"message":"Invalid enum value"}"#;
        assert_eq!(one(v3), (allowed.clone(), "/a".into()));
        let v4 = r#"{"code":"invalid_value","values":["p","q"],"path":["a"],"message":"Invalid option"}"#;
        assert_eq!(one(v4), (allowed, "/a".into()));
    }

    #[test]
    fn non_object_arguments_are_reported_with_an_empty_path() {
        let text = r#"Invalid tools/call request: [{"expected":"record","code":"invalid_type","path":["params","arguments"],"message":"Invalid input: expected record, received array"}]"#;
        assert_eq!(
            recognise(text),
            [ArgumentError { kind: wrong("record", "array"), path: String::new() }]
        );
    }

    #[test]
    fn other_issues_keep_their_path() {
        let small = r#"{"code":"too_small","minimum":1,"path":["n"],"message":"Too small"}"#;
        assert_eq!(one(small), (ErrorKind::InvalidArguments, "/n".into()));
    }

    #[test]
    fn array_without_issues_is_ignored() {
        assert_eq!(recognise(r#"[{"code":"E1","message":"disk full","path":["c"]}]"#), []);
        assert_eq!(recognise(r#"[{"code":"custom","message":"no path"}]"#), []);
    }
}
