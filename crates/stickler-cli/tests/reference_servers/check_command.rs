//! `stickler check` on the reference servers, which are examples of servers that pass it.

use std::process::Command;

use serde_json::Value;

use crate::SUITES;
use crate::root::Root;

#[test]
fn every_suite_passes_check_with_full_coverage() {
    let root = Root::new();
    let before = root.snapshot();
    let binary = env!("CARGO_BIN_EXE_stickler");
    for (suite, names) in SUITES {
        let output = Command::new(binary)
            .args(["check", "--deny", "error", "--", binary])
            .args(["serve", "--suite", suite, "--root", root.path().to_str().unwrap()])
            .output()
            .unwrap();
        let report = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{suite}: {report}");
        // The tools of the suite, and `validate`, for which an example is generated.
        let (given, all) = (names.len(), names.len() + 1);
        let coverage = format!(
            "schema {all} of {all}, description {all} of {all}, valid example {all} of {all} \
             ({given} given, 1 made)"
        );
        assert!(report.contains(&coverage), "{suite}: {report}");
    }
    assert_eq!(root.snapshot(), before);
    assert!(!root.path().join(".stickler").exists());
}

#[test]
fn every_suite_rejects_probes_with_the_field_named() {
    let root = Root::new();
    let binary = env!("CARGO_BIN_EXE_stickler");
    for (suite, _) in SUITES {
        let output = Command::new(binary)
            .args(["check", "--format", "json", "--timeout", "60", "--", binary])
            .args(["serve", "--suite", suite, "--root", root.path().to_str().unwrap()])
            .output()
            .unwrap();
        let report = String::from_utf8(output.stdout).unwrap();
        let last: Value = serde_json::from_str(report.lines().last().unwrap()).unwrap();
        let probes = last["summary"]["probes"].as_array().unwrap();
        assert!(!probes.is_empty(), "{suite}");
        for probe in probes {
            let grade = probe["grade"].as_str().unwrap();
            assert!(
                ["answered", "rejected", "names the field"].contains(&grade),
                "{suite}: {probe}"
            );
        }
    }
}
