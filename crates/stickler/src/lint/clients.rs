//! Reports definitions that the protocol allows but well-known clients or model APIs reject.

use serde_json::Value;

use super::names;
use super::report::{Findings, ToolSummary};
use super::subject::Subject;
use super::subschemas::{Role, Subschema};
use crate::rules::tools;

/// Maximum length of a function name in the OpenAI API, in characters.
const MAX_OPENAI_NAME_CHARS: usize = 64;

/// Maximum length of a parameter name in the Anthropic API, in characters.
const MAX_ANTHROPIC_PARAMETER_CHARS: usize = 64;

/// Maximum number of tools in a request to the OpenAI API.
const MAX_OPENAI_TOOLS: usize = 128;

pub(super) fn check(subject: &Subject, subschemas: &[Subschema<'_>], findings: &mut Findings) {
    name(&subject.definition.name, findings);
    let Some(root) = subschemas.first() else { return };
    for keyword in ["oneOf", "anyOf", "allOf", "enum", "not"] {
        if root.get(keyword).is_some() {
            let apis = match keyword {
                "enum" | "not" => "the OpenAI API rejects",
                _ => "the Anthropic and OpenAI APIs reject",
            };
            let message = format!("the root has `{keyword}`, which {apis}");
            findings.add(&tools::CLIENT_ROOT_CHOICE, format!("/inputSchema/{keyword}"), message);
        }
    }
    for subschema in subschemas {
        if let Role::Parameter(name) = subschema.role
            && subschema.pointer.matches('/').count() == 3
        {
            parameter(name, &subschema.pointer, findings);
        }
        if subschema.has_type("array") && !subschema.has(&["items", "prefixItems"]) {
            let message = "the array does not have `items`; the OpenAI API rejects it";
            findings.add(&tools::CLIENT_ARRAY_ITEMS, subschema.pointer.clone(), message);
        }
    }
    references(subschemas, findings);
}

fn name(name: &str, findings: &mut Findings) {
    // The rule `tool-name` reports names outside the recommendation of the protocol.
    if names::problem(name).is_some() {
        return;
    }
    let length = name.chars().count();
    if name.contains('.') {
        let message =
            format!("`{name}` contains a dot, which the OpenAI and Anthropic APIs reject");
        findings.add(&tools::CLIENT_TOOL_NAME, "/name", message);
    } else if length > MAX_OPENAI_NAME_CHARS {
        let message = format!(
            "`{name}` has {length} characters; the OpenAI API accepts {MAX_OPENAI_NAME_CHARS}"
        );
        findings.add(&tools::CLIENT_TOOL_NAME, "/name", message);
    }
}

fn parameter(name: &str, pointer: &str, findings: &mut Findings) {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let length = name.chars().count();
    if length == 0 || length > MAX_ANTHROPIC_PARAMETER_CHARS || !name.chars().all(allowed) {
        let message = format!("the Anthropic API rejects the parameter name `{name}`");
        findings.add(&tools::CLIENT_PROPERTY_NAME, pointer.to_owned(), message);
    }
}

fn references(subschemas: &[Subschema<'_>], findings: &mut Findings) {
    let mut references =
        subschemas.iter().filter(|subschema| subschema.get("$ref").is_some_and(Value::is_string));
    if let Some(first) = references.next() {
        let others = references.count();
        let message = match others {
            0 => "the schema contains a `$ref`, which not every client resolves".to_owned(),
            _ => format!(
                "the schema contains {} `$ref`s, which not every client resolves",
                others + 1
            ),
        };
        findings.add(&tools::CLIENT_REFERENCE, format!("{}/$ref", first.pointer), message);
    }
}

pub(super) fn check_list(tools: &[ToolSummary], findings: &mut Findings) {
    if tools.len() > MAX_OPENAI_TOOLS {
        let message = format!(
            "the list has {} tools; the OpenAI API accepts {MAX_OPENAI_TOOLS} per request",
            tools.len()
        );
        findings.add(&tools::TOO_MANY_TOOLS, "", message);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{list_findings, single, tool_findings, with_parameter};
    use serde_json::{Value, json};

    #[test]
    fn tool_names_that_model_apis_reject_are_reported() {
        for name in ["files.read", &"x".repeat(65)] {
            let mut tool = with_parameter(json!({ "type": "string" }));
            tool["name"] = name.into();
            assert_eq!(
                tool_findings(tool),
                single("client-tool-name", "warning", "/name"),
                "{name}"
            );
        }
    }

    #[test]
    fn root_choices_are_reported() {
        let mut tool = with_parameter(json!({ "type": "string" }));
        tool["inputSchema"]["anyOf"] = json!([{ "required": ["a"] }, { "maxProperties": 1 }]);
        assert_eq!(
            tool_findings(tool),
            single("client-root-choice", "warning", "/inputSchema/anyOf")
        );
        let inner = json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] });
        assert_eq!(tool_findings(with_parameter(inner)), []);
    }

    #[test]
    fn arrays_without_items_are_reported() {
        let path = "/inputSchema/properties/a";
        let bare = with_parameter(json!({ "type": "array" }));
        assert_eq!(tool_findings(bare), single("client-array-items", "warning", path));
        assert_eq!(tool_findings(with_parameter(json!({ "type": "array", "items": {} }))), []);
    }

    #[test]
    fn parameter_names_that_model_apis_reject_are_reported() {
        let mut tool = with_parameter(json!({ "type": "string" }));
        tool["inputSchema"]["properties"]["rule[]"] =
            json!({ "type": "string", "description": "x" });
        let path = "/inputSchema/properties/rule[]";
        assert_eq!(tool_findings(tool), single("client-property-name", "warning", path));
    }

    #[test]
    fn lists_above_the_tool_limit_are_reported() {
        let tools = |count: usize| -> Value {
            let tool = |index: usize| {
                let mut tool = with_parameter(json!({ "type": "string" }));
                tool["name"] = format!("tool_{index}").into();
                tool
            };
            (0..count).map(tool).collect()
        };
        let rules =
            |tools: &Value| list_findings(tools).iter().map(|one| one.rule.id).collect::<Vec<_>>();
        assert!(!rules(&tools(128)).contains(&"client-tool-count"));
        assert!(rules(&tools(129)).contains(&"client-tool-count"));
    }
}
