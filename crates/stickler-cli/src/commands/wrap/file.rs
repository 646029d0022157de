//! Replaces a file atomically.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Replaces a file atomically. Symbolic links, owner, group and permissions are preserved. A file that is
/// read-only, or whose content is no longer `before`, is left unchanged.
pub(super) fn replace(path: &Path, before: &str, after: &str) -> io::Result<()> {
    let path = path.canonicalize()?;
    let old = std::fs::metadata(&path)?;
    if old.permissions().readonly() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
    }
    let (temp_path, mut file) = create_temp_file(&path)?;
    let written = keep_owner(&file, &old)
        .and_then(|()| file.set_permissions(old.permissions()))
        .and_then(|()| file.write_all(after.as_bytes()))
        .and_then(|()| file.sync_all())
        .and_then(|()| check_unchanged(&path, before))
        .and_then(|()| std::fs::rename(&temp_path, &path));
    if written.is_err() {
        let _ = std::fs::remove_file(&temp_path);
    }
    written
}

/// Fails if a client has written the file since it was read.
fn check_unchanged(path: &Path, before: &str) -> io::Result<()> {
    if std::fs::read(path)? == before.as_bytes() {
        return Ok(());
    }
    Err(io::Error::other(
        "another program has changed it in the meantime; close the client and try again",
    ))
}

/// Copies owner and group of the old file: its owner could otherwise lose access to a file with mode 600.
#[cfg(unix)]
fn keep_owner(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let new = file.metadata()?;
    let (user, group) = (old.uid(), old.gid());
    if (new.uid(), new.gid()) == (user, group) {
        return Ok(());
    }
    fchown(file, Some(user), Some(group)).map_err(|error| {
        let reason = format!(
            "the file belongs to user {user} and group {group}, which cannot be preserved ({error}); \
             run the command as its owner"
        );
        io::Error::new(error.kind(), reason)
    })
}

#[cfg(not(unix))]
fn keep_owner(_file: &File, _old: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Creates a temporary file in the same folder, readable by the current user only.
fn create_temp_file(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temp_path = path.with_file_name(format!(".{name}.{}.new", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&temp_path)?;
    Ok((temp_path, file))
}
