//! The adapters, from outside. One program, because each that is linked with rmcp takes its time.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::print_stderr,
    reason = "tests are blunt, and say why they were skipped"
)]

mod before_after;
mod before_and_after;
#[path = "../../../stickler-cli/tests/support/building.rs"]
mod building;
mod checked;
mod client;
mod deep_checks;
mod examples;
mod forwarding;
mod http;
mod internals;
mod list_changes;
mod logs;
#[path = "../../../../examples/support/notes.rs"]
mod notes;
mod own_validate;
mod raw;
#[allow(dead_code, reason = "the examples use the rest")]
#[path = "../../../../examples/support/serve_http.rs"]
mod serve_http;
mod server;
mod startup;
mod support;
