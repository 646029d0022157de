//! Which servers, and which calls of theirs.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::paths;

/// A server under test.
pub(super) struct Subject {
    pub(super) package: &'static str,
    pub(super) program: &'static str,
    pub(super) host: Host,
    pub(super) arguments: Vec<String>,
    pub(super) cases: Vec<Case>,
}

#[derive(Clone, Copy)]
pub(super) enum Host {
    Node,
    Python,
}

impl Host {
    pub(super) fn program(self) -> &'static str {
        match self {
            Self::Node => "npm",
            Self::Python => "python3",
        }
    }

    pub(super) fn is_there(self) -> bool {
        let mut command = Command::new(self.program());
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }
}

/// One call.
pub(super) struct Case {
    pub(super) what: &'static str,
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
    /// Kind and path of the finding; `None` for a good call.
    pub(super) refused_as: Option<(&'static str, &'static str)>,
    pub(super) correctable: bool,
    /// What must be so after the corrected call was made.
    pub(super) afterwards: Option<fn() -> Result<(), String>>,
}

impl Case {
    fn good(tool: &'static str, arguments: Value) -> Self {
        let what = "a good call";
        Self { what, tool, arguments, refused_as: None, correctable: false, afterwards: None }
    }

    fn bad(
        what: &'static str,
        tool: &'static str,
        arguments: Value,
        refused_as: (&'static str, &'static str),
    ) -> Self {
        let refused_as = Some(refused_as);
        Self { what, tool, arguments, refused_as, correctable: true, afterwards: None }
    }
}

/// The servers, with folders of their own to work in.
pub(super) fn all(folder: &Path) -> Vec<Subject> {
    let data = folder.join("data");
    let _ = std::fs::remove_dir_all(&data);
    let _ = std::fs::create_dir_all(&data);
    let _ = std::fs::write(data.join("notes.txt"), "one\ntwo\n");
    let _ = Command::new("git").args(["init", "--quiet"]).arg(&data).status();
    let place = data.to_string_lossy().into_owned();
    vec![files(&place), everything(), git(&place)]
}

fn files(place: &str) -> Subject {
    let notes = format!("{place}/notes.txt");
    let mut dry_run = Case::bad(
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
    Subject {
        package: "@modelcontextprotocol/server-filesystem",
        program: "mcp-server-filesystem",
        host: Host::Node,
        arguments: vec![place.to_owned()],
        cases: vec![
            Case::good("read_text_file", json!({ "path": notes })),
            dry_run,
            Case::bad(
                "a misspelt field",
                "read_text_file",
                json!({ "pth": notes }),
                ("missing_required", "/path"),
            ),
            Case::bad(
                "an enum in other case",
                "list_directory_with_sizes",
                json!({ "path": place, "sortBy": "Size" }),
                ("invalid_enum", "/sortBy"),
            ),
            Case::bad(
                "a string for a list",
                "read_multiple_files",
                json!({ "paths": notes }),
                ("type_mismatch", "/paths"),
            ),
            Case::bad(
                "a misspelt tool",
                "list_dirctory",
                json!({ "path": place }),
                ("unknown_tool", ""),
            ),
        ],
    }
}

fn everything() -> Subject {
    Subject {
        package: "@modelcontextprotocol/server-everything",
        program: "mcp-server-everything",
        host: Host::Node,
        arguments: vec!["stdio".to_owned()],
        cases: vec![
            Case::good("echo", json!({ "message": "hello" })),
            Case::bad(
                "wrapped arguments",
                "echo",
                json!({ "arguments": { "message": "x" } }),
                ("missing_required", "/message"),
            ),
            Case::bad(
                "numbers as text",
                "get-sum",
                json!({ "a": "2", "b": 3 }),
                ("type_mismatch", "/a"),
            ),
            Case::bad(
                "arguments as text",
                "get-sum",
                json!("{\"a\":1,\"b\":2}"),
                ("type_mismatch", ""),
            ),
        ],
    }
}

fn git(place: &str) -> Subject {
    Subject {
        package: "mcp-server-git",
        program: "mcp-server-git",
        host: Host::Python,
        arguments: Vec::new(),
        cases: vec![
            Case::good("git_status", json!({ "repo_path": place })),
            Case::bad(
                "a field in other case",
                "git_status",
                json!({ "repoPath": place }),
                ("unknown_field", "/repoPath"),
            ),
            Case::bad(
                "text for a list",
                "git_add",
                json!({ "repo_path": place, "files": "notes.txt" }),
                ("type_mismatch", "/files"),
            ),
        ],
    }
}
