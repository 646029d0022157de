//! `stickler check` over every suite: each tool has a schema that compiles, a description and an
//! example that passes, the server takes wrong calls as it should, and nothing is changed by them.

use std::process::Command;

use serde_json::Value;

use crate::SUITES;
use crate::root::Root;

/// The exit code and the lines of a report, the summary last.
fn check(suite: &str, root: &Root) -> (Option<i32>, Vec<Value>) {
    let binary = env!("CARGO_BIN_EXE_stickler");
    let output = Command::new(binary)
        .args(["check", "--format", "json", "--deny", "error", "--timeout", "60", "--", binary])
        .args(["serve", "--suite", suite, "--root", root.path().to_str().unwrap()])
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let lines = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (output.status.code(), lines)
}

#[test]
fn every_tool_of_every_suite_has_a_schema_a_description_and_an_example() {
    for (suite, tools) in SUITES {
        let root = Root::new();
        let before = root.snapshot();
        let (code, lines) = check(suite, &root);
        assert_eq!(code, Some(0), "{suite}: {lines:#?}");
        let summary = &lines.last().unwrap()["summary"];
        let all = tools.len() + 1; // and `validate`
        let coverage = &summary["coverage"];
        for part in ["tools", "schema", "description", "example"] {
            assert_eq!(coverage[part], all, "{suite}, {part}: {coverage}");
        }
        assert!(coverage["example_given"].as_u64().unwrap() >= tools.len() as u64, "{coverage}");
        assert_eq!(root.snapshot(), before, "{suite}: the probes have changed something");
    }
}

#[test]
fn no_suite_has_a_probe_that_is_accepted_or_not_answered() {
    for (suite, _) in SUITES {
        let (_, lines) = check(suite, &Root::new());
        let probes = lines.last().unwrap()["summary"]["probes"].as_array().unwrap().clone();
        assert!(!probes.is_empty(), "{suite}");
        for probe in probes {
            let grade = probe["grade"].as_str().unwrap();
            let is_fine = ["answered", "names the field"].contains(&grade);
            assert!(is_fine, "{suite}: {probe}");
        }
    }
}
