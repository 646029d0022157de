//! What well-known clients and the model APIs behind them refuse, although the protocol allows it.

use serde_json::Value;

use super::names;
use super::places::{Place, Role};
use super::report::{Findings, ToolSummary};
use super::subject::Subject;
use crate::rules::tools;

/// The longest function name that OpenAI's API takes.
const LONGEST_NAME: usize = 64;

/// The longest parameter name that Anthropic's API takes.
const LONGEST_PARAMETER: usize = 64;

/// The most tools that OpenAI's API takes in one request.
const MOST_TOOLS: usize = 128;

pub(super) fn check(subject: &Subject, places: &[Place<'_>], findings: &mut Findings) {
    name(&subject.definition.name, findings);
    let Some(root) = places.first() else { return };
    for keyword in ["oneOf", "anyOf", "allOf", "enum", "not"] {
        if root.get(keyword).is_some() {
            let who = match keyword {
                "enum" | "not" => "the OpenAI API refuses",
                _ => "the Anthropic and OpenAI APIs refuse",
            };
            let message = format!("`{keyword}` at the root, which {who}");
            findings.add(&tools::CLIENT_ROOT_CHOICE, format!("/inputSchema/{keyword}"), message);
        }
    }
    for place in places {
        if let Role::Parameter(name) = place.role
            && place.pointer.matches('/').count() == 3
        {
            parameter(name, &place.pointer, findings);
        }
        if place.has_type("array") && !place.has(&["items", "prefixItems"]) {
            let message = "an array whose `items` are not described; the OpenAI API refuses it";
            findings.add(&tools::CLIENT_ARRAY_ITEMS, place.pointer.clone(), message);
        }
    }
    references(places, findings);
}

fn name(name: &str, findings: &mut Findings) {
    // What the protocol itself has something against is told already.
    if names::problem(name).is_some() {
        return;
    }
    let length = name.chars().count();
    if name.contains('.') {
        let message =
            format!("`{name}` has a dot in it, which the OpenAI and Anthropic APIs refuse");
        findings.add(&tools::CLIENT_TOOL_NAME, "/name", message);
    } else if length > LONGEST_NAME {
        let message =
            format!("`{name}` has {length} characters; the OpenAI API takes {LONGEST_NAME}");
        findings.add(&tools::CLIENT_TOOL_NAME, "/name", message);
    }
}

fn parameter(name: &str, pointer: &str, findings: &mut Findings) {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let length = name.chars().count();
    if length == 0 || length > LONGEST_PARAMETER || !name.chars().all(allowed) {
        let message = format!("the Anthropic API takes no parameter with the name `{name}`");
        findings.add(&tools::CLIENT_PROPERTY_NAME, pointer.to_owned(), message);
    }
}

fn references(places: &[Place<'_>], findings: &mut Findings) {
    let mut references =
        places.iter().filter(|place| place.get("$ref").is_some_and(Value::is_string));
    if let Some(first) = references.next() {
        let others = references.count();
        let message = match others {
            0 => "one `$ref`, which not every client resolves".to_owned(),
            _ => format!("{} `$ref`s, which not every client resolves", others + 1),
        };
        findings.add(&tools::CLIENT_REFERENCE, format!("{}/$ref", first.pointer), message);
    }
}

pub(super) fn check_list(tools: &[ToolSummary], findings: &mut Findings) {
    if tools.len() > MOST_TOOLS {
        let message =
            format!("{} tools; the OpenAI API takes {MOST_TOOLS} in one request", tools.len());
        findings.add(&tools::TOO_MANY_TOOLS, "", message);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{findings, found, one, with_parameter};
    use serde_json::{Value, json};

    #[test]
    fn names_that_apis_refuse() {
        for name in ["files.read", &"x".repeat(65)] {
            let mut tool = with_parameter(json!({ "type": "string" }));
            tool["name"] = name.into();
            assert_eq!(found(tool), one("client-tool-name", "warning", "/name"), "{name}");
        }
    }

    #[test]
    fn choices_at_the_root() {
        let mut tool = with_parameter(json!({ "type": "string" }));
        tool["inputSchema"]["anyOf"] = json!([{ "required": ["a"] }, { "maxProperties": 1 }]);
        assert_eq!(found(tool), one("client-root-choice", "warning", "/inputSchema/anyOf"));
        let inner = json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] });
        assert_eq!(found(with_parameter(inner)), []);
    }

    #[test]
    fn arrays_without_items() {
        let path = "/inputSchema/properties/a";
        let bare = with_parameter(json!({ "type": "array" }));
        assert_eq!(found(bare), one("client-array-items", "warning", path));
        assert_eq!(found(with_parameter(json!({ "type": "array", "items": {} }))), []);
    }

    #[test]
    fn names_of_parameters() {
        let mut tool = with_parameter(json!({ "type": "string" }));
        tool["inputSchema"]["properties"]["rule[]"] =
            json!({ "type": "string", "description": "x" });
        let path = "/inputSchema/properties/rule[]";
        assert_eq!(found(tool), one("client-property-name", "warning", path));
    }

    #[test]
    fn many_tools() {
        let tools = |count: usize| -> Value {
            let tool = |index: usize| {
                let mut tool = with_parameter(json!({ "type": "string" }));
                tool["name"] = format!("tool_{index}").into();
                tool
            };
            (0..count).map(tool).collect()
        };
        let told =
            |tools: &Value| findings(tools).iter().map(|one| one.rule.id).collect::<Vec<_>>();
        assert!(!told(&tools(128)).contains(&"client-tool-count"));
        assert!(told(&tools(129)).contains(&"client-tool-count"));
    }
}
