//! A client's file: changed where it must be, and written so that it is always whole.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use stickler::tape::{Kind, Node, TapeBuffer};

use super::splice::{self, Change};
use super::{Direction, entry};
use crate::config::{Fault, HOLDERS, no_holder, no_json};

/// Arrays and objects open at once. Some clients keep much else in their files.
const DEEPEST: usize = 512;

/// A file after the change.
#[derive(Debug)]
pub(super) struct Changed {
    pub(super) text: String,
    /// The servers that were looked at.
    pub(super) entries: Vec<Entry>,
    /// All servers.
    pub(super) names: Vec<String>,
}

/// What came of one server.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) before: String,
    /// What it is now, or why it stays as it is.
    pub(super) outcome: Result<String, String>,
    /// What may be different for its user.
    pub(super) caution: Option<String>,
}

/// Changes the servers of a text, all or those with certain names.
pub(super) fn change(
    text: &str,
    only: &[String],
    direction: Direction<'_>,
) -> Result<Changed, Fault> {
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(text.as_bytes(), DEEPEST).map_err(|error| no_json(text, error))?;
    let root = tape.root();
    let is_holder = |key: &Node<'_>| HOLDERS.contains(&&*key.as_str().unwrap_or_default());
    let members = root.members().with_key_nodes().filter(|(key, value)| {
        root.kind() == Kind::Object && is_holder(key) && value.kind() == Kind::Object
    });
    let servers: Vec<(Node<'_>, Node<'_>)> =
        members.flat_map(|(_, holder)| holder.members().with_key_nodes()).collect();
    if servers.is_empty() && !root.members().with_key_nodes().any(|(key, _)| is_holder(&key)) {
        let keys = root.members().with_key_nodes();
        let names = keys.map(|(key, _)| (key.as_str().unwrap_or_default(), key.span()));
        return Err(no_holder(0, names));
    }
    let mut changed = Changed { text: String::new(), entries: Vec::new(), names: Vec::new() };
    let mut edits = Vec::new();
    for (key, value) in servers {
        let name = key.as_str().unwrap_or_default().into_owned();
        changed.names.push(name.clone());
        if only.is_empty() || only.contains(&name) {
            let entry = look(text, (key, value), name, direction);
            if let Ok(after) = &entry.outcome {
                edits.push(Change::replace(value.span(), after.clone()));
            }
            changed.entries.push(entry);
        }
    }
    changed.text = splice::apply(text, 0..text.len(), edits);
    Ok(changed)
}

fn look(
    text: &str,
    (key, value): (Node<'_>, Node<'_>),
    name: String,
    direction: Direction<'_>,
) -> Entry {
    let changes = entry::changes(text, key, value, direction);
    let outcome = changes.map(|changes| splice::apply(text, value.span(), changes));
    let is_remote = matches!(direction, Direction::Wrap(_)) && value.get("url").is_some();
    let caution = is_remote.then(|| {
        "the client starts it as a command now; where it signed in by itself (OAuth), unwrap it"
            .to_owned()
    });
    Entry { name, before: value.raw().to_owned(), outcome, caution }
}

/// Puts a new file in the place of an old one, which is there until the new one is complete. A link
/// stays a link, and owner, group and permissions stay what they were.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = path.canonicalize()?;
    let old = std::fs::metadata(&path)?;
    let (draft, mut file) = beside(&path)?;
    let written = keep_owner(&file, &old)
        .and_then(|()| file.set_permissions(old.permissions()))
        .and_then(|()| file.write_all(text.as_bytes()))
        .and_then(|()| file.sync_all())
        .and_then(|()| std::fs::rename(&draft, &path));
    if written.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
    written
}

/// Gives a new file to those whom the old one belongs to: a file that only its owner may read would
/// be lost to them otherwise.
fn keep_owner(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let new = file.metadata()?;
    let (user, group) = (old.uid(), old.gid());
    if (new.uid(), new.gid()) == (user, group) {
        return Ok(());
    }
    fchown(file, Some(user), Some(group)).map_err(|error| {
        let reason = format!(
            "it belongs to user {user} and group {group}, and the new file cannot be given to them \
             ({error}); let its owner do this"
        );
        io::Error::new(error.kind(), reason)
    })
}

/// A new file in the same folder, which nobody else can read yet.
fn beside(path: &Path) -> io::Result<(PathBuf, File)> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.{}.new", std::process::id()));
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    Ok((draft, file))
}
