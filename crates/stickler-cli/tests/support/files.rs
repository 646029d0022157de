//! `stickler run --config` on files that a test writes.
#![allow(dead_code, reason = "not every test needs everything")]

use super::folder::Folder;
use super::http::scripted_server;
use super::stdio::{End, Gateway};

/// The command of the scripted server.
pub(crate) fn scripted() -> String {
    scripted_server().to_str().unwrap().to_owned()
}

/// Runs it with nothing to say, to its end.
pub(crate) fn run(arguments: &[&str], variables: &[(&str, &str)]) -> End {
    Gateway::with_env(arguments, variables).end()
}

/// What a file is told that cannot be used.
pub(crate) fn refusal(folder: &Folder, (name, text): (&str, &str), expected: &str) {
    let file = folder.file(name, text);
    let end = run(&["--config", &file], &[]);
    let expected = format!("error: {file}{expected}");
    assert_eq!((end.status, end.stderr.contains(&expected)), (2, true), "{}", end.stderr);
}
