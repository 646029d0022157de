//! Tool `filesystem_operation`: reads, writes, lists, moves and deletes files.

use std::io::Write as _;

use cap_std::fs::OpenOptions;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tool::{Answer, Check, Effect, Outcome, Tool, requiring, strict};
use crate::tool_failure::ToolFailure;
use crate::workspace::{Place, Workspace, clip};

/// Limits on the text in bytes and on the folder entries of one result.
const MAX_BYTES: usize = 128 << 10;
const MAX_ENTRIES: usize = 500;

#[derive(Deserialize)]
struct Operation {
    action: Action,
    path: String,
    content: Option<String>,
    destination: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Read,
    Write,
    Append,
    List,
    Stat,
    CreateFolder,
    Move,
    Delete,
}

impl Operation {
    /// Returns the location. `move` and `delete` act on a link itself, all others follow it.
    fn place(&self, workspace: &Workspace) -> Result<Place, ToolFailure> {
        match self.action {
            Action::Move | Action::Delete => workspace.place_itself(&self.path),
            _ => workspace.place(&self.path),
        }
    }
}

pub(super) fn tool() -> Tool {
    let fields = strict(
        json!({
            "action": {
                "type": "string",
                "enum": ["read", "write", "append", "list", "stat", "create_folder", "move", "delete"],
                "description": "The action to perform; `delete` removes a file, a link or an empty folder",
            },
            "path": { "type": "string", "minLength": 1, "description": "The file or folder, relative to the root" },
            "content": { "type": "string", "description": "The text for `write` and `append`" },
            "destination": { "type": "string", "minLength": 1, "description": "The new path for `move`, relative to the root; it must not exist" },
        }),
        &["action", "path"],
        json!({ "action": "read", "path": "README.md" }),
    );
    let schema =
        requiring(fields, &[(&["write", "append"], "content"), (&["move"], "destination")]);
    let description = "Reads, writes, lists, moves and deletes files below the root.";
    Tool::new("filesystem_operation", description, Effect::Changes, schema, check, run)
}

fn check(workspace: &Workspace, call: &Operation) -> Check {
    call.place(workspace)?;
    match call.action {
        Action::Move => {
            let destination = call.destination.as_deref().unwrap_or_default();
            let place = workspace.place(destination)?;
            if workspace.dir().symlink_metadata(&place.path).is_ok() {
                return Err(ToolFailure::runtime(format!("`{destination}` already exists")));
            }
            Ok(Vec::new())
        }
        _ => Ok(Vec::new()),
    }
}

fn run(workspace: &Workspace, call: &Operation) -> Outcome {
    let place = call.place(workspace)?;
    let given = &place.given;
    let failure = |error: std::io::Error| ToolFailure::file(given, &error);
    let content = call.content.as_deref().unwrap_or_default();
    let dir = workspace.dir();
    Ok(match call.action {
        Action::Read => {
            let text = workspace.read_text(&place)?;
            let shown = clip(&text, MAX_BYTES);
            let cut = if shown.len() < text.len() { "\n… truncated" } else { "" };
            Answer::text(format!("{shown}{cut}"))
        }
        Action::Write => {
            workspace.write_text(&place, content)?;
            Answer::text(format!("wrote {} bytes to `{given}`", content.len()))
        }
        Action::Append => {
            workspace.require_writable(&place)?;
            let options = OpenOptions::new().append(true).create(true).clone();
            let mut file = dir.open_with(&place.path, &options).map_err(failure)?;
            file.write_all(content.as_bytes()).map_err(failure)?;
            Answer::text(format!("appended {} bytes to `{given}`", content.len()))
        }
        Action::List => Answer::data(list(workspace, &place)?),
        Action::Stat => Answer::data(stat(workspace, &place)?),
        Action::CreateFolder => {
            dir.create_dir_all(&place.path).map_err(failure)?;
            Answer::text(format!("the folder `{given}` exists"))
        }
        Action::Move => {
            let destination = workspace.place(call.destination.as_deref().unwrap_or_default())?;
            dir.rename(&place.path, dir, &destination.path).map_err(failure)?;
            Answer::text(format!("moved `{given}` to `{}`", destination.given))
        }
        Action::Delete => {
            let about = dir.symlink_metadata(&place.path).map_err(failure)?;
            let removed = if about.is_dir() {
                dir.remove_dir(&place.path)
            } else {
                dir.remove_file(&place.path)
            };
            removed.map_err(failure)?;
            Answer::text(format!("deleted `{given}`"))
        }
    })
}

fn list(workspace: &Workspace, place: &Place) -> Result<Value, ToolFailure> {
    let failure = |error: std::io::Error| ToolFailure::file(&place.given, &error);
    let mut entries = Vec::new();
    for entry in workspace.dir().read_dir(&place.path).map_err(failure)? {
        let entry = entry.map_err(failure)?;
        let kind = entry.file_type().map_err(failure)?;
        let kind = match (kind.is_dir(), kind.is_symlink()) {
            (true, _) => "folder",
            (_, true) => "link",
            _ => "file",
        };
        entries.push((entry.file_name().to_string_lossy().into_owned(), kind));
    }
    entries.sort();
    let is_cut = entries.len() > MAX_ENTRIES;
    entries.truncate(MAX_ENTRIES);
    let entries: Vec<Value> =
        entries.into_iter().map(|(name, kind)| json!({ "name": name, "kind": kind })).collect();
    Ok(json!({ "path": place.given, "entries": entries, "truncated": is_cut }))
}

fn stat(workspace: &Workspace, place: &Place) -> Result<Value, ToolFailure> {
    let about = workspace.dir().metadata(&place.path);
    let about = about.map_err(|error| ToolFailure::file(&place.given, &error))?;
    let kind = if about.is_dir() { "folder" } else { "file" };
    Ok(json!({ "path": place.given, "kind": kind, "bytes": about.len() }))
}
