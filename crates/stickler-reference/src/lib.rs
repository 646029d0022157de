//! The reference servers: five suites of tools that work below one root folder.
//!
//! A suite is a list of `Tool`s, one per file. All tools access files, programs and databases
//! through a [`Workspace`], which confines them to the root, enforces limits and checks the
//! [`Permissions`] of the server. `ReferenceServer` serves a suite with rmcp, the official Rust SDK;
//! `stickler-rmcp` validates the calls before a tool runs.

mod files;
mod gates;
mod history;
mod orchestrator;
mod project;
mod sandbox;
mod scheduler;
mod server;
mod servers;
mod serving;
mod tool;
mod tool_failure;
mod tool_schemas;
mod workspace;

pub use gates::{Approver, ApproverKey, Decision, Gate, GateStore};
pub use servers::Servers;
pub use serving::{Answers, over_http, over_stdio};
use tool::Tool;
pub use tool_schemas::TOOL_SCHEMAS;
pub use workspace::{Permissions, Workspace};

/// The tools of one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suite {
    /// Files, tests, a database and commits
    Files,
    /// Context, memory, gates and directives of a project with several agents
    Orchestrator,
    /// Files, edits, search, shell, dependencies and git
    Sandbox,
    /// State, tests, database, traces and logs
    Project,
    /// Jobs that call tools of other servers at set times
    Scheduler,
}

impl Suite {
    /// The suites whose tools a job may call.
    pub const WITHOUT_SCHEDULER: [Self; 4] =
        [Self::Files, Self::Orchestrator, Self::Sandbox, Self::Project];

    /// Returns the name that is used on the command line and in the server's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Orchestrator => "orchestrator",
            Self::Sandbox => "sandbox",
            Self::Project => "project",
            Self::Scheduler => "scheduler",
        }
    }

    fn tools(self) -> Vec<Tool> {
        match self {
            Self::Files => files::tools(),
            Self::Orchestrator => orchestrator::tools(),
            Self::Sandbox => sandbox::tools(),
            Self::Project => project::tools(),
            Self::Scheduler => scheduler::tools(),
        }
    }
}

/// Keeps the example of the README compiling.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
