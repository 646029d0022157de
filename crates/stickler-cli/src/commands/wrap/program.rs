//! The command under which a client finds Stickler.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::exit::Failure;

/// Name of the program.
pub(super) const PROGRAM: &str = "stickler";

/// Returns the program name if it resolves to this program on the `PATH`, otherwise the absolute path of
/// this program: a client that cannot find Stickler could not start any server.
pub(super) fn name() -> Result<String, Failure> {
    let this_program =
        std::env::current_exe().and_then(|path| path.canonicalize()).map_err(|error| {
            Failure::Usage(format!("cannot determine the path of this program: {error}"))
        })?;
    name_for(&this_program, std::env::var_os("PATH").as_deref())
}

fn name_for(this_program: &Path, path: Option<&OsStr>) -> Result<String, Failure> {
    if path.and_then(find_in_path).and_then(|found| found.canonicalize().ok()).as_deref()
        == Some(this_program)
    {
        return Ok(PROGRAM.to_owned());
    }
    // `unwrap` recognises Stickler by its file name.
    let is_known = this_program.file_name().is_some_and(|name| name == PROGRAM);
    this_program.to_str().filter(|_| is_known).map(str::to_owned).ok_or_else(|| {
        Failure::Usage(format!(
            "a client configuration cannot refer to this program as `{}`\n\nhint: install it on \
             the PATH as `{PROGRAM}`",
            this_program.display()
        ))
    })
}

/// Finds the program on the `PATH`. Relative folders are ignored, because the client has another working
/// directory.
fn find_in_path(path: &OsStr) -> Option<PathBuf> {
    let programs = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    programs.map(|folder| folder.join(PROGRAM)).find(|program| {
        program
            .metadata()
            .is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    })
}

/// Returns a string as a JSON literal.
pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Creates an executable `stickler` in a new folder.
    fn program(root: &Path, name: &str) -> PathBuf {
        let folder = root.join(name);
        std::fs::create_dir(&folder).unwrap();
        let file = folder.join("stickler");
        std::fs::write(&file, "").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        file
    }

    #[test]
    fn program_name_is_used_only_if_it_resolves_to_this_program() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (this_program, other) = (program(&root, "own"), program(&root, "other"));
        std::fs::create_dir(root.join("links")).unwrap();
        symlink(&this_program, root.join("links/stickler")).unwrap();
        let no_program = program(&root, "no_program");
        std::fs::set_permissions(&no_program, std::fs::Permissions::from_mode(0o644)).unwrap();
        let full = this_program.to_str().unwrap();
        for (folders, expected) in [
            (vec!["own"], PROGRAM),
            (vec!["links", "other"], PROGRAM),
            (vec!["nowhere", "no_program", "own"], PROGRAM),
            (vec!["other", "own"], full),
            (vec!["nowhere"], full),
        ] {
            let path = std::env::join_paths(folders.iter().map(|one| root.join(one))).unwrap();
            assert_eq!(name_for(&this_program, Some(&path)).unwrap(), expected, "{folders:?}");
        }
        assert_eq!(name_for(&this_program, None).unwrap(), full);
        assert_eq!(name_for(&this_program, Some(OsStr::new("own:."))).unwrap(), full);
        assert_eq!(name_for(&other, Some(OsStr::new(""))).unwrap(), other.to_str().unwrap());
        let renamed = root.join("own/stickler-1.0");
        std::fs::rename(&this_program, &renamed).unwrap();
        assert!(name_for(&renamed, None).is_err(), "`unwrap` would not recognise it");
    }
}
