//! The suite `scheduler`: jobs that call tools of other servers at set times.
//!
//! Jobs and their runs are stored in the state of the root ([`runs`] has the protocol). One thread
//! ([`runner`]) makes the runs that are due through the connections of `Servers`.

mod cancel_job;
mod cron;
mod jobs;
mod list_jobs;
mod lock;
mod runner;
mod runs;
mod schedule;
mod timing;

use super::tool::Tool;
pub(super) use runner::Runner;

pub(super) fn tools() -> Vec<Tool> {
    vec![schedule::tool(), list_jobs::tool(), cancel_job::tool()]
}
