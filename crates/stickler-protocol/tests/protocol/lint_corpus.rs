//! Lints the tool lists of real servers: no panic, and only the known errors.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::json;
use stickler::{Revision, Severity};
use stickler_protocol::lint::{LintOptions, SchemaState, lint};

fn corpus() -> Option<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/tools");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).ok()?.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    Some(files)
}

/// The known errors of real tools: one server gives nine tools an `inputSchema` without
/// `type: "object"`, which every revision requires; another requires a value of an empty `enum`.
const KNOWN_ERRORS: [(&str, &str, usize); 2] =
    [("netlify__mcp", "unsatisfiable", 1), ("server-gitlab", "input-schema-type", 9)];

#[test]
#[ignore = "needs the tool lists in ../shared/corpus"]
fn real_tools_have_only_the_known_errors() {
    let files = corpus().expect("tool lists are in ../shared/corpus/tools");
    let mut tools = 0;
    let mut counts: BTreeMap<(Severity, &str), usize> = BTreeMap::new();
    let mut errors: BTreeMap<(String, &str), usize> = BTreeMap::new();
    // The strictest revision; without a revision its errors are warnings.
    let options = LintOptions::default().with_revision(Some(Revision::V2025_11_25));
    for file in &files {
        let server = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let report = lint(&std::fs::read(file).unwrap(), &options).unwrap();
        assert!(report.tools.iter().all(|tool| tool.schema == SchemaState::Usable), "{server}");
        tools += report.tools.len();
        for one in &report.findings {
            *counts.entry((one.severity, one.rule.id)).or_default() += 1;
            if one.severity == Severity::Error {
                *errors.entry((server.clone(), one.rule.id)).or_default() += 1;
            }
        }
    }
    eprintln!("{} files, {tools} tools", files.len());
    for ((severity, rule), count) in counts.iter().rev() {
        eprintln!("{severity:<8} {rule:<24} {count}");
    }
    let known_errors = KNOWN_ERRORS.map(|(server, rule, count)| ((server.to_owned(), rule), count));
    assert_eq!(errors, BTreeMap::from(known_errors));
}

/// Malformed and deeply nested lists produce findings and no panic.
#[test]
fn malformed_lists_are_linted_without_a_panic() {
    let deep = (0..2000)
        .fold(String::from("1"), |inner, _| format!("{{\"properties\":{{\"a\":{inner}}}}}"));
    let malformed = [
        "[]".to_owned(),
        "[1,null,[],{}]".to_owned(),
        json!([{ "name": "a", "inputSchema": true, "outputSchema": false }]).to_string(),
        json!([{ "name": "a", "inputSchema": { "properties": [], "required": {}, "items": 3,
                 "allOf": { "a": 1 }, "$ref": 3, "pattern": "(", "enum": 1, "default": {} } }])
        .to_string(),
        json!([{ "name": "a", "inputSchema": { "type": "object", "$ref": "#" } }]).to_string(),
        json!([{ "name": "a", "annotations": [], "_meta": 3, "inputSchema": { "type": "object",
                 "properties": { "": { "$ref": "#/properties/" } } } }])
        .to_string(),
        format!(
            "[{{\"name\":\"a\",\"inputSchema\":{deep},\"outputSchema\":{deep},\"annotations\":{deep}}}]"
        ),
    ];
    for list in malformed {
        let report = lint(list.as_bytes(), &LintOptions::default()).unwrap();
        let known = report.findings.iter().all(|one| stickler::rules::find(one.rule.id).is_some());
        assert!(known, "{list}");
    }
    for list in ["", "{}", "3", "{\"tools\":3}"] {
        assert!(lint(list.as_bytes(), &LintOptions::default()).is_err(), "{list}");
    }
    let response = json!({ "result": { "tools": [{ "name": "a" }] } });
    let report = lint(response.to_string().as_bytes(), &LintOptions::default()).unwrap();
    assert_eq!(report.tools.len(), 1);
    assert_ne!(report.findings.len(), 0);
}
