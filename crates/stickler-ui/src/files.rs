//! Finds and reads the files of the directory.
//!
//! Only regular files directly in the directory are read, or those given by name; links are not followed. No path
//! ever comes from a request.

use std::fs::{self, File, Metadata};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::record::{Header, Line};

/// Where recordings are.
#[derive(Debug, Clone)]
pub enum Source {
    /// A directory with recordings.
    Directory(PathBuf),
    /// Single files.
    Files(Vec<PathBuf>),
}

/// A file that may be a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) identity: (u64, u64),
    pub(crate) size: u64,
    /// Last modification in seconds since 1970.
    pub(crate) modified: i64,
}

/// Endings of the names of recordings, each of which may be followed by `.zst` or `.gz`.
const ENDINGS: [&str; 2] = [".ndjson", ".jsonl"];
/// Bytes by which a file is recognised when it has grown.
const MAX_COMPARED_BYTES: u64 = 256;
/// Longest first line that is read to find the header.
const MAX_HEADER_BYTES: u64 = 64 << 10;

impl Source {
    /// Lists the recordings, newest first.
    pub(crate) fn list(&self) -> io::Result<Vec<Found>> {
        let mut found = match self {
            Self::Directory(directory) => in_directory(directory)?,
            Self::Files(paths) => paths.iter().filter_map(|path| look(path)).collect(),
        };
        found.sort_by(|one, other| {
            other.modified.cmp(&one.modified).then_with(|| one.path.cmp(&other.path))
        });
        Ok(found)
    }
}

fn in_directory(directory: &Path) -> io::Result<Vec<Found>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let Ok(entry) = entry else { continue };
        let is_recording = entry.file_name().to_str().is_some_and(is_recording_name);
        // `DirEntry::metadata` does not follow links.
        if is_recording
            && let Ok(metadata) = entry.metadata()
            && metadata.is_file()
        {
            found.push(Found::new(entry.path(), &metadata));
        }
    }
    Ok(found)
}

/// Returns the present state of a file; `None` if it is gone.
pub(crate) fn look(path: &Path) -> Option<Found> {
    let metadata = fs::metadata(path).ok()?;
    metadata.is_file().then(|| Found::new(path.to_owned(), &metadata))
}

impl Found {
    fn new(path: PathBuf, metadata: &Metadata) -> Self {
        let identity = (metadata.dev(), metadata.ino());
        Self { path, identity, size: metadata.len(), modified: metadata.mtime() }
    }

    pub(crate) fn name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Reads the first bytes as they are on disk; none if the file cannot be read.
    pub(crate) fn beginning(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        if let Ok(file) = File::open(&self.path) {
            let _ = file.take(MAX_COMPARED_BYTES).read_to_end(&mut bytes);
        }
        bytes
    }

    /// Reads the header; `None` if the file does not begin with one.
    pub(crate) fn header(&self) -> Option<Header> {
        let text = Text::open(&self.path, 0).ok()?;
        let mut beginning = Vec::new();
        // A truncated frame still has a readable beginning.
        let _ = text.take(MAX_HEADER_BYTES).read_to_end(&mut beginning);
        let end = memchr::memchr(b'\n', &beginning).unwrap_or(beginning.len());
        match Line::read(beginning.get(..end)?) {
            Line::Header(header) => Some(*header),
            _ => None,
        }
    }
}

fn is_recording_name(name: &str) -> bool {
    let name = name.strip_suffix(".zst").or_else(|| name.strip_suffix(".gz")).unwrap_or(name);
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst" || extension == "gz")
}

/// The uncompressed text of a file from an offset on.
pub(crate) struct Text(Box<dyn Read>);

impl Text {
    pub(crate) fn open(path: &Path, offset: u64) -> io::Result<Self> {
        let mut file = File::open(path)?;
        if !is_compressed(path) {
            file.seek(SeekFrom::Start(offset))?;
            return Ok(Self(Box::new(file)));
        }
        let mut text = stickler_recording::decompressed(BufReader::new(file))?;
        io::copy(&mut text.by_ref().take(offset), &mut io::sink())?;
        Ok(Self(text))
    }

    /// Reads the line at an offset.
    pub(crate) fn line_at(path: &Path, offset: u64, max_bytes: usize) -> io::Result<Vec<u8>> {
        let mut text = Self::open(path, offset)?;
        let mut line = Vec::new();
        let mut piece = vec![0; 64 << 10];
        loop {
            let read = text.read(&mut piece)?;
            let new = piece.get(..read).unwrap_or_default();
            if let Some(end) = memchr::memchr(b'\n', new) {
                line.extend_from_slice(new.get(..end).unwrap_or_default());
                return Ok(line);
            }
            line.extend_from_slice(new);
            if read == 0 {
                return Ok(line);
            }
            if line.len() > max_bytes {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "the record is too long"));
            }
        }
    }
}

impl Read for Text {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}
