//! The folder that a server works in, and what it may do there.

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

use super::trouble::Trouble;
pub(crate) use capture::clip;
pub(crate) use database::{Access, Query};
pub(crate) use paths::Place;
pub(crate) use process::{Finished, Running};
pub(crate) use state::{Event, NewEvent, State, checkpoint, trouble as state_trouble};
pub(crate) use stop::Stop;
pub(crate) use testing::TestRun;

/// What the person who started the server allows.
#[derive(Debug, Clone, Default)]
pub struct Permissions {
    /// Programs may be run.
    pub shell: bool,
    /// Databases may be changed.
    pub sql_writes: bool,
    /// What runs the tests; worked out from the files where it is empty.
    pub test_command: Vec<String>,
}

/// The root, and everything that tools do beneath it. A copy is of the same root.
#[derive(Clone)]
pub struct Workspace {
    /// Without links, for programs that want a path.
    root: PathBuf,
    /// The root as something that nothing can be opened outside of.
    dir: Arc<Dir>,
    pub(crate) permissions: Permissions,
    pub(crate) running: Running,
}

impl Workspace {
    /// A root that exists, with what tools may do there.
    pub fn open(root: &Path, permissions: Permissions) -> io::Result<Self> {
        let root = root.canonicalize()?;
        let dir = Arc::new(Dir::open_ambient_dir(&root, ambient_authority())?);
        Ok(Self { root, dir, permissions, running: Running::default() })
    }

    /// The same, for one call: what it runs ends when the call is no longer wanted.
    pub(crate) fn until(&self, stop: Stop) -> Self {
        Self { running: self.running.until(stop), ..self.clone() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// An error unless programs may be run.
    pub(crate) fn require_shell(&self, what: &str) -> Result<(), Trouble> {
        if self.permissions.shell {
            return Ok(());
        }
        Err(Trouble::security(format!(
            "{what} runs programs, which is switched off here; nothing was run. The person who \
             starts the server can allow it with `--allow-shell`"
        )))
    }
}

/// How long a command may take.
pub(crate) fn time_limit(seconds: Option<u64>) -> Duration {
    Duration::from_secs(seconds.unwrap_or(DEFAULT_SECONDS).min(MOST_SECONDS))
}

/// Seconds that commands have unless the call says otherwise, and at most.
pub(crate) const DEFAULT_SECONDS: u64 = 60;
pub(crate) const MOST_SECONDS: u64 = 600;
