//! The suite `orchestrator`: context, memory, gates and directives of a multi-agent project.
//!
//! Its state is an event log below the root. Gates, directives and memory are derived from it. Every
//! event is a checkpoint of the log and of the files, to which the project can be rewound.

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
