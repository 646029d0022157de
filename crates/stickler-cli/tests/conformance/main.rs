//! Runs the conformance table on the gateway over stdio and HTTP, and on the commands.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::format_push_string,
    reason = "tests may panic, read files and start processes"
)]

mod commands;
mod gateway_http;
mod gateway_stdio;
mod process;
mod serve;
#[path = "../support/http.rs"]
mod support_http;
#[path = "../../../stickler/tests/support/conformance.rs"]
mod table;
#[path = "../support/upstream.rs"]
mod upstream;

use serde_json::{Value, json};
use table::{Case, Differences, without_result_type};

/// Returns the settings of a case as environment variables of the gateway.
fn variables(case: &Case) -> Vec<(String, String)> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(words) => {
            words.iter().map(|word| word.as_str().unwrap()).collect::<Vec<_>>().join(",")
        }
        other => other.to_string(),
    };
    let config = case.config();
    let variable =
        |(key, value): (&String, &Value)| (format!("STICKLER_{}", key.to_uppercase()), text(value));
    config.iter().map(variable).collect()
}

/// Compares what reached the server and the response of the gateway.
fn compare(differences: &mut Differences, case: &Case, last: &Value, response: &Value) {
    let verdict = case.expect("gateway", "verdict");
    let sent = || case.arguments_text().map(|text| serde_json::from_str(&text).unwrap());
    let (reaches, answer) = match verdict.as_str().unwrap() {
        "reject" => (Value::Null, case.expect("gateway", "answer")),
        "repair" => (case.expect("gateway", "forwarded"), case.server_or_default()),
        _ if case.server().is_some() => {
            (sent().unwrap_or_default(), case.expect("gateway", "answer"))
        }
        _ => (sent().unwrap_or_default(), case.server_or_default()),
    };
    differences.compare(case, "the arguments that reach the server", &reaches, last);
    let received = outcome(response);
    differences.compare(case, "the response", &answer, &received);
}

/// Returns the `result` or `error` of a response.
fn outcome(response: &Value) -> Value {
    let member = if response.get("error").is_some() { "error" } else { "result" };
    without_result_type(json!({ member: response[member] }))
}
