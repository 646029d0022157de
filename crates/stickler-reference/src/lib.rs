//! The reference servers: the tools of the source documents, done for real beneath one folder.
//!
//! A suite is a list of `Tool`s, one file each. Everything they do goes through a [`Workspace`],
//! which keeps it beneath the root, within bounds, and to what the person who started the server
//! allows. `ReferenceServer` offers a suite by the official SDK; `stickler-rmcp` checks the calls
//! before any tool sees them.

mod files;
mod orchestrator;
mod project;
mod sandbox;
mod scheduler;
mod server;
mod serving;
mod tool;
mod trouble;
mod workspace;

pub use serving::{over_http, over_stdio};
use tool::Tool;
pub use workspace::{Permissions, Workspace};

/// A server's worth of tools.
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
    /// Jobs that call tools of the other suites at set times
    Scheduler,
}

impl Suite {
    /// Those whose tools a job may call.
    const WITHOUT_SCHEDULER: [Self; 4] =
        [Self::Files, Self::Orchestrator, Self::Sandbox, Self::Project];

    /// Its name, as the command line and the server give it.
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
