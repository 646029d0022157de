//! The commands of docs/guide.md print what the guide says. `…` in the guide stands for lines that are left out.

use std::path::Path;
use std::process::Command;

use crate::support::folder::Folder;

const GUIDE: &str = include_str!("../../../../docs/guide.md");

/// Returns the text between a line that starts with `start` and the end of its code block.
fn block_from(start: &str) -> &'static str {
    let at = GUIDE.find(start).unwrap_or_else(|| panic!("the guide has no `{start}`"));
    GUIDE[at..].split("\n```").next().unwrap()
}

/// Runs the commands of a console block in the shell and compares their output with it.
fn check_console(start: &str, folder: &Path) {
    let program = Path::new(env!("CARGO_BIN_EXE_stickler")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    for part in block_from(start).trim_start_matches("$ ").split("\n$ ") {
        let (command, expected) = part.split_once('\n').unwrap_or((part, ""));
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{command} 2>&1")]).current_dir(folder).env("PATH", &path);
        let output = String::from_utf8(shell.output().unwrap().stdout).unwrap();
        let mut rest = output.as_str();
        let is_cut = expected.contains("\n…");
        for piece in expected.split("\n…\n").map(str::trim) {
            let at = rest.find(piece);
            assert!(at.is_some(), "`{command}` printed\n{output}\nand not\n{piece}");
            rest = &rest[at.unwrap() + piece.len()..];
        }
        assert!(is_cut || rest.trim().is_empty(), "`{command}` also printed\n{rest}");
    }
}

#[test]
fn commands_of_the_guide_print_what_it_says() {
    let folder = Folder::new();
    let root = Path::new(&folder.path(".")).to_owned();
    folder.file(
        "recording.ndjson",
        block_from("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\""),
    );
    check_console("$ mkdir play", &root);
    check_console("$ stickler call read_file pth=notes.txt", &root);
    check_console("$ stickler tools -- ", &root);
    check_console("$ stickler audit recording.ndjson", &root);
}
