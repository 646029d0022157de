//! Names, permissions, rotation, compression and retention of recordings.
//!
//! A closed part is compressed to a temporary file, which is renamed when it is complete, and only then is the
//! original deleted: a crash at any point leaves each part readable once.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ruzstd::encoding::{CompressionLevel, compress};
use stickler_transport::utc;
use tracing::warn;

use super::settings::RecordSettings;
use crate::observe::Session;

/// Maximum length of the server's name in a file name.
const MAX_NAME_CHARS: usize = 64;

/// Files that were changed within this time may belong to a running gateway and are never deleted.
const LIVE_TIME: Duration = Duration::from_secs(3600);

/// Creates the directory for its owner only, and checks that files can be created in it.
pub(super) fn prepare(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let metadata = fs::metadata(directory)?;
    if metadata.permissions().mode() & 0o077 != 0 {
        // The directory existed. If it belongs to another user, its files are still private.
        let _ = fs::set_permissions(directory, fs::Permissions::from_mode(0o700));
    }
    let probe = directory.join(format!(".stickler-{}", std::process::id()));
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&probe)?;
    fs::remove_file(probe)
}

/// Returns the name of a session's recording, without its suffix.
pub(super) fn stem(session: &Session) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() || "._".contains(letter) { letter } else { '_' }
    };
    let server: String = session.server.name.chars().take(MAX_NAME_CHARS).map(plain).collect();
    let name: String = session.name.chars().map(plain).collect();
    format!("{}-{server}-{name}", utc::compact(session.started))
}

/// Opens a file to append to it; only its owner can read it. Returns whether it is new.
pub(super) fn append(path: &Path) -> io::Result<(File, bool)> {
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    let is_new = file.metadata()?.len() == 0;
    Ok((file, is_new))
}

/// Returns the path of a part that is complete.
pub(super) fn part_path(directory: &Path, stem: &str, part: u64) -> PathBuf {
    directory.join(format!("{stem}.{part}.ndjson"))
}

/// Compresses a complete part and deletes the original.
pub(super) fn compress_part(part: &Path) -> io::Result<()> {
    let target = part.with_extension("ndjson.zst");
    let unfinished = part.with_extension("ndjson.zst.tmp");
    let mut unread = None;
    let source = FallibleRead { inner: BufReader::new(File::open(part)?), failure: &mut unread };
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(true).mode(0o600);
    let mut failure = None;
    let writer =
        Fallible { inner: BufWriter::new(options.open(&unfinished)?), failure: &mut failure };
    compress(source, writer, CompressionLevel::Fastest);
    if let Some(error) = failure.or(unread) {
        let _ = fs::remove_file(&unfinished);
        return Err(error);
    }
    fs::rename(&unfinished, &target)?;
    fs::remove_file(part)
}

/// Keeps a read error and ends the input instead of returning it: the compressor panics on errors.
struct FallibleRead<'f> {
    inner: BufReader<File>,
    failure: &'f mut Option<io::Error>,
}

impl io::Read for FallibleRead<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.inner.read(bytes).or_else(|error| {
            *self.failure = Some(error);
            Ok(0)
        })
    }
}

/// Keeps the first write error instead of returning it: the compressor panics on errors.
struct Fallible<'f> {
    inner: BufWriter<File>,
    failure: &'f mut Option<io::Error>,
}

impl io::Write for Fallible<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failure.is_none()
            && let Err(error) = self.inner.write_all(bytes)
        {
            *self.failure = Some(error);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.failure.is_none()
            && let Err(error) = self.inner.flush()
        {
            *self.failure = Some(error);
        }
        Ok(())
    }
}

impl Drop for Fallible<'_> {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

/// Deletes recordings that are too old, and the oldest ones beyond the total size.
pub(super) fn delete_old(settings: &RecordSettings, now: SystemTime) {
    let Ok(entries) = fs::read_dir(&settings.directory) else { return };
    let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
        .filter_map(Result::ok)
        .filter(|entry| is_recording(&entry.file_name().to_string_lossy()))
        .filter_map(|entry| {
            let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some((metadata.modified().ok()?, metadata.len(), entry.path()))
        })
        .collect();
    files.sort();
    let mut total: u64 = files.iter().map(|(_, size, _)| size).sum();
    for (modified, size, path) in files {
        let age = now.duration_since(modified).unwrap_or_default();
        let is_live = age < LIVE_TIME && path.extension().is_some_and(|one| one == "ndjson");
        if is_live || (age <= settings.max_age && total <= settings.max_bytes) {
            continue;
        }
        total = total.saturating_sub(size);
        if let Err(error) = fs::remove_file(&path) {
            warn!("cannot delete the old recording {}: {error}", path.display());
        }
    }
}

/// Returns whether a file name is that of a recording: `20261118T143700Z-….ndjson` with or without `.zst`.
fn is_recording(name: &str) -> bool {
    let Some((start, _)) = name.split_once('-') else { return false };
    let is_start = start.len() == 16
        && start.ends_with('Z')
        && start.bytes().all(|byte| byte.is_ascii_digit() || b"TZ".contains(&byte));
    is_start && [".ndjson", ".ndjson.zst", ".ndjson.zst.tmp"].iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::is_recording;

    #[test]
    fn only_recordings_are_deleted() {
        for name in ["20261118T143700Z-files-0a1b2c3d.ndjson", "20261118T143700Z-a-b.1.ndjson.zst"]
        {
            assert!(is_recording(name), "{name}");
        }
        for name in
            ["notes.ndjson", "20261118T143700Z-files.txt", "x-y.ndjson", "20261118-a.ndjson"]
        {
            assert!(!is_recording(name), "{name}");
        }
    }
}
