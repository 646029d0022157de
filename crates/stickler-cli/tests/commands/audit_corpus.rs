//! `stickler audit` on recorded sessions of 54 servers: every finding is in a manually verified list.
//!
//! An expected finding that is no longer reported fails the test as well.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::command::{shared, stickler};
use serde_json::Value;

/// Number of findings of a rule in a recording, and their cause.
struct Expected {
    server: &'static str,
    rule: &'static str,
    count: usize,
    #[allow(dead_code, reason = "documents the entry")]
    cause: &'static str,
}

const LEGACY_SESSIONS: [Expected; 4] = [
    Expected {
        server: "elastic__mcp-server-elasticsearch",
        rule: "stdout-noise",
        count: 3,
        cause: "its telemetry logs to stdout, as JSON with `name`, `level` and `msg`",
    },
    Expected {
        server: "minimax-mcp",
        rule: "stdout-noise",
        count: 1,
        cause: "prints `Starting Minimax MCP server`",
    },
    Expected {
        server: "opensearch-mcp-server-py",
        rule: "stdout-noise",
        count: 1,
        cause: "prints `Error generating tools: Cannot connect to host …`",
    },
    Expected {
        server: "server-gitlab",
        rule: "bad-result",
        count: 9,
        cause: "the `inputSchema` of nine tools has no `type`; every revision requires \"object\"",
    },
];

const DISCOVERIES: [Expected; 5] = [
    Expected {
        server: "chroma-mcp",
        rule: "stdout-noise",
        count: 2,
        cause: "prints `Successfully initialized Chroma client` and `Starting MCP server`",
    },
    Expected {
        server: "elastic__mcp-server-elasticsearch",
        rule: "stdout-noise",
        count: 3,
        cause: "its telemetry logs to stdout, as JSON with `name`, `level` and `msg`",
    },
    Expected {
        server: "minimax-mcp",
        rule: "stdout-noise",
        count: 1,
        cause: "prints `Starting Minimax MCP server`",
    },
    Expected {
        server: "opensearch-mcp-server-py",
        rule: "stdout-noise",
        count: 1,
        cause: "prints `Error generating tools: Cannot connect to host …`",
    },
    Expected {
        server: "server-gitlab",
        rule: "bad-result",
        count: 9,
        cause: "the `inputSchema` of nine tools has no `type`; every revision requires \"object\"",
    },
];

#[test]
#[ignore = "needs the recordings in ../shared/corpus"]
fn legacy_sessions_have_exactly_the_known_findings() {
    check("corpus/sessions", &LEGACY_SESSIONS);
}

#[test]
#[ignore = "needs the recordings in ../shared/corpus"]
fn discovery_sessions_have_exactly_the_known_findings() {
    check("corpus/discover", &DISCOVERIES);
}

fn check(folder: &str, expected: &[Expected]) {
    let folder = shared(folder).expect("the recordings are in ../shared/corpus");
    let expected: BTreeMap<(String, String), usize> = expected
        .iter()
        .map(|one| ((one.server.to_owned(), one.rule.to_owned()), one.count))
        .collect();
    assert_eq!(findings(&folder), expected);
}

/// Number of findings per recording and rule.
fn findings(folder: &Path) -> BTreeMap<(String, String), usize> {
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().to_str().unwrap().to_owned())
        .collect();
    files.sort();
    let arguments: Vec<&str> =
        ["audit", "--format", "json"].into_iter().chain(files.iter().map(String::as_str)).collect();
    let run = stickler(&arguments);
    assert_eq!(run.stderr, "");
    let mut findings = BTreeMap::new();
    for line in run.stdout.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let Some(rule) = record["rule"].as_str() else { continue };
        let server = Path::new(record["file"].as_str().unwrap()).file_stem().unwrap();
        let key = (server.to_str().unwrap().to_owned(), rule.to_owned());
        *findings.entry(key).or_default() += 1;
    }
    findings
}
