//! `stickler run --config`: precedence of the settings, and errors in them, with real processes.

use std::process::Command;

use crate::support::config_files::{assert_rejected, run, scripted};
use crate::support::folder::Folder;
use crate::support::http::{call, initialize};
use crate::support::stdio::Gateway;
use serde_json::{Value, json};

#[test]
fn configuration_errors_have_a_line_and_column() {
    let folder = Folder::new();
    let file =
        folder.file("stickler.toml", "listn = \":0\"\n[servers.a]\ncommand = 7.5\nargs = {}\n");
    let end = run(&["--config", &file], &[]);
    assert_eq!(end.status, 2);
    let expected =
        format!("error: {file}:1:1: `listn` is not a known setting; did you mean `listen`?");
    assert!(end.stderr.contains(&expected), "{}", end.stderr);
    let expected = format!("error: {file}:4:8: `args` is a table, expected an array of strings");
    assert!(end.stderr.contains(&expected), "{}", end.stderr);
    let broken = folder.file("broken.toml", "a = 1\nb = \n");
    let end = run(&["--config", &broken], &[]);
    assert_eq!((end.status, end.stderr.contains("broken.toml:2:")), (2, true), "{}", end.stderr);
    let end = run(&["--config", &folder.path("none.toml")], &[]);
    assert_eq!((end.status, end.stderr.contains("cannot read")), (2, true), "{}", end.stderr);
}

#[test]
fn missing_server_error_lists_the_options() {
    let end = run(&[], &[]);
    assert_eq!(end.status, 2);
    for part in ["`--`", "`--url`", "`--config`"] {
        assert!(end.stderr.contains(part), "{}", end.stderr);
    }
    let folder = Folder::new();
    let end = run(&["--config", &folder.file("stickler.toml", "log = 'warn'\n")], &[]);
    assert_eq!(
        (end.status, end.stderr.contains("defines no servers")),
        (2, true),
        "{}",
        end.stderr
    );
}

#[test]
fn command_line_overrides_environment_and_environment_overrides_file() {
    let folder = Folder::new();
    let text = format!("answer = 'json-rpc-error'\n[servers.a]\ncommand = '{}'\n", scripted());
    let file = folder.file("stickler.toml", &text);
    let rejected = |options: &[&str], variables: &[(&str, &str)]| -> Value {
        let arguments = [&["--config", file.as_str()], options].concat();
        let mut gateway = Gateway::with_env(&arguments, variables);
        gateway.handshake();
        gateway.call(1, "echo", &json!({ "txt": "hi" }))
    };
    assert_eq!(rejected(&[], &[])["error"]["code"], -32602);
    let variables = [("STICKLER_ANSWER", "observation")];
    let observed = rejected(&[], &variables);
    let text = observed["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("VALIDATION_FAILED"), "{text}");
    let as_result = rejected(&["--answer", "tool-result"], &variables);
    let text = as_result["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("Tool call failed for: echo"), "{text}");
}

#[test]
fn invalid_variables_are_errors_and_misspelt_ones_are_noted() {
    let end = run(&["--", "true"], &[("STICKLER_GRACE", "soon")]);
    let expected = "the environment variable `STICKLER_GRACE` must be a number of seconds";
    assert_eq!((end.status, end.stderr.contains(expected)), (2, true), "{}", end.stderr);
    let end = run(&["--", "true"], &[("STICKLER_LISTN", "x"), ("STICKLER_OTHER_THING", "x")]);
    assert_eq!(end.status, 0);
    assert!(end.stderr.contains("did you mean `STICKLER_LISTEN`?"), "{}", end.stderr);
    assert!(!end.stderr.contains("OTHER_THING"), "{}", end.stderr);
}

#[test]
fn configured_arguments_environment_and_directory_are_applied() {
    let folder = Folder::new();
    let text = r#"
        [servers.a]
        command = "sh"
        args = ["-c", 'echo "$1 $GREETING from $(pwd)" >&2', "sh", "${WHO:-default}"]
        env = { GREETING = "hello ${NAME}" }
        cwd = "."
    "#;
    let file = folder.file("stickler.toml", text);
    let end = run(&["--config", &file], &[("NAME", "you")]);
    let expected = format!("default hello you from {}", folder.path("").trim_end_matches('/'));
    assert_eq!((end.status, end.stderr.contains(&expected)), (0, true), "{}", end.stderr);
    let end = run(&["--config", &file], &[]);
    let expected = format!("{file}:5:28: the environment variable `NAME` is not set");
    assert_eq!((end.status, end.stderr.contains(&expected)), (2, true), "{}", end.stderr);
}

#[test]
fn policy_downgrades_one_rule_for_one_side() {
    let folder = Folder::new();
    let text = format!(
        "[servers.a]\ncommand = '{}'\n[servers.a.policy.client]\nSTK-107 = 'warn'\n",
        scripted()
    );
    let file = folder.file("stickler.toml", &text);
    let mut gateway = Gateway::start(&["--config", &file]);
    gateway.handshake();
    let response = gateway.call(1, "echo", &json!({ "text": 1 }));
    assert_eq!(
        response["result"]["content"][0]["text"], "",
        "the server has responded: {response}"
    );
    gateway.wait_for_log("call of `echo` from the client forwarded: [STK-107]");
}

#[test]
fn repair_edits_are_logged_without_values() {
    let mut gateway = Gateway::start(&["--repair", "apply", "--", &scripted()]);
    gateway.handshake();
    let response = gateway.call(1, "echo", &json!({ "TEXT": "sesame", "millis": "731" }));
    assert_eq!(response["result"]["content"][0]["text"], "sesame");
    let end = gateway.end();
    let edits = "repaired: rename_field at /TEXT: TEXT to text; unstringify at /millis";
    assert!(end.stderr.contains(edits), "{}", end.stderr);
    assert!(!end.stderr.contains("sesame") && !end.stderr.contains("731"), "{}", end.stderr);
}

#[test]
fn timed_out_request_gets_an_error_and_the_server_a_cancellation() {
    let folder = Folder::new();
    let log = folder.path("log");
    let arguments = ["--request-timeout", "1", "--", &scripted(), "--log", &log];
    let mut gateway = Gateway::start(&arguments);
    gateway.handshake();
    let response = gateway.call(7, "slow", &json!({ "text": "x", "millis": 3_600_000 }));
    let message = response["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("[STK-104]") && response["id"] == 7, "{response}");
    // The server responds in order, so the cancellation is in the log by now.
    assert_eq!(gateway.call(8, "echo", &json!({ "text": "y" }))["id"], 8);
    let cancelled =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"#;
    assert!(folder.read("log").contains(cancelled), "{}", folder.read("log"));
}

#[test]
fn protocol_schema_can_be_replaced() {
    let folder = Folder::new();
    let schema = Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["schema", "--revision", "2025-11-25"])
        .output()
        .unwrap();
    let schema = String::from_utf8(schema.stdout).unwrap();
    folder.file("usable.json", &schema);
    folder.file("unusable.json", "{}");
    let text = |name: &str| {
        format!(
            "[protocol_schema]\n2025-11-25 = '{name}'\n[servers.a]\ncommand = '{}'\n",
            scripted()
        )
    };
    let usable = folder.file("usable.toml", &text("usable.json"));
    let mut gateway = Gateway::start(&["--config", &usable]);
    assert_eq!(gateway.handshake()["result"]["protocolVersion"], "2025-11-25");
    let unusable = folder.file("unusable.toml", &text("unusable.json"));
    let end = run(&["--config", &unusable], &[]);
    let expected = "cannot use the schema of 2025-11-25 in";
    assert_eq!((end.status, end.stderr.contains(expected)), (2, true), "{}", end.stderr);
    let source = format!("2025-11-25={}", folder.path("unusable.json"));
    let end = run(&["--protocol-schema", &source, "--", "true"], &[]);
    assert_eq!((end.status, end.stderr.contains(expected)), (2, true), "{}", end.stderr);
}

#[test]
fn each_of_several_servers_has_its_path() {
    let folder = Folder::new();
    let server = scripted();
    let text = format!(
        "[servers.one]\ncommand = '{server}'\n[servers.\"the other\"]\ncommand = '{server}'\n\
         answer = 'json-rpc-error'\n"
    );
    let file = folder.file("stickler.toml", &text);
    let gateway = crate::support::http::Gateway::start(&["--config", &file]);
    let rejected = |path: &str| {
        let opened = gateway.open("POST", path, &[], &initialize()).finish();
        let session = opened.header("mcp-session-id").unwrap().to_owned();
        let headers = [("mcp-session-id", session.as_str())];
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(gateway.open("POST", path, &headers, ready).finish().status, 202);
        let body = call(1, "echo", &json!({ "txt": "hi" }));
        gateway.open("POST", path, &headers, &body).finish().json()
    };
    assert_eq!(rejected("/one/mcp")["result"]["isError"], true);
    assert_eq!(rejected("/the%20other/mcp")["error"]["code"], -32602);
    for path in ["/mcp", "/", "/three/mcp", "/one"] {
        let not_found = gateway.open("POST", path, &[], &initialize()).finish();
        assert_eq!(not_found.status, 404, "{path}");
        let message = not_found.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("`/one/mcp`, `/the%20other/mcp`"), "{message}");
    }
    let health = gateway.open("GET", "/healthz", &[], "").finish().json();
    assert_eq!(health, json!({ "status": "ok", "servers": ["one", "the other"] }));
    assert_eq!(gateway.end(), 0);
}

#[test]
fn single_server_is_available_at_its_path_and_at_the_default_path() {
    let folder = Folder::new();
    let text = format!("path = '/tools'\n[servers.one]\ncommand = '{}'\n", scripted());
    let file = folder.file("stickler.toml", &text);
    let gateway = crate::support::http::Gateway::start(&["--config", &file]);
    let status = |path: &str| gateway.open("POST", path, &[], &initialize()).finish().status;
    assert_eq!((status("/tools"), status("/one/tools"), status("/mcp")), (200, 200, 404));
}

#[test]
fn stdio_gateway_requires_one_server_to_be_selected() {
    let folder = Folder::new();
    let text = "[servers.one]\ncommand = 'sh'\nargs = ['-c', 'echo this is one >&2']\n\
        [servers.two]\ncommand = 'sh'\nargs = ['-c', 'echo this is two ${MISSING} >&2']\n";
    let file = folder.file("stickler.toml", text);
    let end = run(&["--config", &file], &[]);
    assert_eq!(end.status, 2);
    assert!(
        end.stderr.contains("select one of `one`, `two` with `--server NAME`"),
        "{}",
        end.stderr
    );
    let end = run(&["--config", &file, "--server", "one"], &[]);
    assert_eq!((end.status, end.stderr.contains("this is one")), (0, true), "{}", end.stderr);
    let end = run(&["--config", &file, "--server", "tow"], &[]);
    assert_eq!(
        (end.status, end.stderr.contains("did you mean `two`?")),
        (2, true),
        "{}",
        end.stderr
    );
}

#[test]
fn legacy_request_without_a_session_is_rejected_with_instructions() {
    let gateway = crate::support::http::Gateway::scripted(&[]);
    let without_session = gateway.post(&[], r#"{"jsonrpc":"2.0","id":9,"method":"tools/list"}"#);
    let message = without_session.json()["error"]["message"].as_str().unwrap().to_owned();
    assert_eq!((without_session.status, without_session.json()["id"].clone()), (400, json!(9)));
    for part in ["`Mcp-Session-Id`", "`initialize`"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn byte_order_mark_is_skipped_in_json_and_toml() {
    let folder = Folder::new();
    for (name, text) in [
        ("a.json", "\u{feff}{\"mcpServers\":{\"a\":{\"command\":\"true\"}}}"),
        ("client", "\u{feff}{\"mcpServers\":{\"a\":{\"command\":\"true\"}}}"),
        ("stickler.toml", "\u{feff}[servers.a]\ncommand = 'true'\n"),
    ] {
        let end = run(&["--config", &folder.file(name, text)], &[]);
        assert_eq!(end.status, 0, "{name}: {}", end.stderr);
    }
    assert_rejected(&folder, ("b.json", "\u{feff}{,}"), ":1:2: ");
    assert_rejected(
        &folder,
        ("b.toml", "\u{feff}listn = 1"),
        ":1:1: `listn` is not a known setting",
    );
}

#[test]
fn missing_working_directory_is_named_in_the_error() {
    let folder = Folder::new();
    let file = folder.file("stickler.toml", "[servers.a]\ncommand = 'true'\ncwd = 'none'\n");
    let stderr = run(&["--config", &file], &[]).stderr;
    let expected = format!("its `cwd` `{}` does not exist", folder.path("none"));
    assert!(stderr.contains("[STK-101]") && stderr.contains(&expected), "{stderr}");
    let file = folder.file("stickler.toml", "[servers.a]\ncommand = '/none'\ncwd = '.'\n");
    let stderr = run(&["--config", &file], &[]).stderr;
    assert!(stderr.contains("cannot start `/none`: program not found"), "{stderr}");
}

#[test]
fn duration_options_accept_fractional_seconds() {
    let options = ["--grace", "--request-timeout", "--idle-timeout", "--keep-alive"];
    for option in options {
        let end = run(&[option, "0.5", "--", "true"], &[]);
        assert_eq!(end.status, 0, "{option}: {}", end.stderr);
        let end = run(&[option, "soon", "--", "true"], &[]);
        let expected = "expected a number of seconds";
        assert_eq!((end.status, end.stderr.contains(expected)), (2, true), "{}", end.stderr);
    }
    assert_eq!(run(&["--keep-alive", "0", "--", "true"], &[]).status, 2);
}

#[test]
fn invalid_list_element_is_named_in_the_error() {
    let folder = Folder::new();
    assert_rejected(
        &folder,
        ("stickler.toml", "allow_origins = ['a', 1]\n"),
        ":1:23: element 2 of `allow_origins` is a number, expected a string in quotes",
    );
    assert_rejected(
        &folder,
        ("stickler.toml", "listen = ['a']\n"),
        ":1:10: `listen` is an array, expected",
    );
}

#[test]
fn invalid_values_are_rejected_with_line_and_column() {
    let folder = Folder::new();
    let server = "[servers.a]\ncommand = 'cat'\n";
    for (line, expected) in [
        ("grace = 1e18", "1:9: `grace` must be at most 1000000000 seconds"),
        ("request_timeout = 9223372036854775807", "at most 1000000000 seconds"),
        ("max_children = 0", "1:16: `max_children` must be a positive integer"),
        ("limits.message_bytes = 0", "must be a positive integer"),
        ("listen = 'foo'", "1:10: `listen` must be a host and a port"),
        ("listen = '127.0.0.1:99999'", "`listen` must be a host and a port"),
        ("path = '/healthz'", "is not `/healthz`"),
        ("path = '/a b'", "contains no special characters"),
        ("allow_origins = ['https://a.example/']", "must be origins such as"),
        ("allow_origins = ['https://*.example']", "must be origins such as"),
        ("[policy]\nSTK-107 = 'off'", "2:1: `policy.STK-107` is not a known setting; set rules in"),
        ("[policy]\nSTK-107 = 'off'", "`[policy.client]`"),
    ] {
        let file = folder.file("stickler.toml", &format!("{line}\n{server}"));
        let end = run(&["--config", &file], &[]);
        let is_placed = end.stderr.contains(&format!("{file}:"));
        assert_eq!((end.status, is_placed), (2, true), "{line}: {}", end.stderr);
        assert!(end.stderr.contains(expected), "{line}: {}", end.stderr);
    }
    let end = run(&["--listen", ":8080", "--", "cat"], &[]);
    assert_eq!((end.status, end.stderr.contains("a host and a port")), (2, true), "{}", end.stderr);
    let end = run(&["--url", "http://user:s3cret@127.0.0.1:1/mcp"], &[]);
    assert_eq!(end.status, 2);
    assert!(end.stderr.contains("name or password") && !end.stderr.contains("s3cret"));
    let end = run(&["--listen", "127.0.0.1:0", "--", "./no-such-program"], &[]);
    assert_eq!(end.status, 3);
    assert!(end.stderr.contains("cannot start `./no-such-program`"), "{}", end.stderr);
}
