//! Wrapping and unwrapping of generated files: the bytes come back, and the wrapped servers run the originals.

use proptest::prelude::*;
use serde_json::Value;

use super::{Direction, edit, edited, unwrap, wrap, wrapping};
use crate::config::Format;

/// Whitespace where JSON allows it.
fn blanks() -> impl Strategy<Value = String> {
    "[ \n\t\r]{0,3}"
}

/// Whitespace and comments where JSON with comments allows them.
fn gap() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => blanks(),
        1 => Just("/* - \"ü\" */".to_owned()),
        1 => Just(" // [\"x\", ü\n\t".to_owned()),
        1 => Just("\r\n  /**/ ".to_owned()),
    ]
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

/// A URL, or text that is not one.
fn url() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "https?://[a-z]{1,5}(:80)?/(mcp|sse|)".prop_map(|url| format!("\"{url}\"")),
        1 => Just("\"https:\\/\\/x\\u002fmcp\"".to_owned()),
        1 => Just("\"${input:base}/mcp\"".to_owned()),
        1 => text(),
    ]
}

/// Items in brackets with arbitrary whitespace.
fn bracketed(
    item: impl Strategy<Value = String> + Clone,
    brackets: (&'static str, &'static str),
) -> impl Strategy<Value = String> {
    let padded = (gap(), item, gap()).prop_map(|(a, item, b)| format!("{a}{item}{b}"));
    let items = prop::collection::vec(padded, 0..4);
    (gap(), items, any::<bool>()).prop_map(move |(gap, items, has_comma)| {
        let comma = if has_comma { "," } else { "" };
        let inner = if items.is_empty() { gap } else { items.join(",") + comma };
        format!("{}{inner}{}", brackets.0, brackets.1)
    })
}

fn member(
    key: &'static str,
    value: impl Strategy<Value = String>,
) -> impl Strategy<Value = Option<String>> {
    let member =
        (gap(), gap(), value).prop_map(move |(a, b, value)| format!("\"{key}\"{a}:{b}{value}"));
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
        member("url", url()),
        member("headers", strings("[A-Za-z-]{1,6}")),
        member("env", strings("[A-Z]{1,4}")),
        member("type", prop::sample::select(kinds.to_vec()).prop_map(str::to_owned)),
        member("other", Just("{\"x\": [1.0, null]}".to_owned())),
    );
    let members = members.prop_map(|(a, b, c, d, e, f, g)| {
        [a, b, c, d, e, f, g].into_iter().flatten().collect::<Vec<String>>()
    });
    let shuffled = members.prop_shuffle();
    (shuffled, gap(), gap()).prop_map(|(members, before, after)| {
        let members: Vec<String> =
            members.into_iter().map(|member| format!("{before}{member}{after}")).collect();
        format!("{{{}}}", members.join(","))
    })
}

fn document() -> impl Strategy<Value = String> {
    let entry = (text(), gap(), server())
        .prop_map(|(name, blanks, server)| format!("{name}:{blanks}{server}"));
    let holder = prop::sample::select(vec!["mcpServers", "servers", "context_servers"]);
    (gap(), holder, bracketed(entry.boxed(), ("{", "}")), gap()).prop_map(
        |(before, holder, servers, after)| {
            format!("{before}{{\"x\": 1.0,\"{holder}\" :{servers}, \"y\":[ ]}}{after}")
        },
    )
}

/// A string in TOML.
fn toml_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9@/ .${}:,-]{0,8}".prop_map(|text| format!("\"{text}\"")),
        "[a-zA-Z0-9@/ .\\\\-]{0,8}".prop_map(|text| format!("'{text}'")),
        Just("\"\"\"a\nü\"\"\"".to_owned()),
        Just("\"--\"".to_owned()),
    ]
}

fn toml_blank() -> impl Strategy<Value = String> {
    prop_oneof![3 => "[ \t]{0,2}", 1 => Just("\n  ".to_owned()), 1 => Just(" # c ]\n ".to_owned())]
}

fn toml_list() -> impl Strategy<Value = String> {
    let item =
        (toml_blank(), toml_text(), toml_blank()).prop_map(|(a, item, b)| format!("{a}{item}{b}"));
    (toml_blank(), prop::collection::vec(item, 0..4), any::<bool>()).prop_map(
        |(blank, items, comma)| {
            let comma = if comma { "," } else { "" };
            if items.is_empty() {
                format!("[{blank}]")
            } else {
                format!("[{}{comma}]", items.join(","))
            }
        },
    )
}

/// A configuration file of Codex with one server in each form of a table.
fn toml_document() -> impl Strategy<Value = String> {
    let list = || prop::option::of(toml_list());
    let flat = || "[ \t]{0,3}(# c|)";
    let server = (toml_text(), list(), flat(), "[ \t]{0,2}", any::<bool>());
    let table = server.prop_map(|(command, args, end, indent, args_first)| {
        let mut lines = vec![format!("{indent}command = {command}{end}")];
        let args = args.map(|args| format!("{indent}args={args} # args"));
        if args_first {
            lines.splice(0..0, args);
        } else {
            lines.extend(args);
        }
        format!("[mcp_servers.\"ü a\"] # c\n{}\nenv = {{ A = \"b\" }}\n", lines.join("\n"))
    });
    let inline = (toml_text(), prop::option::of(prop::collection::vec(toml_text(), 0..3)));
    let inline = inline.prop_map(|(command, args)| {
        let args = args.map_or_else(String::new, |args| format!(", args = [{}]", args.join(", ")));
        format!("[mcp_servers]\nb = {{ command = {command}{args} }}\n")
    });
    let dotted = (toml_text(), list()).prop_map(|(command, args)| {
        let args = args.map_or_else(String::new, |args| format!("mcp_servers.d.args = {args}\n"));
        format!("mcp_servers.d.command = {command} # c\n{args}")
    });
    let quoted = (toml_text(), list(), any::<bool>()).prop_map(|(command, args, env_first)| {
        let args = args.map_or_else(String::new, |args| format!("'args' = {args}\n"));
        let table = format!("[ mcp_servers . \"a.b\" ]\n\"command\" = {command} # c\n{args}");
        let env = "[mcp_servers.\"a.b\".env]\nK = \"v\"\n";
        if env_first { format!("{env}{table}") } else { format!("{table}\n\n{env}") }
    });
    let several = prop::collection::vec((toml_text(), list()), 1..4).prop_map(|servers| {
        let servers = servers.into_iter().enumerate().map(|(index, (command, args))| {
            let args = args.map_or_else(String::new, |args| format!("s{index}.args = {args}\n"));
            format!("s{index}.command = {command}\n{args}")
        });
        format!("[mcp_servers]\n{}", servers.collect::<String>())
    });
    let form = prop_oneof![table, inline, dotted, quoted, several];
    (any::<bool>(), form).prop_map(|(has_crlf, form)| {
        let text = format!("model = \"x\" # c\n{form}\n[other]\nx = 1");
        // A dotted key must come before a table header.
        if has_crlf { text.replace('\n', "\r\n") } else { text }
    })
}

/// A scalar in YAML that is valid in flow and block context.
fn yaml_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z@][a-zA-Z0-9/.-]{0,8}".prop_map(|text| format!("\"{text}\"")),
        "[a-zA-Z][a-zA-Z0-9/.-]{0,8}",
        Just("-y".to_owned()),
        Just("'it''s'".to_owned()),
        Just("\"ü # \\\" x\"".to_owned()),
        Just("npx # comment: ü".to_owned()),
    ]
}

/// A configuration file of Continue.
fn yaml_document() -> impl Strategy<Value = String> {
    let block = prop::collection::vec(yaml_text(), 1..4)
        .prop_map(|items| format!("    args:\n      - {}\n", items.join("\n      - ")));
    let dense = prop::collection::vec(yaml_text(), 1..4)
        .prop_map(|items| format!("    args: # c\n    -   {}\n", items.join("\n    -   ")));
    let flow = prop::collection::vec("[a-z]{1,3}|\"x y\"", 0..3)
        .prop_map(|items| format!("    args: [ {}] # c\n", items.join(", ")));
    let none = Just(String::new());
    let lines = prop::collection::vec("[a-z]{1,3}|\"x # y\"|'z'", 1..4).prop_map(|items| {
        format!("    'args':\n      [\n        {},\n      ]\n", items.join(",\n        "))
    });
    let spaced = prop::collection::vec(yaml_text(), 1..4).prop_map(|items| {
        format!("    args:\n    # c\n    - {}\n\n", items.join("\n\n    # - d\n    - "))
    });
    let args = prop_oneof![block, dense, flow, lines, spaced, none];
    let server = (yaml_text(), args, 0..4).prop_map(|(command, args, form)| match form {
        0 => format!("  - command: {command}\n    name: ä\n{args}    env: {{A: b}}\n"),
        1 => format!("  -\n    name: b\n    \"command\":   {command}\n{args}"),
        2 => format!("  - name: b\n    command:\n      {command}\n{args}"),
        _ => format!("  - name: b # c\n{args}    command: {command}\n\n  # c\n"),
    });
    let flow = "[a-z]{1,3}".prop_map(|word| {
        format!("  - {{name: f, command: {word},\n     args: [-y, \"{word}\"]}}\n")
    });
    let servers = prop::collection::vec(prop_oneof![4 => server, 1 => flow], 0..3);
    (servers, any::<bool>()).prop_map(|(servers, has_crlf)| {
        let text = format!("# ü\nname: x\nmcpServers:\n{}models: []", servers.concat());
        if has_crlf { text.replace('\n', "\r\n") } else { text }
    })
}

/// Whether a server looks as if it was wrapped.
fn is_wrapped(text: &str) -> bool {
    text.contains("\"stickler\"") && text.contains("\"run\"")
}

/// Checks a document: all servers with a command are wrapped, and the bytes come back.
fn check_round_trip(text: &str, format: Format) -> Result<(), TestCaseError> {
    let wrapped = edited(text, format, &[], Direction::Wrap(&wrapping()));
    for entry in &wrapped.entries {
        prop_assert!(entry.outcome.is_ok(), "{:?} in {}", entry.outcome, text);
    }
    prop_assert_eq!(&wrap(&wrapped.text, format), &wrapped.text, "wrapped twice");
    prop_assert_eq!(unwrap(&wrapped.text, format), text);
    Ok(())
}

proptest! {
    #[test]
    fn json_is_restored_byte_for_byte(text in document()) {
        prop_assume!(!is_wrapped(&text));
        let wrapped = wrap(&text, Format::Json);
        prop_assert_eq!(&wrap(&wrapped, Format::Json), &wrapped);
        prop_assert_eq!(unwrap(&wrapped, Format::Json), text);
    }

    #[test]
    fn toml_is_restored_byte_for_byte(text in toml_document()) {
        check_round_trip(&text, Format::Toml)?;
    }

    #[test]
    fn yaml_is_restored_byte_for_byte(text in yaml_document()) {
        check_round_trip(&text, Format::Yaml)?;
    }

    #[test]
    fn wrapped_command_runs_the_original_command(text in document()) {
        prop_assume!(!is_wrapped(&text));
        let read = |text: &str| -> Option<Value> { serde_json::from_str(text).ok() };
        for entry in edited(&text, Format::Json, &[], Direction::Wrap(&wrapping())).entries {
            let Ok((before, after)) = &entry.outcome else { continue };
            // Entries with comments are compared in the other tests.
            let (Some(before), Some(after)) = (read(before), read(after)) else { continue };
            let args: Vec<&Value> = after["args"].as_array().unwrap().iter().collect();
            prop_assert_eq!(&after["command"], "/bin/stickler");
            prop_assert_eq!(args[3], "--mode");
            if before.get("command").is_some() {
                prop_assert_eq!(args[6], &before["command"]);
                let rest: Vec<&Value> = before["args"].as_array().into_iter().flatten().collect();
                prop_assert_eq!(&args[7..], rest.as_slice());
                prop_assert_eq!(&after["env"], &before["env"]);
            } else {
                prop_assert_eq!(args[6], &before["url"]);
                prop_assert_eq!(&after["env"], &before["headers"]);
            }
            prop_assert_eq!(&after["other"], &before["other"]);
        }
    }

    #[test]
    fn arbitrary_text_does_not_panic(text in "\\PC{0,40}|[\\[\\]{}:,\"a \n#-]{0,40}") {
        for format in [Format::Json, Format::Toml, Format::Yaml] {
            let _ = edit(&text, (format, None), &[], Direction::Wrap(&wrapping()));
            let _ = edit(&text, (format, None), &[], Direction::Unwrap);
            let server = format!("mcpServers:\n  a:\n    command: {text}\n");
            let _ = edit(&server, (format, None), &[], Direction::Wrap(&wrapping()));
        }
    }
}
