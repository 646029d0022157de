//! `stickler audit`, run as a process: its JSON and text output and its exit codes.

use std::io::Write as _;

use crate::support::command::{Run, Scratch, fixture, shared, stickler, stickler_with_input};
use serde_json::Value;

fn records(run: &Run) -> Vec<Value> {
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Line, direction, rule and severity of every finding.
fn findings(run: &Run) -> Vec<(u64, String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let records = records(run);
    let findings = records.iter().filter(|record| record.get("summary").is_none());
    findings
        .map(|one| {
            let line = one["line"].as_u64().unwrap();
            (line, text(&one["dir"]), text(&one["rule"]), text(&one["severity"]))
        })
        .collect()
}

fn audit_json(file: &str) -> Run {
    stickler(&["audit", "--format", "json", file])
}

#[test]
fn clean_session_exits_with_0() {
    for name in ["audit/clean.ndjson", "audit/clean.raw.ndjson"] {
        let run = stickler(&["audit", &fixture(name)]);
        assert_eq!(run.stdout, "1 file, 14 messages: no findings\n", "{name}");
        assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    }
}

#[test]
fn each_violation_is_reported_on_its_line() {
    let run = audit_json(&fixture("audit/findings.ndjson"));
    assert_eq!(run.status, 1);
    let expected = [
        (2, "s2c", "stdout-noise", "warning"),
        (6, "s2c", "STK-108", "warning"),
        (7, "c2s", "STK-107", "error"),
        (7, "c2s", "STK-107", "error"),
        (7, "c2s", "STK-107", "error"),
        (8, "s2c", "bad-result", "error"),
        (9, "c2s", "STK-106", "error"),
        (10, "s2c", "bad-error", "error"),
        (11, "s2c", "unpaired-response", "warning"),
        (12, "c2s", "capability", "warning"),
        (13, "c2s", "duplicate-id", "error"),
        (14, "s2c", "capability", "warning"),
        (15, "s2c", "wrong-direction", "warning"),
        (16, "c2s", "unknown-method", "note"),
        (17, "c2s", "bad-envelope", "error"),
        (19, "c2s", "json-syntax", "error"),
        (20, "s2c", "empty-line", "note"),
        (21, "s2c", "stdout-noise", "warning"),
        (22, "c2s", "duplicate-key", "warning"),
        (23, "c2s", "bad-params", "error"),
        (24, "c2s", "unknown-reference", "note"),
        (25, "c2s", "lifecycle", "warning"),
        (26, "c2s", "bad-envelope", "error"),
        (27, "c2s", "reused-id", "note"),
        (29, "s2c", "stdout-noise", "warning"),
        (30, "s2c", "json-syntax", "error"),
    ];
    let found = findings(&run);
    let found: Vec<_> =
        found.iter().map(|(line, a, b, c)| (*line, a.as_str(), b.as_str(), c.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn json_output_has_the_documented_members_in_order() {
    let file = fixture("audit/findings.ndjson");
    let records = records(&audit_json(&file));
    let (last, findings) = records.split_last().unwrap();
    for finding in findings {
        let keys: Vec<&String> = finding.as_object().unwrap().keys().collect();
        let expected =
            ["file", "line", "dir", "rule", "severity", "path", "message", "expected", "received"];
        assert_eq!(keys, expected);
        assert_eq!(finding["file"], file.as_str());
    }
    let summary = r#"{"summary":{"messages":28,"errors":12,"warnings":10,"notes":4,"files":1}}"#;
    assert_eq!(last.to_string(), summary);
}

#[test]
fn text_output_lists_findings_and_a_summary() {
    let file = fixture("audit/findings.ndjson");
    let run = stickler(&["audit", &file]);
    assert_eq!(run.status, 1);
    insta::assert_snapshot!("findings_as_text", run.stdout.replace(&file, "findings.ndjson"));
}

#[test]
fn text_output_shows_five_findings_per_rule_and_counts_the_rest() {
    let file = Scratch::new("noise", "noise\n".repeat(9).as_bytes());
    let run = stickler(&["audit", file.path()]);
    assert_eq!(run.stdout.matches("warning[stdout-noise]").count(), 5);
    assert!(run.stdout.contains("4 more findings of stdout-noise"), "{}", run.stdout);
    let run = stickler(&["audit", "--all", file.path()]);
    assert_eq!(run.stdout.matches("warning[stdout-noise]").count(), 9);
    assert!(!run.stdout.contains("more findings of"), "{}", run.stdout);
}

#[test]
fn denied_warnings_fail_the_audit_and_notes_never_do() {
    let warning = Scratch::new("warning", b"noise\n");
    assert_eq!(stickler(&["audit", warning.path()]).status, 0);
    assert_eq!(stickler(&["audit", "--deny", "warning", warning.path()]).status, 1);
    let note = Scratch::new("note", b"\n");
    assert_eq!(stickler(&["audit", "--deny", "warning", note.path()]).status, 0);
}

#[test]
fn argument_values_are_masked_by_default() {
    let file = fixture("audit/findings.ndjson");
    for format in ["text", "json"] {
        let masked = stickler(&["audit", "--format", format, "--all", &file]);
        assert!(!masked.stdout.contains("hunter2"), "{}", masked.stdout);
        let shown = stickler(&["audit", "--format", format, "--all", "--show-values", &file]);
        assert!(shown.stdout.contains("hunter2"), "{}", shown.stdout);
    }
}

#[test]
fn compressed_files_and_stdin_give_the_same_findings_as_the_plain_file() {
    let plain = std::fs::read(fixture("audit/findings.ndjson")).unwrap();
    let expected = findings(&audit_json(&fixture("audit/findings.ndjson")));
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&plain).unwrap();
    let gzip = encoder.finish().unwrap();
    let zstd =
        ruzstd::encoding::compress_to_vec(&plain[..], ruzstd::encoding::CompressionLevel::Fastest);
    for (name, bytes) in [("gzip", gzip), ("zstd", zstd), ("stdin", plain)] {
        let file = Scratch::new(name, &bytes);
        assert_eq!(findings(&audit_json(file.path())), expected, "{name}");
        let run = stickler_with_input(&["audit", "--format", "json", "-"], &bytes);
        assert_eq!((run.status, findings(&run)), (1, expected.clone()), "{name}");
        assert_eq!(records(&run)[0]["file"], "-");
    }
}

#[test]
fn files_are_reported_in_command_line_order() {
    let (many, one) = ("noise\n".repeat(4_000), "noise\n");
    let files: Vec<Scratch> = (0..12)
        .map(|index| {
            let content = if index % 3 == 0 { many.as_str() } else { one };
            Scratch::new(&format!("order-{index}"), content.as_bytes())
        })
        .collect();
    let names: Vec<&str> = files.iter().map(Scratch::path).collect();
    let arguments = [&["audit", "--format", "json"][..], &names].concat();
    let first = stickler(&arguments);
    let mut reported: Vec<String> = records(&first)
        .iter()
        .filter_map(|record| record["file"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(reported.len(), 4 * 4_000 + 8);
    reported.dedup();
    assert_eq!(reported, names);
    assert!(first.stdout == stickler(&arguments).stdout, "the output is deterministic");
}

#[test]
fn session_state_does_not_leak_between_files() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"other"}}"#;
    let file = Scratch::new("call", call.as_bytes());
    let run = stickler(&["audit", "--format", "json", &fixture("audit/clean.ndjson"), file.path()]);
    let rules: Vec<String> = findings(&run).into_iter().map(|(_, _, rule, _)| rule).collect();
    assert_eq!(rules, ["lifecycle"]);
}

#[test]
fn unreadable_file_exits_with_2_and_the_other_files_are_audited() {
    let clean = fixture("audit/clean.ndjson");
    let folder = fixture("audit");
    let run = stickler(&["audit", "--format", "json", "/nowhere/x.ndjson", &clean, &folder]);
    assert_eq!(run.status, 2);
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{}", run.stderr);
    assert!(lines[0].starts_with("error: cannot read `/nowhere/x.ndjson`: No such file"));
    assert!(lines[1].contains("is a directory") || lines[1].contains("Is a directory"));
    assert_eq!(records(&run).last().unwrap()["summary"]["messages"], 14);
}

#[test]
fn revision_option_selects_the_schema() {
    let list = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let file = Scratch::new("list", list);
    let run = stickler(&["audit", "--format", "json", "--revision", "2025-03-26", file.path()]);
    assert_eq!((run.status, findings(&run)), (0, vec![]));
    let run = stickler(&["audit", "--format", "json", "--revision", "2026-07-28", file.path()]);
    let rules: Vec<String> = findings(&run).into_iter().map(|(_, _, rule, _)| rule).collect();
    assert_eq!((run.status, rules), (1, vec!["bad-params".to_owned()]));
    let run = stickler(&["audit", "--revision", "2025-01-01", file.path()]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("is not an MCP revision; known revisions: 2024-11-05"));
}

#[test]
fn direction_option_applies_to_raw_messages() {
    let file = Scratch::new("direction", br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    let noise = Scratch::new("client-noise", b"hello\n");
    let run = stickler(&["audit", "--format", "json", "--direction", "s2c", file.path()]);
    assert_eq!((run.status, findings(&run)), (0, vec![]));
    let run = stickler(&["audit", "--format", "json", "--direction", "c2s", noise.path()]);
    let found = (1, "c2s".to_owned(), "json-syntax".to_owned(), "error".to_owned());
    assert_eq!((run.status, findings(&run)), (1, vec![found]));
}

#[test]
fn unusable_protocol_schema_is_explained_and_exits_with_2() {
    let empty = Scratch::new("empty-schema", b"{}");
    let text = Scratch::new("text-schema", b"hello");
    let clean = fixture("audit/clean.ndjson");
    for (source, part) in [
        (format!("2025-11-25={}", empty.path()), "`$defs`"),
        (format!("2025-11-25={}", text.path()), "not JSON"),
        (format!("2025-11-25=file://{}", text.path()), "not JSON"),
        ("2025-11-25=/nowhere/schema.json".to_owned(), "No such file"),
        ("2025-11-25=http://127.0.0.1:1/schema.json".to_owned(), "Connection refused"),
        ("2025-11-26=schema.json".to_owned(), "is not an MCP revision"),
        ("schema.json".to_owned(), "expected REVISION=FILE"),
    ] {
        let run = stickler(&["audit", "--protocol-schema", &source, &clean]);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{source}");
        assert!(run.stderr.contains(part), "{source}: {}", run.stderr);
    }
}

#[test]
#[ignore = "needs the official MCP schemas in ../shared/mcp-schema"]
fn official_schema_replaces_the_built_in_one() {
    let schema =
        shared("mcp-schema/2025-11-25/schema.json").expect("the schema is in ../shared/mcp-schema");
    let source = format!("2025-11-25={}", schema.display());
    let run = stickler(&["audit", "--protocol-schema", &source, &fixture("audit/clean.ndjson")]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
}

#[test]
fn protocol_schema_is_fetched_from_a_url() {
    use std::io::{BufRead as _, BufReader, Write as _};
    let schema = stickler(&["schema", "--revision", "2025-11-25"]).stdout;
    // A renamed member shows which schema was used.
    let schema = schema.replace("\"serverInfo\"", "\"serverName\"");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let source = format!("2025-11-25=http://{}/schema.json", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = BufReader::new(stream.try_clone().unwrap());
        let mut line = String::new();
        while request.read_line(&mut line).unwrap() > 2 {
            line.clear();
        }
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", schema.len());
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(schema.as_bytes()).unwrap();
    });
    let file = fixture("audit/clean.ndjson");
    let run = stickler(&["audit", "--format", "json", "--protocol-schema", &source, &file]);
    server.join().unwrap();
    assert_eq!(run.status, 1, "{}", run.stderr);
    assert!(run.stdout.contains("/result/serverName"), "{}", run.stdout);
}

#[test]
fn closed_stdout_is_not_an_error() {
    use std::process::{Command, Stdio};
    let file = Scratch::new("closed", "noise\n".repeat(100_000).as_bytes());
    let mut child = Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["audit", "--all", file.path(), file.path()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn missing_file_argument_prints_usage() {
    let run = stickler(&["audit"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("Usage"), "{}", run.stderr);
}
