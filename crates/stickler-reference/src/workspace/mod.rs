//! The folder in which the tools work, and the permissions of the tools.

mod capture;
mod database;
mod git;
mod paths;
mod process;
mod state;
mod stop;
mod testing;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::tool_failure::ToolFailure;
pub(crate) use capture::clip;
pub(crate) use database::{Access, Query};
pub(crate) use paths::Place;
pub(crate) use process::{Finished, Running};
pub(crate) use state::{Event, NewEvent, State, checkpoint, failure as state_failure};
pub(crate) use stop::Stop;
pub(crate) use testing::TestRun;

/// What the operator of the server allows.
#[derive(Debug, Clone, Default)]
pub struct Permissions {
    /// Tools may run programs.
    pub shell: bool,
    /// Tools may change databases.
    pub sql_writes: bool,
    /// The command that runs the tests; detected from the files if it is empty.
    pub test_command: Vec<String>,
}

/// The root folder and the operations below it. A clone refers to the same root.
#[derive(Clone)]
pub struct Workspace {
    /// The canonical path, for programs that require a path.
    root: PathBuf,
    /// A handle to the root that cannot open anything outside it.
    dir: Arc<Dir>,
    pub(crate) permissions: Permissions,
    pub(crate) running: Running,
}

impl Workspace {
    /// Opens an existing folder as the root.
    pub fn open(root: &Path, permissions: Permissions) -> io::Result<Self> {
        let root = root.canonicalize()?;
        let dir = Arc::new(Dir::open_ambient_dir(&root, ambient_authority())?);
        Ok(Self { root, dir, permissions, running: Running::default() })
    }

    /// Returns a clone for one call, which terminates its programs when the call is cancelled.
    pub(crate) fn until(&self, stop: Stop) -> Self {
        Self { running: self.running.until(stop), ..self.clone() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Fails unless programs may be run.
    pub(crate) fn require_shell(&self, what: &str) -> Result<(), ToolFailure> {
        if self.permissions.shell {
            return Ok(());
        }
        Err(ToolFailure::security(format!(
            "{what} requires permission to run programs; nothing was run. The operator of the \
             server can allow it with `--allow-shell`"
        )))
    }
}

/// Returns the time limit of a command.
pub(crate) fn time_limit(seconds: Option<u64>) -> Duration {
    Duration::from_secs(seconds.unwrap_or(DEFAULT_SECONDS).min(MAX_SECONDS))
}

/// The default and the maximum time limit of a command, in seconds.
pub(crate) const DEFAULT_SECONDS: u64 = 60;
pub(crate) const MAX_SECONDS: u64 = 600;
