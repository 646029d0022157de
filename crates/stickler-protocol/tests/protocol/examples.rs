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
fn guard_a_connection_rejects_the_call_and_drops_the_noise() {
    let printed = run("guard_a_connection");
    let output: Vec<&str> =
        printed.lines().skip_while(|line| !line.contains("tools/call")).collect();
    assert_eq!(
        output,
        [
            "client tools/call: rejected, the client receives an error",
            "  STK-107: `pth` is not a known field; did you mean `path` (string, required)?",
            "server ?: dropped",
            "  stdout-noise: a line on stdout that is not JSON",
        ]
    );
    let forwarded = printed.lines().filter(|line| line.ends_with("forwarded")).count();
    assert_eq!(forwarded, 5);
}
