//! The gateway with real processes, over stdio and HTTP.
#![cfg(unix)]
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::format_push_string,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests panic on failure, read files and start processes"
)]

mod batches;
mod client_config;
mod config;
mod disconnect;
mod event_store;
mod faults;
mod half_close;
mod http;
mod http_semantics;
mod limits;
mod list_changed;
mod log;
mod memory;
mod modern;
mod multiplexer;
mod protocol_versions;
mod restart;
mod session_cache;
mod shutdown;
mod slow_work;
mod stdio;
mod stream_order;
mod timeouts;
mod tool_views;
mod unread_stderr;
mod url;
mod url_faults;
mod url_resume;
#[path = "../support"]
mod support {
    pub(crate) mod config_files;
    pub(crate) mod folder;
    pub(crate) mod http;
    pub(crate) mod modern;
    pub(crate) mod server_log;
    pub(crate) mod stdio;
    pub(crate) mod upstream;
}
