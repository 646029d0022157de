//! Deep checks: validation beyond the schema, defined by the server.

use serde_json::{Value, json};
use stickler_rmcp::{
    AnswerForm, Concerns, DeepCall, DeepChecks, Validated, ValidationConfig, ValidationLevels,
};

use crate::notes::Notes;
use crate::support::{Wire, text};

/// Rejects private notes and warns about empty ones.
struct Rules;

impl DeepChecks for Rules {
    fn levels(&self) -> ValidationLevels {
        ValidationLevels { semantic: true, security: true, ..ValidationLevels::default() }
    }

    async fn semantic(&self, call: DeepCall<'_>) -> Concerns {
        tokio::task::yield_now().await;
        match call.arguments.get("content") {
            Some(content) if content == "forbidden" => {
                Concerns::none().error_at("/content", "`content` must not be forbidden")
            }
            Some(content) if content == "" => {
                Concerns::none().warning("an empty note").suggestion("write something")
            }
            _ => Concerns::none(),
        }
    }

    async fn runtime(&self, _: DeepCall<'_>) -> Concerns {
        panic!("this level is not announced")
    }

    async fn security(&self, call: DeepCall<'_>) -> Concerns {
        let path = call.arguments["path"].as_str().unwrap_or_default();
        assert_ne!(path, "panic", "for a test");
        if path.starts_with("private/") {
            return Concerns::none().error(format!("`{path}` is private"));
        }
        Concerns::none()
    }
}

fn server() -> Validated<Notes> {
    Validated::new(Notes::default(), ValidationConfig::default()).with_deep_checks_of(Rules)
}

#[tokio::test]
async fn deep_check_levels_are_announced() {
    let (_, info) = Wire::legacy(server()).await;
    let capability = &info["capabilities"]["experimental"]["toolValidation"];
    let levels = json!({ "syntax": true, "semantic": true, "runtime": false, "security": true });
    assert_eq!(capability["levels"], levels);
    assert_eq!(capability["async"], true);
    assert_eq!(capability["contextAware"], true);
    assert_eq!(capability["streaming"], false);
    assert_eq!(capability["cacheable"], false);
}

#[tokio::test]
async fn deep_checks_add_errors_and_warnings() {
    let (mut wire, _) = Wire::legacy(server()).await;
    let note = json!({ "path": "private/a", "content": "" });
    let response = wire.call("validate", json!({ "tool": "write_note", "arguments": note })).await;
    let report = &response["result"]["structuredContent"];
    assert_eq!(report["valid"], false, "{response}");
    assert_eq!(report["errors"], json!(["`private/a` is private"]));
    assert_eq!(report["warnings"], json!(["an empty note"]));
    assert_eq!(report["suggestions"], json!(["write something"]));
    assert_eq!(report["details"]["checks"][1]["level"], "security");

    let note = json!({ "path": "a", "content": "" });
    let response = wire.call("validate", json!({ "tool": "write_note", "arguments": note })).await;
    assert_eq!(response["result"]["structuredContent"]["valid"], true);
}

#[tokio::test]
async fn deep_checks_run_only_on_calls_that_satisfy_their_schema() {
    let (mut wire, _) = Wire::legacy(server()).await;
    let calls = json!([
        { "tool": "write_note", "arguments": { "content": 1 } },
        { "tool": "read_note", "arguments": { "path": "panic" } },
        { "tool": "read_note", "arguments": { "path": "a" } },
    ]);
    let response = wire.call("validate", json!({ "calls": calls })).await;
    let results = &response["result"]["structuredContent"]["results"];
    assert_eq!(results[0]["valid"], false);
    assert_eq!(results[0]["details"].get("checks"), None);
    // A check that panics yields a warning and does not affect the other calls.
    assert_eq!(results[1]["valid"], true);
    let warning = "the security check failed without a result";
    assert_eq!(results[1]["warnings"], json!([warning]));
    assert_eq!(results[2]["valid"], true);
}

#[tokio::test]
async fn semantic_rejection_of_a_call_has_help_and_does_not_reach_the_handler() {
    let note = json!({ "path": "a", "content": "forbidden" });
    let (mut wire, _) = Wire::legacy(server()).await;
    let response = wire.call("write_note", note.clone()).await;
    let help = text(&response);
    assert_eq!(response["result"]["isError"], true, "{response}");
    assert!(help.starts_with("Tool call failed for: write_note\n"), "{help}");
    assert!(help.contains("1. `/content`: `content` must not be forbidden"), "{help}");
    assert!(help.contains("## Required Fields\n- path (string): "), "{help}");
    let finding = &response["result"]["_meta"]["dev.stickler/validation"]["findings"][0];
    assert_eq!(finding["path"], "/params/arguments/content");
    assert_eq!(text(&wire.call("read_note", json!({ "path": "a" })).await), "no note at a");

    let (mut wire, _) = Wire::legacy(server().answer_with(AnswerForm::Observation)).await;
    let response = wire.call("write_note", note).await;
    let observation: Value = serde_json::from_str(text(&response)).unwrap();
    assert_eq!(observation["payload"]["observation"]["status"], "VALIDATION_FAILED");
    let errors = &observation["payload"]["observation"]["errors"];
    assert_eq!(errors[0]["path"], "/content", "{observation}");
}

#[tokio::test]
async fn security_checks_do_not_run_before_a_call() {
    let (mut wire, _) = Wire::legacy(server()).await;
    let response = wire.call("write_note", json!({ "path": "private/a", "content": "x" })).await;
    assert_eq!(text(&response), "wrote 1 characters to private/a");
}
