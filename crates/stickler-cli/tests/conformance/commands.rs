//! `stickler validate` and `stickler call`.

use std::process::Command;

use serde_json::{Value, json};

use crate::process::TableServer;
use crate::table::{Case, Differences, all, tools};

/// Settings that the commands have options for.
const OPTIONS: [(&str, &str); 5] = [
    ("unknown_fields", "--unknown-fields"),
    ("formats", "--formats"),
    ("repair", "--repair"),
    ("help", "--help-detail"),
    ("suggestion_distance", "--suggestion-distance"),
];

/// Returns the options for the settings of a case; `None` if the commands have no option for one of them.
fn options(case: &Case) -> Option<Vec<String>> {
    let mut options = Vec::new();
    for (key, value) in case.config() {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match OPTIONS.iter().find(|(known, _)| *known == key) {
            Some((_, option)) => options.extend([(*option).to_owned(), text]),
            None if key == "mask" => options.push(format!("--mask={text}")),
            None => return None,
        }
    }
    Some(options)
}

fn run(arguments: &[String]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_stickler")).args(arguments).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| {
        panic!("{error}: {text} {} {arguments:?}", String::from_utf8_lossy(&output.stderr))
    })
}

/// Compares a record of `validate --format json` with the expectation.
fn compare_record(differences: &mut Differences, case: &Case, record: &Value) {
    let expected = |member: &str| case.expect("command", member);
    let list = |member: &str| match expected(member) {
        Value::Null => json!([]),
        list => list,
    };
    differences.compare(case, "valid", &expected("valid"), &record["valid"]);
    differences.compare(case, "errors", &list("errors"), &record["errors"]);
    differences.compare(case, "corrected", &expected("corrected"), &record["corrected"]);
    differences.compare(case, "help", &expected("help"), &record["help"]);
    if !expected("corrected").is_null() {
        differences.compare(case, "edits", &list("edits"), &record["edits"]);
    }
}

#[test]
fn validate_command_conforms_to_the_table() {
    let mut differences = Differences::default();
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    for case in all() {
        let Some(options) = options(&case) else { continue };
        count += 1;
        let file = folder.path().join(format!("{}.json", case.tools()));
        std::fs::write(&file, tools(case.tools()).to_string()).unwrap();
        let file = file.to_str().unwrap();
        let mut arguments =
            ["validate", "--format", "json", "--tools", file].map(str::to_owned).to_vec();
        arguments.extend(options);
        arguments.push(case.tool().to_owned());
        if let Some(text) = case.arguments_text() {
            arguments.extend(["--args".to_owned(), text]);
        }
        compare_record(&mut differences, &case, &run(&arguments));
    }
    differences.finish(count);
}

#[test]
fn call_command_conforms_to_the_table() {
    let mut differences = Differences::default();
    let mut count = 0;
    for case in all() {
        let Some(options) = options(&case).filter(|_| !case.has_only_text()) else { continue };
        count += 1;
        let server = TableServer::new(&case);
        let mut arguments = ["call", "--format", "json"].map(str::to_owned).to_vec();
        arguments.extend(options);
        arguments.push(case.tool().to_owned());
        if let Some(text) = case.arguments_text() {
            arguments.extend(["--args".to_owned(), text]);
        }
        arguments.push("--".to_owned());
        arguments.extend(server.command());
        let line = run(&arguments);
        if case.expect("client", "verdict") == "reject" {
            compare_record(&mut differences, &case, &line["validation"]);
            differences.compare(&case, "what reaches the server", &Value::Null, &server.last());
        } else {
            compare_result(&mut differences, &case, &line);
        }
    }
    differences.finish(count);
}

fn compare_result(differences: &mut Differences, case: &Case, line: &Value) {
    let answer = case.expect("client", "answer");
    let message = line["error"]["message"].as_str().unwrap_or_default();
    if !case.expect("client", "output_errors").is_null() {
        differences.compare(case, "the code", &json!("STK-109"), &line["error"]["code"]);
    } else if let Some(error) = answer.get("error") {
        let text = error["message"].as_str().unwrap();
        differences.compare(case, "the error", &json!(true), &json!(message.ends_with(text)));
    } else if answer["result"]["isError"] == true {
        let content = answer["result"]["content"].as_array().unwrap();
        let text = content.last().unwrap()["text"].as_str().unwrap();
        differences.compare(case, "the error", &json!(true), &json!(message.ends_with(text)));
    } else {
        let result = &case.server_or_default()["result"];
        differences.compare(case, "the content", &result["content"], &line["content"]);
    }
}
