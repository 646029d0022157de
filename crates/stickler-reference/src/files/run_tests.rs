//! `run_tests`.

use serde::Deserialize;
use serde_json::json;

use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::workspace::{DEFAULT_SECONDS, MOST_SECONDS, TestRun, Workspace, time_limit};

#[derive(Deserialize)]
struct RunTests {
    path: Option<String>,
    filter: Option<String>,
    timeout_seconds: Option<u64>,
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "path": { "type": "string", "minLength": 1, "description": "A file or folder with tests, relative to the root; all tests without it" },
            "filter": { "type": "string", "pattern": "^[^-]", "description": "Only the tests with this in their names" },
            "timeout_seconds": { "type": "integer", "minimum": 1, "maximum": MOST_SECONDS, "default": DEFAULT_SECONDS, "description": "After how long the tests are ended" },
        }),
        &[],
        json!({ "filter": "parser", "timeout_seconds": 120 }),
    );
    let description = "Runs the tests of the project in the root, and tells how they ended.";
    Tool::new("run_tests", description, Effect::Runs, schema, check, run)
}

fn check(workspace: &Workspace, call: &RunTests) -> Check {
    workspace.require_shell("`run_tests`")?;
    workspace.place_or_root(call.path.as_deref())?;
    Ok(Vec::new())
}

fn run(workspace: &Workspace, call: &RunTests) -> Outcome {
    let place = workspace.place_or_root(call.path.as_deref())?;
    let limit = time_limit(call.timeout_seconds);
    let filter = call.filter.as_deref();
    let (command, finished) = workspace.run_tests(&TestRun { place: &place, filter, limit })?;
    let mut data = finished.data();
    data["command"] = command.into();
    data["passed"] = finished.succeeded().into();
    Ok(Answer::data(data))
}
