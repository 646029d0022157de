//! Tool `run_test_task`: runs the tests of one file or folder.

use serde::Deserialize;
use serde_json::json;

use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::tool_failure::ToolFailure;
use crate::workspace::{DEFAULT_SECONDS, MAX_SECONDS, TestRun, Workspace, time_limit};

#[derive(Deserialize)]
struct TestTask {
    test_path: String,
    #[serde(default)]
    reporter: Reporter,
    timeout_seconds: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Reporter {
    #[default]
    Text,
    Json,
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "test_path": { "type": "string", "minLength": 1, "description": "The file or folder with the tests, relative to the root" },
            "reporter": { "type": "string", "enum": ["text", "json"], "default": "text", "description": "The format of the text: a summary with the failed tests, or all results as JSON" },
            "timeout_seconds": { "type": "integer", "minimum": 1, "maximum": MAX_SECONDS, "default": DEFAULT_SECONDS, "description": "The time limit, after which the tests are terminated" },
        }),
        &["test_path"],
        json!({ "test_path": "tests", "reporter": "json" }),
    );
    let description = "Runs the tests of a file or folder and reports each test: passed, failed with its message, or skipped. Knows cargo test, cargo nextest, pytest and node --test; of other runners it returns the output.";
    Tool::new("run_test_task", description, Effect::Runs, schema, check, run)
}

fn check(workspace: &Workspace, call: &TestTask) -> Check {
    let place = workspace.place(&call.test_path)?;
    workspace.require_shell("`run_test_task`")?;
    if !workspace.dir().exists(&place.path) {
        return Err(ToolFailure::runtime(format!("`{}` does not exist", place.given)));
    }
    Ok(Vec::new())
}

fn run(workspace: &Workspace, call: &TestTask) -> Outcome {
    let place = workspace.place(&call.test_path)?;
    let limit = time_limit(call.timeout_seconds);
    let outcome = workspace.run_tests(&TestRun { place: &place, filter: None, limit })?;
    Ok(match call.reporter {
        Reporter::Json => Answer::data(outcome.data()),
        Reporter::Text => Answer::both(outcome.text(), outcome.data()),
    })
}
