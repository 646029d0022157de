//! Servers that clients are tested with: a valid call, and an invalid one that must not reach them.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::install::Installed;

/// A server and the calls made to it.
#[derive(Clone)]
pub(super) struct TestServer {
    pub(super) name: &'static str,
    pub(super) command: Vec<String>,
    pub(super) good: Value,
    pub(super) bad: Value,
    /// Text that the response to the invalid call must contain.
    pub(super) hint: &'static str,
    /// A file that the bad call would change if it were made, and its content.
    pub(super) untouched: Option<(PathBuf, &'static str)>,
}

const NOTES: &str = "one\ntwo\n";

pub(super) fn all(installed: &Installed) -> Result<Vec<TestServer>, String> {
    let place = installed.folder.join("test_servers");
    let notes = prepare(&place).map_err(|error| format!("{}: {error}", place.display()))?;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let edits = json!([{ "oldText": "one", "newText": "1" }]);
    let mut files = test_server(
        "filesystem",
        with(installed.npm_program("mcp-server-filesystem"), &text(&place)),
        call("read_text_file", &json!({ "path": text(&notes) })),
        call("edit_file", &json!({ "path": text(&notes), "edits": edits, "dryrun": true })),
        "dryRun",
    );
    files.untouched = Some((notes, NOTES));
    Ok(vec![
        test_server(
            "everything",
            with(installed.npm_program("mcp-server-everything"), "stdio"),
            call("echo", &json!({ "message": "hello" })),
            call("get-sum", &json!({ "a": 1, "c": 2 })),
            "`b`",
        ),
        files,
        test_server(
            "memory",
            installed.npm_program("mcp-server-memory"),
            call("search_nodes", &json!({ "query": "nothing of that name" })),
            call("delete_entities", &json!({ "entity_names": ["x"] })),
            "entityNames",
        ),
        test_server(
            "git",
            vec![installed.python("python1", "mcp-server-git")],
            call("git_status", &json!({ "repo_path": text(&place) })),
            call("git_add", &json!({ "repo_path": text(&place), "files": "notes.txt" })),
            "/files",
        ),
        test_server(
            "time",
            vec![installed.python("python1", "mcp-server-time")],
            call("get_current_time", &json!({ "timezone": "UTC" })),
            call("get_current_time", &json!({ "time_zone": "UTC" })),
            "timezone",
        ),
        test_server(
            "fixture",
            installed.script("server.mjs"),
            call("test_headers", &json!({ "region": "zürich", "level": 3 })),
            call("test_headers", &json!({ "region": "zürich", "levl": 3 })),
            "level",
        ),
    ])
}

fn test_server(
    name: &'static str,
    command: Vec<String>,
    good: Value,
    bad: Value,
    hint: &'static str,
) -> TestServer {
    TestServer { name, command, good, bad, hint, untouched: None }
}

fn with(mut command: Vec<String>, argument: &str) -> Vec<String> {
    command.push(argument.to_owned());
    command
}

fn call(name: &str, arguments: &Value) -> Value {
    json!({ "name": name, "arguments": arguments })
}

fn prepare(place: &Path) -> std::io::Result<PathBuf> {
    let _ = std::fs::remove_dir_all(place);
    std::fs::create_dir_all(place)?;
    let notes = place.join("notes.txt");
    std::fs::write(&notes, NOTES)?;
    Command::new("git").args(["init", "--quiet"]).arg(place).status()?;
    Ok(notes)
}

impl TestServer {
    /// Checks that the invalid call had no effect.
    pub(super) fn check_untouched(&self) -> Result<(), String> {
        let Some((file, content)) = &self.untouched else { return Ok(()) };
        match std::fs::read_to_string(file) {
            Ok(found) if found == *content => Ok(()),
            found => Err(format!("the rejected call changed a file: {found:?}")),
        }
    }
}
