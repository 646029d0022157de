//! The suite `scheduler`: jobs that call tools of the other suites at set times.

mod cancel_job;
mod clockwork;
mod cron;
mod jobs;
mod list_jobs;
mod schedule;
mod target;

use super::tool::Tool;
pub(super) use clockwork::run_due_jobs;

pub(super) fn tools() -> Vec<Tool> {
    vec![schedule::tool(), list_jobs::tool(), cancel_job::tool()]
}
