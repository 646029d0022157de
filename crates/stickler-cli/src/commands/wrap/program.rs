//! What Stickler is called in a client's file.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::exit::Failure;

/// The usual name, where the client finds this program by it.
pub(super) const PROGRAM: &str = "stickler";

/// The usual name if `PATH` leads from it to this very program, or else where this program is: a
/// client that cannot find Stickler could not start any of its servers.
pub(super) fn name() -> Result<String, Failure> {
    let own = std::env::current_exe().and_then(|own| own.canonicalize()).map_err(|error| {
        Failure::Usage(format!("cannot find out where this program is: {error}"))
    })?;
    named(&own, std::env::var_os("PATH").as_deref())
}

fn named(own: &Path, path: Option<&OsStr>) -> Result<String, Failure> {
    if path.and_then(found).and_then(|found| found.canonicalize().ok()).as_deref() == Some(own) {
        return Ok(PROGRAM.to_owned());
    }
    // By any other name, `unwrap` would not know it again.
    let is_known = own.file_name().is_some_and(|name| name == PROGRAM);
    own.to_str().filter(|_| is_known).map(str::to_owned).ok_or_else(|| {
        Failure::Usage(format!(
            "a client's file cannot name this program, `{}`\n\nhint: put it on the PATH as \
             `{PROGRAM}`",
            own.display()
        ))
    })
}

/// The first program of the usual name on the `PATH`. Folders that depend on where one is do not
/// count: the client is somewhere else.
fn found(path: &OsStr) -> Option<PathBuf> {
    let programs = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    programs.map(|folder| folder.join(PROGRAM)).find(|program| {
        program
            .metadata()
            .is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    })
}

/// A text as JSON writes it.
pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A program in a folder of its own.
    fn program(root: &Path, name: &str) -> PathBuf {
        let folder = root.join(name);
        std::fs::create_dir(&folder).unwrap();
        let file = folder.join("stickler");
        std::fs::write(&file, "").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        file
    }

    #[test]
    fn the_usual_name_is_used_only_where_it_leads_to_this_program() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (own, other) = (program(&root, "own"), program(&root, "other"));
        std::fs::create_dir(root.join("links")).unwrap();
        symlink(&own, root.join("links/stickler")).unwrap();
        let no_program = program(&root, "no_program");
        std::fs::set_permissions(&no_program, std::fs::Permissions::from_mode(0o644)).unwrap();
        let full = own.to_str().unwrap();
        for (folders, expected) in [
            (vec!["own"], PROGRAM),
            (vec!["links", "other"], PROGRAM),
            (vec!["nowhere", "no_program", "own"], PROGRAM),
            (vec!["other", "own"], full),
            (vec!["nowhere"], full),
        ] {
            let path = std::env::join_paths(folders.iter().map(|one| root.join(one))).unwrap();
            assert_eq!(named(&own, Some(&path)).unwrap(), expected, "{folders:?}");
        }
        assert_eq!(named(&own, None).unwrap(), full);
        assert_eq!(named(&own, Some(OsStr::new("own:."))).unwrap(), full);
        assert_eq!(named(&other, Some(OsStr::new(""))).unwrap(), other.to_str().unwrap());
        let renamed = root.join("own/stickler-1.0");
        std::fs::rename(&own, &renamed).unwrap();
        assert!(named(&renamed, None).is_err(), "`unwrap` would not know it");
    }
}
