//! The suite `orchestrator`.
//!
//! Its state is the list of events beneath the root: gates, directives and memory are read from it,
//! and going back to a checkpoint undoes what came after.

mod gates;
mod get_project_context;
mod get_task_trace;
mod inject_directive;
mod manage_hitl_gate;
mod rewind_to_checkpoint;
mod search_memory;

use super::tool::Tool;

pub(super) fn tools() -> Vec<Tool> {
    vec![
        get_project_context::tool(),
        search_memory::tool(),
        manage_hitl_gate::tool(),
        get_task_trace::tool(),
        inject_directive::tool(),
        rewind_to_checkpoint::tool(),
    ]
}
