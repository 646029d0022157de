//! Real sessions of 54 servers: every finding is one that a person has looked at and found true.
//!
//! An expectation that nothing meets any more fails as well.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests are blunt, and read files and start processes"
)]

mod support;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use support::{shared, stickler};

/// How often a rule is broken in a recording, and why that is so.
struct Expected {
    server: &'static str,
    rule: &'static str,
    times: usize,
    #[allow(dead_code, reason = "for people")]
    because: &'static str,
}

const LEGACY_SESSIONS: [Expected; 4] = [
    Expected {
        server: "elastic__mcp-server-elasticsearch",
        rule: "stdout-noise",
        times: 3,
        because: "its telemetry logs to stdout, as JSON with `name`, `level` and `msg`",
    },
    Expected {
        server: "minimax-mcp",
        rule: "stdout-noise",
        times: 1,
        because: "prints `Starting Minimax MCP server`",
    },
    Expected {
        server: "opensearch-mcp-server-py",
        rule: "stdout-noise",
        times: 1,
        because: "prints `Error generating tools: Cannot connect to host …`",
    },
    Expected {
        server: "server-gitlab",
        rule: "bad-result",
        times: 9,
        because: "the `inputSchema` of nine tools has no `type`; every revision requires \"object\"",
    },
];

const DISCOVERIES: [Expected; 5] = [
    Expected {
        server: "chroma-mcp",
        rule: "stdout-noise",
        times: 2,
        because: "prints `Successfully initialized Chroma client` and `Starting MCP server`",
    },
    Expected {
        server: "elastic__mcp-server-elasticsearch",
        rule: "stdout-noise",
        times: 3,
        because: "its telemetry logs to stdout, as JSON with `name`, `level` and `msg`",
    },
    Expected {
        server: "minimax-mcp",
        rule: "stdout-noise",
        times: 1,
        because: "prints `Starting Minimax MCP server`",
    },
    Expected {
        server: "opensearch-mcp-server-py",
        rule: "stdout-noise",
        times: 1,
        because: "prints `Error generating tools: Cannot connect to host …`",
    },
    Expected {
        server: "server-gitlab",
        rule: "bad-result",
        times: 9,
        because: "the `inputSchema` of nine tools has no `type`; every revision requires \"object\"",
    },
];

#[test]
fn legacy_sessions_have_the_findings_that_are_known() {
    check("corpus/sessions", &LEGACY_SESSIONS);
}

#[test]
fn discoveries_have_the_findings_that_are_known() {
    check("corpus/discover", &DISCOVERIES);
}

fn check(folder: &str, expected: &[Expected]) {
    let Some(folder) = shared(folder) else {
        eprintln!("skipped: no {folder} beside the checkout");
        return;
    };
    let expected: BTreeMap<(String, String), usize> = expected
        .iter()
        .map(|one| ((one.server.to_owned(), one.rule.to_owned()), one.times))
        .collect();
    assert_eq!(findings(&folder), expected);
}

/// How often each rule is broken in each recording of a folder.
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
