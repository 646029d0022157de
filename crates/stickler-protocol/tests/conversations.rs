//! Whole conversations, both peers in memory, with the verdict on every message.
//!
//! A fixture is a `.jsonl` file: each line is `{"c2s": …}` or `{"s2c": …}` with the message as JSON,
//! or as a string where it is not. `{"policy": "strict"}`, `{"answer": …}`, `{"revision": …}` and
//! `{"time": seconds}` set the circumstances for the lines after it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests fail by panicking and read their fixtures from files"
)]

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use stickler::{AnswerForm, McpValidator, Revision, ValidationConfig};
use stickler_protocol::{Decision, Policy, Side, ValidationMiddleware, Verdict};

/// A conversation as it goes on, and what is written about it.
struct Conversation {
    middleware: ValidationMiddleware,
    now: Duration,
    transcript: String,
}

impl Conversation {
    fn new() -> Self {
        let validator = Arc::new(McpValidator::new(ValidationConfig::default()));
        let middleware = ValidationMiddleware::new("server", validator);
        Self { middleware, now: Duration::ZERO, transcript: String::new() }
    }

    fn line(mut self, line: &str) -> Self {
        let line: std::collections::BTreeMap<String, Box<RawValue>> =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let (key, value) = line.into_iter().next().expect("one member");
        let text = || serde_json::from_str::<String>(value.get()).ok();
        match key.as_str() {
            "policy" => self.middleware = self.middleware.with_policy(policy(&text().unwrap())),
            "answer" => {
                let mut policy = Policy::default();
                policy.answer = match text().unwrap().as_str() {
                    "json-rpc-error" => AnswerForm::JsonRpcError,
                    "observation" => AnswerForm::Observation,
                    other => panic!("no such answer: {other}"),
                };
                self.middleware = self.middleware.with_policy(policy);
            }
            "revision" => {
                let revision: Revision = text().unwrap().parse().unwrap();
                self.middleware = self.middleware.with_revision(revision);
            }
            "time" => self.now = Duration::from_secs(value.get().parse().unwrap()),
            "c2s" | "s2c" => {
                let side = if key == "c2s" { Side::Client } else { Side::Server };
                let message = text().unwrap_or_else(|| value.get().to_owned());
                let verdict = self.middleware.handle(side, message.as_bytes(), self.now);
                self.write(side, &message, &verdict);
            }
            other => panic!("no such line: {other}"),
        }
        self
    }

    fn write(&mut self, side: Side, message: &str, verdict: &Verdict) {
        let (there, back) = match side {
            Side::Client => ("client →", "client ←"),
            Side::Server => ("server →", "server ←"),
        };
        let shown: String = message.chars().take(200).collect();
        let out = &mut self.transcript;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        writeln!(out, "{there} {shown}").unwrap();
        match &verdict.decision {
            Decision::Forward => writeln!(out, "         forwarded"),
            Decision::Drop => writeln!(out, "         dropped"),
            Decision::Rewrite(bytes) => writeln!(out, "         goes on as {}", text(bytes)),
            Decision::Answer(bytes) => writeln!(out, "{back} {}", text(bytes)),
            Decision::Split { forward, answer } => {
                writeln!(out, "         goes on as {}\n{back} {}", text(forward), text(answer))
            }
        }
        .unwrap();
        for finding in &verdict.findings {
            let (rule, path) = (finding.rule.as_str(), &finding.path);
            let message = &finding.message;
            writeln!(out, "         {} {rule} `{path}`: {message}", finding.severity).unwrap();
        }
        assert_wire_is_json(&verdict.decision);
    }
}

fn policy(name: &str) -> Policy {
    match name {
        "default" => Policy::default(),
        "strict" => Policy::strict(),
        "observing" => Policy::observing(),
        other => panic!("no such policy: {other}"),
    }
}

/// Whatever is sent in place of something is itself a message.
fn assert_wire_is_json(decision: &Decision) {
    let sent: Vec<&Vec<u8>> = match decision {
        Decision::Forward | Decision::Drop => vec![],
        Decision::Rewrite(bytes) | Decision::Answer(bytes) => vec![bytes],
        Decision::Split { forward, answer } => vec![forward, answer],
    };
    for bytes in sent {
        serde_json::from_slice::<serde_json::Value>(bytes).expect("what is sent is JSON");
    }
}

#[test]
fn conversations() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conversations");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let conversation = text.lines().fold(Conversation::new(), Conversation::line);
        let name = file.file_stem().unwrap().to_str().unwrap();
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!(name, conversation.transcript);
        });
    }
}
