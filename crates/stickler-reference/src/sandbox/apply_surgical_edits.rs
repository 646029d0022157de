//! Tool `apply_surgical_edits`: replaces unique passages of a text file.

use serde::Deserialize;
use serde_json::json;

use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::tool_failure::ToolFailure;
use crate::workspace::{Workspace, clip};

#[derive(Deserialize)]
struct SurgicalEdits {
    path: String,
    edits: Vec<Edit>,
    #[serde(default)]
    dry_run: bool,
}

#[derive(Deserialize)]
struct Edit {
    old_text: String,
    new_text: String,
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "path": { "type": "string", "minLength": 1, "description": "The file, relative to the root" },
            "edits": {
                "type": "array", "minItems": 1,
                "description": "The replacements, applied in order; either all or none are applied",
                "items": {
                    "type": "object",
                    "properties": {
                        "old_text": { "type": "string", "minLength": 1, "description": "Text that occurs exactly once in the file" },
                        "new_text": { "type": "string", "description": "The replacement text" },
                    },
                    "required": ["old_text", "new_text"],
                    "additionalProperties": false,
                },
            },
            "dry_run": { "type": "boolean", "default": false, "description": "Only check whether the edits can be applied" },
        }),
        &["path", "edits"],
        json!({ "path": "README.md", "edits": [{ "old_text": "teh", "new_text": "the" }], "dry_run": false }),
    );
    let description = "Replaces passages of a text file. Each passage must occur exactly once.";
    Tool::new("apply_surgical_edits", description, Effect::Changes, schema, check, run)
}

fn check(workspace: &Workspace, call: &SurgicalEdits) -> Check {
    edited(workspace, call)?;
    Ok(Vec::new())
}

fn run(workspace: &Workspace, call: &SurgicalEdits) -> Outcome {
    let text = edited(workspace, call)?;
    let count = call.edits.len();
    if call.dry_run {
        return Ok(Answer::text(format!("{count} edits can be applied to `{}`", call.path)));
    }
    workspace.write_text(&workspace.place(&call.path)?, &text)?;
    Ok(Answer::text(format!("applied {count} edits to `{}`", call.path)))
}

/// Returns the content of the file after the edits.
fn edited(workspace: &Workspace, call: &SurgicalEdits) -> Result<String, ToolFailure> {
    let mut text = workspace.read_text(&workspace.place(&call.path)?)?;
    for (index, edit) in call.edits.iter().enumerate() {
        let found = text.matches(&edit.old_text).count();
        if found != 1 {
            let how = if found == 0 {
                "does not occur in the file; whitespace and line endings must match".to_owned()
            } else {
                format!("occurs {found} times; include more of the surrounding text")
            };
            let start = clip(&edit.old_text, 60);
            return Err(ToolFailure::runtime(format!(
                "nothing was changed: the `old_text` of edit {index}, `{start}`, {how}"
            )));
        }
        text = text.replacen(&edit.old_text, &edit.new_text, 1);
    }
    Ok(text)
}
