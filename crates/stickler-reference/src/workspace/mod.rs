//! The folder in which the tools work, and the permissions of the tools.

mod caller;
mod capture;
mod database;
mod git;
mod paths;
mod process;
mod progress;
mod snapshots;
mod state;
mod stop;
mod testing;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::gates::{Approver, Trust};
use super::servers::Servers;
use super::tool_failure::ToolFailure;
pub(crate) use caller::Caller;
pub(crate) use capture::clip;
pub(crate) use database::{Access, Query};
pub(crate) use paths::Place;
pub(crate) use process::{Finished, Running};
pub(crate) use snapshots::FileChange;
pub(crate) use state::{
    Event, FOLDER as STATE_FOLDER, NewEvent, State, append_to_head as append_event, checkpoint,
    failure as state_failure,
};
pub(crate) use stop::Stop;
pub(crate) use testing::TestRun;

/// What the operator of the server allows.
#[derive(Debug, Clone)]
pub struct Permissions {
    /// Tools may run programs.
    pub shell: bool,
    /// Tools may change databases.
    pub sql_writes: bool,
    /// The command that runs the tests; detected from the files if it is empty.
    pub test_command: Vec<String>,
    /// Calls and snapshots of the files are recorded below the root.
    pub history: bool,
    /// The task of calls for which the client names none.
    pub task: Option<String>,
}

impl Default for Permissions {
    fn default() -> Self {
        Self {
            shell: false,
            sql_writes: false,
            test_command: Vec::new(),
            history: true,
            task: None,
        }
    }
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
    /// The servers whose tools may be scheduled.
    pub(crate) servers: Arc<Servers>,
    /// Which decisions about gates are believed.
    pub(crate) trust: Arc<Trust>,
    /// The client, during a call.
    pub(crate) caller: Option<Caller>,
}

impl Workspace {
    /// Opens an existing folder as the root.
    pub fn open(root: &Path, permissions: Permissions) -> io::Result<Self> {
        let root = root.canonicalize()?;
        let dir = Arc::new(Dir::open_ambient_dir(&root, ambient_authority())?);
        let trust = Arc::new(Trust::new(&root, None));
        Ok(Self {
            root,
            dir,
            permissions,
            running: Running::default(),
            servers: Arc::default(),
            trust,
            caller: None,
        })
    }

    /// Sets the servers that the scheduler may call.
    #[must_use]
    pub fn with_servers(mut self, servers: Servers) -> Self {
        self.servers = Arc::new(servers);
        self
    }

    /// Sets the person who decides gates. Later changes of the approver's file have no effect.
    #[must_use]
    pub fn with_approver(mut self, approver: Option<Approver>) -> Self {
        self.trust = Arc::new(Trust::new(&self.root, approver));
        self
    }

    /// Returns a clone for one call of a client, which terminates its programs when the call is
    /// cancelled.
    pub(crate) fn for_call(&self, caller: Caller, stop: Stop) -> Self {
        let running = self.running.for_call(caller.clone(), stop);
        Self { running, caller: Some(caller), ..self.clone() }
    }

    /// Returns the task of a call: as given, or as the client has named it.
    pub(crate) fn task(&self, given: Option<&str>) -> Option<String> {
        let named = || self.caller.as_ref()?.task.as_deref();
        given.or_else(named).or(self.permissions.task.as_deref()).map(str::to_owned)
    }

    /// Appends an event with a snapshot of the files; returns its id.
    pub(crate) fn record(&self, event: &NewEvent<'_>) -> Result<i64, ToolFailure> {
        let tree = self.snapshot();
        self.open_state_write()?.add_with_tree(event, tree.as_deref())
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
