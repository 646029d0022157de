//! The reference servers pass the check that they are an example for.

use std::process::Command;

use crate::SUITES;
use crate::root::Root;

#[test]
fn every_suite_passes_the_check_with_a_schema_and_an_example_for_every_tool() {
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
        // Those of the suite, and `validate`, for which an example is made.
        let (own, all) = (names.len(), names.len() + 1);
        let coverage = format!(
            "schema {all} of {all}, description {all} of {all}, valid example {all} of {all} \
             ({own} given, 1 made)"
        );
        assert!(report.contains(&coverage), "{suite}: {report}");
    }
    assert_eq!(root.snapshot(), before);
}
