//! The method table agrees with the official unions and responses.

use std::collections::BTreeMap;

use serde_json::Value;
use stickler_protocol::{Method, MethodKind, MethodLookup, SchemaValidator, Side};

use super::official::{self, Official};

/// The methods of an official union with the definition of each message.
fn union_methods(official: &Official, union: &str) -> BTreeMap<String, String> {
    if !official.names().any(|name| name == union) {
        return BTreeMap::new();
    }
    let definition = official.definition(union);
    let alone = std::slice::from_ref(definition);
    let branches = definition["anyOf"].as_array().map_or(alone, Vec::as_slice);
    branches
        .iter()
        .map(|branch| {
            let message = branch["$ref"].as_str().map_or(branch, |name| official.resolve(name));
            let method = message["properties"]["method"]["const"].as_str().unwrap();
            // A union with a single member is inlined instead of referenced.
            let has_method = |name: &&str| {
                official.definition(name)["properties"]["method"]["const"] == method
                    && !name.starts_with("Client")
            };
            (method.to_owned(), official.names().find(has_method).unwrap().to_owned())
        })
        .collect()
}

fn built_in_methods(
    validator: &SchemaValidator,
    side: Side,
    kind: MethodKind,
) -> BTreeMap<String, String> {
    validator
        .methods()
        .filter(|method| method.kind == kind && method.is_sent_by(side))
        .map(|method| {
            assert_eq!(validator.method(side, &method.name), MethodLookup::Known(method));
            (method.name.clone(), method.definition.clone())
        })
        .collect()
}

/// The definitions allowed as `result`: from the response definition of the method if there is one,
/// otherwise the result definition with the name of the request.
fn results(official: &Official, method: &Method) -> Vec<String> {
    let stem = method.definition.strip_suffix("Request").unwrap();
    let has = |name: &str| official.names().any(|known| known == name);
    let response = format!("{stem}ResultResponse");
    if has(&response) {
        let result = &official.definition(&response)["properties"]["result"];
        let alone = std::slice::from_ref(result);
        let branches = result["anyOf"].as_array().map_or(alone, Vec::as_slice);
        let name = |branch: &Value| {
            branch["$ref"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()
        };
        return branches.iter().map(name).collect();
    }
    let result = format!("{stem}Result");
    let mut results = vec![if has(&result) { result } else { "EmptyResult".to_owned() }];
    if takes_task(official, &method.definition) {
        results.push("CreateTaskResult".to_owned());
    }
    results
}

fn takes_task(official: &Official, request: &str) -> bool {
    let params = &official.definition(request)["properties"]["params"];
    let mut pending = vec![params];
    while let Some(schema) = pending.pop() {
        if schema["properties"].get("task").is_some() {
            return true;
        }
        pending.extend(schema["$ref"].as_str().map(|name| official.resolve(name)));
        pending.extend(schema["anyOf"].as_array().into_iter().flatten());
    }
    false
}

#[test]
#[ignore = "needs the official MCP schemas in ../shared/mcp-schema"]
fn methods_match_the_official_unions() {
    let officials = official::all().expect("the official MCP schemas are in ../shared/mcp-schema");
    for official in &officials {
        let validator = SchemaValidator::built_in(official.revision);
        for (union, side, kind) in [
            ("ClientRequest", Side::Client, MethodKind::Request),
            ("ServerRequest", Side::Server, MethodKind::Request),
            ("ClientNotification", Side::Client, MethodKind::Notification),
            ("ServerNotification", Side::Server, MethodKind::Notification),
        ] {
            let theirs = union_methods(official, union);
            assert_eq!(
                built_in_methods(&validator, side, kind),
                theirs,
                "{} {union}",
                official.revision
            );
        }
    }
}

#[test]
#[ignore = "needs the official MCP schemas in ../shared/mcp-schema"]
fn results_match_the_official_responses() {
    let officials = official::all().expect("the official MCP schemas are in ../shared/mcp-schema");
    for official in &officials {
        let validator = SchemaValidator::built_in(official.revision);
        for method in validator.methods() {
            let mut ours: Vec<String> =
                [&method.result, &method.task_result, &method.input_required]
                    .into_iter()
                    .flatten()
                    .cloned()
                    .collect();
            let mut theirs = match method.kind {
                MethodKind::Request => results(official, method),
                MethodKind::Notification => Vec::new(),
            };
            ours.sort();
            theirs.sort();
            assert_eq!(ours, theirs, "{} {}", official.revision, method.name);
        }
    }
}
