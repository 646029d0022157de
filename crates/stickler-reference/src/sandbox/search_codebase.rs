//! Tool `search_codebase`: searches the files below the root line by line.

use std::path::Path;
use std::time::{Duration, Instant};

use ignore::overrides::OverrideBuilder;
use ignore::{DirEntry, WalkBuilder};
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tool::{Answer, Check, Effect, Outcome, Tool, strict};
use crate::tool_failure::ToolFailure;
use crate::workspace::Workspace;

/// Limits on the size of a searched file in bytes, on the searched files, and on the length of a
/// returned line in characters.
const MAX_BYTES: u64 = 4 << 20;
const MAX_FILES: usize = 50_000;
const MAX_LINE_CHARS: usize = 300;

/// Time limit for a search.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Memory limit for a compiled pattern, in bytes.
const MAX_PATTERN_BYTES: usize = 1 << 20;

#[derive(Deserialize)]
struct Search {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    #[serde(default)]
    literal: bool,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default = "default_limit")]
    max_results: usize,
}

fn default_limit() -> usize {
    50
}

pub(super) fn tool() -> Tool {
    let schema = strict(
        json!({
            "pattern": { "type": "string", "minLength": 1, "description": "A regular expression, matched against each line" },
            "path": { "type": "string", "minLength": 1, "description": "The file or folder to search, relative to the root; default: the root" },
            "glob": { "type": "string", "minLength": 1, "description": "Only files with matching names, such as `*.rs` or `!*.md`" },
            "literal": { "type": "boolean", "default": false, "description": "Treat the pattern as plain text" },
            "ignore_case": { "type": "boolean", "default": false, "description": "Match case-insensitively" },
            "max_results": { "type": "integer", "minimum": 1, "maximum": 500, "default": 50, "description": "The maximum number of lines to return" },
        }),
        &["pattern"],
        json!({ "pattern": "fn main", "glob": "*.rs" }),
    );
    let description =
        "Searches the files below the root for matching lines. Skips files that git ignores.";
    Tool::new("search_codebase", description, Effect::Reads, schema, check, run)
}

fn check(workspace: &Workspace, call: &Search) -> Check {
    workspace.place_or_root(call.path.as_deref())?;
    compiled(call)?;
    Ok(Vec::new())
}

fn compiled(call: &Search) -> Result<Regex, ToolFailure> {
    let pattern = if call.literal { regex::escape(&call.pattern) } else { call.pattern.clone() };
    let mut regex = RegexBuilder::new(&pattern);
    regex.case_insensitive(call.ignore_case).size_limit(MAX_PATTERN_BYTES);
    regex.build().map_err(|error| {
        ToolFailure::semantic(format!(
            "`pattern` is not a regular expression: {error}; for plain text set `literal` to true"
        ))
    })
}

fn run(workspace: &Workspace, call: &Search) -> Outcome {
    let regex = compiled(call)?;
    let place = workspace.place_or_root(call.path.as_deref())?;
    let root = workspace.root();
    let mut walk = WalkBuilder::new(workspace.full_path(&place));
    walk.require_git(false).parents(false).filter_entry(is_searched);
    if let Some(glob) = &call.glob {
        let mut overrides = OverrideBuilder::new(root);
        let built = overrides.add(glob).and_then(|overrides| overrides.build());
        let built = built.map_err(|error| ToolFailure::semantic(format!("`glob`: {error}")))?;
        walk.overrides(built);
    }
    let mut found = Vec::new();
    let mut files = 0;
    let mut is_cut = false;
    let deadline = Instant::now() + TIME_LIMIT;
    for entry in walk.sort_by_file_path(Path::cmp).build().flatten() {
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        files += 1;
        is_cut = files > MAX_FILES || found.len() > call.max_results || Instant::now() >= deadline;
        if is_cut {
            break;
        }
        let Ok(path) = entry.path().strip_prefix(root) else { continue };
        search(workspace, path, &regex, call.max_results, &mut found);
    }
    is_cut |= found.len() > call.max_results;
    found.truncate(call.max_results);
    Ok(Answer::data(json!({ "matches": found, "truncated": is_cut })))
}

fn is_searched(entry: &DirEntry) -> bool {
    entry.file_name() != ".stickler" && entry.file_name() != ".git"
}

/// Adds the matching lines of one file, up to one more than `max_results`.
fn search(workspace: &Workspace, path: &Path, regex: &Regex, max: usize, found: &mut Vec<Value>) {
    let dir = workspace.dir();
    if !dir.metadata(path).is_ok_and(|about| about.is_file() && about.len() <= MAX_BYTES) {
        return;
    }
    let Ok(bytes) = dir.read(path) else { return };
    if bytes.contains(&0) {
        return;
    }
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if found.len() > max {
            return;
        }
        if regex.is_match(line) {
            let text = String::from_utf8_lossy(line);
            let text: String = text.trim_end().chars().take(MAX_LINE_CHARS).collect();
            let path = path.display().to_string();
            found.push(json!({ "path": path, "line": index + 1, "text": text }));
        }
    }
}
