//! The runs of jobs, and the protocol that makes each due time one run.
//!
//! | step | stored before the next step | after a crash |
//! | --- | --- | --- |
//! | claim | the run, and the next time of its job, in one transaction | the run is still to be made |
//! | begin | that the call is about to be made | the outcome is unknown; the call is not repeated |
//! | finish | the outcome | nothing to do |
//!
//! So a due time is never lost and never claimed twice, and a call is made at most once. Whether a
//! call that was in progress at a crash took effect cannot be known here, so it is reported and
//! left to a person. Only the process that holds the lock of the root claims and recovers runs.

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row, params};
use serde_json::{Value, json};

use super::jobs::{self, Job};
use crate::tool_failure::ToolFailure;
use crate::workspace::{NewEvent, State, append_event, state_failure};

/// Limit on the skipped due times that are counted.
const MAX_SKIPPED: u32 = 10_000;

/// The event kind of finished runs.
const KIND: &str = "job_run";

/// The progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunState {
    /// Due; the call has not begun.
    Claimed,
    /// The call has begun.
    Calling,
    Succeeded,
    /// The server answered with an error, or the call could not be made.
    Failed,
    /// The call is invalid and was not made.
    Rejected,
    /// The job was cancelled before the call.
    Cancelled,
    /// The call was made, but its outcome is not known.
    Unknown,
}

impl RunState {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Claimed => "claimed",
            Self::Calling => "calling",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
            Self::Cancelled => "cancelled",
            Self::Unknown => "unknown",
        }
    }
}

/// A claimed run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Run {
    pub(super) id: i64,
    pub(super) job: Job,
    pub(super) due: Timestamp,
}

/// Claims the earliest due run. Due times that have passed since then are skipped and counted.
pub(super) fn claim(state: &State, now: Timestamp) -> Result<Option<Run>, ToolFailure> {
    state.atomically(|transaction| {
        let sql = format!(
            "select {} from scheduled_jobs where next_run <= ?1 and not exists (select 1 from \
             job_runs where job = scheduled_jobs.id and state in ('claimed', 'calling')) \
             order by next_run limit 1",
            jobs::COLUMNS
        );
        let job = transaction.query_row(&sql, [now.as_second()], Job::read).optional()?;
        let Some((job, due)) = job.and_then(|job| job.next_run.map(|due| (job, due))) else {
            return Ok(None);
        };
        let timing = job.timing().ok();
        let skipped =
            timing.as_ref().map_or(0, |timing| timing.count_between(due, now, MAX_SKIPPED));
        jobs::set_next(transaction, &job, timing.and_then(|timing| timing.next_after(now)))?;
        transaction.execute(
            "insert into job_runs (job, due, state, skipped, claimed_at) \
             values (?1, ?2, 'claimed', ?3, ?4)",
            params![job.id, due.as_second(), skipped, now.to_string()],
        )?;
        Ok(Some(Run { id: transaction.last_insert_rowid(), job, due }))
    })
}

/// Records that the call is about to be made; returns `false` if the job was cancelled.
pub(super) fn begin(state: &State, run: &Run, now: Timestamp) -> Result<bool, ToolFailure> {
    let begun = state.connection.execute(
        "update job_runs set state = 'calling', called_at = ?1 where id = ?2 and \
         state = 'claimed' and exists (select 1 from scheduled_jobs where id = job)",
        params![now.to_string(), run.id],
    );
    begun.map(|count| count > 0).map_err(|error| state_failure(&error))
}

/// Records the outcome of a run, and an event for it.
pub(super) fn finish(
    state: &State,
    run: &Run,
    (outcome, text): (RunState, &str),
    now: Timestamp,
) -> Result<(), ToolFailure> {
    state.atomically(|transaction| {
        transaction.execute(
            "update job_runs set state = ?1, outcome = ?2, finished_at = ?3 where id = ?4",
            params![outcome.name(), text, now.to_string(), run.id],
        )?;
        let is_fine = matches!(outcome, RunState::Succeeded | RunState::Cancelled);
        let name = &run.job.name;
        let data = json!({
            "level": if is_fine { "info" } else { "error" },
            "message": format!("job `{name}` {}: {text}", outcome.name()),
            "job": name, "tool": run.job.tool, "due": run.due.to_string(),
            "state": outcome.name(),
        });
        append_event(transaction, &NewEvent { kind: KIND, task: None, data }, None).map(drop)
    })
}

/// Takes over the runs of a scheduler that no longer exists: returns those that are still to be
/// made, and those whose calls had begun, which it finishes as unknown.
pub(super) fn recover(state: &State, now: Timestamp) -> Result<(Vec<Run>, Vec<Run>), ToolFailure> {
    let unfinished = |of: RunState| {
        let read = || {
            let sql = "select runs.id as run, runs.due, jobs.* from job_runs runs \
                       join scheduled_jobs jobs on jobs.id = runs.job \
                       where runs.state = ?1 order by runs.id";
            let mut statement = state.connection.prepare(sql)?;
            statement.query_map([of.name()], Run::read)?.collect::<rusqlite::Result<Vec<Run>>>()
        };
        read().map_err(|error| state_failure(&error))
    };
    let (pending, interrupted) = (unfinished(RunState::Claimed)?, unfinished(RunState::Calling)?);
    for run in &interrupted {
        let text = "the scheduler stopped during the call; whether it took effect is not known, \
                    and it is not repeated";
        finish(state, run, (RunState::Unknown, text), now)?;
    }
    // Runs of jobs that were cancelled in the meantime.
    let cancelled = state.connection.execute(
        "update job_runs set state = iif(state = 'claimed', 'cancelled', 'unknown'), \
         finished_at = ?1 where state in ('claimed', 'calling') and job not in \
         (select id from scheduled_jobs)",
        [now.to_string()],
    );
    cancelled.map_err(|error| state_failure(&error))?;
    Ok((pending, interrupted))
}

/// Returns the number of finished runs of a job, and the most recent runs, newest first.
pub(super) fn history(
    state: &State,
    job: &Job,
    limit: u32,
) -> Result<(i64, Vec<Value>), ToolFailure> {
    let read = || {
        let count = state.connection.query_row(
            "select count(*) from job_runs where job = ?1 and finished_at is not null",
            [job.id],
            |row| row.get(0),
        )?;
        let mut statement = state.connection.prepare(
            "select due, state, skipped, called_at, finished_at, outcome from job_runs \
             where job = ?1 order by due desc limit ?2",
        )?;
        let timing = job.timing().ok();
        let rows = statement.query_map(params![job.id, limit], |row| {
            let due = Timestamp::from_second(row.get(0)?).ok();
            Ok(json!({
                "due": due.zip(timing.as_ref()).map(|(due, timing)| timing.local(due)),
                "state": row.get::<_, String>(1)?,
                "skipped_after": row.get::<_, i64>(2)?,
                "called_at": row.get::<_, Option<String>>(3)?,
                "finished_at": row.get::<_, Option<String>>(4)?,
                "outcome": row.get::<_, Option<String>>(5)?,
            }))
        })?;
        Ok((count, rows.collect::<rusqlite::Result<Vec<Value>>>()?))
    };
    read().map_err(|error| state_failure(&error))
}

impl Run {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let due = Timestamp::from_second(row.get("due")?).unwrap_or(Timestamp::UNIX_EPOCH);
        Ok(Self { id: row.get("run")?, job: Job::read(row)?, due })
    }
}
