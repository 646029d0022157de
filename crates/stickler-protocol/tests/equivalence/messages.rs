//! The middleware accepts and rejects the same messages as the official definitions.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use stickler::{Era, McpValidator, Revision, Severity, ValidationConfig};
use stickler_protocol::{Method, MethodKind, Policy, SchemaValidator, Side, ValidationMiddleware};

use super::official::{self, Official};
use super::{instances, mutations};

/// The maximum number of mutants compared per method.
const MAX_MUTANTS: usize = 250;

fn middleware(revision: Revision) -> ValidationMiddleware {
    let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
    ValidationMiddleware::new("server", validator)
        .with_policy(Policy::observing())
        .with_revision(revision)
}

/// Returns whether the message has a finding of severity error.
fn is_rejected(middleware: &mut ValidationMiddleware, side: Side, message: &Value) -> bool {
    let verdict = middleware.handle(side, message.to_string().as_bytes(), Duration::ZERO);
    verdict.findings.iter().any(|finding| finding.severity == Severity::Error)
}

/// Adds the envelope members, which early revisions define separately.
fn enveloped(mut message: Value, kind: MethodKind) -> Value {
    if let Value::Object(members) = &mut message {
        members.entry("jsonrpc").or_insert_with(|| "2.0".into());
        if kind == MethodKind::Request {
            members.entry("id").or_insert_with(|| 1.into());
        }
    }
    message
}

/// Compares requests and notifications with the definitions of the method and of the envelope.
fn compare_messages(official: &Official, side: Side, method: &Method) -> (usize, Vec<String>) {
    let envelope = match method.kind {
        MethodKind::Request => "JSONRPCRequest",
        MethodKind::Notification => "JSONRPCNotification",
    };
    let shapes = [official.validator(envelope), official.validator(&method.definition)];
    let whole: Vec<Value> = instances::of(official, &method.definition)
        .into_iter()
        .map(|instance| enveloped(instance, method.kind))
        .collect();
    let mutants = mutations::sample(&whole, MAX_MUTANTS, &method.name);
    let mut wrong = Vec::new();
    let mut compared = 0;
    for message in whole.iter().chain(&mutants) {
        // Other methods have other definitions, and non-objects are checked with the envelope.
        let same_method = message.get("method").is_none_or(|name| !name.is_string())
            || message["method"] == method.name.as_str();
        // An id turns a notification into a request, regardless of the method.
        let same_kind = method.kind == MethodKind::Request || message.get("id").is_none();
        // A server message without any envelope member counts as noise.
        let is_noise = side == Side::Server && message == &json!({});
        if !message.is_object() || !same_method || !same_kind || is_noise {
            continue;
        }
        compared += 1;
        let official_rejects = !shapes.iter().all(|shape| shape.is_valid(message));
        let ours = is_rejected(&mut middleware(official.revision), side, message);
        if ours != official_rejects {
            wrong.push(format!("{}: rejected by Stickler: {ours}: {message}", official.revision));
        }
    }
    (compared, wrong)
}

/// Sets `resultType` of a modern result to `complete`.
fn complete(official: &Official, mut result: Value) -> Value {
    if official.revision.era() == Era::Modern && result["resultType"].is_string() {
        result["resultType"] = "complete".into();
    }
    result
}

/// Compares results, each sent as the response to a request of the method.
fn compare_results(official: &Official, side: Side, method: &Method) -> (usize, Vec<String>) {
    let Some(definition) = &method.result else { return (0, Vec::new()) };
    let shape = official.validator(definition);
    let own: Vec<Value> = instances::of(official, definition)
        .into_iter()
        .map(|one| complete(official, one))
        .collect();
    let mutants = mutations::sample(&own, MAX_MUTANTS, &method.name);
    let mut wrong = Vec::new();
    let mut compared = 0;
    for result in own.iter().chain(&mutants) {
        // Results of another `resultType` have another definition, or none in this revision.
        let is_other = result["resultType"].as_str().is_some_and(|kind| kind != "complete");
        if official.revision.era() == Era::Modern && is_other {
            continue;
        }
        compared += 1;
        let mut middleware = middleware(official.revision);
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method.name });
        is_rejected(&mut middleware, side, &request);
        let response = json!({ "jsonrpc": "2.0", "id": 1, "result": result });
        let ours = is_rejected(&mut middleware, side.other(), &response);
        if ours == shape.is_valid(result) {
            wrong.push(format!("{}: rejected by Stickler: {ours}: {response}", official.revision));
        }
    }
    (compared, wrong)
}

#[test]
#[ignore = "needs the official MCP schemas in ../shared/mcp-schema"]
fn messages_are_validated_like_the_official_definitions() {
    let officials = official::all().expect("the official MCP schemas are in ../shared/mcp-schema");
    let (mut compared, mut wrong) = (0, Vec::new());
    for official in &officials {
        let schema = SchemaValidator::built_in(official.revision);
        for method in schema.methods() {
            for side in
                [Side::Client, Side::Server].into_iter().filter(|side| method.is_sent_by(*side))
            {
                for (count, differences) in [
                    compare_messages(official, side, method),
                    compare_results(official, side, method),
                ] {
                    compared += count;
                    wrong.extend(differences);
                }
            }
        }
    }
    eprintln!("{compared} messages compared through the middleware");
    assert!(compared > 10_000);
    wrong.truncate(20);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
