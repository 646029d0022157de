//! Messages, revisions and connections, without I/O.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "tests panic on failure, read files and start processes"
)]

mod compile_budget;
mod connection;
mod connection_changes;
mod connection_held;
mod connection_lists;
mod connection_malformed;
mod connection_service;
mod connection_time;
mod connection_unmatched;
mod conversations;
mod exactly_once;
mod examples;
mod lint;
mod lint_corpus;
mod masking;
mod middleware;
#[path = "../support"]
mod support {
    pub(crate) mod link;
    pub(crate) mod middleware;
    pub(crate) mod sent;
}
