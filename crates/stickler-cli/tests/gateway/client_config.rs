//! `stickler run --config` with the configuration files of MCP clients.

use crate::support::config_files::{assert_rejected, run, scripted};
use crate::support::folder::Folder;
use crate::support::stdio::Gateway;
use serde_json::json;

#[test]
fn client_configuration_files_are_accepted() {
    let folder = Folder::new();
    let server = scripted();
    for (name, text) in [
        (
            ".mcp.json",
            json!({ "mcpServers": { "files": { "command": "${SERVER}", "args": [], "timeout": 7 } } }),
        ),
        (
            "mcp.json",
            json!({ "inputs": [], "servers": { "files": {
                "type": "stdio", "command": "${env:SERVER}", "env": { "A": "${NONE:-b}" },
            } } }),
        ),
    ] {
        let file = folder.file(name, &text.to_string());
        let variables = [("SERVER", server.as_str()), ("STICKLER_LOG", "info")];
        let mut gateway = Gateway::with_env(&["--config", &file], &variables);
        gateway.handshake();
        let response = gateway.call(1, "echo", &json!({ "txt": "hi" }));
        assert_eq!(response["result"]["isError"], true, "{response}");
        let log = gateway.end().stderr;
        assert!(log.contains("WARN files: call of `echo`"), "{log}");
        let has_note = log.contains("`timeout` of server `files` is ignored");
        assert_eq!(has_note, name == ".mcp.json", "{log}");
    }
}

#[test]
fn client_configuration_errors_have_a_line_and_column() {
    let folder = Folder::new();
    for (text, expected) in [
        ("{\n  \"mcpServers\": {\n    \"a\": 1 } }", ":3:10: server `a` is a number"),
        ("{ \"mcpServers\": { \"a\": {} } }", ":1:19: server `a` needs a `command` or a `url`"),
        ("{\n\"mcpServers\": [,] }", ":2:16: invalid JSON: expected a JSON value"),
        ("// mine\n{ /* other */ }", ":2:1: neither `mcpServers` nor `servers` found"),
        ("{\n /* mine\n}", ":2:2: invalid JSON"),
        ("{ \"other\": {} }", ":1:1: neither `mcpServers` nor `servers` found"),
        (
            "{\"mcpServers\":{\"a\":{\"type\":\"sse\",\"url\":\"http://x/sse\"}}}",
            ":1:28: server `a` uses the HTTP+SSE transport of 2024-11-05",
        ),
        (
            "{\"servers\":{\"a\":{\"command\":\"x\",\"env\":{\"K\":\"${input:key}\"}}}}",
            ":1:43: `${input:key}` can only be resolved by the client",
        ),
    ] {
        let file = folder.file("claude_desktop_config.json", text);
        let end = run(&["--config", &file], &[]);
        let expected = format!("{file}{expected}");
        assert_eq!((end.status, end.stderr.contains(&expected)), (2, true), "{}", end.stderr);
    }
}

#[test]
fn disabled_server_runs_only_when_selected_by_name() {
    let folder = Folder::new();
    let server =
        |text: &str| json!({ "command": "sh", "args": ["-c", format!("echo {text} >&2")] });
    let mut text = json!({ "mcpServers": { "a": server("here is a"), "b": server("here is b") } });
    text["mcpServers"]["a"]["disabled"] = true.into();
    let file = folder.file(".mcp.json", &text.to_string());
    let enabled = run(&["--config", &file], &[]).stderr;
    assert!(enabled.contains("here is b") && !enabled.contains("here is a"), "{enabled}");
    let selected = run(&["--config", &file, "--server", "a"], &[]).stderr;
    assert!(selected.contains("here is a") && !selected.contains("here is b"), "{selected}");
}

#[test]
fn json_configuration_is_recognised_by_name_or_content() {
    let folder = Folder::new();
    for name in ["b.json", "client"] {
        for (comment, place) in [("// mine\n{}", ":2:1"), ("\n/* mine */ {}", ":2:12")] {
            let expected = format!("{place}: neither `mcpServers` nor `servers` found");
            assert_rejected(&folder, (name, comment), &expected);
        }
        for array in ["[]", "[ {\"mcpServers\": {}}]"] {
            assert_rejected(
                &folder,
                (name, array),
                ":1:1: the file is an array, expected an object",
            );
        }
    }
    assert_rejected(
        &folder,
        ("b.json", "[\"a\"]"),
        ":1:1: the file is an array, expected an object",
    );
}

#[test]
fn configuration_with_only_disabled_servers_suggests_the_server_option() {
    let folder = Folder::new();
    let text = r#"{"mcpServers":{"a":{"command":"true","disabled":true}}}"#;
    let end = run(&["--config", &folder.file(".mcp.json", text)], &[]);
    assert_eq!(end.status, 2);
    for part in ["are disabled: `a`", "`--server NAME` runs a disabled server"] {
        assert!(end.stderr.contains(part), "{}", end.stderr);
    }
}

#[test]
fn misspelt_setting_in_a_client_configuration_gets_a_suggestion() {
    let folder = Folder::new();
    for (text, expected) in [
        (
            r#"{"mcpServers":{"a":{"comand":"x","args":[]}}}"#,
            ":1:21: `comand` is not a known setting; did you mean `command`?",
        ),
        (r#"{"mcpservers":{}}"#, ":1:2: unknown member `mcpservers`; did you mean `mcpServers`?"),
    ] {
        assert_rejected(&folder, (".mcp.json", text), expected);
    }
}

#[test]
fn duplicate_server_name_is_an_error() {
    let folder = Folder::new();
    let text = "{\"mcpServers\":{\"a\":{\"command\":\"x\"},\n\"a\":{\"command\":\"y\"}}}";
    assert_rejected(&folder, (".mcp.json", text), ":2:1: duplicate server name `a`");
}

#[test]
fn http_sse_server_is_rejected_only_when_it_would_run() {
    let folder = Folder::new();
    let servers = |is_disabled: bool| {
        let old = json!({ "type": "sse", "url": "http://x/sse", "disabled": is_disabled });
        json!({ "mcpServers": { "a": { "command": scripted() }, "b": old } }).to_string()
    };
    let file = folder.file("mcp.json", &servers(true));
    assert_eq!(run(&["--config", &file], &[]).status, 0, "the server is disabled");
    let file = folder.file("mcp.json", &servers(false));
    assert_eq!(
        run(&["--config", &file, "--server", "a"], &[]).status,
        0,
        "the server is not selected"
    );
    let end = run(&["--config", &file, "--server", "b"], &[]);
    assert_eq!((end.status, end.stderr.contains("HTTP+SSE")), (2, true), "{}", end.stderr);
}
