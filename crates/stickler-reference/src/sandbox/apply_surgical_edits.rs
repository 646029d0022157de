//! `apply_surgical_edits`.

use serde::Deserialize;
use serde_json::json;

use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::trouble::Trouble;
use crate::workspace::{Workspace, clip};

#[derive(Deserialize)]
struct Surgery {
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
                "description": "What to replace, one after the other; all are made or none",
                "items": {
                    "type": "object",
                    "properties": {
                        "old_text": { "type": "string", "minLength": 1, "description": "Text that stands in the file exactly once" },
                        "new_text": { "type": "string", "description": "What is to stand there instead" },
                    },
                    "required": ["old_text", "new_text"],
                    "additionalProperties": false,
                },
            },
            "dry_run": { "type": "boolean", "default": false, "description": "Only tell whether the edits can be made" },
        }),
        &["path", "edits"],
        json!({ "path": "README.md", "edits": [{ "old_text": "teh", "new_text": "the" }], "dry_run": false }),
    );
    let description =
        "Replaces pieces of a text file, each of which must stand there exactly once.";
    Tool::new("apply_surgical_edits", description, Effect::Changes, schema, check, run)
}

fn check(workspace: &Workspace, call: &Surgery) -> Check {
    edited(workspace, call)?;
    Ok(Vec::new())
}

fn run(workspace: &Workspace, call: &Surgery) -> Outcome {
    let text = edited(workspace, call)?;
    let count = call.edits.len();
    if call.dry_run {
        return Ok(Answer::text(format!("{count} edits of `{}` can be made", call.path)));
    }
    workspace.write_text(&workspace.place(&call.path)?, &text)?;
    Ok(Answer::text(format!("made {count} edits in `{}`", call.path)))
}

/// The file as it will be.
fn edited(workspace: &Workspace, call: &Surgery) -> Result<String, Trouble> {
    let mut text = workspace.read_text(&workspace.place(&call.path)?)?;
    for (index, edit) in call.edits.iter().enumerate() {
        let found = text.matches(&edit.old_text).count();
        if found != 1 {
            let how = if found == 0 {
                "does not stand in the file; read it again, spaces and line ends count".to_owned()
            } else {
                format!("stands there {found} times; give more of what is around it")
            };
            let start = clip(&edit.old_text, 60);
            return Err(Trouble::runtime(format!(
                "nothing was changed: the `old_text` of edit {index}, `{start}`, {how}"
            )));
        }
        text = text.replacen(&edit.old_text, &edit.new_text, 1);
    }
    Ok(text)
}
