//! Runs `stickler run --config` with files that a test writes.
#![allow(dead_code, reason = "each test binary uses a part")]

use super::folder::Folder;
use super::http::scripted_server;
use super::stdio::{Exit, Gateway};

/// Path of the scripted server.
pub(crate) fn scripted() -> String {
    scripted_server().to_str().unwrap().to_owned()
}

/// Runs `stickler run` with an empty input until it exits.
pub(crate) fn run(arguments: &[&str], variables: &[(&str, &str)]) -> Exit {
    Gateway::with_env(arguments, variables).end()
}

/// Asserts that a configuration file is rejected with this error, which follows the file name.
pub(crate) fn assert_rejected(folder: &Folder, (name, text): (&str, &str), expected: &str) {
    let file = folder.file(name, text);
    let end = run(&["--config", &file], &[]);
    let expected = format!("error: {file}{expected}");
    assert_eq!((end.status, end.stderr.contains(&expected)), (2, true), "{}", end.stderr);
}
