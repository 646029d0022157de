//! `stickler serve`, whose tools are the set `files` of the table.

use serde_json::{Value, json};

use crate::outcome;
use crate::process::Client;
use crate::table::{Case, Differences, all, tools};

/// Settings that `serve` has options for.
const OPTIONS: [&str; 2] = ["mode", "answer"];

#[test]
fn tool_set_is_what_the_server_lists() {
    let root = tempfile::tempdir().unwrap();
    let arguments = ["serve", "--suite", "files", "--root", root.path().to_str().unwrap()];
    let mut client = Client::start(&arguments, &[]);
    let list = client.request("tools/list", "{}");
    assert_eq!(
        list["result"]["tools"],
        tools("files"),
        "copy the list into conformance/tools.json"
    );
}

#[test]
fn reference_server_conforms_to_the_table() {
    let mut differences = Differences::default();
    let is_expressible = |case: &Case| {
        case.tools() == "files"
            && case.config().keys().all(|key| OPTIONS.contains(&key.as_str()))
            && case.server().is_none()
            // The transport passes the text on, but rmcp keeps one of two equal keys.
            && !case.has_only_text()
    };
    let cases: Vec<Case> = all().into_iter().filter(is_expressible).collect();
    for case in &cases {
        let root = tempfile::tempdir().unwrap();
        let config = case.config();
        let option = |key: &str, default: &str| {
            config.get(key).and_then(Value::as_str).unwrap_or(default).to_owned()
        };
        let (mode, answer) = (option("mode", "enforce"), option("answer", "tool-result"));
        let root = root.path().to_str().unwrap();
        let arguments =
            ["serve", "--suite", "files", "--root", root, "--mode", &mode, "--answer", &answer];
        let response = Client::start(&arguments, &[]).run(case);
        if case.expect("server", "verdict") == "reject" {
            differences.compare(
                case,
                "the response",
                &case.expect("server", "answer"),
                &outcome(&response),
            );
        } else {
            let rejection = &response["result"]["_meta"]["dev.stickler/validation"];
            differences.compare(case, "the rejection", &json!(null), rejection);
        }
    }
    differences.finish(cases.len());
}
