//! A project folder with the files that the examples of the tools need.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The servers work in `root/`; they must not touch the files beside it.
pub(crate) struct Root {
    folder: tempfile::TempDir,
}

impl Root {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Self { folder };
        root.write("README.md", "# A project\n\nThis is teh text.\n");
        root.write("src/main.rs", "fn main() {}\n");
        root.write("Cargo.toml", "[package]\nname = \"a\"\n\n[dependencies]\nserde = \"1.0\"\n");
        root.write("tests/parser.txt", "1 + 1\n");
        root.write("run-tests.sh", "echo \"tested: $*\"\n");
        std::fs::create_dir(root.beside("other")).unwrap();
        std::fs::write(root.beside("other/secret.txt"), "secret\n").unwrap();
        let database = rusqlite::Connection::open(root.path().join("project.db")).unwrap();
        database
            .execute_batch("create table users (id integer, name text); insert into users values (1, 'Ada'), (2, 'Alan');")
            .unwrap();
        root
    }

    /// A repository with one commit and an uncommitted change.
    pub(crate) fn with_git() -> Self {
        let root = Self::new();
        root.git(&["init", "--quiet"]);
        root.git(&["add", "--all"]);
        root.git(&[
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@localhost",
            "commit",
            "--quiet",
            "-m",
            "first",
        ]);
        root.write("README.md", "# A project\n\nThis is teh new text.\n");
        root
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GIT_") {
                command.env_remove(name);
            }
        }
        let output = command.args(arguments).current_dir(self.path()).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.beside("root")
    }

    /// A path outside the root.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// Contents of all files in the root and beside it, except the server's own records.
    pub(crate) fn snapshot(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(self.folder.path(), &mut files);
        files
    }
}

fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = path.symlink_metadata().unwrap();
        if path.ends_with("root/.stickler") && metadata.is_dir() {
            continue;
        }
        if metadata.is_symlink() {
            files.insert(
                path.clone(),
                std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes(),
            );
        } else if metadata.is_dir() {
            files.insert(path.clone(), b"a folder".to_vec());
            collect(&path, files);
        } else {
            files.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
}

/// Whether git is installed; prints a note if not.
pub(crate) fn has_git() -> bool {
    has("git")
}

/// Whether a program is installed; prints a note if not.
pub(crate) fn has(program: &str) -> bool {
    let found =
        Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        println!("skipped: {program} is not installed");
    }
    found
}
