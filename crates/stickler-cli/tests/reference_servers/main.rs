//! The reference servers behind the gateway, with real processes.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::disallowed_methods,
    clippy::format_push_string,
    clippy::print_stdout,
    reason = "tests may panic, start processes, and print why they were skipped"
)]

mod cancellation;
mod check_command;
mod databases;
mod demo;
mod dependencies;
mod examples;
mod gates;
mod git;
mod history;
mod invalid_calls;
mod over_http;
mod processes;
mod rejections;
mod rewind;
mod root;
mod root_confinement;
mod scheduler;
mod scheduler_kills;
mod session;
#[path = "../support/http.rs"]
mod support_http;
mod terminal;
mod test_reports;
mod validation;

/// Every suite with its tools, by the names in the source documents.
const SUITES: [(&str, &[&str]); 5] = [
    ("files", &["read_file", "write_file", "run_tests", "db_query", "git_commit"]),
    (
        "orchestrator",
        &[
            "get_project_context",
            "search_memory",
            "manage_hitl_gate",
            "get_task_trace",
            "inject_directive",
            "rewind_to_checkpoint",
        ],
    ),
    (
        "sandbox",
        &[
            "filesystem_operation",
            "apply_surgical_edits",
            "search_codebase",
            "run_shell_monitored",
            "dependency_manager",
            "git_controller",
        ],
    ),
    ("project", &["inspect_state", "run_test_task", "db_bridge", "capture_trace", "get_logs"]),
    ("scheduler", &["schedule", "list_jobs", "cancel_job"]),
];
