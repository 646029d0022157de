//! `/metrics`, `/readyz` and `/healthz`.

use serde_json::json;

use crate::support::folder::Folder;
use crate::support::http::{Gateway, call, free_port, request, scripted_server};

fn get(port: u16, path: &str) -> (u16, String) {
    let response = request(port, "GET", path, &[], "").finish();
    (response.status, response.text())
}

/// The value of a sample with these labels.
fn sample(text: &str, name: &str, labels: &[&str]) -> u64 {
    let is_it = |line: &&str| {
        line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' ']))
            && labels.iter().all(|label| line.contains(label))
    };
    let found = text.lines().find(is_it).unwrap_or_else(|| panic!("no {name}{labels:?} in {text}"));
    found.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn metrics_count_verdicts_durations_sessions_and_processes() {
    let gateway = Gateway::scripted(&["--name", "s"]);
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    gateway.post(&headers, &call(1, "echo", &json!({ "text": "x" })));
    gateway.post(&headers, &call(2, "echo", &json!({ "txt": "x" })));
    for id in 3..9 {
        gateway.post(&headers, &call(id, &format!("invented_{id}_tool"), &json!({})));
    }
    let (status, text) = get(gateway.port, "/metrics");
    assert_eq!(status, 200);
    assert!(text.ends_with("# EOF\n"), "{text}");
    let verdict = |labels: &[&str]| sample(&text, "stickler_verdicts_total", labels);
    let echo = "tool=\"echo\"";
    assert_eq!(verdict(&[echo, "rule=\"STK-107\"", "decision=\"answer\"", "server=\"s\""]), 1);
    assert!(verdict(&[echo, "rule=\"\"", "decision=\"forward\""]) >= 1);
    assert_eq!(verdict(&["tool=\"unknown\"", "rule=\"STK-106\""]), 6);
    assert!(!text.contains("tool=\"invented"), "unknown tools are one label: {text}");
    let of_echo = ["mcp_method_name=\"tools/call\"", "gen_ai_tool_name=\"echo\""];
    let count = "mcp_server_operation_duration_seconds_count";
    assert!(sample(&text, count, &of_echo) >= 1);
    let count = "mcp_client_operation_duration_seconds_count";
    assert_eq!(sample(&text, count, &of_echo), 1);
    let buckets = "mcp_client_operation_duration_seconds_bucket";
    for limit in ["0.01", "0.5", "300.0", "+Inf"] {
        sample(&text, buckets, &[&format!("le=\"{limit}\""), of_echo[1]]);
    }
    assert_eq!(sample(&text, "stickler_sessions", &["server=\"s\""]), 1);
    assert_eq!(sample(&text, "stickler_children", &["server=\"s\""]), 1);
    assert_eq!(sample(&text, "stickler_pending_requests", &["server=\"s\""]), 0);
    assert_eq!(sample(&text, "stickler_dropped_events_total", &[]), 0);
}

#[test]
fn repairs_are_counted_by_edit() {
    let gateway = Gateway::scripted(&["--mode", "assist"]);
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    gateway.post(&headers, &call(1, "echo", &json!({ "text": "x", "millis": "5" })));
    let (_, text) = get(gateway.port, "/metrics");
    assert!(text.contains("stickler_repairs_total{edit=\""), "{text}");
}

#[test]
fn readiness_names_the_servers_that_cannot_be_started_or_reached() {
    let folder = Folder::new();
    let server = scripted_server();
    let closed = free_port();
    let config = format!(
        "[servers.good]\ncommand = {:?}\n[servers.missing]\ncommand = \"/no/such/program\"\n\
         [servers.closed]\nurl = \"http://127.0.0.1:{closed}/mcp\"\n",
        server.to_str().unwrap()
    );
    let file = folder.file("stickler.toml", &config);
    let gateway = Gateway::start(&["--config", &file]);
    let (status, text) = get(gateway.port, "/readyz");
    assert_eq!(status, 503, "{text}");
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
    let ready = |index: usize| {
        (answer["servers"][index]["name"].clone(), answer["servers"][index]["ready"].clone())
    };
    assert_eq!(ready(0), (json!("good"), json!(true)), "{text}");
    assert_eq!(ready(1), (json!("missing"), json!(false)));
    assert_eq!(ready(2), (json!("closed"), json!(false)));
    assert!(answer["servers"][1]["reason"].as_str().unwrap().contains("program not found"));
    let gateway = Gateway::start(&["--config", &file, "--server", "good"]);
    assert_eq!(get(gateway.port, "/readyz").0, 200);
}

#[test]
fn metrics_are_on_a_public_listener_only_if_it_is_loopback() {
    let port = free_port();
    let admin = format!("127.0.0.1:{port}");
    let gateway = Gateway::scripted(&["--admin-listen", &admin]);
    for path in ["/metrics", "/readyz"] {
        assert_eq!(get(gateway.port, path).0, 404, "{path}");
        assert_eq!(get(port, path).0, 200, "{path}");
    }
    assert_eq!((get(gateway.port, "/healthz").0, get(port, "/healthz").0), (200, 200));
    assert_eq!(get(port, "/mcp").0, 404);
    let gateway = Gateway::scripted(&[]);
    let foreign = [("host", "evil.example")];
    assert_eq!(request(gateway.port, "GET", "/metrics", &foreign, "").finish().status, 403);
}
