//! `McpClient` with real servers: a child process and a server at a URL.

use std::path::Path;
use std::sync::Once;
use std::time::Duration;

use serde_json::json;
use stickler_rmcp::{
    Code, DecidedBy, Era, McpClient, McpConfig, RawSettings, Validated, ValidationConfig,
};

use crate::build_examples::build_examples;
use crate::http::Web;
use crate::notes::Notes;

/// Builds the examples once and returns the path of one.
pub(crate) fn example(name: &str) -> String {
    static BUILT: Once = Once::new();
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(Path::parent).unwrap();
    BUILT.call_once(|| build_examples("stickler-rmcp", &["--examples"], folder));
    let program = folder.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(program.exists(), "{}: `cargo build --examples` builds it", program.display());
    program.to_str().unwrap().to_owned()
}

fn process(wrapped: bool) -> McpConfig {
    let config = McpConfig::new("notes", example("wrap_a_server"));
    if wrapped { config } else { config.args(["--plain"]) }
}

pub(crate) async fn connected(config: McpConfig) -> McpClient {
    let mut client = McpClient::new(config).unwrap();
    client.enable_validation(ValidationConfig::default());
    client.connect().await.unwrap();
    client
}

#[tokio::test]
async fn call_with_a_missing_required_field_is_rejected_and_names_the_field() {
    let client = connected(process(false)).await;
    let rejected = client.call_tool("read_note", json!({})).await.unwrap_err();
    assert_eq!(rejected.code(), Code::InvalidArguments);
    assert_eq!(rejected.missing(), ["path"]);
    assert!(rejected.to_string().starts_with("[STK-107]"), "{rejected}");
    let rejected = client.call_tool("read_note", json!({ "pth": "a" })).await.unwrap_err();
    assert!(rejected.suggestions().contains(&"path".to_owned()));
}

#[tokio::test]
async fn disabled_validation_sends_the_call_unchecked() {
    let mut client = McpClient::new(process(false)).unwrap();
    let mut config = ValidationConfig::default();
    config.pre_validate = false;
    client.enable_validation(config);
    client.connect().await.unwrap();
    let failed = client.call_tool("read_note", json!({})).await.unwrap_err();
    assert_eq!(failed.code(), Code::ToolFailed);
    let text = failed.to_string();
    assert!(text.contains("missing field `path`") && text.contains("Required"), "{text}");
}

#[tokio::test]
async fn connecting_fills_the_cache_in_both_eras() {
    for era in [None, Some(Era::Legacy), Some(Era::Modern)] {
        let config = process(false);
        let config = era.into_iter().fold(config, McpConfig::era);
        let mut client = connected(config).await;
        let stats = client.validation_stats().unwrap();
        assert_eq!((stats.tool_count, stats.servers), (3, 1));
        let expected = if era == Some(Era::Legacy) { "2025-11-25" } else { "2026-07-28" };
        assert_eq!(client.revision().as_deref(), Some(expected));
        let note = json!({ "path": "a", "content": "hi" });
        let written = client.call_tool("notes:write_note", note).await.unwrap();
        assert_eq!(written.text(), "wrote 2 characters to a");
        client.close().await;
        assert!(!client.is_connected());
    }
}

#[tokio::test]
async fn unknown_tool_is_rejected_with_a_suggestion() {
    let client = connected(process(false)).await;
    let rejected = client.call_tool("read_notes", json!({ "path": "a" })).await.unwrap_err();
    assert_eq!(rejected.code(), Code::UnknownTool);
    assert_eq!(rejected.suggestions(), ["read_note"]);
}

#[tokio::test]
async fn validate_tool_uses_the_server_if_supported_and_the_schema_otherwise() {
    let invalid = json!({ "path": 5 });
    let client = connected(process(true)).await;
    assert!(client.supports_validation());
    assert!(client.has_capability("experimental.toolValidation"));
    assert!(client.has_capability("experimental.toolValidation.levels.syntax"));
    assert!(!client.has_capability("experimental.toolValidation.levels.runtime"));
    let validation = client.validate_tool("read_note", &invalid).await.unwrap();
    assert!(!validation.report.valid);
    assert_eq!(validation.decided_by, DecidedBy::Server);

    let client = connected(process(false)).await;
    assert!(!client.supports_validation());
    assert!(!client.has_capability("experimental.toolValidation"));
    let validation = client.validate_tool("notes:read_note", &invalid).await.unwrap();
    assert!(!validation.report.valid);
    assert_eq!(validation.decided_by, DecidedBy::Schema);
}

#[tokio::test]
async fn client_works_with_a_server_at_a_url() {
    let wrapped = Validated::new(Notes::default(), ValidationConfig::default());
    let web = Web::modern(wrapped, Some(RawSettings::default())).await;
    for era in [None, Some(Era::Legacy), Some(Era::Modern)] {
        let config = McpConfig::url("notes", web.url());
        let mut client = connected(era.into_iter().fold(config, McpConfig::era)).await;
        assert_eq!(client.validation_stats().unwrap().tool_count, 4);
        let rejected = client.call_tool("read_note", json!({})).await.unwrap_err();
        assert_eq!(rejected.missing(), ["path"]);
        let failed = client.call_tool("read_note", json!({ "path": "x" })).await.unwrap_err();
        assert_eq!(failed.to_string(), "[STK-102] tool `read_note` failed: no note at x");
        let valid = client.validate_tool("read_note", &json!({ "path": "x" })).await.unwrap();
        assert!(valid.report.valid && valid.decided_by == DecidedBy::Server);
        client.close().await;
    }
}

#[tokio::test]
async fn unreachable_servers_are_reported_by_code() {
    let client = McpClient::new(McpConfig::new("x", "no-such-program")).unwrap();
    let error = client.call_tool("a", json!({})).await.unwrap_err();
    assert_eq!(error.code(), Code::NotConnected);
    for config in [
        McpConfig::new("x", "no-such-program"),
        McpConfig::new("x", example("wrap_a_server")).args(["--listen"]),
        McpConfig::url("x", "http://127.0.0.1:1/mcp"),
    ] {
        let mut client = McpClient::new(config).unwrap();
        let error = client.connect().await.unwrap_err();
        assert_eq!(error.code(), Code::CannotStart, "{error}");
    }
    assert!(McpClient::new(McpConfig::url("x", "ftp://example.com")).is_err());
    assert!(McpClient::new(McpConfig::url("x", "example")).is_err());
}

/// A shell script as a server: `cases` selects the response by the text of the request line.
#[cfg(unix)]
pub(crate) fn script(cases: &str) -> McpConfig {
    let script = format!(
        r#"while read -r line; do
            id=${{line#*\"id\":}}; id=${{id%%[,\}}]*}}
            answer() {{ printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$id" "$1"; }}
            hello='{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{"listChanged":true}}}},"serverInfo":{{"name":"s","version":"1"}}}}'
            case "$line" in {cases} esac
        done"#
    );
    McpConfig::new("script", "sh").args(["-c", &script]).timeout(Duration::from_secs(30))
}

#[cfg(unix)]
#[tokio::test]
async fn server_that_exits_on_discovery_is_restarted_with_the_legacy_handshake() {
    let config = script(
        r#"*server/discover*) exit 3;;
           *'"initialize"'*) answer "$hello";;
           *tools/list*) answer '{"tools":[]}';;"#,
    );
    let client = connected(config).await;
    assert_eq!(client.revision().as_deref(), Some("2025-11-25"));
}

#[cfg(unix)]
#[tokio::test]
async fn malformed_tools_do_not_affect_the_valid_ones() {
    let config = script(
        r#"*server/discover*) exit 3;;
           *'"initialize"'*) answer "$hello";;
           *tools/list*) answer '{"tools":[{"name":"good","inputSchema":{"type":"object","properties":{}}},{"name":"bad","inputSchema":[]},{"inputSchema":{}},5]}';;"#,
    );
    let client = connected(config).await;
    let stats = client.validation_stats().unwrap();
    assert_eq!((stats.tool_count, stats.quarantined), (1, 1));
    let rejected = client.call_tool("good", json!({ "a": 1 })).await.unwrap_err();
    assert_eq!(rejected.code(), Code::InvalidArguments);
    let names: Vec<String> =
        client.list_tools().await.unwrap().into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["good", "bad"]);
}

#[cfg(unix)]
#[tokio::test]
async fn results_are_checked_against_the_output_schema() {
    let config = script(
        r#"*server/discover*) exit 3;;
           *'"initialize"'*) answer "$hello";;
           *tools/list*) answer '{"tools":[{"name":"sum","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["total"]}}]}';;
           *tools/call*) answer '{"content":[],"structuredContent":{}}';;"#,
    );
    let client = connected(config).await;
    let error = client.call_tool("sum", json!({})).await.unwrap_err();
    assert_eq!(error.code(), Code::InvalidResult);
    assert!(error.to_string().contains("total"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn server_exit_and_timeout_have_different_codes() {
    let cases = |call: &str| {
        format!(
            r#"*server/discover*) exit 3;;
               *'"initialize"'*) answer "$hello";;
               *tools/list*) answer '{{"tools":[{{"name":"t","inputSchema":{{"type":"object"}}}}]}}';;
               *tools/call*) {call};;"#
        )
    };
    let client = connected(script(&cases("exit 1"))).await;
    let error = client.call_tool("t", json!({})).await.unwrap_err();
    assert_eq!(error.code(), Code::ServerGone, "{error}");
    let client = connected(script(&cases(":")).timeout(Duration::from_secs(5))).await;
    let error = client.call_tool("t", json!({})).await.unwrap_err();
    assert_eq!(error.code(), Code::Timeout, "{error}");
}
