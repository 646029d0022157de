//! Tool names.

use std::collections::HashMap;

use super::report::Findings;
use super::subject::Subject;
use crate::arguments::cut;
use crate::rules::{Severity, tools};

/// The longest name that the protocol recommends.
const LONGEST: usize = 128;

/// Names that were seen, each with its place in the list.
#[derive(Default)]
pub(super) struct Known(HashMap<String, usize>);

impl Known {
    pub(super) fn check(&mut self, subject: &Subject, findings: &mut Findings) {
        let name = &subject.definition.name;
        if let Some(problem) = problem(name) {
            let message = format!("the name `{}` {problem}", cut(name, LONGEST));
            let finding = findings.add(&tools::TOOL_NAME, "/name", message);
            if name.is_empty() {
                finding.severity(Severity::Error);
            }
        }
        let next = self.0.len();
        if let Some(first) = self.0.get(name) {
            let message = format!("`{name}` is also the name of tool number {}", first + 1);
            findings.add(&tools::DUPLICATE_TOOL, "/name", message);
        } else {
            self.0.insert(name.clone(), next);
        }
    }
}

/// What the protocol has against a name, since 2025-11-25.
pub(super) fn problem(name: &str) -> Option<String> {
    let length = name.chars().count();
    if name.is_empty() {
        return Some("is empty".to_owned());
    }
    if length > LONGEST {
        return Some(format!("has {length} characters; there should be at most {LONGEST}"));
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let odd = name.chars().find(|c| !allowed(*c))?;
    Some(format!("has the character `{}` in it", odd.escape_debug()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{findings, found, one, with_parameter};
    use serde_json::json;

    #[test]
    fn names_beyond_the_recommendation() {
        for name in ["read file", "größe", "a,b", &"x".repeat(129)] {
            let mut tool = with_parameter(json!({ "type": "string" }));
            tool["name"] = name.into();
            assert_eq!(found(tool), one("tool-name", "warning", "/name"), "{name}");
        }
        let mut tool = with_parameter(json!({ "type": "string" }));
        tool["name"] = "".into();
        assert_eq!(found(tool), one("tool-name", "error", "/name"));
    }

    #[test]
    fn a_name_given_twice() {
        let tool = with_parameter(json!({ "type": "string" }));
        let mut other = tool.clone();
        other["name"] = "Tool".into();
        let found = findings(&json!([tool, other, tool]));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].rule.id, found[0].index), ("duplicate-tool", Some(2)));
    }
}
