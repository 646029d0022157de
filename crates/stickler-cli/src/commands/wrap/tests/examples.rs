//! Examples as the documentation of the clients shows them, with the servers that are wrapped.

use super::{Direction, edited, reasons, unwrap, wrap, wrapping};
use crate::config::Format;

/// A file and the number of its servers that are wrapped.
fn check(text: &str, format: Format, wrapped: usize) -> String {
    let result = edited(text, format, &[], Direction::Wrap(&wrapping()));
    assert_eq!(result.changed(), wrapped, "{:?}", reasons(&result));
    assert_eq!(wrap(&result.text, format), result.text, "once is enough");
    assert_eq!(unwrap(&result.text, format), text);
    let crlf = text.replace('\n', "\r\n");
    assert_eq!(unwrap(&wrap(&crlf, format), format), crlf);
    result.text
}

#[test]
fn claude_desktop() {
    check(
        r#"{
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": [
        "-y",
        "@modelcontextprotocol/server-filesystem",
        "/Users/username/Desktop"
      ],
      "env": { "LOG": "1" }
    },
    "windows": { "command": "C:\\Program Files\\nodejs\\npx.cmd", "args": [] }
  },
  "globalShortcut": ""
}
"#,
        Format::Json,
        2,
    );
}

#[test]
fn claude_code_with_projects() {
    let wrapped = check(
        r#"{
  "numStartups": 12,
  "mcpServers": { "git": { "type": "stdio", "command": "uvx", "args": ["mcp-server-git"], "env": {} } },
  "projects": {
    "/home/me/a": { "allowedTools": [], "mcpServers": { "db": { "command": "./db" } } },
    "/home/me/b": { "mcpServers": {
      "api": { "type": "http", "url": "https://api.example.com/mcp", "headers": { "Authorization": "Bearer ${TOKEN}" } },
      "sentry": { "type": "http", "url": "https://mcp.sentry.dev/mcp" },
      "old": { "type": "sse", "url": "https://mcp.asana.com/sse" }
    } }
  }
}"#,
        Format::Json,
        3,
    );
    let result = edited(&wrapped, Format::Json, &[], Direction::Unwrap);
    let labels: Vec<&str> = result.entries.iter().map(|entry| entry.label.as_str()).collect();
    let b = "(project /home/me/b)";
    let expected = [
        "`git`".to_owned(),
        "`db` (project /home/me/a)".to_owned(),
        format!("`api` {b}"),
        format!("`sentry` {b}"),
        format!("`old` {b}"),
    ];
    assert_eq!(labels, expected);
}

#[test]
fn vs_code_with_comments_inputs_and_trailing_commas() {
    let wrapped = check(
        r#"// Servers of this workspace
{
	"inputs": [
		{ "type": "promptString", "id": "key", "description": "API key", "password": true, },
	],
	"servers": {
		/* the browser */
		"playwright": {
			"command": "npx", // from npm
			"args": ["-y", "@microsoft/mcp-server-playwright",],
		},
		"perplexity": {
			"type": "stdio",
			"command": "npx",
			"args": [
				// without a prompt
				"-y",
				"server-perplexity-ask",
			],
			"env": { "KEY": "${input:key}" },
			"envFile": "${workspaceFolder}/.env",
		},
		"bare": {
			"command": "node" /* no arguments */
		},
		"github": { "type": "http", "url": "https://api.githubcopilot.com/mcp" },
	},
}
"#,
        Format::Json,
        3,
    );
    for comment in [
        "// Servers of",
        "/* the browser */",
        "// from npm",
        "// without a prompt",
        "/* no arguments */",
    ] {
        assert!(wrapped.contains(comment), "{wrapped}");
    }
}

#[test]
fn vs_code_user_settings() {
    check(
        "{\n  \"editor.fontSize\": 12, // large\n  \"mcp\": { \"servers\": { \"a\": { \"command\": \"x\" } } },\n}\n",
        Format::Json,
        1,
    );
}

#[test]
fn zed_in_both_forms() {
    check(
        r#"{
  // Zed settings
  "context_servers": {
    "local": { "source": "custom", "command": "some-command", "args": ["arg-1"], "env": {} },
    "nested": { "command": { "path": "node", "args": ["s.js"], "env": null }, "settings": {} },
    "bare": { "command": { "path": "node" } },
    "postgres-context-server": { "settings": { "database_url": "postgresql://x" } },
    "remote": { "url": "https://example.com/mcp", "headers": { "Authorization": "Bearer x" } },
  },
}"#,
        Format::Json,
        4,
    );
}

#[test]
fn windsurf_and_gemini_urls() {
    check(
        r#"{ "mcpServers": {
  "remote": { "serverUrl": "https://example.com/mcp", "headers": { "API_KEY": "Bearer ${env:KEY}" } },
  "gemini": { "httpUrl": "https://example.com/mcp", "headers": { "X-Key": "1" }, "timeout": 5000, "trust": false },
  "python": { "command": "python", "args": ["-m", "my_server"], "cwd": "./srv", "timeout": 15000 }
} }"#,
        Format::Json,
        3,
    );
}

#[test]
fn cursor_and_lm_studio() {
    check(
        r#"{"mcpServers":{"a":{"command":"npx","args":["-y","mcp-server"],"env":{"API_KEY":"value"},"disabled":true},"b":{"url":"http://localhost:3000/mcp","headers":{"API_KEY":"value"}},"hf":{"url":"https://huggingface.co/mcp"}}}"#,
        Format::Json,
        2,
    );
}

#[test]
fn codex() {
    let wrapped = check(
        r#"model = "gpt-5" # default

[mcp_servers.context7]
command = "npx" # from npm
args = ["-y", "@upstash/context7-mcp"]
env_vars = ["LOCAL_TOKEN"]

[mcp_servers.context7.env]
MY_ENV_VAR = "MY_ENV_VALUE"

[mcp_servers."my server"]
args = [
    "--flag", # why
    'literal',
]
command = 'C:\tools\server.exe'
startup_timeout_sec = 20
enabled = false

  [mcp_servers.bare]
  command = "./server"    # no arguments

[mcp_servers.figma]
url = "https://mcp.figma.com/mcp"
bearer_token_env_var = "FIGMA_OAUTH_TOKEN"
http_headers = { "X-Figma-Region" = "us-east-1" }

[profiles.x]
model = "o3"
"#,
        Format::Toml,
        3,
    );
    assert!(wrapped.contains("command = \"/bin/stickler\" # from npm\n"), "{wrapped}");
    check(
        "mcp_servers = { a = { command = \"x\" }, b = { command = \"y\", args = [] } }\n",
        Format::Toml,
        2,
    );
    check("mcp_servers.a.command = \"x\"\n", Format::Toml, 1);
}

#[test]
fn continue_yaml() {
    let wrapped = check(
        r#"name: My Config
version: 0.0.1
schema: v1
mcpServers:
  - name: SQLite MCP # local
    command: npx
    args:
      - -y
      - "mcp-sqlite"
      # the database
      - "/path/to/db"
    env:
      KEY: ${{ secrets.KEY }}
  - name: bare
    command: ./run.sh   # no arguments
  - { name: flow, command: uvx, args: [mcp-server-git, "--repository", .] }
  -
    name: Ümlaut
    type: stdio
    command: "uvx"
    args: [ ]
    cwd: /tmp
  - name: remote
    type: streamable-http
    url: https://example.com/mcp
"#,
        Format::Yaml,
        4,
    );
    assert!(wrapped.contains("      # the database\n"), "{wrapped}");
    check("mcpServers:\n  a:\n    command: x\n", Format::Yaml, 1);
    check("mcpServers:\n", Format::Yaml, 0);
}

#[test]
fn scalar_that_cannot_be_copied_is_left_alone() {
    for text in [
        "mcpServers:\n  - name: a\n    command: |\n      npx\n",
        "x: &c npx\nmcpServers:\n  - name: a\n    command: *c\n",
        "mcpServers:\n  - name: a\n    command: a, b\n    args: [x]\n",
    ] {
        let result = edited(text, Format::Yaml, &[], Direction::Wrap(&wrapping()));
        assert_eq!((result.changed(), result.text.as_str()), (0, text));
    }
}

#[test]
fn file_without_final_line_break_and_with_tabs() {
    check("{\t\"mcpServers\"\t:\t{\t\"a\"\t:\t{\t\"command\"\t:\t\"x\"\t}\t}\t}", Format::Json, 1);
    check("[mcp_servers.a]\n\tcommand\t=\t\"x\"", Format::Toml, 1);
    check("mcpServers:\n  - command: x", Format::Yaml, 1);
}
