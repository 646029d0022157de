//! Paths that callers give, and where they lead.
//!
//! `cap-std` opens everything beneath the root and refuses what would leave it at the moment of
//! opening, so that no link can be slipped in between a look and the act. What is checked here comes
//! on top: better words, and the folders that belong to git and to the server itself.

use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use super::Workspace;
use crate::trouble::Trouble;

/// Larger files are not read.
const MOST_BYTES: u64 = 8 << 20;

/// Folders that tools for files keep out of: a hook or a setting there would be a program to run.
const KEPT: [&str; 2] = [".git", ".stickler"];

/// A path within the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// As the caller wrote it.
    pub(crate) given: String,
    /// Without links as far as it exists (but see [`Workspace::place_itself`]), relative to the root.
    pub(crate) path: PathBuf,
}

impl Workspace {
    /// Where a path leads. It need not exist.
    pub(crate) fn place(&self, given: &str) -> Result<Place, Trouble> {
        self.checked(given, Self::resolved)
    }

    /// The same for what is to be deleted or moved: a link at the end is the link itself.
    pub(crate) fn place_itself(&self, given: &str) -> Result<Place, Trouble> {
        self.checked(given, |workspace, given, written| {
            let Some(name) = written.file_name() else { return workspace.resolved(given, written) };
            let folder = written.parent().unwrap_or(Path::new(""));
            Ok(workspace.resolved(given, folder)?.join(name))
        })
    }

    fn checked(
        &self,
        given: &str,
        resolve: impl Fn(&Self, &str, &Path) -> Result<PathBuf, Trouble>,
    ) -> Result<Place, Trouble> {
        let written = Path::new(given);
        if given.is_empty() || given.contains('\0') {
            return Err(Trouble::semantic("a path is empty; give one such as `src/main.rs`"));
        }
        if written.is_absolute() {
            return Err(self.absolute(given, written));
        }
        if written.components().any(|part| part == Component::ParentDir) {
            return Err(Trouble::outside(given));
        }
        let path = resolve(self, given, written)?;
        for part in written.components().chain(path.components()) {
            let name = part.as_os_str();
            if let Some(kept) = KEPT.iter().find(|kept| name.eq_ignore_ascii_case(kept)) {
                return Err(Trouble::security(format!(
                    "`{given}` lies in `{kept}`, which tools for files keep out of"
                )));
            }
        }
        Ok(Place { given: given.to_owned(), path })
    }

    /// The same, or the root itself where none is given.
    pub(crate) fn place_or_root(&self, given: Option<&str>) -> Result<Place, Trouble> {
        self.place(given.unwrap_or("."))
    }

    /// The path for programs that want one.
    pub(crate) fn full_path(&self, place: &Place) -> PathBuf {
        self.root.join(&place.path)
    }

    /// The text of a file.
    pub(crate) fn read_text(&self, place: &Place) -> Result<String, Trouble> {
        let given = &place.given;
        let trouble = |error: &std::io::Error| Trouble::file(given, error);
        let about = self.dir.metadata(&place.path).map_err(|error| trouble(&error))?;
        if about.is_dir() {
            return Err(Trouble::runtime(format!("`{given}` is a folder, not a file")));
        }
        if !about.is_file() {
            return Err(Trouble::runtime(format!("`{given}` is no ordinary file")));
        }
        if about.len() > MOST_BYTES {
            let size = about.len();
            return Err(Trouble::runtime(format!(
                "`{given}` has {size} bytes, more than the {MOST_BYTES} that are read; search it \
                 instead"
            )));
        }
        let file = self.dir.open(&place.path).map_err(|error| trouble(&error))?;
        let mut bytes = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(|error| trouble(&error))?;
        String::from_utf8(bytes)
            .map_err(|_| Trouble::runtime(format!("`{given}` is no text in UTF-8")))
    }

    /// An error where there is something else than an ordinary file: a pipe could be waited for
    /// without end.
    pub(crate) fn require_writable(&self, place: &Place) -> Result<(), Trouble> {
        match self.dir.metadata(&place.path) {
            Ok(about) if !about.is_file() => {
                Err(Trouble::runtime(format!("`{}` is no file that can be written", place.given)))
            }
            _ => Ok(()),
        }
    }

    /// Writes a file, with the folders that it needs.
    pub(crate) fn write_text(&self, place: &Place, text: &str) -> Result<(), Trouble> {
        self.require_writable(place)?;
        let trouble = |error: std::io::Error| Trouble::file(&place.given, &error);
        if let Some(folder) = place.path.parent().filter(|path| !path.as_os_str().is_empty()) {
            self.dir.create_dir_all(folder).map_err(trouble)?;
        }
        self.dir.write(&place.path, text).map_err(trouble)
    }

    fn absolute(&self, given: &str, written: &Path) -> Trouble {
        let within = written.strip_prefix(&self.root).ok().filter(|path| *path != Path::new(""));
        match within {
            Some(path) => Trouble::security(format!(
                "`{given}` is an absolute path; give it relative to the root: `{}`",
                path.display()
            )),
            None => Trouble::security(format!(
                "`{given}` is an absolute path; give one relative to the root, such as \
                 `src/main.rs`"
            )),
        }
    }

    /// Follows links as far as there is something to follow.
    fn resolved(&self, given: &str, written: &Path) -> Result<PathBuf, Trouble> {
        let mut rest = Vec::new();
        for ancestor in written.ancestors() {
            let start = if ancestor == Path::new("") { Path::new(".") } else { ancestor };
            match self.dir.canonicalize(start) {
                Ok(mut path) => {
                    path.extend(rest.iter().rev());
                    return Ok(if path == Path::new("") { PathBuf::from(".") } else { path });
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    // A link to nothing could lead anywhere once there is something.
                    if self.dir.symlink_metadata(start).is_ok() {
                        return Err(Trouble::outside(given));
                    }
                    rest.extend(ancestor.file_name());
                }
                Err(error) => return Err(Trouble::file(given, &error)),
            }
        }
        Err(Trouble::outside(given))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Permissions, Workspace};
    use crate::trouble::Level;

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
    fn paths_within_the_root_are_found_whether_they_exist_or_not() {
        let (_folder, workspace) = root();
        for path in ["src", "./src/new/deep.rs", ".", "src/./a.rs"] {
            assert!(workspace.place(path).is_ok(), "{path}");
        }
    }

    #[test]
    fn paths_that_leave_the_root_are_refused() {
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
            let trouble = workspace.place(path).unwrap_err();
            assert_eq!(trouble.level, Level::Security, "{path}: {trouble}");
        }
        assert!(workspace.place("inner/a.rs").is_ok());
    }

    #[test]
    fn what_belongs_to_git_and_to_the_server_is_left_alone() {
        let (folder, workspace) = root();
        std::os::unix::fs::symlink(".git", folder.path().join("root/alias")).unwrap();
        for path in [".git/hooks/pre-commit", "src/.GIT/config", ".stickler/state.db", "alias/x"] {
            let trouble = workspace.place(path).unwrap_err();
            assert_eq!(trouble.level, Level::Security, "{path}: {trouble}");
        }
    }

    #[test]
    fn a_link_itself_is_found_by_the_folder_that_it_is_in() {
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
            let trouble = workspace.place_itself(path).unwrap_err();
            assert_eq!(trouble.level, Level::Security, "{path}: {trouble}");
        }
    }

    #[test]
    fn a_link_that_appears_after_the_look_is_not_followed() {
        let (folder, workspace) = root();
        let place = workspace.place("late/secret").unwrap();
        std::os::unix::fs::symlink("../other", folder.path().join("root/late")).unwrap();
        assert!(workspace.write_text(&place, "changed").is_err());
        assert!(workspace.read_text(&place).is_err());
        let secret = std::fs::read_to_string(folder.path().join("other/secret")).unwrap();
        assert_eq!(secret, "secret");
    }

    #[test]
    fn an_absolute_path_within_the_root_is_told_its_relative_form() {
        let (_folder, workspace) = root();
        let given = workspace.root().join("src/a.rs");
        let trouble = workspace.place(given.to_str().unwrap()).unwrap_err();
        assert!(trouble.message.ends_with("relative to the root: `src/a.rs`"), "{trouble}");
    }
}
