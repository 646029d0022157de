//! Tool `read_file`: reads a text file or a range of its lines.

use serde::Deserialize;
use serde_json::json;

use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::workspace::{Workspace, clip};

/// Limit on the text of one result, in bytes.
const MAX_BYTES: usize = 128 << 10;

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
            "line_count": { "type": "integer", "minimum": 1, "description": "The number of lines to read; default: all" },
        }),
        &["path"],
        json!({ "path": "README.md" }),
    );
    let description = "Reads a text file or a range of its lines.";
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
    Ok(Answer::text(truncated(&chosen, call.start_line)))
}

/// Truncates a text at the end of a line, with a note about how to read the rest.
fn truncated(text: &str, start_line: usize) -> String {
    if text.len() <= MAX_BYTES {
        return text.to_owned();
    }
    let cut = clip(text, MAX_BYTES);
    let whole = cut.rfind('\n').map_or(cut, |end| &cut[..=end]);
    let next = start_line + whole.lines().count();
    format!("{whole}… truncated; continue with `start_line`: {next}")
}
