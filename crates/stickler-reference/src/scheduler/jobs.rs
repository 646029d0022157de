//! Storage of jobs in the state database.

use jiff::Timestamp;
use rusqlite::{Connection, Row, params};
use serde_json::{Value, json};

use super::runs;
use super::timing::Timing;
use crate::tool_failure::ToolFailure;
use crate::workspace::{State, state_failure};

/// A call that is made at set times.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Job {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) schedule: String,
    pub(super) time_zone: String,
    /// As `server:tool`.
    pub(super) tool: String,
    pub(super) parameters: Value,
    /// `None` if the job does not run again.
    pub(super) next_run: Option<Timestamp>,
}

pub(super) const COLUMNS: &str = "id, name, schedule, time_zone, tool, parameters, next_run";

impl Job {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let parameters: String = row.get("parameters")?;
        let next_run: Option<i64> = row.get("next_run")?;
        Ok(Self {
            id: row.get("id")?,
            name: row.get("name")?,
            schedule: row.get("schedule")?,
            time_zone: row.get("time_zone")?,
            tool: row.get("tool")?,
            parameters: serde_json::from_str(&parameters).unwrap_or_default(),
            next_run: next_run.and_then(|seconds| Timestamp::from_second(seconds).ok()),
        })
    }

    pub(super) fn timing(&self) -> Result<Timing, String> {
        Timing::parse(&self.schedule, &self.time_zone, Timestamp::UNIX_EPOCH)
    }

    pub(super) fn to_json(&self) -> Value {
        let timing = self.timing().ok();
        let local = |at: Timestamp| timing.as_ref().map(|timing| timing.local(at));
        json!({
            "name": self.name, "schedule": self.schedule, "time_zone": self.time_zone,
            "tool": self.tool, "parameters": self.parameters,
            "next_run": self.next_run.and_then(local),
        })
    }
}

/// Returns all jobs, sorted by name.
pub(super) fn all(state: &State) -> Result<Vec<Job>, ToolFailure> {
    let read = || {
        let sql = format!("select {COLUMNS} from scheduled_jobs order by name");
        let mut statement = state.connection.prepare(&sql)?;
        statement.query_map([], Job::read)?.collect::<rusqlite::Result<Vec<Job>>>()
    };
    read().map_err(|error| state_failure(&error))
}

/// Adds a job, whose id is ignored.
pub(super) fn add(state: &State, job: &Job) -> Result<(), ToolFailure> {
    let added = state.connection.execute(
        "insert into scheduled_jobs (name, schedule, time_zone, tool, parameters, next_run) \
         values (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            job.name,
            job.schedule,
            job.time_zone,
            job.tool,
            job.parameters.to_string(),
            job.next_run.map(Timestamp::as_second),
        ],
    );
    added.map(drop).map_err(|error| state_failure(&error))
}

/// Removes a job. A run whose call has not begun is not made; returns whether a call is in
/// progress.
pub(super) fn remove(state: &State, name: &str) -> Result<bool, ToolFailure> {
    state.atomically(|transaction| {
        let calls: i64 = transaction.query_row(
            "select count(*) from job_runs where state = ?1 \
             and job = (select id from scheduled_jobs where name = ?2)",
            params![runs::RunState::Calling.name(), name],
            |row| row.get(0),
        )?;
        transaction.execute("delete from scheduled_jobs where name = ?1", [name])?;
        Ok(calls > 0)
    })
}

/// Sets the next time of a job.
pub(super) fn set_next(
    connection: &Connection,
    job: &Job,
    next: Option<Timestamp>,
) -> rusqlite::Result<()> {
    let next = next.map(Timestamp::as_second);
    connection
        .execute("update scheduled_jobs set next_run = ?1 where id = ?2", params![next, job.id])
        .map(drop)
}
