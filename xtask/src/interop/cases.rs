//! Servers under test and the calls made to each.

use std::process::Command;

use serde_json::{Value, json};

use super::install::Installed;
use crate::paths;

/// A server under test.
pub(super) struct ServerUnderTest {
    pub(super) package: &'static str,
    pub(super) command: Vec<String>,
    pub(super) cases: Vec<Case>,
}

/// One call.
pub(super) struct Case {
    pub(super) what: &'static str,
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
    /// Kind and path of the expected error; `None` for a valid call.
    pub(super) rejected_as: Option<(&'static str, &'static str)>,
    pub(super) correctable: bool,
    /// A check that runs after the corrected call was made.
    pub(super) afterwards: Option<fn() -> Result<(), String>>,
}

impl Case {
    fn valid(tool: &'static str, arguments: Value) -> Self {
        let what = "a valid call";
        Self { what, tool, arguments, rejected_as: None, correctable: false, afterwards: None }
    }

    fn invalid(
        what: &'static str,
        tool: &'static str,
        arguments: Value,
        rejected_as: (&'static str, &'static str),
    ) -> Self {
        let rejected_as = Some(rejected_as);
        Self { what, tool, arguments, rejected_as, correctable: true, afterwards: None }
    }
}

/// Returns the servers; recreates the data folder that they use.
pub(super) fn all(installed: &Installed) -> Vec<ServerUnderTest> {
    let data = installed.folder.join("data");
    let _ = std::fs::remove_dir_all(&data);
    let _ = std::fs::create_dir_all(&data);
    let _ = std::fs::write(data.join("notes.txt"), "one\ntwo\n");
    let _ = Command::new("git").args(["init", "--quiet"]).arg(&data).status();
    let place = data.to_string_lossy().into_owned();
    vec![files(installed, &place), everything(installed), git(installed, &place)]
}

fn files(installed: &Installed, place: &str) -> ServerUnderTest {
    let mut command = installed.npm_program("mcp-server-filesystem");
    command.push(place.to_owned());
    let notes = format!("{place}/notes.txt");
    let mut dry_run = Case::invalid(
        "a misspelt dryRun",
        "edit_file",
        json!({ "path": notes, "edits": [{ "oldText": "one", "newText": "1" }], "dryrun": true }),
        ("unknown_field", "/dryrun"),
    );
    dry_run.afterwards = Some(|| {
        let notes = paths::root().join("target/interop/data/notes.txt");
        match std::fs::read_to_string(notes).as_deref() {
            Ok("one\ntwo\n") => Ok(()),
            other => Err(format!("a dry run changed the file: {other:?}")),
        }
    });
    ServerUnderTest {
        package: "@modelcontextprotocol/server-filesystem",
        command,
        cases: vec![
            Case::valid("read_text_file", json!({ "path": notes })),
            dry_run,
            Case::invalid(
                "a misspelt field",
                "read_text_file",
                json!({ "pth": notes }),
                ("unknown_field", "/pth"),
            ),
            Case::invalid(
                "an enum in other case",
                "list_directory_with_sizes",
                json!({ "path": place, "sortBy": "Size" }),
                ("invalid_enum", "/sortBy"),
            ),
            Case::invalid(
                "a string for a list",
                "read_multiple_files",
                json!({ "paths": notes }),
                ("type_mismatch", "/paths"),
            ),
            Case::invalid(
                "a misspelt tool",
                "list_dirctory",
                json!({ "path": place }),
                ("unknown_tool", ""),
            ),
        ],
    }
}

fn everything(installed: &Installed) -> ServerUnderTest {
    let mut command = installed.npm_program("mcp-server-everything");
    command.push("stdio".to_owned());
    ServerUnderTest {
        package: "@modelcontextprotocol/server-everything",
        command,
        cases: vec![
            Case::valid("echo", json!({ "message": "hello" })),
            Case::invalid(
                "wrapped arguments",
                "echo",
                json!({ "arguments": { "message": "x" } }),
                ("unknown_field", "/arguments"),
            ),
            Case::invalid(
                "numbers as text",
                "get-sum",
                json!({ "a": "2", "b": 3 }),
                ("type_mismatch", "/a"),
            ),
            Case::invalid(
                "arguments as text",
                "get-sum",
                json!("{\"a\":1,\"b\":2}"),
                ("type_mismatch", ""),
            ),
        ],
    }
}

fn git(installed: &Installed, place: &str) -> ServerUnderTest {
    ServerUnderTest {
        package: "mcp-server-git",
        command: vec![installed.python("python1", "mcp-server-git")],
        cases: vec![
            Case::valid("git_status", json!({ "repo_path": place })),
            Case::invalid(
                "a field in other case",
                "git_status",
                json!({ "repoPath": place }),
                ("unknown_field", "/repoPath"),
            ),
            Case::invalid(
                "text for a list",
                "git_add",
                json!({ "repo_path": place, "files": "notes.txt" }),
                ("type_mismatch", "/files"),
            ),
        ],
    }
}
