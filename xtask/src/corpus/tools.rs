//! Loads tool lists from a folder with one file per server.

use std::path::Path;

use stickler::{Limits, ToolDefinition, ToolList};

pub(super) struct Server {
    pub(super) name: String,
    pub(super) tools: Vec<ToolDefinition>,
}

pub(super) fn load(folder: &Path) -> Result<Vec<Server>, String> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .map_err(|error| format!("cannot read `{}`: {error}", folder.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    files.iter().map(|path| load_one(path)).collect()
}

fn load_one(path: &Path) -> Result<Server, String> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let list = ToolList::read(&bytes, &Limits::default())
        .map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Server { name, tools: list.tools })
}
