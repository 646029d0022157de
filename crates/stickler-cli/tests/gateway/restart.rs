//! Restart of failed servers, with real processes.

use crate::support::folder::Folder;
use crate::support::http::{call, scripted_server};
use crate::support::stdio::{Gateway, wait_until};
use serde_json::{Value, json};

const SHORT_BACKOFF: (&str, &str) = ("STICKLER_RESTART_PAUSE", "0.05");

fn scripted() -> String {
    scripted_server().to_str().unwrap().to_owned()
}

#[test]
fn failed_server_is_restarted_with_the_client_handshake() {
    let folder = Folder::new();
    let log = folder.path("log");
    let arguments = ["--restart", "on-failure", "--", &scripted(), "--log", &log];
    let mut gateway = Gateway::with_env(&arguments, &[SHORT_BACKOFF]);
    gateway.handshake();
    gateway.call(1, "echo", &json!({ "text": "before" }));
    gateway.send_call(2, "slow", &json!({ "text": "x", "millis": 3_600_000 }));
    gateway.send_call(3, "die", &json!({ "text": "" }));
    let mut ids = Vec::new();
    for _ in 0..2 {
        let response = gateway.receive();
        assert!(
            response["error"]["message"].as_str().unwrap().starts_with("[STK-105]"),
            "{response}"
        );
        ids.push(response["id"].as_u64().unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, [2, 3], "all pending requests fail at once");
    // The client continues without a new handshake, and calls are validated as before.
    let response = gateway.call(4, "echo", &json!({ "text": "after" }));
    assert_eq!(
        (&response["id"], &response["result"]["content"][0]["text"]),
        (&json!(4), &json!("after"))
    );
    assert_eq!(gateway.call(5, "echo", &json!({ "txt": "after" }))["result"]["isError"], true);
    let seen = folder.read("log");
    let methods: Vec<String> = seen
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|message| format!("{} {}", message["method"].as_str().unwrap(), message["id"]))
        .collect();
    let second_handshake =
        methods.iter().position(|one| one.contains("stickler:initialize:1")).unwrap();
    assert_eq!(methods[second_handshake], "initialize \"stickler:initialize:1\"");
    assert_eq!(methods[second_handshake + 1], "notifications/initialized null");
    assert_eq!(methods.iter().filter(|one| *one == "tools/call 4").count(), 1, "{methods:?}");
    let first: Value = serde_json::from_str(seen.lines().next().unwrap()).unwrap();
    let second: Value = serde_json::from_str(seen.lines().nth(second_handshake).unwrap()).unwrap();
    assert_eq!(first["params"], second["params"], "the parameters are those of the client");
    let end = gateway.end();
    assert_eq!(end.status, 0);
    assert!(end.stderr.contains("server failed; restart attempt 1 in 0.05 s"), "{}", end.stderr);
}

#[test]
fn restart_limit_ends_the_gateway_with_the_server_exit_code() {
    let folder = Folder::new();
    let script = format!("echo start >> {}; exit 5", folder.path("starts"));
    let file = folder.file(
        "stickler.toml",
        &format!(
            "restart = 'on-failure'\nrestart_pause = 0.01\nrestart_limit = 3\n\
             [servers.a]\ncommand = 'sh'\nargs = ['-c', '{script}']\n"
        ),
    );
    let gateway = Gateway::start(&["--config", &file]);
    gateway.wait_for_log("restart attempt 3");
    let end = gateway.wait();
    assert_eq!(end.status, 5);
    assert_eq!(folder.read("starts"), "start\n".repeat(4));
}

#[test]
fn server_that_exits_successfully_is_not_restarted() {
    let end = Gateway::start(&["--restart", "on-failure", "--", "true"]).wait();
    assert_eq!((end.status, end.stderr.as_str()), (0, ""));
}

#[test]
fn client_disconnect_during_the_restart_backoff_ends_the_gateway() {
    let variables = [("STICKLER_RESTART_PAUSE", "3600")];
    let gateway = Gateway::with_env(&["--restart", "on-failure", "--", "false"], &variables);
    gateway.wait_for_log("restart attempt 1");
    assert_eq!(gateway.end().status, 1);
}

/// A server whose second process answers the handshake only when the file `go` exists.
fn slow_to_restart(folder: &Folder) -> String {
    let (second, go, ready) = (folder.path("second"), folder.path("go"), folder.path("ready"));
    let result = r#""result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;
    format!(
        "answer() {{ echo '{{\"jsonrpc\":\"2.0\",\"id\":'\"$1\"',{result}'; read line; }}\n\
         if [ -e {second} ]; then\n  read line; touch {ready}\n\
         until [ -e {go} ]; do sleep 0.02; done\n\
         answer '\"stickler:initialize:1\"'; cat > /dev/null\n\
         else\n  touch {second}; read line; answer '\"init\"'; read line; exit 7\nfi"
    )
}

#[test]
fn response_to_the_replayed_handshake_does_not_reach_a_half_closed_client() {
    let folder = Folder::new();
    let script = slow_to_restart(&folder);
    let arguments = ["--restart", "on-failure", "--", "sh", "-c", &script];
    let mut gateway = Gateway::with_env(&arguments, &[SHORT_BACKOFF]);
    gateway.handshake();
    gateway.send(&json!({ "jsonrpc": "2.0", "id": 4, "method": "ping" }));
    assert_eq!(gateway.receive()["error"]["code"], -32603);
    let ready = folder.path("ready");
    wait_until("the server is restarted", || std::path::Path::new(&ready).exists());
    gateway.half_close();
    // The gateway handles the end of input while the handshake is not answered.
    std::thread::sleep(std::time::Duration::from_millis(300));
    folder.file("go", "");
    let end = gateway.wait();
    assert_eq!((end.status, end.stdout.as_str()), (0, ""), "{}", end.stderr);
}

#[test]
fn request_during_the_restart_backoff_is_answered_on_shutdown() {
    let variables = [("STICKLER_RESTART_PAUSE", "3600")];
    let script = "read line; exit 4";
    let arguments = ["--restart", "on-failure", "--", "sh", "-c", script];
    let mut gateway = Gateway::with_env(&arguments, &variables);
    gateway.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
    assert_eq!(gateway.receive()["id"], 1);
    gateway.wait_for_log("restart attempt 1");
    gateway.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" }));
    std::thread::sleep(std::time::Duration::from_millis(200));
    gateway.signal(rustix::process::Signal::TERM);
    let response = gateway.receive();
    assert_eq!(response["id"], 2);
    assert!(response["error"]["message"].as_str().unwrap().contains("[STK-105]"), "{response}");
    assert_eq!(gateway.wait().status, 4);
}

#[test]
fn rejected_handshake_after_a_restart_is_a_failure() {
    // Only the first server accepts the handshake.
    let folder = Folder::new();
    let script = format!(
        r#"mkdir {} 2>/dev/null; first=$?
        while read -r line; do case "$first $line" in
          0*'"initialize"'*) echo '{{"jsonrpc":"2.0","id":"init","result":{{"protocolVersion":"2025-11-25","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}}}' ;;
          0*'"ping"'*) exit 6 ;;
          1*) id=${{line#*\"id\":}}; id=${{id%%,*}}; echo "{{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{{\"code\":-32603,\"message\":\"not now\"}}}}" ;;
        esac; done"#,
        folder.path("first")
    );
    let file = folder.file(
        "stickler.toml",
        &format!(
            "restart = 'on-failure'\nrestart_pause = 0.01\nrestart_limit = 1\n\
             [servers.a]\ncommand = 'sh'\nargs = ['-c', '''{script}''']\n"
        ),
    );
    let mut gateway = Gateway::start(&["--config", &file]);
    gateway.handshake();
    gateway.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
    assert!(gateway.receive()["error"]["message"].as_str().unwrap().contains("STK-105"));
    let end = gateway.wait();
    assert!(end.stderr.contains("rejected the handshake: not now"), "{}", end.stderr);
    assert_eq!(end.status, 137);
}

#[test]
fn shared_process_is_restarted_with_backoff_up_to_the_limit() {
    let folder = Folder::new();
    let file = folder.file(
        "stickler.toml",
        &format!(
            "restart = 'on-failure'\nrestart_pause = 0.05\nrestart_limit = 1\n\
             [servers.a]\ncommand = '{}'\n",
            scripted()
        ),
    );
    let gateway = crate::support::http::Gateway::start(&["--config", &file]);
    let call = |tool: &str| {
        let mut body: Value =
            serde_json::from_str(&call(1, tool, &json!({ "text": "hi" }))).unwrap();
        body["params"]["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let headers = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", tool),
        ];
        let response = gateway.post(&headers, &body.to_string());
        (response.status, response.json())
    };
    for _ in 0..2 {
        assert_eq!(call("echo").1["result"]["content"][0]["text"], "hi");
        let (_, died) = call("die");
        assert!(died["error"]["message"].as_str().unwrap().starts_with("[STK-105]"), "{died}");
    }
    let (status, given_up) = call("echo");
    let message = given_up["error"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("[STK-101] the server failed after 1 consecutive restarts"),
        "{message}"
    );
    assert_eq!((status, &given_up["id"]), (502, &json!(1)));
}
