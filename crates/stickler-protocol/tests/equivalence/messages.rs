//! What the middleware says of whole messages is what the official definitions say of them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use stickler::{Era, McpValidator, Revision, Severity, ValidationConfig};
use stickler_protocol::{Method, MethodKind, Policy, SchemaValidator, Side, ValidationMiddleware};

use super::official::{self, Official};
use super::{instances, mutations};

/// Mutants compared for each method.
const MOST: usize = 250;

fn middleware(revision: Revision) -> ValidationMiddleware {
    let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
    ValidationMiddleware::new("server", validator)
        .with_policy(Policy::observing())
        .with_revision(revision)
}

/// Whether there is something in it that the protocol forbids.
fn is_refused(middleware: &mut ValidationMiddleware, side: Side, message: &Value) -> bool {
    let verdict = middleware.handle(side, message.to_string().as_bytes(), Duration::ZERO);
    verdict.findings.iter().any(|finding| finding.severity == Severity::Error)
}

/// A definition of an early revision leaves the envelope to another one.
fn enveloped(mut message: Value, kind: MethodKind) -> Value {
    if let Value::Object(members) = &mut message {
        members.entry("jsonrpc").or_insert_with(|| "2.0".into());
        if kind == MethodKind::Request {
            members.entry("id").or_insert_with(|| 1.into());
        }
    }
    message
}

/// Requests and notifications: the definition of the method, and that of the envelope.
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
    let mutants = mutations::sample(&whole, MOST, &method.name);
    let mut wrong = Vec::new();
    let mut compared = 0;
    for message in whole.iter().chain(&mutants) {
        // Another method is another definition's business; what is no object, the envelope's.
        let same_method = message.get("method").is_none_or(|name| !name.is_string())
            || message["method"] == method.name.as_str();
        // An id makes a request of a notification, whatever the method is called.
        let same_kind = method.kind == MethodKind::Request || message.get("id").is_none();
        // Nothing of an envelope: from a server that is noise, whatever its author meant.
        let is_noise = side == Side::Server && message == &json!({});
        if !message.is_object() || !same_method || !same_kind || is_noise {
            continue;
        }
        compared += 1;
        let official_says = !shapes.iter().all(|shape| shape.is_valid(message));
        let ours = is_refused(&mut middleware(official.revision), side, message);
        if ours != official_says {
            wrong.push(format!("{}: refused by us {ours}: {message}", official.revision));
        }
    }
    (compared, wrong)
}

/// A modern result of the usual kind.
fn complete(official: &Official, mut result: Value) -> Value {
    if official.revision.era() == Era::Modern && result["resultType"].is_string() {
        result["resultType"] = "complete".into();
    }
    result
}

/// Results, each as the answer to a request of the method.
fn compare_results(official: &Official, side: Side, method: &Method) -> (usize, Vec<String>) {
    let Some(definition) = &method.result else { return (0, Vec::new()) };
    let shape = official.validator(definition);
    let own: Vec<Value> = instances::of(official, definition)
        .into_iter()
        .map(|one| complete(official, one))
        .collect();
    let mutants = mutations::sample(&own, MOST, &method.name);
    let mut wrong = Vec::new();
    let mut compared = 0;
    for result in own.iter().chain(&mutants) {
        // Another kind of result has another definition, or none that is known here.
        let is_other = result["resultType"].as_str().is_some_and(|kind| kind != "complete");
        if official.revision.era() == Era::Modern && is_other {
            continue;
        }
        compared += 1;
        let mut middleware = middleware(official.revision);
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method.name });
        is_refused(&mut middleware, side, &request);
        let response = json!({ "jsonrpc": "2.0", "id": 1, "result": result });
        let ours = is_refused(&mut middleware, side.other(), &response);
        if ours == shape.is_valid(result) {
            wrong.push(format!("{}: refused by us {ours}: {response}", official.revision));
        }
    }
    (compared, wrong)
}

#[test]
fn whole_messages_are_judged_like_the_official_definitions() {
    let Some(officials) = official::all() else {
        eprintln!("skipped: the official MCP schemas are not there");
        return;
    };
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
