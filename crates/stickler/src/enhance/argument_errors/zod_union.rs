//! Reads zod's errors for unions, which contain a list of issues for each branch.
//!
//! `{"code":"invalid_union","path":["a"],"errors":[[{"code":"invalid_type", …}],[ … ]]}`

use super::prefix::Scope;
use super::zod_issues::{argument_errors, items, list, text};
use super::{ArgumentError, ErrorKind, field_path};
use serde_json::Value;

/// Returns the error of a failed union. All branches have failed, so only an error that they have
/// in common is reliable.
pub(super) fn argument_error(
    issue: &Value,
    path: &[String],
    scope: Scope,
) -> Option<ArgumentError> {
    let version_3 =
        list(issue, "unionErrors").iter().map(|branch| (list(branch, "issues"), &[][..]));
    // Paths inside a branch are absolute in version 3 and relative to the union in version 4.
    let version_4 = list(issue, "errors").iter().map(|branch| (items(branch), path));
    let common = version_3
        .chain(version_4)
        .map(|(issues, parent)| only_error(issues, parent, scope))
        .reduce(|one, other| common_error(one?, other?))
        .flatten();
    common.or_else(|| field_path::error_at(path, scope, ErrorKind::InvalidArguments))
}

fn only_error(issues: &[Value], parent: &[String], scope: Scope) -> Option<ArgumentError> {
    let [issue] = issues else { return None };
    // Nested unions are not examined, so that the recursion is bounded.
    (text(issue, "code") != "invalid_union").then(|| argument_errors(issue, parent, scope).pop())?
}

fn common_error(one: ArgumentError, other: ArgumentError) -> Option<ArgumentError> {
    if one.path != other.path {
        return None;
    }
    let kind = match (one.kind, other.kind) {
        (
            ErrorKind::WrongType { expected: Some(one), received },
            ErrorKind::WrongType { expected: Some(other), .. },
        ) => ErrorKind::WrongType { expected: Some(format!("{one} | {other}")), received },
        (ErrorKind::NotInEnum { mut allowed }, ErrorKind::NotInEnum { allowed: more }) => {
            allowed.extend(more);
            ErrorKind::NotInEnum { allowed }
        }
        (one, other) if one == other => one,
        _ => return None,
    };
    Some(ArgumentError { kind, path: one.path })
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
    fn union_reports_the_error_that_its_branches_have_in_common() {
        let v4 = r#"{"code":"invalid_union","errors":[[{"code":"invalid_type","expected":"string","path":[],"message":"Invalid input: expected string, received boolean"}],[{"code":"invalid_type","expected":"number","path":[],"message":"Invalid input: expected number, received boolean"}]],"path":["a"],"message":"Invalid input"}"#;
        assert_eq!(one(v4), (wrong("string | number", "boolean"), "/a".into()));
        let v3 = r#"{"code":"invalid_union","unionErrors":[{"issues":[{"code":"invalid_type","expected":"string","received":"undefined","path":["a"],"message":"Required"}]},{"issues":[{"code":"invalid_type","expected":"number","received":"undefined","path":["a"],"message":"Required"}]}],"path":["a"],"message":"Invalid input"}"#;
        assert_eq!(one(v3), (ErrorKind::MissingField, "/a".into()));
    }

    #[test]
    fn union_with_different_branch_errors_is_reported_as_invalid() {
        let v4 = r#"{"code":"invalid_union","errors":[[{"code":"invalid_type","expected":"string","path":["b"],"message":"Invalid input: expected string, received undefined"}],[{"code":"unrecognized_keys","keys":["c"],"path":[],"message":"Unrecognized key"}]],"path":["a"],"message":"Invalid input"}"#;
        assert_eq!(one(v4), (ErrorKind::InvalidArguments, "/a".into()));
    }
}
