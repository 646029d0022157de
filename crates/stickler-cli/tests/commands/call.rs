//! `stickler call`, run as a process against a real server.

use crate::support::command::{Run, stickler};
use serde_json::Value;

/// Path of the scripted server, which Cargo builds together with the tests.
fn server() -> String {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(|deps| deps.parent()).unwrap().join("examples");
    let program = folder.join(format!("scripted_server{}", std::env::consts::EXE_SUFFIX));
    program.to_str().unwrap().to_owned()
}

fn call(arguments: &[&str]) -> Run {
    let server = server();
    stickler(&[&["call"], arguments, &["--", &server]].concat())
}

#[test]
fn valid_call_prints_the_tool_result() {
    let run = call(&["echo", "text=hello world"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, "hello world\n"), "{}", run.stderr);
    let run = call(&["echo", "--args", r#"{"text":"from JSON"}"#]);
    assert_eq!((run.status, run.stdout.as_str()), (0, "from JSON\n"), "{}", run.stderr);
}

#[test]
fn values_are_converted_to_the_types_of_the_schema() {
    let run = call(&["slow", "text=5", "millis=1"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, "5\n"), "{}", run.stderr);
}

#[test]
fn rejected_call_is_explained_and_exits_with_1() {
    let run = call(&["echo", "txt=hello"]);
    assert_eq!(run.status, 1);
    assert!(run.stdout.contains("[STK-107]"), "{}", run.stdout);
    assert!(run.stdout.contains("did you mean `text`"), "{}", run.stdout);
    let run = call(&["ecko", "text=hello"]);
    assert_eq!(run.status, 1);
    assert!(run.stdout.contains("echo"), "{}", run.stdout);
}

#[test]
fn json_output_is_one_documented_object() {
    let run = call(&["echo", "text=hello", "--format", "json"]);
    let line: Value = serde_json::from_str(&run.stdout).unwrap();
    let keys: Vec<&String> = line.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["tool", "ok", "error", "content", "structured_content", "validation"]);
    assert_eq!(line["content"][0]["text"], "hello");
    let run = call(&["echo", "--format", "json"]);
    assert_eq!(run.status, 1);
    let line: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(line["error"]["code"], "STK-107");
    assert_eq!(line["validation"]["errors"][0]["kind"], "missing_required");
}

#[test]
fn invalid_call_command_line_exits_with_2() {
    assert_eq!(stickler(&["call", "echo"]).status, 2);
    assert_eq!(call(&["echo", "text"]).status, 2);
    assert_eq!(call(&["echo", "--args", "{"]).status, 2);
    assert_eq!(call(&["echo", "text=a", "--args", "[]"]).status, 2);
    assert_eq!(stickler(&["call", "echo", "--url", "nonsense"]).status, 2);
}

#[test]
fn unreachable_or_crashed_server_exits_with_3() {
    let run = stickler(&["call", "echo", "--", "no-such-program"]);
    assert_eq!(run.status, 3);
    assert!(run.stderr.contains("[STK-101]"), "{}", run.stderr);
    assert_eq!(stickler(&["call", "echo", "--url", "http://127.0.0.1:1/mcp"]).status, 3);
    let run = call(&["die", "text=x"]);
    assert_eq!(run.status, 3, "{}", run.stdout);
    assert!(run.stderr.contains("[STK-105]"), "{}", run.stderr);
}

#[test]
fn tools_are_listed_with_their_token_costs() {
    let server = server();
    let run = stickler(&["tools", "--", &server]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let mut lines = run.stdout.lines();
    assert!(lines.next().unwrap().starts_with("tool "), "{}", run.stdout);
    let echo = run.stdout.lines().find(|line| line.starts_with("echo ")).unwrap();
    let tokens: usize = echo.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(tokens > 10, "{echo}");
    let last = run.stdout.lines().last().unwrap();
    assert!(last.contains(" tools, about ") && last.contains(" tokens"), "{last}");
    // Options of the server need no `--` before them.
    assert_eq!(stickler(&["tools", &server, "--mode", "strict"]).status, 0);
}

#[test]
fn saved_tools_feed_validate_and_check() {
    let server = server();
    let run = stickler(&["tools", "--format", "json", "--", &server]);
    let printed: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(run.stdout.lines().count(), 1);
    let file = crate::support::command::Scratch::new("saved-tools.json", b"");
    let run = stickler(&["tools", "-o", file.path(), "--", &server]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{}", run.stderr);
    let saved = std::fs::read_to_string(file.path()).unwrap();
    assert!(saved.lines().count() > 20, "one member per line: {saved}");
    assert_eq!(serde_json::from_str::<Value>(&saved).unwrap(), printed);
    let run = stickler(&["validate", "--tools", file.path(), "echo", "--args", "{\"txt\":1}"]);
    assert_eq!((run.status, run.stdout.contains("did you mean `text`")), (1, true));
    let run = stickler(&["check", "--tools", file.path()]);
    assert!(run.status < 2, "{}", run.stderr);
}

#[test]
fn tools_of_an_unreachable_server_exit_with_3() {
    let run = stickler(&["tools", "--", "/no/such/program"]);
    assert_eq!((run.status, run.stderr.contains("cannot start")), (3, true), "{}", run.stderr);
}

#[test]
fn unknown_tool_lists_the_tools() {
    let run = call(&["nonesuch"]);
    assert_eq!(run.status, 1);
    assert!(run.stdout.contains("the tools are `echo`, "), "{}", run.stdout);
}

#[test]
fn rejected_call_is_reported_once() {
    let run = call(&["nonesuch"]);
    assert!(!run.stderr.contains("rejected"), "{}", run.stderr);
}

#[test]
fn command_line_in_place_of_the_program_is_explained() {
    for arguments in [
        &["run", "--", "npx -y foo"][..],
        &["call", "x", "--", "npx -y foo"],
        &["tools", "--", "npx -y foo"],
        &["run", "--listen", "127.0.0.1:0", "--", "npx -y foo"],
    ] {
        let run = stickler(arguments);
        assert_eq!(run.status, 3, "{}", run.stderr);
        let hint = "program not found; `npx` is the program and `-y foo` are arguments";
        assert!(run.stderr.contains(hint), "{arguments:?}: {}", run.stderr);
    }
    let run = stickler(&["call", "x", "--", "no-such-program"]);
    assert!(run.stderr.trim_end().ends_with("program not found"), "{}", run.stderr);
}

#[test]
fn command_without_a_separator_is_explained() {
    for command in [&["npx", "-y", "foo"][..], &["./server"]] {
        let arguments = [&["call", "read", "path=x"], command].concat();
        let run = stickler(&arguments);
        assert_eq!(run.status, 2);
        let hint = "put `--` before the command of the server";
        assert!(run.stderr.contains(hint), "{}", run.stderr);
    }
}

#[test]
fn output_of_a_server_that_hangs_is_shown() {
    let run = stickler(&["call", "x", "--timeout", "1", "--", "sh", "-c", "echo Hello; sleep 60"]);
    assert_eq!(run.status, 3);
    assert!(run.stderr.contains("not a message: Hello"), "{}", run.stderr);
    assert!(
        run.stderr.contains("`sh` did not complete the handshake within 1 s"),
        "{}",
        run.stderr
    );
}

#[test]
fn json_with_other_quotes_is_corrected_in_the_hint() {
    for (given, hint) in [
        ("{'text':'a'}", "hint: JSON needs double quotes: '{\"text\":\"a\"}'"),
        ("{text:\"a\"}", "hint: JSON needs double quotes around names, too"),
        ("{text:a}", "hint: put the whole text in single quotes for the shell"),
    ] {
        let run = call(&["echo", "--args", given]);
        assert_eq!((run.status, run.stderr.contains(hint)), (2, true), "{}", run.stderr);
    }
}

#[test]
fn single_quoted_json_is_explained() {
    let run = call(&["echo", "--args", "{'text':'a'}"]);
    assert_eq!((run.status, run.stderr.contains("double quotes")), (2, true), "{}", run.stderr);
    let tools = crate::support::command::fixture("files.tools.json");
    let run = stickler(&["validate", "--tools", &tools, "read_file", "--args", "{'path':'a'}"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{}", run.stderr);
    assert!(run.stderr.contains("'{\"path\":\"a\"}'"), "{}", run.stderr);
    assert!(run.stderr.contains("error: `--args` is not JSON: "), "{}", run.stderr);
}
