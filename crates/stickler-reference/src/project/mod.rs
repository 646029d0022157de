//! The suite `project`: state, tests, database, traces and logs.

mod capture_trace;
mod db_bridge;
mod get_logs;
mod inspect_state;
mod run_test_task;

use super::tool::Tool;

pub(super) fn tools() -> Vec<Tool> {
    vec![
        inspect_state::tool(),
        run_test_task::tool(),
        db_bridge::tool(),
        capture_trace::tool(),
        get_logs::tool(),
    ]
}
