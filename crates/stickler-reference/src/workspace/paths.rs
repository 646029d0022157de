//! Resolves paths given by callers and confines them to the root.
//!
//! `cap-std` opens everything relative to the root and rejects an escape at the moment of opening,
//! so that a link created between check and use is not followed. The checks here add helpful
//! messages and protect the folders of git and of the server.

use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use super::Workspace;
use crate::tool_failure::ToolFailure;

/// Limit on the size of a file that is read, in bytes.
const MAX_BYTES: u64 = 8 << 20;

/// Folders that file tools must not access: a hook or a setting there could run a program.
const PROTECTED_FOLDERS: [&str; 2] = [".git", ".stickler"];

/// A path within the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The path as given by the caller.
    pub(crate) given: String,
    /// The path relative to the root, with links resolved (see [`Workspace::place_itself`]).
    pub(crate) path: PathBuf,
}

impl Workspace {
    /// Resolves a path, which need not exist.
    pub(crate) fn place(&self, given: &str) -> Result<Place, ToolFailure> {
        self.checked(given, Self::resolved)
    }

    /// Resolves a path to delete or move: a link at its end is not followed.
    pub(crate) fn place_itself(&self, given: &str) -> Result<Place, ToolFailure> {
        self.checked(given, |workspace, given, written| {
            let Some(name) = written.file_name() else { return workspace.resolved(given, written) };
            let folder = written.parent().unwrap_or(Path::new(""));
            Ok(workspace.resolved(given, folder)?.join(name))
        })
    }

    fn checked(
        &self,
        given: &str,
        resolve: impl Fn(&Self, &str, &Path) -> Result<PathBuf, ToolFailure>,
    ) -> Result<Place, ToolFailure> {
        let written = Path::new(given);
        if given.is_empty() || given.contains('\0') {
            return Err(ToolFailure::semantic("the path is empty; use one such as `src/main.rs`"));
        }
        if written.is_absolute() {
            return Err(self.absolute(given, written));
        }
        if written.components().any(|part| part == Component::ParentDir) {
            return Err(ToolFailure::outside(given));
        }
        let path = resolve(self, given, written)?;
        for part in written.components().chain(path.components()) {
            let name = part.as_os_str();
            if let Some(protected) =
                PROTECTED_FOLDERS.iter().find(|protected| name.eq_ignore_ascii_case(protected))
            {
                return Err(ToolFailure::security(format!(
                    "`{given}` is in `{protected}`, which file tools must not access"
                )));
            }
        }
        Ok(Place { given: given.to_owned(), path })
    }

    /// Resolves a path; `None` is the root.
    pub(crate) fn place_or_root(&self, given: Option<&str>) -> Result<Place, ToolFailure> {
        self.place(given.unwrap_or("."))
    }

    /// Returns the absolute path, for programs that require one.
    pub(crate) fn full_path(&self, place: &Place) -> PathBuf {
        self.root.join(&place.path)
    }

    /// Reads a text file.
    pub(crate) fn read_text(&self, place: &Place) -> Result<String, ToolFailure> {
        let given = &place.given;
        let failure = |error: &std::io::Error| ToolFailure::file(given, error);
        let about = self.dir.metadata(&place.path).map_err(|error| failure(&error))?;
        if about.is_dir() {
            return Err(ToolFailure::runtime(format!("`{given}` is a folder, not a file")));
        }
        if !about.is_file() {
            return Err(ToolFailure::runtime(format!("`{given}` is not a regular file")));
        }
        if about.len() > MAX_BYTES {
            let size = about.len();
            return Err(ToolFailure::runtime(format!(
                "`{given}` has {size} bytes, which exceeds the limit of {MAX_BYTES}; search it \
                 instead"
            )));
        }
        let file = self.dir.open(&place.path).map_err(|error| failure(&error))?;
        let mut bytes = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(|error| failure(&error))?;
        String::from_utf8(bytes)
            .map_err(|_| ToolFailure::runtime(format!("`{given}` is not UTF-8 text")))
    }

    /// Fails if the path exists and is not a regular file: writing to a pipe could block
    /// forever.
    pub(crate) fn require_writable(&self, place: &Place) -> Result<(), ToolFailure> {
        match self.dir.metadata(&place.path) {
            Ok(about) if !about.is_file() => {
                Err(ToolFailure::runtime(format!("`{}` is not a regular file", place.given)))
            }
            _ => Ok(()),
        }
    }

    /// Writes a file and creates missing folders.
    pub(crate) fn write_text(&self, place: &Place, text: &str) -> Result<(), ToolFailure> {
        self.require_writable(place)?;
        let failure = |error: std::io::Error| ToolFailure::file(&place.given, &error);
        if let Some(folder) = place.path.parent().filter(|path| !path.as_os_str().is_empty()) {
            self.dir.create_dir_all(folder).map_err(failure)?;
        }
        self.dir.write(&place.path, text).map_err(failure)
    }

    fn absolute(&self, given: &str, written: &Path) -> ToolFailure {
        let within = written.strip_prefix(&self.root).ok().filter(|path| *path != Path::new(""));
        match within {
            Some(path) => ToolFailure::security(format!(
                "`{given}` is an absolute path; use the path relative to the root: `{}`",
                path.display()
            )),
            None => ToolFailure::security(format!(
                "`{given}` is an absolute path; use a path relative to the root such as \
                 `src/main.rs`"
            )),
        }
    }

    /// Resolves the links in the part of the path that exists.
    fn resolved(&self, given: &str, written: &Path) -> Result<PathBuf, ToolFailure> {
        let mut rest = Vec::new();
        for ancestor in written.ancestors() {
            let start = if ancestor == Path::new("") { Path::new(".") } else { ancestor };
            match self.dir.canonicalize(start) {
                Ok(mut path) => {
                    path.extend(rest.iter().rev());
                    return Ok(if path == Path::new("") { PathBuf::from(".") } else { path });
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    // The target of a dangling link could be created outside the root.
                    if self.dir.symlink_metadata(start).is_ok() {
                        return Err(ToolFailure::outside(given));
                    }
                    rest.extend(ancestor.file_name());
                }
                Err(error) => return Err(ToolFailure::file(given, &error)),
            }
        }
        Err(ToolFailure::outside(given))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Permissions, Workspace};
    use crate::tool_failure::Level;

    fn root() -> (tempfile::TempDir, Workspace) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::fs::create_dir(root.join(".git")).unwrap();
        std::fs::create_dir(folder.path().join("other")).unwrap();
        std::fs::write(folder.path().join("other/secret"), "secret").unwrap();
        let workspace = Workspace::open(&root, Permissions::default()).unwrap();
        (folder, workspace)
    }

    #[test]
    fn paths_within_the_root_are_accepted() {
        let (_folder, workspace) = root();
        for path in ["src", "./src/new/deep.rs", ".", "src/./a.rs"] {
            assert!(workspace.place(path).is_ok(), "{path}");
        }
    }

    #[test]
    fn paths_that_leave_the_root_are_rejected() {
        let (folder, workspace) = root();
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, folder.path().join("root").join(name)).unwrap();
        };
        link("../other", "link");
        link("../other/new", "dangling");
        link("/", "slash");
        link("src", "inner");
        for path in [
            "../other/secret",
            "src/../../other/secret",
            "/etc/passwd",
            "link/secret",
            "link/new/file",
            "dangling",
            "slash/etc/passwd",
        ] {
            let failure = workspace.place(path).unwrap_err();
            assert_eq!(failure.level, Level::Security, "{path}: {failure}");
        }
        assert!(workspace.place("inner/a.rs").is_ok());
    }

    #[test]
    fn folders_of_git_and_of_the_server_are_protected() {
        let (folder, workspace) = root();
        std::os::unix::fs::symlink(".git", folder.path().join("root/alias")).unwrap();
        for path in [".git/hooks/pre-commit", "src/.GIT/config", ".stickler/state.db", "alias/x"] {
            let failure = workspace.place(path).unwrap_err();
            assert_eq!(failure.level, Level::Security, "{path}: {failure}");
        }
    }

    #[test]
    fn place_itself_does_not_follow_the_last_link() {
        let (folder, workspace) = root();
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, folder.path().join("root").join(name)).unwrap();
        };
        link("../other", "out");
        link("src", "inner");
        link("../../other/secret", "src/out");
        link(".git", "alias");
        for (given, path) in [
            ("out", "./out"),
            ("inner/out", "src/out"),
            ("alias/", "./alias"),
            ("src/./out", "src/out"),
        ] {
            let place = workspace.place_itself(given).unwrap();
            assert_eq!(place.path, std::path::Path::new(path), "{given}");
        }
        for path in ["out/secret", "alias/config", ".git", "src/../out", "/etc/passwd", "../other"]
        {
            let failure = workspace.place_itself(path).unwrap_err();
            assert_eq!(failure.level, Level::Security, "{path}: {failure}");
        }
    }

    #[test]
    fn link_created_after_the_check_is_not_followed() {
        let (folder, workspace) = root();
        let place = workspace.place("late/secret").unwrap();
        std::os::unix::fs::symlink("../other", folder.path().join("root/late")).unwrap();
        assert!(workspace.write_text(&place, "changed").is_err());
        assert!(workspace.read_text(&place).is_err());
        let secret = std::fs::read_to_string(folder.path().join("other/secret")).unwrap();
        assert_eq!(secret, "secret");
    }

    #[test]
    fn absolute_path_within_the_root_is_answered_with_the_relative_path() {
        let (_folder, workspace) = root();
        let given = workspace.root().join("src/a.rs");
        let failure = workspace.place(given.to_str().unwrap()).unwrap_err();
        assert!(failure.message.ends_with("relative to the root: `src/a.rs`"), "{failure}");
    }
}
