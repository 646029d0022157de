//! The path under which a client starts Stickler.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::exit::Failure;

/// Name of the program.
pub(super) const PROGRAM: &str = "stickler";

/// Returns the absolute path of this program: the first one on the `PATH` that leads to it, which stays valid
/// when a package manager updates the program, else its own. A client started from a desktop often has another
/// `PATH` than a shell, so the bare name would not do.
pub(super) fn path() -> Result<String, Failure> {
    let this_program =
        std::env::current_exe().and_then(|path| path.canonicalize()).map_err(|error| {
            Failure::Usage(format!("cannot determine the path of this program: {error}"))
        })?;
    path_for(&this_program, std::env::var_os("PATH").as_deref())
}

fn path_for(this_program: &Path, search_path: Option<&OsStr>) -> Result<String, Failure> {
    let on_path = search_path.and_then(|folders| find_in_path(folders, this_program));
    let path = on_path.unwrap_or_else(|| this_program.to_owned());
    // `unwrap` recognises Stickler by its file name.
    let is_known = path.file_stem().is_some_and(|name| name == PROGRAM);
    path.to_str().filter(|_| is_known).map(str::to_owned).ok_or_else(|| {
        Failure::Usage(format!(
            "a client configuration cannot refer to this program as `{}`\n\nhint: install it as \
             `{PROGRAM}`",
            path.display()
        ))
    })
}

/// Finds the program on the `PATH`. Relative folders are ignored, because the client has another working
/// directory.
fn find_in_path(search_path: &OsStr, this_program: &Path) -> Option<PathBuf> {
    let file = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    let folders = std::env::split_paths(search_path).filter(|folder| folder.is_absolute());
    folders
        .map(|folder| folder.join(&file))
        .find(|program| program.canonicalize().is_ok_and(|path| path == this_program))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a file `stickler` in a new folder.
    fn program(root: &Path, name: &str) -> PathBuf {
        let folder = root.join(name);
        std::fs::create_dir(&folder).unwrap();
        let file = folder.join("stickler");
        std::fs::write(&file, "").unwrap();
        file
    }

    #[cfg(unix)]
    #[test]
    fn path_is_absolute_and_leads_to_this_program() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (this_program, other) = (program(&root, "own"), program(&root, "other"));
        std::fs::create_dir(root.join("links")).unwrap();
        let link = root.join("links/stickler");
        std::os::unix::fs::symlink(&this_program, &link).unwrap();
        for (folders, expected) in [
            (vec!["own"], &this_program),
            (vec!["links", "own"], &link),
            (vec!["other", "links"], &link),
            (vec!["nowhere"], &this_program),
        ] {
            let path = std::env::join_paths(folders.iter().map(|one| root.join(one))).unwrap();
            let found = path_for(&this_program, Some(&path)).unwrap();
            assert_eq!(found, expected.to_str().unwrap(), "{folders:?}");
        }
        let full = this_program.to_str().unwrap();
        assert_eq!(path_for(&this_program, None).unwrap(), full);
        assert_eq!(path_for(&this_program, Some(OsStr::new("own:."))).unwrap(), full);
        assert_eq!(path_for(&other, None).unwrap(), other.to_str().unwrap());
        let renamed = root.join("own/stickler-1.0");
        std::fs::rename(&this_program, &renamed).unwrap();
        assert!(path_for(&renamed, None).is_err(), "`unwrap` would not recognise it");
    }
}
