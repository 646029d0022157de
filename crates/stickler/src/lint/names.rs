//! Checks tool names against the recommendation of the protocol, and for duplicates.

use std::collections::HashMap;

use super::report::Findings;
use super::subject::Subject;
use crate::arguments::cut;
use crate::rules::{Severity, tools};

/// Maximum length of a name that the protocol recommends, in characters.
const MAX_NAME_CHARS: usize = 128;

/// Names of the tools that were linted so far, with their index in the list.
#[derive(Default)]
pub(super) struct SeenNames(HashMap<String, usize>);

impl SeenNames {
    pub(super) fn check(&mut self, subject: &Subject, findings: &mut Findings) {
        let name = &subject.definition.name;
        if let Some(problem) = problem(name) {
            let message = format!("the name `{}` {problem}", cut(name, MAX_NAME_CHARS));
            let finding = findings.add(&tools::TOOL_NAME, "/name", message);
            if name.is_empty() {
                finding.severity(Severity::Error);
            }
        }
        if let Some(first) = self.0.get(name) {
            let message = format!("tool number {} has the same name, `{name}`", first + 1);
            findings.add(&tools::DUPLICATE_TOOL, "/name", message);
        } else {
            self.0.insert(name.clone(), subject.index);
        }
    }
}

/// Returns how a name deviates from the recommendation of 2025-11-25.
pub(super) fn problem(name: &str) -> Option<String> {
    let length = name.chars().count();
    if name.is_empty() {
        return Some("is empty".to_owned());
    }
    if length > MAX_NAME_CHARS {
        return Some(format!("has {length} characters; at most {MAX_NAME_CHARS} are recommended"));
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let disallowed = name.chars().find(|c| !allowed(*c))?;
    Some(format!("contains the character `{}`", disallowed.escape_debug()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{list_findings, single, tool_findings, with_parameter};
    use serde_json::json;

    #[test]
    fn names_outside_the_recommendation_are_reported() {
        for name in ["read file", "größe", "a,b", &"x".repeat(129)] {
            let mut tool = with_parameter(json!({ "type": "string" }));
            tool["name"] = name.into();
            assert_eq!(tool_findings(tool), single("tool-name", "warning", "/name"), "{name}");
        }
        let mut tool = with_parameter(json!({ "type": "string" }));
        tool["name"] = "".into();
        assert_eq!(tool_findings(tool), single("tool-name", "error", "/name"));
    }

    #[test]
    fn duplicate_names_are_reported() {
        let tool = with_parameter(json!({ "type": "string" }));
        let mut other = tool.clone();
        other["name"] = "Tool".into();
        let found = list_findings(&json!([tool, other, tool]));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].rule.id, found[0].index), ("duplicate-tool", Some(2)));
    }
}
