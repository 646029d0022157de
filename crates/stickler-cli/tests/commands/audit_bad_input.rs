//! `stickler audit` on malformed recordings: each defect is a finding, and the next line is audited normally.

use std::fmt::Write as _;
use std::io::Write as _;

use crate::support::command::{Scratch, stickler, stickler_with_input};
use serde_json::{Value, json};

const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// Line and rule of every finding, and the number of messages.
fn audit(options: &[&str], input: &[u8]) -> (Vec<(u64, String)>, u64) {
    let arguments = [&["audit", "--format", "json", "-"][..], options].concat();
    let run = stickler_with_input(&arguments, input);
    assert_eq!(run.stderr, "");
    let mut records: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let summary = records.pop().unwrap();
    let errors = summary["summary"]["errors"].as_u64().unwrap();
    assert_eq!(run.status, i32::from(errors > 0));
    let found = records.iter().map(|record| {
        (record["line"].as_u64().unwrap(), record["rule"].as_str().unwrap().to_owned())
    });
    (found.collect(), summary["summary"]["messages"].as_u64().unwrap())
}

fn found(list: &[(u64, &str)]) -> Vec<(u64, String)> {
    list.iter().map(|(line, rule)| (*line, (*rule).to_owned())).collect()
}

/// The three messages of a handshake; the messages under test start at line 4.
fn handshake(revision: &str) -> String {
    let client = json!({"name": "c", "version": "1"});
    let request = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params":
        {"protocolVersion": revision, "capabilities": {}, "clientInfo": client}});
    let response = json!({"jsonrpc": "2.0", "id": 0, "result":
        {"protocolVersion": revision, "capabilities": {"tools": {}}, "serverInfo": client}});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    format!("{request}\n{response}\n{ready}\n")
}

fn ping(id: impl Into<Value>) -> String {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": "ping"}).to_string()
}

fn pong(id: impl Into<Value>) -> String {
    json!({"jsonrpc": "2.0", "id": id.into(), "result": {}}).to_string()
}

fn record(direction: &str, message: &str) -> String {
    json!({"dir": direction, "msg": message}).to_string()
}

#[test]
fn empty_input_has_no_findings() {
    assert_eq!(audit(&[], b""), (vec![], 0));
}

#[test]
fn binary_garbage_affects_only_its_line() {
    let mut session = handshake("2025-11-25").into_bytes();
    session.extend(b"\x00\xff\xfe{\x80\n");
    session.extend(ping(1).bytes());
    assert_eq!(audit(&[], &session), (found(&[(4, "stdout-noise")]), 5));
}

#[test]
fn mixed_line_endings_and_a_leading_byte_order_mark_are_accepted() {
    let session = format!("\u{feff}{}{}\r\n", handshake("2025-11-25"), ping(1));
    assert_eq!(audit(&[], session.as_bytes()), (vec![], 4));
    let records = format!("\u{feff}{}\r\n{}\n", record("c2s", &ping(1)), record("s2c", &pong(1)));
    assert_eq!(audit(&[], records.as_bytes()), (vec![], 2));
    let later = format!("{}\n\u{feff}{}\n", ping(1), ping(2));
    assert_eq!(audit(&[], later.as_bytes()).0, found(&[(2, "json-syntax")]));
}

#[test]
fn empty_lines_are_reported_as_notes() {
    let session = format!("\n{}\r\n\r\n  \n{}\n\n", ping(1), pong(1));
    let notes = [(1, "empty-line"), (3, "empty-line"), (4, "empty-line"), (6, "empty-line")];
    assert_eq!(audit(&[], session.as_bytes()), (found(&notes), 2));
}

#[test]
fn truncated_last_line_is_a_syntax_error() {
    let raw = format!("{}{{\"jsonrpc\":\"2.0\",\"id\":1,\"meth", handshake("2025-11-25"));
    assert_eq!(audit(&[], raw.as_bytes()), (found(&[(4, "json-syntax")]), 4));
    let whole = record("c2s", &ping(1));
    let cut = format!("{whole}\n{}", &whole[..whole.len() - 9]);
    assert_eq!(audit(&[], cut.as_bytes()), (found(&[(2, "json-syntax")]), 2));
}

#[test]
fn truncated_gzip_file_exits_with_2_and_reports_the_readable_part() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    for index in 0..50_000_u32 {
        writeln!(encoder, "noise {}", index.wrapping_mul(2_654_435_761)).unwrap();
    }
    let whole = encoder.finish().unwrap();
    let file = Scratch::new("truncated.gz", &whole[..whole.len() / 2]);
    let run = stickler(&["audit", "--format", "json", file.path()]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.starts_with("error: cannot read `"), "{}", run.stderr);
    assert!(run.stderr.contains("from line"), "{}", run.stderr);
    let last: Value = serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap();
    assert!(last["summary"]["messages"].as_u64().unwrap() > 1_000);
    assert_eq!(last["summary"]["files"], 1);
}

#[test]
fn message_at_the_size_limit_passes_and_one_byte_more_does_not() {
    let message = |bytes: usize| {
        let empty = ping("").len();
        ping("x".repeat(4)).replace(
            "\"method\"",
            &format!("\"filler\":\"{}\",\"method\"", "y".repeat(bytes - empty - 4 - 12)),
        )
    };
    assert_eq!(message(MAX_MESSAGE_BYTES).len(), MAX_MESSAGE_BYTES);
    let at_limit = message(MAX_MESSAGE_BYTES);
    let above_limit = message(MAX_MESSAGE_BYTES + 1);
    for (line, rules) in [(&at_limit, vec![]), (&above_limit, found(&[(1, "too-large")]))] {
        let session = format!("{line}\r\n{}\n", ping(2));
        assert_eq!(audit(&[], session.as_bytes()), (rules.clone(), 2), "{} bytes", line.len());
        let session = format!("{}\n{}\n", record("c2s", line), record("c2s", &ping(2)));
        assert_eq!(audit(&[], session.as_bytes()), (rules, 2), "a record of {}", line.len());
    }
}

#[test]
fn oversized_record_affects_only_its_line() {
    let mut session = br#"{"dir":"c2s","msg":""#.to_vec();
    session.resize(7 * MAX_MESSAGE_BYTES, b'x');
    session.extend(b"\"}\n");
    session.extend(ping(2).bytes());
    assert_eq!(audit(&[], &session), (found(&[(1, "too-large")]), 2));
}

#[test]
fn deeply_nested_message_is_reported_as_too_deep() {
    for depth in [129, 100_000] {
        let deep = "[".repeat(depth) + &"]".repeat(depth);
        let session = format!(
            "{}{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{deep}}}\n{deep}\n{}\n",
            handshake("2025-11-25"),
            ping(2)
        );
        let rules = found(&[(4, "too-deep"), (5, "too-deep")]);
        assert_eq!(audit(&[], session.as_bytes()), (rules, 6), "{depth}");
    }
}

#[test]
fn unpaired_responses_and_duplicate_ids_are_reported() {
    let session = format!("{}\n{}\n{}\n{}\n{}\n", pong(7), ping(1), ping(1), pong(1), pong(1));
    let session = handshake("2025-11-25") + &session;
    // Without directions, the second ping with the same id is taken for the server's, so both are paired.
    assert_eq!(audit(&[], session.as_bytes()), (found(&[(4, "unpaired-response")]), 8));
    let lines =
        [("s2c", pong(7)), ("c2s", ping(1)), ("c2s", ping(1)), ("s2c", pong(1)), ("s2c", pong(1))];
    let session: String = lines.iter().fold(String::new(), |mut text, (direction, message)| {
        let _ = writeln!(text, "{}", record(direction, message));
        text
    });
    let rules = [(1, "unpaired-response"), (3, "duplicate-id"), (5, "unpaired-response")];
    assert_eq!(audit(&[], session.as_bytes()), (found(&rules), 5));
}

#[test]
fn interleaved_requests_of_both_sides_are_paired() {
    let mut session = handshake("2025-11-25");
    for id in 0..500 {
        let _ = writeln!(session, "{}", record("c2s", &ping(id)));
        let _ = writeln!(session, "{}", record("s2c", &ping(id)));
    }
    for id in (0..500).rev() {
        let _ = writeln!(session, "{}", record("s2c", &pong(id)));
        let _ = writeln!(session, "{}", record("c2s", &pong(id)));
    }
    let (rules, messages) = audit(&[], session.as_bytes());
    // The handshake used the id 0.
    assert_eq!((rules, messages), (found(&[(4, "reused-id")]), 2_003));
}

#[test]
fn batch_of_ten_thousand_is_valid_only_in_2025_03_26() {
    let requests: Vec<String> = (1..=10_000).map(ping).collect();
    let responses: Vec<String> = (1..=10_000).map(pong).collect();
    let batches = format!("[{}]\n[{}]\n", requests.join(","), responses.join(","));
    let session = handshake("2025-03-26") + &batches;
    assert_eq!(audit(&[], session.as_bytes()), (vec![], 5));
    let session = handshake("2025-06-18") + &batches;
    let rules = found(&[(4, "bad-envelope"), (5, "bad-envelope")]);
    assert_eq!(audit(&[], session.as_bytes()), (rules, 5));
}

#[test]
fn one_megabyte_method_name_is_truncated_in_the_report() {
    let message = ping(1).replace("ping", &"m".repeat(1 << 20));
    let file = Scratch::new("method", (handshake("2025-11-25") + &message).as_bytes());
    for format in ["text", "json"] {
        let run = stickler(&["audit", "--format", format, file.path()]);
        assert_eq!(run.status, 0, "an unknown method is only a note");
        assert!(run.stdout.contains("unknown-method") && run.stdout.len() < 4_000);
    }
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let message = ping(1).replace("ping", "\\u001b[2Jvendor/own");
    let run = stickler_with_input(&["audit", "-"], message.as_bytes());
    assert!(run.stdout.contains("\\u{1b}[2Jvendor/own"), "{}", run.stdout);
    assert!(!run.stdout.contains('\u{1b}'));
}
