//! Storage of jobs in the state database.

use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Row, params};
use serde_json::{Value, json};

use super::cron::Cron;
use crate::tool_failure::ToolFailure;
use crate::workspace::{State, state_failure};

/// A tool call that runs on a schedule.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Job {
    pub(super) name: String,
    pub(super) schedule: String,
    pub(super) tool: String,
    pub(super) parameters: Value,
    /// In Unix seconds.
    pub(super) next_run: i64,
    pub(super) runs: i64,
    pub(super) last_outcome: Option<String>,
}

const COLUMNS: &str = "name, schedule, tool, parameters, next_run, runs, last_outcome";

impl Job {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let parameters: String = row.get(3)?;
        Ok(Self {
            name: row.get(0)?,
            schedule: row.get(1)?,
            tool: row.get(2)?,
            parameters: serde_json::from_str(&parameters).unwrap_or_default(),
            next_run: row.get(4)?,
            runs: row.get(5)?,
            last_outcome: row.get(6)?,
        })
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "name": self.name, "schedule": self.schedule, "tool": self.tool,
            "parameters": self.parameters, "next_run_unix": self.next_run, "runs": self.runs,
            "last_outcome": self.last_outcome,
        })
    }
}

/// Returns all jobs, sorted by name.
pub(super) fn all(state: &State) -> Result<Vec<Job>, ToolFailure> {
    let read = || {
        let mut statement =
            state.connection.prepare(&format!("select {COLUMNS} from jobs order by name"))?;
        statement.query_map([], Job::read)?.collect::<rusqlite::Result<Vec<Job>>>()
    };
    read().map_err(|error| state_failure(&error))
}

pub(super) fn add(state: &State, job: &Job) -> Result<(), ToolFailure> {
    let added = state.connection.execute(
        "insert into jobs (name, schedule, tool, parameters, next_run) values (?1, ?2, ?3, ?4, ?5)",
        params![job.name, job.schedule, job.tool, job.parameters.to_string(), job.next_run],
    );
    added.map(drop).map_err(|error| state_failure(&error))
}

/// Removes a job; returns whether it existed.
pub(super) fn remove(state: &State, name: &str) -> Result<bool, ToolFailure> {
    let removed = state.connection.execute("delete from jobs where name = ?1", [name]);
    removed.map(|count| count > 0).map_err(|error| state_failure(&error))
}

/// Claims a due job, so that only one of several servers runs it.
pub(super) fn take(state: &State, job: &Job, now: i64) -> Result<bool, ToolFailure> {
    let cron = Cron::parse(&job.schedule).map_err(ToolFailure::runtime)?;
    let next = cron.next_after(now).unwrap_or(i64::MAX);
    let taken = state.connection.execute(
        "update jobs set next_run = ?1, runs = runs + 1 where name = ?2 and next_run = ?3",
        params![next, job.name, job.next_run],
    );
    taken.map(|count| count > 0).map_err(|error| state_failure(&error))
}

pub(super) fn note_outcome(state: &State, name: &str, outcome: &str) -> Result<(), ToolFailure> {
    let noted = state
        .connection
        .execute("update jobs set last_outcome = ?1 where name = ?2", params![outcome, name]);
    noted.map(drop).map_err(|error| state_failure(&error))
}

/// Returns the current time in Unix seconds.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
