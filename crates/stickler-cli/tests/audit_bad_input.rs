//! Whatever a recording holds: a finding, no crash, and the next line as if nothing had been.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::disallowed_methods,
    reason = "tests are blunt, and read files and start processes"
)]

mod support;

use std::fmt::Write as _;
use std::io::Write as _;

use serde_json::{Value, json};
use support::{Scratch, stickler, stickler_with_input};

const LIMIT: usize = 16 << 20;

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

/// A handshake of two messages and a notification, for what comes from line 4 on.
fn handshake(revision: &str) -> String {
    let client = json!({"name": "c", "version": "1"});
    let ask = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params":
        {"protocolVersion": revision, "capabilities": {}, "clientInfo": client}});
    let answer = json!({"jsonrpc": "2.0", "id": 0, "result":
        {"protocolVersion": revision, "capabilities": {"tools": {}}, "serverInfo": client}});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    format!("{ask}\n{answer}\n{ready}\n")
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
fn nothing_at_all() {
    assert_eq!(audit(&[], b""), (vec![], 0));
}

#[test]
fn binary_garbage_costs_one_line() {
    let mut session = handshake("2025-11-25").into_bytes();
    session.extend(b"\x00\xff\xfe{\x80\n");
    session.extend(ping(1).bytes());
    assert_eq!(audit(&[], &session), (found(&[(4, "stdout-noise")]), 5));
}

#[test]
fn line_endings_may_be_mixed_and_a_file_may_begin_with_a_mark() {
    let session = format!("\u{feff}{}{}\r\n", handshake("2025-11-25"), ping(1));
    assert_eq!(audit(&[], session.as_bytes()), (vec![], 4));
    let records = format!("\u{feff}{}\r\n{}\n", record("c2s", &ping(1)), record("s2c", &pong(1)));
    assert_eq!(audit(&[], records.as_bytes()), (vec![], 2));
    let later = format!("{}\n\u{feff}{}\n", ping(1), ping(2));
    assert_eq!(audit(&[], later.as_bytes()).0, found(&[(2, "json-syntax")]));
}

#[test]
fn empty_lines_are_notes() {
    let session = format!("\n{}\r\n\r\n  \n{}\n\n", ping(1), pong(1));
    let notes = [(1, "empty-line"), (3, "empty-line"), (4, "empty-line"), (6, "empty-line")];
    assert_eq!(audit(&[], session.as_bytes()), (found(&notes), 2));
}

#[test]
fn a_recording_that_breaks_off() {
    let raw = format!("{}{{\"jsonrpc\":\"2.0\",\"id\":1,\"meth", handshake("2025-11-25"));
    assert_eq!(audit(&[], raw.as_bytes()), (found(&[(4, "json-syntax")]), 4));
    let whole = record("c2s", &ping(1));
    let cut = format!("{whole}\n{}", &whole[..whole.len() - 9]);
    assert_eq!(audit(&[], cut.as_bytes()), (found(&[(2, "json-syntax")]), 2));
}

#[test]
fn a_compressed_file_that_breaks_off_exits_with_2_and_tells_what_came_before() {
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
fn a_message_of_the_limit_passes_and_one_byte_more_does_not() {
    let message = |bytes: usize| {
        let empty = ping("").len();
        ping("x".repeat(4)).replace(
            "\"method\"",
            &format!("\"filler\":\"{}\",\"method\"", "y".repeat(bytes - empty - 4 - 12)),
        )
    };
    assert_eq!(message(LIMIT).len(), LIMIT);
    let limit = message(LIMIT);
    let more = message(LIMIT + 1);
    for (line, rules) in [(&limit, vec![]), (&more, found(&[(1, "too-large")]))] {
        let session = format!("{line}\r\n{}\n", ping(2));
        assert_eq!(audit(&[], session.as_bytes()), (rules.clone(), 2), "{} bytes", line.len());
        let session = format!("{}\n{}\n", record("c2s", line), record("c2s", &ping(2)));
        assert_eq!(audit(&[], session.as_bytes()), (rules, 2), "a record of {}", line.len());
    }
}

#[test]
fn a_line_longer_than_any_record_costs_one_line() {
    let mut session = br#"{"dir":"c2s","msg":""#.to_vec();
    session.resize(7 * LIMIT, b'x');
    session.extend(b"\"}\n");
    session.extend(ping(2).bytes());
    assert_eq!(audit(&[], &session), (found(&[(1, "too-large")]), 2));
}

#[test]
fn deep_nesting() {
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
fn answers_that_nobody_asked_for_and_ids_used_twice() {
    let session = format!("{}\n{}\n{}\n{}\n{}\n", pong(7), ping(1), ping(1), pong(1), pong(1));
    let session = handshake("2025-11-25") + &session;
    // The second ping with the same id can only be the server's, so both are answered.
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
fn interleaved_requests_of_both_sides() {
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
    // The handshake had the id 0 as well.
    assert_eq!((rules, messages), (found(&[(4, "reused-id")]), 2_003));
}

#[test]
fn a_batch_of_ten_thousand_belongs_to_one_revision() {
    let requests: Vec<String> = (1..=10_000).map(ping).collect();
    let answers: Vec<String> = (1..=10_000).map(pong).collect();
    let batches = format!("[{}]\n[{}]\n", requests.join(","), answers.join(","));
    let session = handshake("2025-03-26") + &batches;
    assert_eq!(audit(&[], session.as_bytes()), (vec![], 5));
    let session = handshake("2025-06-18") + &batches;
    let rules = found(&[(4, "bad-envelope"), (5, "bad-envelope")]);
    assert_eq!(audit(&[], session.as_bytes()), (rules, 5));
}

#[test]
fn a_method_of_a_megabyte_is_not_repeated_in_full() {
    let message = ping(1).replace("ping", &"m".repeat(1 << 20));
    let file = Scratch::new("method", (handshake("2025-11-25") + &message).as_bytes());
    for format in ["text", "json"] {
        let run = stickler(&["audit", "--format", format, file.path()]);
        assert_eq!(run.status, 0, "an unknown method is a note");
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
