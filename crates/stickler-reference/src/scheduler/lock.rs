//! The lock of the scheduler of a root.
//!
//! Several servers may work on one root, but only one may run its jobs. The operating system
//! releases the lock when its process ends in any way, so that the holder knows that every
//! unfinished run belongs to a scheduler that no longer exists.

use cap_std::fs::{File, OpenOptions};
use rustix::fs::{FlockOperation, flock};

use crate::tool_failure::ToolFailure;
use crate::workspace::{STATE_FOLDER, Workspace};

/// Held until it is dropped or the process ends.
#[derive(Debug)]
pub(super) struct SchedulerLock {
    _file: File,
}

impl SchedulerLock {
    /// Takes the lock; returns `None` if another process holds it.
    pub(super) fn try_take(workspace: &Workspace) -> Result<Option<Self>, ToolFailure> {
        workspace.create_state_folder()?;
        let path = format!("{STATE_FOLDER}/scheduler.lock");
        let options = OpenOptions::new().write(true).create(true).clone();
        let file = workspace.dir().open_with(&path, &options);
        let file = file.map_err(|error| ToolFailure::file(&path, &error))?;
        let is_taken = flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
        Ok(is_taken.then_some(Self { _file: file }))
    }
}
