//! What a gateway reports about its traffic: summary, recordings and metrics, and how it is operated, with real
//! processes over stdio and HTTP.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests may panic, read files and start processes"
)]

mod metrics;
#[cfg(feature = "otel")]
mod otel;
mod page;
mod recording;
mod recording_faults;
mod reload;
mod summary;
#[path = "../support"]
mod support {
    pub(crate) mod folder;
    pub(crate) mod http;
    pub(crate) mod modern;
    pub(crate) mod stdio;
}

use std::process::Command;

use serde_json::Value;
use support::folder::Folder;

/// Path and text of every recording in a folder that is not compressed.
fn recordings(folder: &Folder, name: &str) -> Vec<(String, String)> {
    let directory = folder.path(name);
    let mut files: Vec<(String, String)> = std::fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|one| one == "ndjson"))
        .map(|path| (path.to_str().unwrap().to_owned(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    files.sort();
    files
}

/// The lines of a recording as JSON.
fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Audits files and returns the first problem of each line, as direction and rule, with the exit code.
fn audit(files: &[String]) -> (Vec<(String, String)>, i32) {
    let output = Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args(["audit", "--format", "json"])
        .args(files)
        .output()
        .unwrap();
    let mut found: Vec<(Value, String, String)> = Vec::new();
    for line in lines(&String::from_utf8(output.stdout).unwrap()) {
        let place = (line["file"].clone(), line["line"].clone());
        let place = serde_json::json!([place.0, place.1]);
        let is_problem = line["severity"].as_str().is_some_and(|one| one != "note");
        if is_problem && found.last().is_none_or(|(last, ..)| *last != place) {
            let text = |name: &str| line[name].as_str().unwrap().to_owned();
            found.push((place, text("dir"), text("rule")));
        }
    }
    let found = found.into_iter().map(|(_, dir, rule)| (dir, rule)).collect();
    (found, output.status.code().unwrap())
}

/// The rule of each warning in a JSON log, with the direction of its message.
fn logged(log: &str) -> Vec<(String, String)> {
    let warnings = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    warnings
        .filter(|line| line["level"] == "WARN" || line["level"] == "warn")
        .filter_map(|line| {
            let rule = line["rule"].as_str()?.to_owned();
            let is_client = line["message"].as_str()?.contains("from the client");
            Some((if is_client { "c2s" } else { "s2c" }.to_owned(), rule))
        })
        .collect()
}
