//! The examples print the documented output.

use std::process::Command;

/// Runs an example and returns its output. Cargo builds the examples together with the tests.
fn run(name: &str) -> String {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(|deps| deps.parent()).unwrap().join("examples");
    let program = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let output = Command::new(&program).output().unwrap_or_else(|error| {
        panic!("{}: {error}; `cargo build --examples` builds it", program.display())
    });
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn check_a_call_suggests_the_intended_field() {
    let printed = run("check_a_call");
    assert!(printed.contains("unknown_field at /pth"), "{printed}");
    assert!(
        printed.ends_with("corrected: write_file {\"path\":\"a.txt\",\"content\":\"hi\"}\n"),
        "{printed}"
    );
}

#[test]
fn agent_loop_succeeds_after_one_rejection() {
    let printed = run("agent_loop");
    assert_eq!(
        printed,
        "turn 1: rejected, 2 problems\nturn 2: search {\"query\":\"rust\",\"limit\":5}\n"
    );
}

#[test]
fn enhance_a_server_error_adds_the_required_fields() {
    assert!(run("enhance_a_server_error").contains("Required: [entity]"));
}
