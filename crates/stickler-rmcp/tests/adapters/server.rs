//! `Validated` servers: calls are validated, and everything else is unchanged.
use serde_json::{Value, json};
use stickler_rmcp::{AnswerForm, Mode, Validated, ValidationConfig};

use crate::notes::Notes;
use crate::support::{Wire, text};

fn wrapped() -> Validated<Notes> {
    Validated::new(Notes::default(), ValidationConfig::default())
}

#[tokio::test]
async fn valid_call_reaches_the_handler() {
    let (mut legacy, _) = Wire::legacy(wrapped()).await;
    for wire in [&mut legacy, &mut Wire::modern(wrapped())] {
        let response = wire.call("write_note", json!({ "path": "a", "content": "hi" })).await;
        assert_eq!(text(&response), "wrote 2 characters to a");
        let response = wire.call("read_note", json!({ "path": "a" })).await;
        assert_eq!(text(&response), "hi");
    }
}

#[tokio::test]
async fn invalid_call_gets_help_and_does_not_reach_the_handler() {
    let (mut legacy, _) = Wire::legacy(wrapped()).await;
    let mut modern = Wire::modern(wrapped());
    for wire in [&mut legacy, &mut modern] {
        let response = wire.call("write_note", json!({ "pth": "a", "content": 5 })).await;
        assert_eq!(response["result"]["isError"], true, "{response}");
        let help = text(&response);
        assert!(help.starts_with("Tool call failed for: write_note"), "{help}");
        assert!(help.contains("did you mean `path` (string, required)?"), "{help}");
        let report = &response["result"]["_meta"]["dev.stickler/validation"];
        assert_eq!(report["findings"].as_array().unwrap().len(), 2, "{report}");
        assert_eq!(report["corrected"]["arguments"], json!({ "path": "a", "content": "5" }));
        assert_eq!(text(&wire.call("read_note", json!({ "path": "a" })).await), "no note at a");
    }
    let response = modern.call("write_note", json!({})).await;
    assert_eq!(response["result"]["resultType"], "complete");
    let response = legacy.call("write_note", json!({})).await;
    assert_eq!(response["result"].get("resultType"), None);
}

#[tokio::test]
async fn unknown_tool_is_answered_in_the_configured_form() {
    let call = json!({ "path": "a", "content": "hi" });
    let (mut wire, _) = Wire::legacy(wrapped()).await;
    let response = wire.call("write_notes", call.clone()).await;
    assert_eq!(response["result"]["isError"], true);
    let help = response["result"]["content"][0]["text"].as_str().unwrap();
    assert!(help.contains("Unknown tool: write_notes. Did you mean `write_note`?"), "{help}");

    let (mut wire, _) = Wire::legacy(wrapped().answer_with(AnswerForm::JsonRpcError)).await;
    let response = wire.call("write_notes", call).await;
    assert_eq!(response["error"]["code"], -32602);
    let message = "Unknown tool: write_notes. Did you mean `write_note`?";
    assert_eq!(response["error"]["message"], message);
    assert_eq!(response["error"]["data"]["suggestions"][0], "write_note");
    let available = json!(["write_note", "read_note", "search_notes", "validate"]);
    assert_eq!(response["error"]["data"]["available"], available);
}

#[tokio::test]
async fn rejection_form_is_configurable() {
    let (mut wire, _) = Wire::legacy(wrapped().answer_with(AnswerForm::JsonRpcError)).await;
    let response = wire.call("read_note", json!({})).await;
    assert_eq!(response["error"]["code"], -32602);
    let message = response["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("Tool call failed for: read_note\n"), "{message}");
    assert_eq!(response["error"]["data"]["findings"][0]["rule"], "STK-107", "{response}");

    let (mut wire, _) = Wire::legacy(wrapped().answer_with(AnswerForm::Observation)).await;
    let turn = json!({ "dev.stickler/turn_index": 7 });
    let call = json!({ "name": "read_note", "arguments": {}, "_meta": turn });
    let response = wire.request("tools/call", call).await;
    let observation: Value = serde_json::from_str(text(&response)).unwrap();
    assert_eq!(observation["type"], "observation");
    assert_eq!(observation["turn_index"], 7);
    assert_eq!(observation["payload"]["observation"]["status"], "VALIDATION_FAILED");
    let counted = wire.call("read_note", json!({ "x": 1 })).await;
    let observation: Value = serde_json::from_str(text(&counted)).unwrap();
    assert_eq!(observation["turn_index"], 1);
}

#[tokio::test]
async fn repaired_arguments_reach_the_handler() {
    let mut config = ValidationConfig::default();
    config.repair = stickler::Repair::Apply;
    let (mut wire, _) = Wire::legacy(Validated::new(Notes::default(), config)).await;
    let response = wire.call("write_note", json!({ "PATH": "a", "content": "hi" })).await;
    assert_eq!(text(&response), "wrote 2 characters to a");
}

#[tokio::test]
async fn validation_can_be_switched_off() {
    let mut config = ValidationConfig::default();
    config.pre_validate = false;
    let (mut wire, _) = Wire::legacy(Validated::new(Notes::default(), config)).await;
    let response = wire.call("read_note", json!({})).await;
    assert!(text(&response).contains("missing field `path`"), "{response}");
    // The handler's error is enhanced: the tools are known since the capability was announced.
    let addition = response["result"]["content"][1]["text"].as_str().unwrap();
    assert!(addition.contains("Required"), "{addition}");
}

#[tokio::test]
async fn validation_capability_is_announced_in_both_eras() {
    let (mut wire, info) = Wire::legacy(wrapped()).await;
    let capability = &info["capabilities"]["experimental"]["toolValidation"];
    assert_eq!(capability["supported"], true, "{info}");
    assert_eq!(capability["method"], "validate");
    assert_eq!(capability["version"], "1.0");
    assert_eq!(info["capabilities"].get("extensions"), None);
    let list = wire.request("tools/list", json!({})).await;
    let names: Vec<&str> = list["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["read_note", "search_notes", "write_note", "validate"]);

    let response = Wire::modern(wrapped()).request("server/discover", json!({})).await;
    let capabilities = &response["result"]["capabilities"];
    assert_eq!(capabilities["experimental"]["toolValidation"]["method"], "validate");
    assert_eq!(capabilities["extensions"]["dev.stickler/tool-validation"]["supported"], true);

    let (_, info) = Wire::legacy(wrapped().without_validation_tool()).await;
    assert_eq!(info["capabilities"].get("experimental"), None);
}

#[tokio::test]
async fn calls_are_validated_without_being_made() {
    let (mut wire, _) = Wire::legacy(wrapped()).await;
    let arguments = json!({ "tool": "notes:read_note", "arguments": { "path": 1 } });
    let response = wire.call("validate", arguments).await;
    let report = &response["result"]["structuredContent"];
    assert_eq!(report["valid"], false, "{response}");
    assert_eq!(serde_json::from_str::<Value>(text(&response)).unwrap(), *report);

    let calls = json!([
        { "tool": "read_note", "arguments": { "path": "a" } },
        { "tool": "red_note", "arguments": {} },
    ]);
    let response = wire.call("validate", json!({ "calls": calls })).await;
    let results = &response["result"]["structuredContent"]["results"];
    assert_eq!(results[0]["valid"], true);
    assert_eq!(results[1]["suggestions"][0], "read_note");

    let response = wire.call("validate", json!({ "tol": "read_note" })).await;
    assert!(text(&response).contains("did you mean `tool`?"), "{response}");
    let response = wire.call("validate", json!({})).await;
    assert_eq!(response["result"]["isError"], true);
}

#[tokio::test]
async fn repeated_invalid_call_gets_an_escalating_response() {
    let (mut wire, _) = Wire::legacy(wrapped().repeat_limit(3)).await;
    let first = wire.call("read_note", json!({})).await;
    let second = wire.call("read_note", json!({})).await;
    let third = wire.call("read_note", json!({})).await;
    assert!(text(&first).starts_with("Tool call failed"));
    assert!(text(&second).starts_with("This exact call has been rejected 2 times"));
    assert!(text(&third).starts_with("Rejected again"));
}

#[tokio::test]
async fn modes_set_the_defaults() {
    let (mut wire, _) = Wire::legacy(Validated::in_mode(Notes::default(), Mode::Assist)).await;
    let response = wire.call("write_note", json!({ "PATH": "a", "content": "hi" })).await;
    assert_eq!(text(&response), "wrote 2 characters to a", "a certain repair is applied");
    let response = wire.call("read_note", json!({ "path": "a", "colour": "red" })).await;
    assert_eq!(text(&response), "hi", "an unlisted field that resembles nothing is tolerated");
    let response = wire.call("read_note", json!({ "file": "a" })).await;
    assert_eq!(response["result"]["isError"], true);

    let observed = Validated::in_mode(Notes::default(), Mode::Observe);
    let (mut wire, info) = Wire::legacy(observed).await;
    assert_eq!(info["capabilities"].get("experimental"), None, "nothing is announced");
    let response = wire.call("read_note", json!({ "pth": "a" })).await;
    let content = response["result"]["content"].as_array().unwrap();
    assert_eq!(content.len(), 1, "nothing is added");
    assert!(text(&response).contains("missing field `path`"), "{response}");
}
