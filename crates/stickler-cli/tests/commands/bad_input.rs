//! Malformed and hostile input to `stickler validate`: a clear message, the right exit code, and no crash.

use std::fmt::Write as _;

use crate::support::command::{Run, Scratch, fixture, stickler, stickler_with_input};
use serde_json::Value;

fn validate(tools: &str, tool: &str, arguments: &str) -> Run {
    stickler(&["validate", "--tools", tools, tool, "--args", arguments, "--format", "json"])
}

fn kinds(run: &Run) -> Vec<String> {
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
    let lines = run.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let errors = lines.flat_map(|line| line["errors"].as_array().unwrap().clone());
    errors.map(|error| error["kind"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn unusable_tools_file_is_explained_and_exits_with_2() {
    for (name, content, part) in [
        ("empty", &b""[..], "ends before"),
        ("text", b"hello", "expected a JSON value"),
        ("latin1", b"{\"tools\": \"\xe4\"}", "UTF-8"),
        ("object", b"{\"a\": 1}", "no tools in it"),
        ("number", b"7", "no tools in it"),
    ] {
        let file = Scratch::new(name, content);
        let run = validate(file.path(), "t", "{}");
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{name}");
        assert!(run.stderr.starts_with("error: cannot use the tools in"), "{}", run.stderr);
        assert!(run.stderr.contains(part), "{name}: {}", run.stderr);
    }
    let run = validate("/nowhere/tools.json", "t", "{}");
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("No such file"), "{}", run.stderr);
}

#[test]
fn invalid_validate_command_line_exits_with_2() {
    let tools = fixture("files.tools.json");
    for arguments in [&["validate"][..], &["validate", "--tools", &tools], &["nonsense"]] {
        let run = stickler(arguments);
        assert_eq!(run.status, 2, "{arguments:?}");
        assert!(run.stderr.contains("Usage"), "{}", run.stderr);
    }
    let run = stickler(&["validate", "--tools", &tools, "--calls", "/nowhere/calls"]);
    assert_eq!(run.status, 2);
}

#[test]
fn malformed_arguments_are_reported_as_invalid_json() {
    let tools = fixture("files.tools.json");
    let deep = "[".repeat(1_000) + &"]".repeat(1_000);
    for text in ["{", "{'a': 1}", "{\"a\": \"\\ud8\"}", "\u{feff}{}", &deep] {
        let run = validate(&tools, "write_file", text);
        assert_eq!((run.status, kinds(&run)), (1, vec!["invalid_json".to_owned()]), "{text:.40}");
    }
}

#[test]
fn duplicate_keys_and_numbers_out_of_range_are_invalid_values() {
    let tools = fixture("files.tools.json");
    let twice = r#"{"path":"a","content":"b","path":"c"}"#;
    assert_eq!(kinds(&validate(&tools, "write_file", twice)), ["invalid_value"]);
    let huge = r#"{"path":"a","content":"b","lines":[1e400]}"#;
    assert_eq!(kinds(&validate(&tools, "write_file", huge)), ["invalid_value"]);
}

#[test]
fn oversized_or_binary_line_does_not_affect_the_next() {
    let tools = fixture("files.tools.json");
    let mut input = vec![b'x'; 17 << 20];
    input.extend(b"\n\x00\xff\xfe\n{\"name\":\"search\",\"arguments\":{\"what\":{\"by\":\"text\",\"text\":\"x\"}}}\n");
    let options = ["validate", "--tools", &tools, "--calls", "-", "--format", "json"];
    let run = stickler_with_input(&options, &input);
    assert_eq!(kinds(&run), ["invalid_json", "invalid_json"]);
    assert!(run.stdout.lines().nth(2).unwrap().contains("\"valid\":true"));
}

#[test]
fn one_hundred_megabyte_line_is_reported_as_invalid_json() {
    let tools = fixture("files.tools.json");
    let line = b"{\"name\":\"search\",\"arguments\":{\"what\":{\"by\":\"line\",\"line\":\"7\"}}}\n";
    let filler = vec![b' '; 100 << 20];
    let input = [&line[..], &filler, b"\n", line].concat();
    let options = ["validate", "--tools", &tools, "--calls", "-", "--format", "json"];
    let run = stickler_with_input(&options, &input);
    assert_eq!(kinds(&run), ["type_mismatch", "invalid_json", "type_mismatch"]);
}

#[test]
fn ten_thousand_tools_are_loaded_and_the_excess_is_reported() {
    let mut list = String::from("[");
    for index in 0..10_000 {
        let _ =
            write!(list, "{{\"name\":\"tool_{index}\",\"inputSchema\":{{\"type\":\"object\"}}}},");
    }
    let long = "x".repeat(1 << 20);
    let _ = write!(list, "{{\"name\":\"large\",\"inputSchema\":{{\"description\":\"{long}\"}}}}]");
    let file = Scratch::new("many", list.as_bytes());
    let run = validate(file.path(), "tool_9999", "{}");
    assert_eq!(run.status, 0);
    assert!(run.stderr.contains("more than 10000 tools"), "{}", run.stderr);
    let run = validate(file.path(), "tool_x", "{}");
    assert_eq!(run.status, 0, "an unknown name passes when the list is truncated: {}", run.stdout);
}

#[test]
fn hostile_schema_quarantines_only_its_tool() {
    let deep = "{\"not\":".repeat(5_000) + "{}" + &"}".repeat(5_000);
    let mut fan = String::from("{\"$ref\":\"#/$defs/d0\",\"$defs\":{\"d30\":{}");
    for level in 0..30 {
        let next = format!("{{\"$ref\":\"#/$defs/d{}\"}}", level + 1);
        let _ = write!(fan, ",\"d{level}\":{{\"allOf\":[{next},{next}]}}");
    }
    fan.push_str("}}");
    let remote = "{\"$ref\":\"http://127.0.0.1:9/schema.json\"}";
    let list = format!(
        "[{{\"name\":\"deep\",\"inputSchema\":{deep}}},{{\"name\":\"fan\",\"inputSchema\":{fan}}},\
         {{\"name\":\"remote\",\"inputSchema\":{remote}}},\
         {{\"name\":\"good\",\"inputSchema\":{{\"type\":\"object\",\"properties\":{{}}}}}}]"
    );
    let file = Scratch::new("hostile", list.as_bytes());
    let run = validate(file.path(), "good", "{\"x\":1}");
    assert_eq!((run.status, kinds(&run)), (1, vec!["unknown_field".to_owned()]));
    for tool in ["deep", "fan", "remote"] {
        let warning = format!("[STK-108] the schema of tool `{tool}` cannot be used");
        assert!(run.stderr.contains(&warning), "{}", run.stderr);
    }
}

#[test]
fn closed_stdout_is_not_an_error() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["explain"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0));
}

/// Starts `stickler ui` and returns it with the first line that it prints.
fn start_ui(arguments: &[&str]) -> (std::process::Child, String) {
    use std::io::BufRead as _;
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_stickler"));
    command.arg("ui").args(arguments).stdout(std::process::Stdio::piped());
    let mut ui = command.stderr(std::process::Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufReader::new(ui.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (ui, line.trim_end().to_owned())
}

#[test]
fn ui_rejects_bad_addresses_and_directories_with_a_reason() {
    let run = stickler(&["ui", "/nowhere/recordings"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("cannot read `/nowhere/recordings`"), "{}", run.stderr);
    let run = stickler(&["ui", ".", "--listen", "0.0.0.0:0"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("other machines"), "{}", run.stderr);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let run = stickler(&["ui", ".", "--listen", &address]);
    assert_eq!(run.status, 3);
    assert!(run.stderr.contains("the port is in use"), "{}", run.stderr);
}

#[test]
fn several_ui_processes_share_a_directory_without_a_browser() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o500)).unwrap();
    let directory = folder.path().to_str().unwrap();
    // Neither writes to the directory, and `--open` without a browser only logs.
    let (mut one, first) = start_ui(&[directory]);
    let (mut other, second) = start_ui(&[directory, "--open"]);
    for ui in [&mut one, &mut other] {
        assert!(ui.try_wait().unwrap().is_none());
        ui.kill().unwrap();
        ui.wait().unwrap();
    }
    for line in [&first, &second] {
        let token =
            line.strip_prefix("http://127.0.0.1:").unwrap().split_once("/?token=").unwrap().1;
        assert_eq!(token.len(), 48);
    }
    assert_ne!(first, second);
}
