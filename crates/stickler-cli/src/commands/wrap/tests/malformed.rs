//! Files that are not valid are rejected with their position, and stay as they are.

use super::{Direction, edit, wrapping};
use crate::config::Format;

#[test]
fn malformed_file_is_rejected_with_position_and_reason() {
    let cases: &[(Format, &str, &str, &str)] = &[
        (Format::Json, "", "", "the file is empty"),
        (Format::Json, " \n", "", "the file is empty"),
        (Format::Toml, "\n", "", "the file is empty"),
        (Format::Json, "{\"command\": \"npx\"}", "{", "a member of `mcpServers`"),
        (Format::Json, "[]", "[", "expected an object"),
        (Format::Json, "{\"mcpServers\": {", "", "invalid JSON"),
        (Format::Json, "{\"mcpServers\": {,}}", ",}}", "invalid JSON"),
        (Format::Json, "{'mcpServers': {}}", "'mcp", "invalid JSON"),
        (Format::Json, "{\"mcpServers\": {}} x", "x", "invalid JSON"),
        (Format::Json, "{ /* open", "/* open", "invalid JSON"),
        (Format::Json, "{\"a\": \"x\ny\"}", "\ny", "invalid JSON"),
        (Format::Json, "{\"mcpservers\": {}}", "\"mcpservers", "did you mean `mcpServers`?"),
        (Format::Json, "{\"a\": 1}", "{", "no servers found"),
        (Format::Json, "{\"mcpServers\": \"x\"}", "\"x", "`mcpServers` is a string"),
        (Format::Toml, "[mcp_servers.a\ncommand = 1", "", "unclosed table"),
        (Format::Toml, "[mcp_servers.a]\ncommand = npx\n", "npx", "a string needs quotes"),
        (
            Format::Toml,
            "[mcp_server.a]\ncommand = 'x'\n",
            "mcp_server.a",
            "did you mean `mcp_servers`?",
        ),
        (Format::Toml, "[a]\n[a]\n", "a]\n", "duplicate"),
        (Format::Yaml, "mcpServers:\n\t- name: a", "- name", "tabs"),
        (Format::Yaml, "mcpServers: [", "", "invalid YAML"),
        (Format::Yaml, "a: \"x\n", "", "invalid YAML"),
        (Format::Yaml, "- a\n", "- a", "expected an object"),
        (Format::Yaml, "", "", "the file is empty"),
        (Format::Yaml, "~", "~", "expected an object"),
        (Format::Yaml, "a: 1\n---\nb: 1\n", "---", "several YAML documents"),
    ];
    let mut wrong = Vec::new();
    for (format, text, place, reason) in cases {
        let result = edit(text, (*format, None), &[], Direction::Wrap(&wrapping()));
        let fault = result.map(|edited| edited.text).unwrap_err();
        let rest = &text[fault.span.start.min(text.len())..];
        if !fault.message.contains(reason) || !rest.starts_with(place) {
            wrong.push(format!("{text:?}: {} at {rest:?}", fault.message));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
