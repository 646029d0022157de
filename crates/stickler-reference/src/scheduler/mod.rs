//! The suite `scheduler`: jobs that call tools of the other suites on a schedule.

mod cancel_job;
mod cron;
mod job_runner;
mod jobs;
mod list_jobs;
mod schedule;
mod target;

use super::tool::Tool;
pub(super) use job_runner::run_due_jobs;

pub(super) fn tools() -> Vec<Tool> {
    vec![schedule::tool(), list_jobs::tool(), cancel_job::tool()]
}
