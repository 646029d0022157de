//! Tests of wrapping and unwrapping: `examples` from the documentation of the clients, `generated` files,
//! `malformed` files.

mod examples;
mod generated;
mod malformed;

use serde_json::Value;

use super::edit::{Edited, edit};
use super::servers::Client;
use super::{Direction, Wrapping};
use crate::config::Format;

fn wrapping() -> Wrapping {
    Wrapping {
        program: "/bin/stickler".to_owned(),
        options: vec!["--mode".to_owned(), "assist".to_owned()],
    }
}

fn edited(text: &str, format: Format, only: &[&str], direction: Direction<'_>) -> Edited {
    let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
    edit(text, (format, None), &only, direction).unwrap_or_else(|fault| panic!("{}", fault.message))
}

fn wrap(text: &str, format: Format) -> String {
    edited(text, format, &[], Direction::Wrap(&wrapping())).text
}

fn unwrap(text: &str, format: Format) -> String {
    edited(text, format, &[], Direction::Unwrap).text
}

/// Reasons of the servers that are left unchanged.
fn reasons(edited: &Edited) -> Vec<&str> {
    edited.entries.iter().filter_map(|entry| Some(entry.outcome.as_ref().err()?.as_str())).collect()
}

#[test]
fn wrapping_a_command_changes_nothing_else() {
    for (before, after) in [
        (
            r#"{"mcpServers":{"a":{"command":"npx","args":["-y","x"],"env":{"K":"1.0"}}} ,"other": 1.0}"#,
            r#"{"mcpServers":{"a":{"command":"/bin/stickler","args":["run", "--name", "a", "--mode", "assist", "--", "npx", "-y","x"],"env":{"K":"1.0"}}} ,"other": 1.0}"#,
        ),
        (
            "{ \"servers\": {\n  \"a\": {\n    \"args\": [\n      \"-y\"\n    ],\n    \"command\": \"n\\u0070x\"\n  }\n} }\n",
            "{ \"servers\": {\n  \"a\": {\n    \"args\": [\n      \"run\",\n      \"--name\",\n      \"a\",\n      \"--mode\",\n      \"assist\",\n      \"--\",\n      \"n\\u0070x\",\n      \"-y\"\n    ],\n    \"command\": \"/bin/stickler\"\n  }\n} }\n",
        ),
        (
            "{\"mcpServers\":{\"a\":{\n  \"command\": \"x\"}}}",
            "{\"mcpServers\":{\"a\":{\n  \"command\": \"/bin/stickler\",\n  \"args\": [\"run\",\"--name\",\"a\",\"--mode\",\"assist\",\"--\",\"x\"]}}}",
        ),
        (
            "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"args\":[ ]}}}",
            "{\"mcpServers\":{\"a\":{\"command\":\"/bin/stickler\",\"args\":[\"run\", \"--name\", \"a\", \"--mode\", \"assist\", \"--\", \"x\" ]}}}",
        ),
    ] {
        assert_eq!(wrap(before, Format::Json), after);
        assert_eq!(wrap(after, Format::Json), after, "once is enough");
        assert_eq!(unwrap(after, Format::Json), before);
    }
}

#[test]
fn gateway_entry_is_not_wrapped_again() {
    for (before, after) in [
        (
            r#"{"command":"stickler","args":["serve","--suite","files"]}"#,
            r#"{"command":"/bin/stickler","args":["run", "--name", "a", "--mode", "assist", "--", "stickler", "serve","--suite","files"]}"#,
        ),
        (
            r#"{"command":"/opt/stickler","args":["serve"]}"#,
            r#"{"command":"/bin/stickler","args":["run", "--name", "a", "--mode", "assist", "--", "/opt/stickler", "serve"]}"#,
        ),
    ] {
        let file = |entry: &str| format!("{{\"mcpServers\":{{\"a\":{entry}}}}}");
        let not_wrapped = edited(&file(before), Format::Json, &[], Direction::Unwrap);
        assert_eq!(reasons(&not_wrapped), ["it is not wrapped"]);
        assert_eq!(wrap(&file(before), Format::Json), file(after));
        assert_eq!(wrap(&file(after), Format::Json), file(after), "once is enough");
        assert_eq!(unwrap(&file(after), Format::Json), file(before));
    }
}

#[test]
fn wrapping_a_url_moves_its_headers_to_the_environment() {
    let before = r#"{"mcpServers":{"a":{"type":"http", "url" : "https://x/mcp","headers":{"Authorization":"Bearer ${T}"}},"b":{"url":"https://y","type":"streamable-http"},"c":{"serverUrl":"https://z/sse"}}}"#;
    let after = r#"{"mcpServers":{"a":{"type":"stdio", "command" : "/bin/stickler", "args": ["run", "--name", "a", "--mode", "assist", "--url", "https://x/mcp", "--header-env", "Authorization"],"env":{"Authorization":"Bearer ${T}"}},"b":{"command":"/bin/stickler","args": ["run", "--name", "b", "--mode", "assist", "--url", "https://y", "--wrapped-type", "streamable-http"],"type":"stdio"},"c":{"command":"/bin/stickler","args": ["run", "--name", "c", "--mode", "assist", "--url", "https://z/sse", "--wrapped-key", "serverUrl"]}}}"#;
    let all = ["a", "b", "c"];
    let wrapped = edited(before, Format::Json, &all, Direction::Wrap(&wrapping()));
    assert_eq!(wrapped.text, after, "{:?}", reasons(&wrapped));
    assert_eq!(wrap(&wrapped.text, Format::Json), wrapped.text);
    assert_eq!(unwrap(&wrapped.text, Format::Json), before);
}

#[test]
fn remote_server_that_may_need_a_sign_in_is_wrapped_only_if_it_is_named() {
    for (entry, reason) in [
        (r#"{"url":"https://x/mcp"}"#, "OAuth"),
        (
            r#"{"serverUrl":"https://x/mcp","headers":{"A":"b"},"oauth":{"clientId":"1"}}"#,
            "`oauth`",
        ),
        (r#"{"url":"https://x/sse","headers":{"A":"b"}}"#, "`/sse`"),
        (r#"{"url":"https://x/sse/?a=b","headers":{"A":"b"}}"#, "`/sse`"),
    ] {
        let text = format!("{{\"mcpServers\":{{\"a\":{entry}}}}}");
        let unnamed = edited(&text, Format::Json, &[], Direction::Wrap(&wrapping()));
        assert_eq!(unnamed.text, text);
        assert!(reasons(&unnamed)[0].contains(reason) && reasons(&unnamed)[0].contains("--only a"));
        let named = edited(&text, Format::Json, &["a"], Direction::Wrap(&wrapping()));
        assert_eq!((named.changed(), reasons(&named)), (1, vec![]));
        assert_eq!(unwrap(&named.text, Format::Json), text);
    }
    for entry in [
        r#"{"url":"http://localhost:3000/mcp"}"#,
        r#"{"url":"http://127.0.0.1/mcp"}"#,
        r#"{"httpUrl":"https://x/mcp","headers":{"Authorization":"Bearer x"}}"#,
    ] {
        let text = format!("{{\"mcpServers\":{{\"a\":{entry}}}}}");
        let wrapped = edited(&text, Format::Json, &[], Direction::Wrap(&wrapping()));
        assert_eq!((wrapped.changed(), reasons(&wrapped)), (1, vec![]));
        assert!(wrapped.entries[0].note.unwrap().contains("OAuth"));
        assert_eq!(unwrap(&wrapped.text, Format::Json), text);
    }
    let gemini = r#"{"mcpServers":{"a":{"url":"http://localhost/mcp"}}}"#;
    let wrapped =
        edit(gemini, (Format::Json, Some(Client::Gemini)), &[], Direction::Wrap(&wrapping()))
            .unwrap();
    assert!(reasons(&wrapped)[0].contains("set `httpUrl` instead"));
}

#[test]
fn server_that_would_stop_working_is_left_alone_even_if_it_is_named() {
    for (entry, reason) in [
        (r#"{"type":"sse","url":"https://x/sse"}"#, "HTTP+SSE transport of 2024-11-05"),
        (r#"{"url":"x.example/mcp","headers":{"A":"b"}}"#, "starts with `http://` or `https://`"),
        (r#"{"url":"","headers":{"A":"b"}}"#, "starts with `http://` or `https://`"),
    ] {
        let text = format!("{{\"mcpServers\":{{\"a\":{entry}}}}}");
        let named = edited(&text, Format::Json, &["a"], Direction::Wrap(&wrapping()));
        assert_eq!(named.text, text);
        assert!(reasons(&named)[0].contains(reason), "{:?}", reasons(&named));
    }
    let variable = r#"{"mcpServers":{"a":{"url":"${BASE}/mcp","headers":{"A":"b"}}}}"#;
    let wrapped = edited(variable, Format::Json, &[], Direction::Wrap(&wrapping()));
    assert_eq!(wrapped.changed(), 1, "the client replaces the variable");
    let merged = "base: &b {command: x}\nmcpServers:\n  - name: a\n    <<: *b\n";
    let unchanged = edited(merged, Format::Yaml, &[], Direction::Wrap(&wrapping()));
    assert!(reasons(&unchanged)[0].contains("write them out"), "{:?}", reasons(&unchanged));
}

#[test]
fn added_variables_do_not_become_headers() {
    let before = r#"{"mcpServers":{"a":{"url":"https://x","headers":{"B":"1","A":"2"}}}}"#;
    let wrapped = wrap(before, Format::Json);
    let sorted = wrapped.replace(r#"{"B":"1","A":"2"}"#, r#"{"A":"2","B":"1"}"#);
    let unwrapped = unwrap(&sorted, Format::Json);
    assert!(unwrapped.contains(r#""headers":{"A":"2","B":"1"}"#), "another order will do");
    for env in
        [r#"{"B":"1","A":"2","SECRET":"x"}"#, r#"{"B":"1"}"#, r#"{"B":"1","a":"2"}"#, "{}", "1"]
    {
        let changed = wrapped.replace(r#"{"B":"1","A":"2"}"#, env);
        assert_ne!(changed, wrapped);
        let outcome = edited(&changed, Format::Json, &[], Direction::Unwrap);
        assert_eq!(outcome.text, changed);
        assert!(reasons(&outcome)[0].contains("changed since"), "{:?}", reasons(&outcome));
    }
}

#[test]
fn entries_of_version_0_1_are_unwrapped() {
    for (wrapped, before) in [
        (
            r#"{"command":"stickler","args":["run", "--name", "a", "--", "npx", "-y","x"]}"#,
            r#"{"command":"npx","args":["-y","x"]}"#,
        ),
        (
            r#"{"command":"/opt/stickler", "args": ["run","--name","a","--","npx"]}"#,
            r#"{"command":"npx"}"#,
        ),
        (
            r#"{"command":"stickler", "args": ["run", "--name", "a", "--url", "https://x", "--wrapped-type", "streamable-http"],"type":"stdio"}"#,
            r#"{"url":"https://x","type":"streamable-http"}"#,
        ),
    ] {
        let file = |entry: &str| format!("{{\"mcpServers\":{{ \"a\":{entry}}}}}");
        assert_eq!(unwrap(&file(wrapped), Format::Json), file(before));
    }
}

#[test]
fn entry_with_options_added_by_hand_is_unwrapped() {
    let before = r#"{"mcpServers":{"a":{"command":"npx","args":["-y"]}}}"#;
    let changed = wrap(before, Format::Json)
        .replace("\"--mode\",", "\"--strict\", \"--log=debug\", \"--mode\",");
    assert_eq!(unwrap(&changed, Format::Json), before);
}

#[test]
fn invalid_entry_is_left_unchanged_with_a_reason() {
    for (entry, reason) in [
        (r#"{"command":"stickler","args":["run","--strict","--","x"]}"#, "already runs Stickler"),
        (r#"{"command":"/opt/stickler","args":["run","--config","x"]}"#, "already runs Stickler"),
        (r#"{"command":"x","command":"y"}"#, "`command` twice"),
        (r#"{"command":"x","url":"y"}"#, "both"),
        (r#"{"command":1}"#, "not a string"),
        (r#"{"command":"x","args":"y"}"#, "not an array"),
        (r#"{"url":"x","type":"sse"}"#, "HTTP+SSE"),
        (r#"{"url":"x","serverUrl":"y"}"#, "`url` and `serverUrl`"),
        (r#"{"url":"http://x","headers":{"a b":"c"}}"#, "header `a b`"),
        (r#"{"source":"extension","settings":{}}"#, "extension"),
        (r#"{"url":"x","env":{}}"#, "`env`"),
        ("{}", "neither a `command` nor a `url`"),
        ("1", "not an object"),
    ] {
        let text = format!("{{\"mcpServers\":{{\"a\":{entry}}}}}");
        let changed = edited(&text, Format::Json, &[], Direction::Wrap(&wrapping()));
        assert_eq!(changed.text, text);
        assert!(reasons(&changed)[0].contains(reason), "{:?}", reasons(&changed));
        assert_eq!(unwrap(&text, Format::Json), text);
    }
}

#[test]
fn reformatted_file_is_unwrapped() {
    let before = r#"{"mcpServers":{"a":{"command":"x"},"b":{"command":"y","args":["z"]}}}"#;
    let wrapped: Value = serde_json::from_str(&wrap(before, Format::Json)).unwrap();
    let pretty = serde_json::to_string_pretty(&wrapped).unwrap();
    let again: Value = serde_json::from_str(&unwrap(&pretty, Format::Json)).unwrap();
    let expected =
        r#"{"mcpServers":{"a":{"command":"x","args":[]},"b":{"command":"y","args":["z"]}}}"#;
    assert_eq!(again, serde_json::from_str::<Value>(expected).unwrap());
}
