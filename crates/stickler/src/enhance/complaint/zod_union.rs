//! What a zod union that nothing fitted says: one list of issues for each of its branches.
//!
//! `{"code":"invalid_union","path":["a"],"errors":[[{"code":"invalid_type", …}],[ … ]]}`

use super::lead_in::Scope;
use super::zod_issues::{complaints, items, list, text};
use super::{About, Complaint, place};
use serde_json::Value;

/// A union fails once for each of its branches. Only what all branches agree on is certain.
pub(super) fn complaint(issue: &Value, path: &[String], scope: Scope) -> Option<Complaint> {
    let version_3 =
        list(issue, "unionErrors").iter().map(|branch| (list(branch, "issues"), &[][..]));
    // Paths inside a branch are whole in version 3 and begin at the union in version 4.
    let version_4 = list(issue, "errors").iter().map(|branch| (items(branch), path));
    let agreed = version_3
        .chain(version_4)
        .map(|(issues, parent)| only_complaint(issues, parent, scope))
        .reduce(|one, other| agreement(one?, other?))
        .flatten();
    agreed.or_else(|| place::complaint(path, scope, About::InvalidArguments))
}

fn only_complaint(issues: &[Value], parent: &[String], scope: Scope) -> Option<Complaint> {
    let [issue] = issues else { return None };
    // A union within a union is rare enough not to be worth unbounded descent.
    (text(issue, "code") != "invalid_union").then(|| complaints(issue, parent, scope).pop())?
}

fn agreement(one: Complaint, other: Complaint) -> Option<Complaint> {
    if one.path != other.path {
        return None;
    }
    let about = match (one.about, other.about) {
        (
            About::WrongType { expected: Some(one), received },
            About::WrongType { expected: Some(other), .. },
        ) => About::WrongType { expected: Some(format!("{one} | {other}")), received },
        (About::NotInEnum { mut allowed }, About::NotInEnum { allowed: more }) => {
            allowed.extend(more);
            About::NotInEnum { allowed }
        }
        (one, other) if one == other => one,
        _ => return None,
    };
    Some(Complaint { about, path: one.path })
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
    fn a_union_tells_what_its_branches_agree_on() {
        let v4 = r#"{"code":"invalid_union","errors":[[{"code":"invalid_type","expected":"string","path":[],"message":"Invalid input: expected string, received boolean"}],[{"code":"invalid_type","expected":"number","path":[],"message":"Invalid input: expected number, received boolean"}]],"path":["a"],"message":"Invalid input"}"#;
        assert_eq!(one(v4), (wrong("string | number", "boolean"), "/a".into()));
        let v3 = r#"{"code":"invalid_union","unionErrors":[{"issues":[{"code":"invalid_type","expected":"string","received":"undefined","path":["a"],"message":"Required"}]},{"issues":[{"code":"invalid_type","expected":"number","received":"undefined","path":["a"],"message":"Required"}]}],"path":["a"],"message":"Invalid input"}"#;
        assert_eq!(one(v3), (About::MissingField, "/a".into()));
    }

    #[test]
    fn a_union_whose_branches_differ_is_only_invalid() {
        let v4 = r#"{"code":"invalid_union","errors":[[{"code":"invalid_type","expected":"string","path":["b"],"message":"Invalid input: expected string, received undefined"}],[{"code":"unrecognized_keys","keys":["c"],"path":[],"message":"Unrecognized key"}]],"path":["a"],"message":"Invalid input"}"#;
        assert_eq!(one(v4), (About::InvalidArguments, "/a".into()));
    }
}
