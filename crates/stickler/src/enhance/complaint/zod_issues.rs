//! Zod's issues (version 3 and 4) printed as JSON.
//!
//! `Invalid arguments for tool f: [{"code":"invalid_type","expected":"string","path":["name"],
//! "message":"Invalid input: expected string, received number"}]`

use super::lead_in::{Message, Scope};
use super::place::DEEPEST;
use super::{About, Complaint, MOST_COMPLAINTS, issue_array, place, zod_union};
use serde_json::Value;

pub(super) fn recognise(message: &Message<'_>) -> Vec<Complaint> {
    let issues = issue_array::find(message, is_issue).unwrap_or_default();
    issues.iter().flat_map(|issue| complaints(issue, &[], message.scope)).collect()
}

/// GraphQL and other errors have a code, a path and a message too: the code has to be zod's.
fn is_issue(value: &Value) -> bool {
    let code = text(value, "code");
    let is_zods = !code.is_empty() && CODES.split(' ').any(|known| known == code);
    is_zods && value.get("path").is_some_and(Value::is_array)
}

const CODES: &str = "custom invalid_date invalid_element invalid_enum_value invalid_format \
                     invalid_key invalid_literal invalid_string invalid_type invalid_union \
                     invalid_union_discriminator invalid_value not_multiple_of too_big too_small \
                     unrecognized_keys";

/// The complaints of one issue whose path continues `parent`.
pub(super) fn complaints(issue: &Value, parent: &[String], scope: Scope) -> Vec<Complaint> {
    let mut path = parent.to_vec();
    path.extend(list(issue, "path").iter().take(DEEPEST).map(text_of));
    let about = match text(issue, "code") {
        "unrecognized_keys" => return unknown_keys(issue, &path, scope),
        "invalid_union" => {
            return zod_union::complaint(issue, &path, scope).into_iter().collect();
        }
        "invalid_type" => wrong_type(issue),
        "invalid_enum_value" | "invalid_union_discriminator" => not_in(list(issue, "options")),
        "invalid_value" => not_in(list(issue, "values")),
        "invalid_literal" => not_in(issue.get("expected").map_or(&[], std::slice::from_ref)),
        _ => About::InvalidArguments,
    };
    place::complaint(&path, scope, about).into_iter().collect()
}

fn wrong_type(issue: &Value) -> About {
    let expected = issue.get("expected").map(text_of);
    // Version 4 tells what it received in the message only.
    let in_message = text(issue, "message").rsplit_once("received ").map(|(_, got)| got.to_owned());
    let received = issue.get("received").map(text_of).or(in_message);
    let was_absent =
        received.as_deref() == Some("undefined") || text(issue, "message") == "Required";
    if was_absent { About::MissingField } else { About::WrongType { expected, received } }
}

fn not_in(values: &[Value]) -> About {
    About::NotInEnum { allowed: values.iter().map(text_of).collect() }
}

fn unknown_keys(issue: &Value, path: &[String], scope: Scope) -> Vec<Complaint> {
    let with_key = |key: &Value| [path, &[text_of(key)]].concat();
    let keys = list(issue, "keys").iter().take(MOST_COMPLAINTS);
    keys.filter_map(|key| place::complaint(&with_key(key), scope, About::UnknownField)).collect()
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

/// A string as it is, anything else as JSON.
fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use crate::enhance::complaint::{About, Complaint, recognise};

    fn one(issue: &str) -> (About, String) {
        let mut found = recognise(&format!("Invalid arguments for tool f: [{issue}]"));
        assert_eq!(found.len(), 1, "{found:?}");
        found.pop().map(|Complaint { about, path }| (about, path)).unwrap()
    }

    fn wrong(expected: &str, received: &str) -> About {
        About::WrongType { expected: Some(expected.into()), received: Some(received.into()) }
    }

    #[test]
    fn a_wrong_type_is_told_by_either_version() {
        let v3 = r#"{"code":"invalid_type","expected":"string","received":"number","path":["a",0,"b"],"message":"Expected string, received number"}"#;
        assert_eq!(one(v3), (wrong("string", "number"), "/a/0/b".into()));
        let v4 = r#"{"code":"invalid_type","expected":"string","path":["a"],"message":"Invalid input: expected string, received null"}"#;
        assert_eq!(one(v4), (wrong("string", "null"), "/a".into()));
    }

    #[test]
    fn undefined_means_missing() {
        let v3 = r#"{"code":"invalid_type","expected":"string","received":"undefined","path":["a"],"message":"Required"}"#;
        assert_eq!(one(v3), (About::MissingField, "/a".into()));
        let v4 = r#"{"code":"invalid_type","expected":"string","path":["a"],"message":"Invalid input: expected string, received undefined"}"#;
        assert_eq!(one(v4), (About::MissingField, "/a".into()));
    }

    #[test]
    fn every_unrecognised_key_is_told_with_its_path() {
        let text = r#"[{"code":"unrecognized_keys","keys":["x","y"],"path":["o"],"message":"Unrecognized keys"}]"#;
        let paths: Vec<String> = recognise(text).into_iter().map(|c| c.path).collect();
        assert_eq!(paths, ["/o/x", "/o/y"]);
    }

    #[test]
    fn the_allowed_values_are_told_by_either_version() {
        let allowed = About::NotInEnum { allowed: vec!["p".into(), "q".into()] };
        let v3 = r#"{"code":"invalid_enum_value","options":["p","q"],"received":"z","path":["a"],"message":"Invalid enum value"}"#;
        assert_eq!(one(v3), (allowed.clone(), "/a".into()));
        let v4 = r#"{"code":"invalid_value","values":["p","q"],"path":["a"],"message":"Invalid option"}"#;
        assert_eq!(one(v4), (allowed, "/a".into()));
    }

    #[test]
    fn a_request_without_object_arguments_is_about_the_arguments_as_a_whole() {
        let text = r#"Invalid tools/call request: [{"expected":"record","code":"invalid_type","path":["params","arguments"],"message":"Invalid input: expected record, received array"}]"#;
        assert_eq!(
            recognise(text),
            [Complaint { about: wrong("record", "array"), path: String::new() }]
        );
    }

    #[test]
    fn other_issues_keep_their_path() {
        let small = r#"{"code":"too_small","minimum":1,"path":["n"],"message":"Too small"}"#;
        assert_eq!(one(small), (About::InvalidArguments, "/n".into()));
    }

    #[test]
    fn a_list_that_is_not_of_issues_is_left() {
        assert_eq!(recognise(r#"[{"code":"E1","message":"disk full","path":["c"]}]"#), []);
        assert_eq!(recognise(r#"[{"code":"custom","message":"no path"}]"#), []);
    }
}
