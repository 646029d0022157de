//! `stickler demo`.

use rustix::process::{Pid, Signal, kill_process};
use std::process::Command;

use regex::Regex;

/// Replaces the ports and paths, which differ between runs.
fn masked(output: &str) -> String {
    let ports = Regex::new(r"127\.0\.0\.1:\d+").unwrap().replace_all(output, "127.0.0.1:PORT");
    Regex::new(r"\S*/stickler-demo-\w+").unwrap().replace_all(&ports, "DIR").into_owned()
}

fn demo(options: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_stickler"))
        .arg("demo")
        .args(options)
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

#[test]
fn readme_matches_the_demo_output() {
    let (status, stdout, stderr) = demo(&[]);
    assert_eq!((status, stderr.as_str()), (0, ""), "{stdout}");
    let printed = masked(&stdout);
    let readme = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    assert!(masked(&readme).contains(printed.trim_end()), "the README should contain:\n{printed}");
}

#[test]
fn demo_shows_a_rejection_its_correction_and_next_steps() {
    let (status, stdout, _) = demo(&[]);
    assert_eq!(status, 0);
    for part in [
        "Tool call failed for: write_file",
        "did you mean `content` (string, required)?",
        "## Corrected Call",
        "wrote 18 bytes to `notes/today.txt`",
        "http://127.0.0.1:",
        "stickler run -- ",
        "stickler wrap",
    ] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
}

#[test]
fn demo_with_stay_serves_until_it_is_interrupted() {
    use std::io::{BufRead as _, BufReader};
    let mut child = Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["demo", "--stay"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = lines.find(|line| line.as_ref().unwrap().contains("stays at")).unwrap().unwrap();
    let (_, rest) = line.split_once("127.0.0.1:").unwrap();
    let port: u16 = rest.split('/').next().unwrap().parse().unwrap();
    let response =
        crate::support_http::request(port, "POST", "/mcp", &[], &crate::support_http::initialize());
    assert_eq!(response.finish().status, 200);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
}
