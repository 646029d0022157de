//! The commands other than `run`, as a user runs them.
#![cfg(unix)]
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::format_push_string,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests panic on failure, read files and start processes"
)]

mod audit;
mod audit_bad_input;
mod audit_corpus;
mod bad_input;
mod call;
mod check;
mod check_live;
mod explain_and_help;
mod guide;
mod schema;
mod validate;
mod wrap;
#[path = "../support"]
mod support {
    pub(crate) mod command;
    pub(crate) mod folder;
    pub(crate) mod http;
}
