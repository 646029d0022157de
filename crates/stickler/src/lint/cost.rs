//! Estimates the tokens that tool definitions cost a model.

use serde_json::json;

use super::report::{Findings, ToolSummary};
use super::subject::Subject;
use crate::render::estimate_tokens;
use crate::rules::tools;

/// Estimated tokens above which a tool is reported.
const TOOL_TOKEN_THRESHOLD: usize = 2_500;

/// Estimated tokens above which a list is reported.
const LIST_TOKEN_THRESHOLD: usize = 20_000;

/// Returns the estimated tokens of the parts of a tool that a model receives.
pub(super) fn check(subject: &Subject, findings: &mut Findings) -> usize {
    let prompt = json!({
        "name": subject.definition.name,
        "description": subject.definition.description,
        "input_schema": subject.input(),
    });
    let tokens = estimate_tokens(&prompt.to_string());
    if tokens > TOOL_TOKEN_THRESHOLD {
        let message = format!("the definition costs about {tokens} tokens");
        findings.add(&tools::TOKEN_COST, "", message);
    }
    tokens
}

pub(super) fn check_list(tools: &[ToolSummary], findings: &mut Findings) {
    let total: usize = tools.iter().map(|tool| tool.tokens).sum();
    if total > LIST_TOKEN_THRESHOLD {
        let message = format!("the list costs about {total} tokens");
        findings.add(&tools::TOKEN_COST, "", message);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{list_findings, single, tool_findings, with_parameter};
    use serde_json::{Value, json};

    #[test]
    fn long_tool_definition_is_reported() {
        let tool =
            with_parameter(json!({ "type": "string", "description": "word ".repeat(3_000) }));
        assert_eq!(tool_findings(tool), single("token-cost", "note", ""));
    }

    #[test]
    fn long_list_is_reported() {
        let tools: Value = (0..100)
            .map(|index| {
                let mut tool =
                    with_parameter(json!({ "type": "string", "description": "word ".repeat(200) }));
                tool["name"] = format!("tool_{index}").into();
                tool
            })
            .collect();
        let found = list_findings(&tools);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].rule.id, found[0].index), ("token-cost", None));
    }
}
