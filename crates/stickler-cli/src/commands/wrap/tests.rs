//! Tests of wrapping and unwrapping, with examples and with generated files.

use proptest::prelude::*;
use serde_json::Value;

use super::Direction;
use super::file::change;

fn wrap(text: &str) -> String {
    change(text, &[], Direction::Wrap("stickler")).unwrap().text
}

fn unwrap(text: &str) -> String {
    change(text, &[], Direction::Unwrap).unwrap().text
}

#[test]
fn wrapping_a_command_changes_nothing_else() {
    for (before, after) in [
        (
            r#"{"mcpServers":{"a":{"command":"npx","args":["-y","x"],"env":{"K":"1.0"}}} ,"other": 1.0}"#,
            r#"{"mcpServers":{"a":{"command":"stickler","args":["run", "--name", "a", "--", "npx", "-y","x"],"env":{"K":"1.0"}}} ,"other": 1.0}"#,
        ),
        (
            "{ \"servers\": {\n  \"a\": {\n    \"args\": [\n      \"-y\"\n    ],\n    \"command\": \"n\\u0070x\"\n  }\n} }\n",
            "{ \"servers\": {\n  \"a\": {\n    \"args\": [\n      \"run\",\n      \"--name\",\n      \"a\",\n      \"--\",\n      \"n\\u0070x\",\n      \"-y\"\n    ],\n    \"command\": \"stickler\"\n  }\n} }\n",
        ),
        (
            "{\"mcpServers\":{\"a\":{\n  \"command\": \"x\"}}}",
            "{\"mcpServers\":{\"a\":{\n  \"command\": \"stickler\",\n  \"args\": [\"run\",\"--name\",\"a\",\"--\",\"x\"]}}}",
        ),
        (
            "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"args\":[ ]}}}",
            "{\"mcpServers\":{\"a\":{\"command\":\"stickler\",\"args\":[\"run\", \"--name\", \"a\", \"--\", \"x\" ]}}}",
        ),
    ] {
        assert_eq!(wrap(before), after);
        assert_eq!(wrap(after), after, "once is enough");
        assert_eq!(unwrap(after), before);
    }
}

#[test]
fn gateway_entry_is_not_wrapped_again() {
    for (before, after) in [
        (
            r#"{"command":"stickler","args":["serve","--suite","files"]}"#,
            r#"{"command":"stickler","args":["run", "--name", "a", "--", "stickler", "serve","--suite","files"]}"#,
        ),
        (
            r#"{"command":"/opt/stickler","args":["serve"]}"#,
            r#"{"command":"stickler","args":["run", "--name", "a", "--", "/opt/stickler", "serve"]}"#,
        ),
    ] {
        let file = |entry: &str| format!("{{\"mcpServers\":{{\"a\":{entry}}}}}");
        let not_wrapped = change(&file(before), &[], Direction::Unwrap).unwrap();
        assert_eq!(not_wrapped.entries[0].outcome, Err("it is not wrapped".to_owned()));
        assert_eq!(wrap(&file(before)), file(after));
        assert_eq!(wrap(&file(after)), file(after), "once is enough");
        assert_eq!(unwrap(&file(after)), file(before));
    }
}

#[test]
fn wrapping_a_url_moves_its_headers_to_the_environment() {
    let before = r#"{"mcpServers":{"a":{"type":"http", "url" : "https://x/mcp","headers":{"Authorization":"Bearer ${T}"}},"b":{"url":"https://y","type":"streamable-http"}}}"#;
    let after = r#"{"mcpServers":{"a":{"type":"stdio", "command" : "stickler", "args": ["run", "--name", "a", "--url", "https://x/mcp", "--header-env", "Authorization"],"env":{"Authorization":"Bearer ${T}"}},"b":{"command":"stickler","args": ["run", "--name", "b", "--url", "https://y", "--wrapped-type", "streamable-http"],"type":"stdio"}}}"#;
    assert_eq!(wrap(before), after);
    assert_eq!(wrap(after), after);
    assert_eq!(unwrap(after), before);
}

#[test]
fn added_variables_do_not_become_headers() {
    let before = r#"{"mcpServers":{"a":{"url":"https://x","headers":{"B":"1","A":"2"}}}}"#;
    let wrapped = wrap(before);
    let sorted = wrapped.replace(r#"{"B":"1","A":"2"}"#, r#"{"A":"2","B":"1"}"#);
    assert!(unwrap(&sorted).contains(r#""headers":{"A":"2","B":"1"}"#), "another order will do");
    for env in
        [r#"{"B":"1","A":"2","SECRET":"x"}"#, r#"{"B":"1"}"#, r#"{"B":"1","a":"2"}"#, "{}", "1"]
    {
        let changed = wrapped.replace(r#"{"B":"1","A":"2"}"#, env);
        assert_ne!(changed, wrapped);
        let outcome = change(&changed, &[], Direction::Unwrap).unwrap();
        assert_eq!(outcome.text, changed);
        let reason = outcome.entries[0].outcome.as_ref().unwrap_err();
        assert!(reason.contains("changed since"), "{reason}");
    }
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
        (r#"{"url":"x","headers":{"a b":"c"}}"#, "header `a b`"),
        (r#"{"url":"x","env":{}}"#, "`env`"),
        ("{}", "neither a `command` nor a `url`"),
        ("1", "not an object"),
    ] {
        let text = format!("{{\"mcpServers\":{{\"a\":{entry}}}}}");
        let changed = change(&text, &[], Direction::Wrap("stickler")).unwrap();
        assert_eq!(changed.text, text);
        let actual = changed.entries[0].outcome.as_ref().unwrap_err();
        assert!(actual.contains(reason), "{actual}");
        assert_eq!(unwrap(&text), text);
    }
}

#[test]
fn reformatted_file_is_unwrapped() {
    let before = r#"{"mcpServers":{"a":{"command":"x"},"b":{"command":"y","args":["z"]}}}"#;
    let wrapped: Value = serde_json::from_str(&wrap(before)).unwrap();
    let again: Value =
        serde_json::from_str(&unwrap(&serde_json::to_string_pretty(&wrapped).unwrap())).unwrap();
    let expected =
        r#"{"mcpServers":{"a":{"command":"x","args":[]},"b":{"command":"y","args":["z"]}}}"#;
    assert_eq!(again, serde_json::from_str::<Value>(expected).unwrap());
}

/// Whitespace where JSON allows it.
fn blanks() -> impl Strategy<Value = String> {
    "[ \n\t\r]{0,3}"
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9@/ .${}:-]{0,8}".prop_map(|text| Value::from(text).to_string()),
        Just("\"n\\u0070x\\n\\\\\"".to_owned()),
        Just("\"--\"".to_owned()),
        Just("\"run\"".to_owned()),
        Just("\"stickler\"".to_owned()),
        Just("\"ä🦀\"".to_owned()),
    ]
}

/// Items in brackets with arbitrary whitespace.
fn bracketed(
    item: impl Strategy<Value = String> + Clone,
    brackets: (&'static str, &'static str),
) -> impl Strategy<Value = String> {
    let padded = (blanks(), item, blanks()).prop_map(|(a, item, b)| format!("{a}{item}{b}"));
    (blanks(), prop::collection::vec(padded, 0..4)).prop_map(move |(blanks, items)| {
        let inner = if items.is_empty() { blanks } else { items.join(",") };
        format!("{}{inner}{}", brackets.0, brackets.1)
    })
}

fn member(
    key: &'static str,
    value: impl Strategy<Value = String>,
) -> impl Strategy<Value = Option<String>> {
    let member = (blanks(), blanks(), value)
        .prop_map(move |(a, b, value)| format!("\"{key}\"{a}:{b}{value}"));
    prop::option::weighted(0.6, member)
}

fn strings(pattern: &'static str) -> impl Strategy<Value = String> {
    let pair = (pattern, text()).prop_map(|(name, value)| format!("\"{name}\": {value}"));
    bracketed(pair.boxed(), ("{", "}"))
}

fn server() -> impl Strategy<Value = String> {
    let kinds = ["\"http\"", "\"stdio\"", "\"streamable-http\"", "\"sse\"", "\"h\\u0074tp\""];
    let members = (
        member("command", text()),
        member("args", bracketed(text().boxed(), ("[", "]"))),
        member("url", text()),
        member("headers", strings("[A-Za-z-]{1,6}")),
        member("env", strings("[A-Z]{1,4}")),
        member("type", prop::sample::select(kinds.to_vec()).prop_map(str::to_owned)),
        member("other", Just("{\"x\": [1.0, null]}".to_owned())),
    );
    let members = members.prop_map(|(a, b, c, d, e, f, g)| {
        [a, b, c, d, e, f, g].into_iter().flatten().collect::<Vec<String>>()
    });
    let shuffled = members.prop_shuffle();
    (shuffled, blanks(), blanks()).prop_map(|(members, before, after)| {
        let members: Vec<String> =
            members.into_iter().map(|member| format!("{before}{member}{after}")).collect();
        format!("{{{}}}", members.join(","))
    })
}

fn document() -> impl Strategy<Value = String> {
    let entry = (text(), blanks(), server())
        .prop_map(|(name, blanks, server)| format!("{name}:{blanks}{server}"));
    let holder = prop::sample::select(vec!["mcpServers", "servers"]);
    (blanks(), holder, bracketed(entry.boxed(), ("{", "}")), blanks()).prop_map(
        |(before, holder, servers, after)| {
            format!("{before}{{\"x\": 1.0,\"{holder}\" :{servers}, \"y\":[ ]}}{after}")
        },
    )
}

/// Whether a server looks as if it was wrapped.
fn is_wrapped(text: &str) -> bool {
    let document: Value = serde_json::from_str(text).unwrap();
    ["mcpServers", "servers"].iter().filter_map(|holder| document[holder].as_object()).any(|all| {
        all.values().any(|server| server["command"] == "stickler" && server["args"][0] == "run")
    })
}

proptest! {
    #[test]
    fn unwrapping_restores_the_file_byte_for_byte(text in document()) {
        prop_assume!(!is_wrapped(&text));
        let wrapped = wrap(&text);
        prop_assert!(serde_json::from_str::<Value>(&wrapped).is_ok(), "{}", wrapped);
        prop_assert_eq!(&wrap(&wrapped), &wrapped);
        prop_assert_eq!(unwrap(&wrapped), text);
    }

    #[test]
    fn wrapped_command_runs_the_original_command(text in document()) {
        prop_assume!(!is_wrapped(&text));
        let changed = change(&text, &[], Direction::Wrap("stickler")).unwrap();
        for entry in changed.entries {
            let Ok(after) = &entry.outcome else { continue };
            let before: Value = serde_json::from_str(&entry.before).unwrap();
            let after: Value = serde_json::from_str(after).unwrap();
            let args: Vec<&Value> = after["args"].as_array().unwrap().iter().collect();
            prop_assert_eq!(&after["command"], "stickler");
            prop_assert_eq!(args[2], entry.name.as_str());
            if before.get("command").is_some() {
                prop_assert_eq!(args[4], &before["command"]);
                let rest: Vec<&Value> = before["args"].as_array().into_iter().flatten().collect();
                prop_assert_eq!(&args[5..], rest.as_slice());
                prop_assert_eq!(&after["env"], &before["env"]);
            } else {
                prop_assert_eq!(args[4], &before["url"]);
                prop_assert_eq!(&after["env"], &before["headers"]);
            }
            prop_assert_eq!(&after["other"], &before["other"]);
        }
    }

    #[test]
    fn arbitrary_text_does_not_panic(text in "\\PC{0,40}|[\\[\\]{}:,\"a ]{0,40}") {
        let _ = change(&text, &[], Direction::Wrap("stickler"));
        let _ = change(&text, &[], Direction::Unwrap);
    }
}
