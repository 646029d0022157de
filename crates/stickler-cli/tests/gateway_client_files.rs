//! `stickler run --config` with the files that clients keep their servers in.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests are blunt, and start processes"
)]

mod support {
    pub(crate) mod files;
    pub(crate) mod folder;
    pub(crate) mod http;
    pub(crate) mod stdio;
}

use serde_json::json;
use support::files::{refusal, run, scripted};
use support::folder::Folder;
use support::stdio::Gateway;

#[test]
fn the_files_of_clients_are_read_too() {
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
        gateway.shake_hands();
        let answer = gateway.call(1, "echo", &json!({ "txt": "hi" }));
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let log = gateway.end().stderr;
        assert!(log.contains("WARN files: call of `echo`"), "{log}");
        let noted = log.contains("`timeout` of server `files` is not used here");
        assert_eq!(noted, name == ".mcp.json", "{log}");
    }
}

#[test]
fn what_is_wrong_with_a_clients_file_has_a_place() {
    let folder = Folder::new();
    for (text, expected) in [
        ("{\n  \"mcpServers\": {\n    \"a\": 1 } }", ":3:10: server `a` is a number"),
        ("{ \"mcpServers\": { \"a\": {} } }", ":1:19: server `a` needs a `command` or a `url`"),
        ("{\n\"mcpServers\": [,] }", ":2:16: expected a JSON value"),
        ("{\n // mine\n}", ":2:2: "),
        ("{ \"other\": {} }", ":1:1: no `mcpServers` and no `servers`"),
        (
            "{\"mcpServers\":{\"a\":{\"type\":\"sse\",\"url\":\"http://x/sse\"}}}",
            ":1:28: server `a` speaks the HTTP+SSE transport of 2024-11-05",
        ),
        (
            "{\"servers\":{\"a\":{\"command\":\"x\",\"env\":{\"K\":\"${input:key}\"}}}}",
            ":1:43: `${input:key}` is something that only the client knows",
        ),
    ] {
        let file = folder.file("claude_desktop_config.json", text);
        let end = run(&["--config", &file], &[]);
        let expected = format!("{file}{expected}");
        assert_eq!((end.status, end.stderr.contains(&expected)), (2, true), "{}", end.stderr);
    }
}

#[test]
fn servers_that_are_disabled_are_not_run_unless_they_are_asked_for() {
    let folder = Folder::new();
    let server =
        |text: &str| json!({ "command": "sh", "args": ["-c", format!("echo {text} >&2")] });
    let mut text = json!({ "mcpServers": { "a": server("here is a"), "b": server("here is b") } });
    text["mcpServers"]["a"]["disabled"] = true.into();
    let file = folder.file(".mcp.json", &text.to_string());
    assert!(run(&["--config", &file], &[]).stderr.contains("here is b"));
    assert!(run(&["--config", &file, "--server", "a"], &[]).stderr.contains("here is a"));
}

#[test]
fn json_is_read_as_json_however_it_begins() {
    let folder = Folder::new();
    for name in ["b.json", "client"] {
        for comment in ["// mine\n{}", "\n/* mine */ {}"] {
            let line = comment.find('/').unwrap() + 1;
            let expected = format!(":{line}:1: expected a JSON value; comments are not JSON");
            refusal(&folder, (name, comment), &expected);
        }
        for array in ["[]", "[ {\"mcpServers\": {}}]"] {
            refusal(&folder, (name, array), ":1:1: the file is an array, expected an object");
        }
    }
    refusal(&folder, ("b.json", "[\"a\"]"), ":1:1: the file is an array, expected an object");
}

#[test]
fn a_file_with_nothing_but_disabled_servers_says_how_to_run_one() {
    let folder = Folder::new();
    let text = r#"{"mcpServers":{"a":{"command":"true","disabled":true}}}"#;
    let end = run(&["--config", &folder.file(".mcp.json", text)], &[]);
    assert_eq!(end.status, 2);
    for wanted in ["are disabled: `a`", "`--server NAME` runs one all the same"] {
        assert!(end.stderr.contains(wanted), "{}", end.stderr);
    }
}

#[test]
fn what_is_misspelt_in_a_clients_file_is_told_what_was_meant() {
    let folder = Folder::new();
    for (text, expected) in [
        (
            r#"{"mcpServers":{"a":{"comand":"x","args":[]}}}"#,
            ":1:21: `comand` is not a known setting; did you mean `command`?",
        ),
        (
            r#"{"mcpservers":{}}"#,
            ":1:2: `mcpservers` is not where clients keep their servers; did you mean `mcpServers`?",
        ),
    ] {
        refusal(&folder, (".mcp.json", text), expected);
    }
}

#[test]
fn a_server_that_is_named_twice_is_an_error() {
    let folder = Folder::new();
    let text = "{\"mcpServers\":{\"a\":{\"command\":\"x\"},\n\"a\":{\"command\":\"y\"}}}";
    refusal(&folder, (".mcp.json", text), ":2:1: there is a server `a` already");
}

#[test]
fn a_server_of_the_old_transport_is_told_only_if_it_is_to_be_run() {
    let folder = Folder::new();
    let servers = |is_disabled: bool| {
        let old = json!({ "type": "sse", "url": "http://x/sse", "disabled": is_disabled });
        json!({ "mcpServers": { "a": { "command": scripted() }, "b": old } }).to_string()
    };
    let file = folder.file("mcp.json", &servers(true));
    assert_eq!(run(&["--config", &file], &[]).status, 0, "it is disabled");
    let file = folder.file("mcp.json", &servers(false));
    assert_eq!(run(&["--config", &file, "--server", "a"], &[]).status, 0, "it is not chosen");
    let end = run(&["--config", &file, "--server", "b"], &[]);
    assert_eq!((end.status, end.stderr.contains("HTTP+SSE")), (2, true), "{}", end.stderr);
}
