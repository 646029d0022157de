//! Tool `run_tests`: runs the tests of the project in the root.

use serde::Deserialize;
use serde_json::json;

use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::workspace::{DEFAULT_SECONDS, MAX_SECONDS, TestRun, Workspace, time_limit};

#[derive(Deserialize)]
struct RunTests {
    path: Option<String>,
    filter: Option<String>,
    timeout_seconds: Option<u64>,
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "path": { "type": "string", "minLength": 1, "description": "A file or folder with tests, relative to the root; default: all tests" },
            "filter": { "type": "string", "pattern": "^[^-]", "description": "Runs only tests whose names contain this text" },
            "timeout_seconds": { "type": "integer", "minimum": 1, "maximum": MAX_SECONDS, "default": DEFAULT_SECONDS, "description": "The time limit, after which the tests are terminated" },
        }),
        &[],
        json!({ "filter": "parser", "timeout_seconds": 120 }),
    );
    let description = "Runs the tests of the project in the root and reports which passed, failed and were skipped.";
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
    let outcome = workspace.run_tests(&TestRun { place: &place, filter, limit })?;
    Ok(Answer::both(outcome.text(), outcome.data()))
}
