//! Tool `write_file`: creates or replaces a text file.

use serde::Deserialize;
use serde_json::json;

use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::workspace::Workspace;

#[derive(Deserialize)]
struct WriteFile {
    path: String,
    content: String,
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "path": { "type": "string", "minLength": 1, "description": "The file, relative to the root" },
            "content": { "type": "string", "description": "The complete new content of the file" },
        }),
        &["path", "content"],
        json!({ "path": "notes/ideas.txt", "content": "One idea per line.\n" }),
    );
    let description = "Writes a text file. Replaces an existing file and creates missing folders.";
    Tool::new("write_file", description, Effect::Changes, schema, check, run)
}

fn check(workspace: &Workspace, call: &WriteFile) -> Check {
    let place = workspace.place(&call.path)?;
    let mut warnings = Vec::new();
    if call.content.is_empty() {
        warnings.push(format!("empty content will leave `{}` empty", call.path));
    } else if workspace.dir().exists(&place.path) {
        warnings.push(format!("`{}` already exists and will be replaced", call.path));
    }
    Ok(warnings)
}

fn run(workspace: &Workspace, call: &WriteFile) -> Outcome {
    workspace.write_text(&workspace.place(&call.path)?, &call.content)?;
    Ok(Answer::text(format!("wrote {} bytes to `{}`", call.content.len(), call.path)))
}
