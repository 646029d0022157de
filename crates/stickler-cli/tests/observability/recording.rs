//! What is recorded, and that `audit` reads it back.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::support::folder::Folder;
use crate::support::http::{self, call, scripted_server};
use crate::support::modern::{ACCEPT_BOTH, send_modern};
use crate::support::stdio::Gateway;
use crate::{audit, lines, logged, recordings};

const SECRET: &str = "correct-horse-battery";

/// Talks through a gateway over stdio: valid calls, rejected ones, noise, an unknown tool. Returns its log.
fn converse(options: &[&str]) -> String {
    let server = scripted_server();
    let mut arguments = vec!["--log-format", "json"];
    arguments.extend(options);
    arguments.extend(["--", server.to_str().unwrap(), "--mode", "noise"]);
    let mut gateway = Gateway::start(&arguments);
    gateway.handshake();
    gateway.call(1, "echo", &json!({ "text": "hello" }));
    gateway.call(2, "echo", &json!({ "txt": "hello", "password": SECRET }));
    gateway.call(3, "ech", &json!({ "text": "hello" }));
    gateway.call(4, "echo", &json!({ "text": 5, "apiKey": SECRET }));
    gateway.write_raw("this is not JSON\n");
    gateway.receive();
    gateway.call(5, "echo", &json!({ "text": "<script>alert(1)</script>\u{1b}[2J" }));
    gateway.end().stderr
}

#[test]
fn recording_has_a_header_records_and_a_summary() {
    let folder = Folder::new();
    let log = converse(&["--record", &folder.path("r"), "--name", "a/b"]);
    let mode = |path: &str| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder.path("r")), 0o700);
    let [(path, text)] = &recordings(&folder, "r")[..] else { panic!("one file: {log}") };
    assert_eq!(mode(path), 0o600);
    assert!(path.contains("Z-a_b-"), "{path}");
    let lines = lines(text);
    let header = &lines[0];
    assert_eq!((&header["stickler_recording"], &header["part"]), (&json!(1), &json!(0)));
    assert_eq!((&header["server"], &header["mode"]), (&json!("a/b"), &json!("enforce")));
    assert_eq!(header["values"], "redacted");
    let summary = &lines.last().unwrap()["summary"];
    let counts = ["calls", "rejected", "would_reject", "repaired", "dropped_events"];
    assert_eq!(counts.map(|name| summary[name].as_u64().unwrap()), [5, 4, 0, 0, 0]);
    let rejected = lines.iter().find(|line| line["verdict"]["rule"] == "STK-106").unwrap();
    assert_eq!(rejected["verdict"]["decision"], "answer");
    assert_eq!(rejected["verdict"]["corrected"]["name"], "echo");
    assert!(rejected["verdict"]["help"].as_str().unwrap().contains("Did you mean"));
    let answered = lines.iter().find(|line| line["ms"].is_f64() && line["verdict"].is_null());
    assert_eq!(answered.unwrap()["dir"], "s2c");
    assert!(lines.iter().any(|line| line["by"] == "gateway" && line["dir"] == "c2s"));
    assert!(lines.iter().any(|line| line["sent"].is_string()), "the announced capability");
    // Each request of the gateway has its response.
    let own = |dir: &str| {
        let is_list = |line: &&Value| {
            let is_own = line["by"] == "gateway" && line["dir"] == dir;
            is_own && line["msg"].as_str().unwrap().contains("\"stickler:tools:")
        };
        lines.iter().filter(is_list).count()
    };
    assert_eq!((own("c2s"), own("s2c")), (2, 2), "{text}");
}

#[test]
fn header_names_the_client_of_the_first_message() {
    let (folder, server) = (Folder::new(), scripted_server());
    let mut gateway =
        Gateway::start(&["--record", &folder.path("r"), "--", server.to_str().unwrap()]);
    gateway.handshake();
    gateway.end();
    let [(_, text)] = &recordings(&folder, "r")[..] else { panic!("one file") };
    assert_eq!(lines(text)[0]["client"], json!({ "name": "c", "version": "1" }));
}

#[test]
fn audit_of_a_recording_finds_what_the_gateway_reported() {
    for values in ["redacted", "none", "full"] {
        let folder = Folder::new();
        let log = converse(&["--record", &folder.path("r"), "--record-values", values]);
        let expected = logged(&log);
        assert!(expected.len() >= 5, "{log}");
        let files: Vec<String> =
            recordings(&folder, "r").into_iter().map(|(path, _)| path).collect();
        let (found, status) = audit(&files);
        assert_eq!((sorted(found), status), (sorted(expected), 1), "{values}");
    }
}

/// Talks through a gateway: what `converse` says, and calls that the modes treat differently, a repeated id, a wrong
/// envelope, a response without a request, and a message that is too large.
fn converse_in_mode(mode: &str, options: &[&str]) -> String {
    let server = scripted_server();
    let mut arguments = vec!["--log-format", "json", "--mode", mode];
    arguments.extend(options);
    arguments.extend(["--", server.to_str().unwrap(), "--mode", "noise"]);
    let variables = [("STICKLER_LIMITS_MESSAGE_BYTES", "20000")];
    let mut gateway = Gateway::with_env(&arguments, &variables);
    gateway.handshake();
    for (id, tool, arguments) in [
        (1, "echo", json!({ "text": "hello" })),
        (2, "echo", json!({ "txt": "hello" })),
        (3, "ech", json!({ "text": "hello" })),
        (4, "echo", json!({ "text": "hello", "zzzzzz": [1] })),
        (5, "echo", json!({ "text": "hello", "millis": "5" })),
        (6, "no_such_tool_at_all", json!({})),
        (7, "echo", json!({ "text": "x".repeat(30_000) })),
    ] {
        gateway.call(id, tool, &arguments);
    }
    gateway.send_call(8, "slow", &json!({ "text": "x", "millis": 300 }));
    gateway.send_call(8, "echo", &json!({ "text": "x" }));
    gateway.receive();
    gateway.receive();
    gateway.write_raw("this is not JSON\n");
    gateway.receive();
    gateway.write_raw("{\"jsonrpc\":\"1.0\",\"id\":9,\"method\":\"ping\"}\n");
    gateway.receive();
    gateway.send(&json!({ "jsonrpc": "2.0", "id": 77, "result": {} }));
    assert!(gateway.call(10, "echo", &json!({ "text": "last" }))["result"].is_object());
    gateway.end().stderr
}

#[test]
fn audit_judges_messages_that_were_recorded_in_full_itself() {
    for mode in ["enforce", "assist", "observe"] {
        let folder = Folder::new();
        let record = folder.path("r");
        let log = converse_in_mode(mode, &["--record", &record, "--record-values", "full"]);
        let expected = sorted(logged(&log));
        assert!(expected.len() >= 6, "{mode}: {log}");
        let [(path, text)] = &recordings(&folder, "r")[..] else { panic!("one file") };
        let (found, _) = audit(std::slice::from_ref(path));
        assert_eq!(sorted(found), expected, "{mode}: {text}");
        // Without the verdicts of the gateway, it finds the same, except what needs the text of the large message.
        let without: Vec<String> = lines(text)
            .into_iter()
            .map(|mut line| {
                line.as_object_mut().unwrap().remove("verdict");
                line.to_string() + "\n"
            })
            .collect();
        std::fs::write(path, without.concat()).unwrap();
        let (found, _) = audit(std::slice::from_ref(path));
        let too_large = |one: &(String, String)| one.1 == "too-large";
        let expected: Vec<_> = expected.into_iter().filter(|one| !too_large(one)).collect();
        let found: Vec<_> = found.into_iter().filter(|one| !too_large(one)).collect();
        assert_eq!(sorted(found), expected, "{mode}");
    }
}

#[test]
fn audit_uses_the_recorded_verdicts_of_redacted_sessions() {
    let folder = Folder::new();
    converse(&["--record", &folder.path("r")]);
    let [(path, text)] = &recordings(&folder, "r")[..] else { panic!("one file") };
    let other = text.replace("STK-107", "STK-108");
    std::fs::write(path, other).unwrap();
    let (found, _) = audit(std::slice::from_ref(path));
    let count = |rule: &str| found.iter().filter(|(_, one)| one == rule).count();
    assert_eq!((count("STK-107"), count("STK-108")), (0, 2), "{found:?}");
}

fn sorted(mut all: Vec<(String, String)>) -> Vec<(String, String)> {
    all.sort();
    all
}

#[test]
fn recorded_values_are_those_that_the_setting_allows() {
    for (values, has_secret, has_text) in
        [("redacted", false, true), ("none", false, false), ("full", true, true)]
    {
        let folder = Folder::new();
        converse(&["--record", &folder.path("r"), "--record-values", values]);
        let [(_, text)] = &recordings(&folder, "r")[..] else { panic!("one file") };
        assert_eq!(text.contains(SECRET), has_secret, "{values}: {text}");
        assert_eq!(text.contains("alert(1)"), has_text, "{values}: {text}");
        let lines = lines(text);
        let is_redacted = lines.iter().any(|line| line["redacted"] == true);
        assert_eq!(is_redacted, values != "full", "{values}");
        // Whatever is removed, each message is still JSON with its method and id.
        let call = lines.iter().filter_map(|line| {
            let message: Value = serde_json::from_str(line["msg"].as_str()?).ok()?;
            (message["id"] == 2 && message["method"] == "tools/call").then_some(message)
        });
        let [call] = &call.collect::<Vec<_>>()[..] else { panic!("one call") };
        let shown = if values == "full" { SECRET } else { "[redacted]" };
        assert_eq!(call["params"]["arguments"]["password"], shown, "{values}");
        assert_eq!(call["params"]["name"], "echo", "{values}");
    }
}

#[test]
fn http_sessions_have_a_file_each_and_modern_requests_share_one() {
    let folder = Folder::new();
    let gateway = http::Gateway::scripted(&["--record", &folder.path("r")]);
    for _ in 0..2 {
        let session = gateway.session();
        let headers = [("mcp-session-id", session.as_str())];
        assert_eq!(gateway.post(&headers, &call(1, "echo", &json!({ "text": "x" }))).status, 200);
        assert_eq!(gateway.post(&headers, &call(2, "echo", &json!({ "txt": "x" }))).status, 200);
    }
    for id in ["a", "b"] {
        let params = json!({ "name": "echo", "arguments": { "txt": id } });
        let answer = send_modern(&gateway, (id, "tools/call"), params, (ACCEPT_BOTH, &json!({})));
        assert_eq!(answer.finish().status, 200);
    }
    assert_eq!(gateway.end(), 0);
    let files = recordings(&folder, "r");
    assert_eq!(files.len(), 3, "{files:?}");
    for (path, text) in &files {
        assert!(lines(text).last().unwrap()["summary"].is_object(), "{path}: {text}");
    }
    let connections = |text: &str| {
        let mut all: Vec<u64> = lines(text).iter().filter_map(|one| one["conn"].as_u64()).collect();
        all.dedup();
        all.len()
    };
    assert!(files.iter().any(|(_, text)| connections(text) >= 2), "modern requests are numbered");
    let paths: Vec<String> = files.into_iter().map(|(path, _)| path).collect();
    let (found, status) = audit(&paths);
    let rejected = found.iter().filter(|(dir, rule)| dir == "c2s" && rule == "STK-107").count();
    assert_eq!((rejected, status), (4, 1), "{found:?}");
}
