//! Integration tests of the rmcp adapters, in one binary because linking with rmcp is slow.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::print_stderr,
    reason = "tests may panic and print why they were skipped"
)]

#[path = "../../../stickler-cli/tests/support/build_examples.rs"]
mod build_examples;
mod check_tools;
mod checked_transport;
mod client;
#[cfg(unix)]
mod client_validation;
mod conformance;
#[path = "../../../stickler/tests/support/conformance.rs"]
mod conformance_table;
mod deep_checks;
mod docs_before_after;
mod docs_transport_comparison;
mod examples;
mod handler_failures;
mod handler_forwarding;
mod http;
mod list_changes;
mod logs;
#[path = "../../../../examples/support/notes.rs"]
mod notes;
mod raw_messages;
#[allow(dead_code, reason = "the examples use the rest")]
#[path = "../../../../examples/support/serve_http.rs"]
mod serve_http;
mod server;
mod support;
mod validate_name_conflict;
