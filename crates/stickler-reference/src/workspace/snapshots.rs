//! Snapshots of the files below the root, in a git repository of the server's own.
//!
//! The repository is `.stickler/snapshots.git`; a project's own repository is neither used nor
//! changed. A snapshot is a git tree. It contains every file except what `.gitignore` files exclude,
//! the folders `.git` and `.stickler`, and the content of nested repositories. Files are stored
//! byte for byte: attributes and filters have no effect.

use std::path::PathBuf;
use std::process::Command;

use cap_std::fs::{File, OpenOptions};
use rustix::fs::{FlockOperation, flock};
use serde_json::{Value, json};

use super::git::GitDir;
use super::{Finished, STATE_FOLDER, Workspace};
use crate::tool_failure::ToolFailure;

/// Overrides `.gitattributes` files, which could change the bytes of a file.
const ATTRIBUTES: &str = "* -text -eol -ident -filter -working-tree-encoding\n";

/// A file that a restoration changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileChange {
    path: String,
    /// `created`, `deleted` or `changed`.
    change: &'static str,
}

impl FileChange {
    pub(crate) fn to_json(&self) -> Value {
        json!({ "path": self.path, "change": self.change })
    }
}

impl Workspace {
    /// Captures the files; returns the id of the tree. Returns `None` if snapshots are switched off
    /// or impossible, which is logged.
    pub(crate) fn snapshot(&self) -> Option<String> {
        if !self.permissions.history {
            return None;
        }
        let tree = self.lock_snapshots().and_then(|_lock| self.write_tree());
        tree.inspect_err(|failure| tracing::warn!("cannot capture the files: {failure}")).ok()
    }

    /// Returns what a restoration would change.
    pub(crate) fn changes(&self, from: &str, to: &str) -> Result<Vec<FileChange>, ToolFailure> {
        let options = ["diff-tree", "-r", "--no-renames", "--name-status", "-z", from, to];
        let listed = self.snapshot_git(&options)?.stdout;
        let mut fields = listed.split('\0');
        let mut changes = Vec::new();
        while let (Some(letter), Some(path)) = (fields.next(), fields.next()) {
            let change = match letter {
                "A" => "created",
                "D" => "deleted",
                _ => "changed",
            };
            changes.push(FileChange { path: path.to_owned(), change });
        }
        Ok(changes)
    }

    /// Makes the files equal to a tree. Files that snapshots exclude are not touched.
    pub(crate) fn restore(&self, tree: &str) -> Result<(), ToolFailure> {
        let _lock = self.lock_snapshots()?;
        // The index must describe the present files, so that those missing in the tree are deleted.
        self.write_tree()?;
        self.snapshot_git(&["read-tree", "--reset", "-u", tree]).map(drop)
    }

    fn write_tree(&self) -> Result<String, ToolFailure> {
        self.snapshot_git(&["add", "--all"])?;
        Ok(self.snapshot_git(&["write-tree"])?.stdout.trim().to_owned())
    }

    /// Waits until no other call or server uses the repository, which it creates if necessary.
    fn lock_snapshots(&self) -> Result<File, ToolFailure> {
        self.create_state_folder()?;
        let path = format!("{STATE_FOLDER}/snapshots.lock");
        let options = OpenOptions::new().write(true).create(true).clone();
        let file = self.dir.open_with(&path, &options);
        let file = file.map_err(|error| ToolFailure::file(&path, &error))?;
        flock(&file, FlockOperation::LockExclusive)
            .map_err(|error| ToolFailure::file(&path, &error.into()))?;
        let repository = format!("{STATE_FOLDER}/snapshots.git");
        if !self.dir.exists(format!("{repository}/info/attributes")) {
            let folder = self.root.join(&repository).display().to_string();
            let mut init = Command::new("git");
            init.args(["init", "--quiet", "--bare", "--template=", &folder]);
            self.finish_git(&mut init)?;
            let write = |name: &str, text: &str| {
                self.dir.create_dir_all(format!("{repository}/info"))?;
                self.dir.write(format!("{repository}/info/{name}"), text)
            };
            write("exclude", "/.stickler/\n")
                .and_then(|()| write("attributes", ATTRIBUTES))
                .map_err(|error| ToolFailure::file(&repository, &error))?;
        }
        // Left behind by a process that was killed: its lock is ours now.
        let _ = self.dir.remove_file(format!("{repository}/index.lock"));
        Ok(file)
    }

    fn snapshot_git(&self, arguments: &[&str]) -> Result<Finished, ToolFailure> {
        let path: PathBuf = self.root.join(STATE_FOLDER).join("snapshots.git");
        let mut command = self.git_command(&GitDir::Own(path));
        let finished = self.finish_git(command.args(arguments))?;
        if finished.succeeded() {
            return Ok(finished);
        }
        Err(ToolFailure::runtime(format!("git {}: {}", arguments[0], finished.stderr.trim())))
    }
}
