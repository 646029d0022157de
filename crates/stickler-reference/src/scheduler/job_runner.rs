//! Background thread that runs the jobs that are due.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::JsonObject;
use serde_json::Value;

use super::jobs::{self, Job};
use super::target;
use crate::tool::Answer;
use crate::tool_failure::ToolFailure;
use crate::workspace::Workspace;

/// Interval between two checks for due jobs.
const TICK: Duration = Duration::from_secs(1);

/// Starts the thread, which runs until the process exits.
pub(crate) fn run_due_jobs(workspace: &Arc<Workspace>) {
    let workspace = Arc::clone(workspace);
    std::thread::spawn(move || {
        loop {
            // A failure to read the state may be temporary; try again at the next tick.
            let _ = run_due(&workspace, jobs::now());
            std::thread::sleep(TICK);
        }
    });
}

/// Runs the jobs that are due; returns their number.
fn run_due(workspace: &Workspace, now: i64) -> Result<usize, ToolFailure> {
    let due =
        jobs::all(&workspace.open_state_read()?)?.into_iter().filter(|job| job.next_run <= now);
    let mut count = 0;
    for job in due {
        let state = workspace.open_state_write()?;
        if jobs::take(&state, &job, now)? {
            let outcome = match call(workspace, &job) {
                Ok(answer) => format!("ok: {}", answer.summary()),
                Err(failure) => format!("failed: {failure}"),
            };
            jobs::note_outcome(&state, &job.name, &outcome)?;
            count += 1;
        }
    }
    Ok(count)
}

fn call(workspace: &Workspace, job: &Job) -> Result<Answer, ToolFailure> {
    let tool = target::find(&job.tool, &job.parameters)?;
    let arguments: JsonObject = match &job.parameters {
        Value::Object(arguments) => arguments.clone(),
        _ => JsonObject::new(),
    };
    tool.run(workspace, arguments)
}

#[cfg(test)]
mod tests {
    use super::{jobs, run_due};
    use crate::scheduler::jobs::Job;
    use crate::workspace::{Permissions, Workspace};
    use serde_json::json;

    #[test]
    fn job_runs_when_due_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path(), Permissions::default()).unwrap();
        let state = workspace.open_state_write().unwrap();
        let job = Job {
            name: "note".to_owned(),
            schedule: "* * * * *".to_owned(),
            tool: "write_file".to_owned(),
            parameters: json!({ "path": "a.txt", "content": "x" }),
            next_run: 600,
            runs: 0,
            last_outcome: None,
        };
        jobs::add(&state, &job).unwrap();
        assert_eq!(run_due(&workspace, 599).unwrap(), 0);
        assert!(!folder.path().join("a.txt").exists());
        assert_eq!(run_due(&workspace, 600).unwrap(), 1);
        assert_eq!(std::fs::read_to_string(folder.path().join("a.txt")).unwrap(), "x");
        let job = jobs::all(&state).unwrap().remove(0);
        assert_eq!((job.runs, job.next_run), (1, 660));
        assert_eq!(job.last_outcome.as_deref(), Some("ok: wrote 1 bytes to `a.txt`"));
    }
}
