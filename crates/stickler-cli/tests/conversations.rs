//! Runs the recorded conversations in `tests/conversations` against the built binary.
//!
//! The suite uses only the command line, stdio and HTTP, and no type of the project.
//! `tests/conversations/README.md` describes the format of the files. Variables: `STICKLER_BIN` is another binary to
//! test, `STICKLER_CONVERSATION` selects runs by a part of `file: name [pairing]`,
//! `STICKLER_UPDATE_CONVERSATIONS=1` replaces expectations by the actual messages.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::format_push_string,
    reason = "tests may panic and start processes"
)]

#[path = "support/build_examples.rs"]
mod build_examples;

#[path = "conversation_runner"]
mod conversation_runner {
    pub(crate) use super::build_examples;
    pub(crate) mod client_http;
    pub(crate) mod client_stdio;
    pub(crate) mod compare;
    pub(crate) mod exchange;
    pub(crate) mod gateway;
    pub(crate) mod http;
    pub(crate) mod inbox;
    pub(crate) mod options;
    pub(crate) mod player;
    pub(crate) mod report;
    pub(crate) mod request;
    pub(crate) mod response;
    pub(crate) mod script;
    pub(crate) mod server_http;
    pub(crate) mod server_process;
    pub(crate) mod suite;
    pub(crate) mod template;
}

use std::path::{Path, PathBuf};

use conversation_runner::suite::Suite;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conversations")
}

#[test]
fn conversations_match_their_recordings() {
    let suite = Suite::read(&folder(), std::env::var("STICKLER_CONVERSATION").ok().as_deref());
    let suite = suite.unwrap_or_else(|error| panic!("{error}"));
    let failures = if std::env::var_os("STICKLER_UPDATE_CONVERSATIONS").is_some() {
        suite.record()
    } else {
        suite.run()
    };
    println!("{}", suite.counts());
    assert!(failures.is_empty(), "{} runs failed\n\n{}", failures.len(), failures.join("\n\n"));
}

#[test]
fn mismatch_is_reported_with_its_line_and_both_texts() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wrong.conv");
    let script = "conversation wrong answer\n# The expected response to garbage is wrong.\nover: stdio-command\n\
                  C> garbage\nC< {\"jsonrpc\":\"1.0\"}\n";
    std::fs::write(&file, script).unwrap();
    let failures = Suite::read(folder.path(), None).unwrap().run();
    assert_eq!(failures.len(), 1);
    let expected = [
        "wrong.conv:5: wrong answer [stdio-command], step 2",
        r#"expected: the client receives {"jsonrpc":"1.0"}"#,
        r#"received: {"jsonrpc":"2.0","error":{"code":-32700"#,
        "STICKLER_UPDATE_CONVERSATIONS=1",
    ];
    for text in expected {
        assert!(failures[0].contains(text), "no {text} in {}", failures[0]);
    }
}

#[test]
fn unexpected_message_fails_the_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let script = "conversation more than expected\n# No step expects the response to garbage.\nover: stdio-command\nC> garbage\n";
    std::fs::write(folder.path().join("more.conv"), script).unwrap();
    let failures = Suite::read(folder.path(), None).unwrap().run();
    assert_eq!(failures.len(), 1);
    assert!(
        failures[0].contains("the client received more: received a message: "),
        "{}",
        failures[0]
    );
}
