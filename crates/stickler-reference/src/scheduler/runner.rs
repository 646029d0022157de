//! Background thread that makes the runs that are due.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use stickler_rmcp::Code;
use tokio::runtime::Handle;
use tracing::{error, info, warn};

use super::lock::SchedulerLock;
use super::runs::{self, Run, RunState};
use crate::tool_failure::ToolFailure;
use crate::workspace::{Workspace, clip};

/// Interval between two checks for due runs.
const TICK: Duration = Duration::from_millis(250);

/// How long the process waits for runs in progress when it exits.
const DRAIN_LIMIT: Duration = Duration::from_secs(3);

/// Limit on runs at the same time; further ones stay due.
const MAX_RUNS: usize = 16;

/// Limit on the stored text of an outcome, in bytes.
const MAX_OUTCOME_BYTES: usize = 2000;

/// Makes the runs that are due. Clones share the state.
#[derive(Clone)]
pub(crate) struct Runner {
    workspace: Arc<Workspace>,
    runtime: Handle,
    /// The number of runs in progress.
    active: Arc<AtomicUsize>,
    is_stopping: Arc<AtomicBool>,
}

impl Runner {
    /// Starts the thread, which runs until the process exits.
    pub(crate) fn start_thread(workspace: &Arc<Workspace>, runtime: Handle) -> Self {
        let runner = Self {
            workspace: Arc::clone(workspace),
            runtime,
            active: Arc::default(),
            is_stopping: Arc::default(),
        };
        let thread = runner.clone();
        std::thread::spawn(move || thread.run());
        runner
    }

    /// Starts no further run, and waits for those in progress, so that their outcomes are recorded.
    pub(crate) fn drain(&self) {
        self.is_stopping.store(true, Ordering::Release);
        let deadline = Instant::now() + DRAIN_LIMIT;
        while self.active.load(Ordering::Acquire) > 0 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Runner {
    fn run(&self) {
        // Held for the life of the process.
        let _lock = self.wait_for_lock();
        let mut is_recovered = false;
        loop {
            let done = if is_recovered { self.start_due() } else { self.recover() };
            match done {
                Ok(()) => is_recovered = true,
                // It may be temporary; the next tick tries again.
                Err(failure) => error!("the scheduler cannot read its jobs: {failure}"),
            }
            std::thread::sleep(TICK);
        }
    }

    fn wait_for_lock(&self) -> SchedulerLock {
        let mut is_logged = false;
        // A root without jobs is left unchanged.
        while !self.workspace.has_state() {
            std::thread::sleep(TICK);
        }
        loop {
            match SchedulerLock::try_take(&self.workspace) {
                Ok(Some(lock)) => return lock,
                Ok(None) if is_logged => {}
                Ok(None) => {
                    info!("another server runs the jobs of this root; waiting until it exits");
                    is_logged = true;
                }
                Err(failure) => error!("the scheduler cannot take its lock: {failure}"),
            }
            std::thread::sleep(TICK);
        }
    }

    fn recover(&self) -> Result<(), ToolFailure> {
        let (pending, interrupted) =
            runs::recover(&self.workspace.open_state_read()?, Timestamp::now())?;
        for run in interrupted {
            let (job, tool) = (&run.job.name, &run.job.tool);
            warn!(job, tool, due = %run.due, "the outcome of the call is not known; not repeated");
        }
        for run in pending {
            self.start(run);
        }
        Ok(())
    }

    fn start_due(&self) -> Result<(), ToolFailure> {
        let state = self.workspace.open_state_read()?;
        while !self.is_stopping.load(Ordering::Acquire)
            && self.active.load(Ordering::Acquire) < MAX_RUNS
            && let Some(run) = runs::claim(&state, Timestamp::now())?
        {
            self.start(run);
        }
        Ok(())
    }

    fn start(&self, run: Run) {
        self.active.fetch_add(1, Ordering::AcqRel);
        let runner = self.clone();
        std::thread::spawn(move || {
            if let Err(failure) = runner.make(&run) {
                error!(job = run.job.name, "the run cannot be recorded: {failure}");
            }
            runner.active.fetch_sub(1, Ordering::AcqRel);
        });
    }

    /// Validates and makes the call of a run, and records the outcome.
    fn make(&self, run: &Run) -> Result<(), ToolFailure> {
        let state = self.workspace.open_state_write()?;
        let servers = &self.workspace.servers;
        let (tool, parameters) = (&run.job.tool, &run.job.parameters);
        let outcome = match self.runtime.block_on(servers.validate(tool, parameters)) {
            Err(reason) => (RunState::Failed, format!("not called: {reason}")),
            Ok(validation) if !validation.report.valid => {
                (RunState::Rejected, format!("not called: {}", validation.report.errors.join("; ")))
            }
            Ok(_) if !runs::begin(&state, run, Timestamp::now())? => {
                (RunState::Cancelled, "not called: the job was cancelled".to_owned())
            }
            Ok(_) => self.call(run),
        };
        let (result, text) = (outcome.0, clip(&outcome.1, MAX_OUTCOME_BYTES));
        let job = &run.job.name;
        match result {
            RunState::Succeeded | RunState::Cancelled => info!(job, tool, "{}", result.name()),
            _ => warn!(job, tool, "{}: {text}", result.name()),
        }
        runs::finish(&state, run, (result, text), Timestamp::now())
    }

    fn call(&self, run: &Run) -> (RunState, String) {
        let call = self.workspace.servers.call(&run.job.tool, run.job.parameters.clone());
        match self.runtime.block_on(call) {
            Ok(result) => (RunState::Succeeded, result.text()),
            Err(error) => match error.code() {
                // The request was sent, and the server may have acted on it.
                Code::Timeout | Code::ServerGone => (RunState::Unknown, error.to_string()),
                _ => (RunState::Failed, error.to_string()),
            },
        }
    }
}
