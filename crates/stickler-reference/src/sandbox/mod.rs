//! The suite `sandbox`: files, edits, search, shell, dependencies and git.

mod apply_surgical_edits;
mod dependency_manager;
mod filesystem_operation;
mod git_controller;
mod manifest;
mod run_shell_monitored;
mod search_codebase;

use super::tool::Tool;

pub(super) fn tools() -> Vec<Tool> {
    vec![
        filesystem_operation::tool(),
        apply_surgical_edits::tool(),
        search_codebase::tool(),
        run_shell_monitored::tool(),
        dependency_manager::tool(),
        git_controller::tool(),
    ]
}
