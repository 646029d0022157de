//! What definitions cost the model that gets them.

use serde_json::json;

use super::report::{Findings, ToolSummary};
use super::subject::Subject;
use crate::render::estimate_tokens;
use crate::rules::tools;

/// One tool that takes more is worth a word.
const MUCH: usize = 2_500;

/// A list that takes more is worth a word.
const MUCH_IN_ALL: usize = 20_000;

/// The tokens of what a model gets to see of a tool.
pub(super) fn check(subject: &Subject, findings: &mut Findings) -> usize {
    let seen = json!({
        "name": subject.definition.name,
        "description": subject.definition.description,
        "input_schema": subject.input(),
    });
    let tokens = estimate_tokens(&seen.to_string());
    if tokens > MUCH {
        let message = format!("its definition takes about {tokens} tokens");
        findings.add(&tools::TOKEN_COST, "", message);
    }
    tokens
}

pub(super) fn check_list(tools: &[ToolSummary], findings: &mut Findings) {
    let total: usize = tools.iter().map(|tool| tool.tokens).sum();
    if total > MUCH_IN_ALL {
        let message = format!("the list takes about {total} tokens");
        findings.add(&tools::TOKEN_COST, "", message);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{findings, found, one, with_parameter};
    use serde_json::{Value, json};

    #[test]
    fn one_long_tool() {
        let tool =
            with_parameter(json!({ "type": "string", "description": "word ".repeat(3_000) }));
        assert_eq!(found(tool), one("token-cost", "note", ""));
    }

    #[test]
    fn a_long_list() {
        let tools: Value = (0..100)
            .map(|index| {
                let mut tool =
                    with_parameter(json!({ "type": "string", "description": "word ".repeat(200) }));
                tool["name"] = format!("tool_{index}").into();
                tool
            })
            .collect();
        let found = findings(&tools);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].rule.id, found[0].index), ("token-cost", None));
    }
}
