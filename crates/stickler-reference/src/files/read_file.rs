//! `read_file`.

use serde::Deserialize;
use serde_json::json;

use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::workspace::{Workspace, clip};

/// How much of a file one answer holds.
const MOST_BYTES: usize = 128 << 10;

#[derive(Deserialize)]
struct ReadFile {
    path: String,
    #[serde(default = "first")]
    start_line: usize,
    line_count: Option<usize>,
}

fn first() -> usize {
    1
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "path": { "type": "string", "minLength": 1, "description": "The file, relative to the root" },
            "start_line": { "type": "integer", "minimum": 1, "default": 1, "description": "The first line to read" },
            "line_count": { "type": "integer", "minimum": 1, "description": "How many lines to read; all without it" },
        }),
        &["path"],
        json!({ "path": "README.md" }),
    );
    let description = "Reads a text file, or some of its lines.";
    Tool::new("read_file", description, Effect::Reads, schema, check, run)
}

fn check(workspace: &Workspace, call: &ReadFile) -> Check {
    workspace.place(&call.path)?;
    Ok(Vec::new())
}

fn run(workspace: &Workspace, call: &ReadFile) -> Outcome {
    let text = workspace.read_text(&workspace.place(&call.path)?)?;
    let lines = text.split_inclusive('\n').skip(call.start_line.saturating_sub(1));
    let chosen: String = lines.take(call.line_count.unwrap_or(usize::MAX)).collect();
    Ok(Answer::text(within_bounds(&chosen, call.start_line)))
}

/// Cut at the end of a line, with a word on how to go on.
fn within_bounds(text: &str, start_line: usize) -> String {
    if text.len() <= MOST_BYTES {
        return text.to_owned();
    }
    let cut = clip(text, MOST_BYTES);
    let whole = cut.rfind('\n').map_or(cut, |end| &cut[..=end]);
    let next = start_line + whole.lines().count();
    format!("{whole}… cut here; go on with `start_line`: {next}")
}
