//! Edits a client configuration file in place and replaces it atomically.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use stickler::tape::{Kind, Node, TapeBuffer};

use super::splice::{self, Change};
use super::{Direction, entry};
use crate::config::{Fault, SERVER_MEMBERS, invalid_json, missing_servers};

/// Maximum nesting depth. Some clients store much else in their files.
const MAX_DEPTH: usize = 512;

/// Result of editing a file.
#[derive(Debug)]
pub(super) struct Changed {
    pub(super) text: String,
    /// The selected servers.
    pub(super) entries: Vec<Entry>,
    /// Names of all servers.
    pub(super) names: Vec<String>,
}

/// Result for one server.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) before: String,
    /// The new text, or why the server is unchanged.
    pub(super) outcome: Result<String, String>,
    /// Consequence of the change for the user.
    pub(super) note: Option<String>,
}

/// Edits all servers in a text, or those in `only`.
pub(super) fn change(
    text: &str,
    only: &[String],
    direction: Direction<'_>,
) -> Result<Changed, Fault> {
    let mut buffer = TapeBuffer::new();
    let tape =
        buffer.read(text.as_bytes(), MAX_DEPTH).map_err(|error| invalid_json(text, error))?;
    let root = tape.root();
    let is_server_list =
        |key: &Node<'_>| SERVER_MEMBERS.contains(&&*key.as_str().unwrap_or_default());
    let members = root.members().with_key_nodes().filter(|(key, value)| {
        root.kind() == Kind::Object && is_server_list(key) && value.kind() == Kind::Object
    });
    let servers: Vec<(Node<'_>, Node<'_>)> =
        members.flat_map(|(_, servers_object)| servers_object.members().with_key_nodes()).collect();
    if servers.is_empty() && !root.members().with_key_nodes().any(|(key, _)| is_server_list(&key)) {
        let keys = root.members().with_key_nodes();
        let names = keys.map(|(key, _)| (key.as_str().unwrap_or_default(), key.span()));
        return Err(missing_servers(0, names));
    }
    let mut changed = Changed { text: String::new(), entries: Vec::new(), names: Vec::new() };
    let mut edits = Vec::new();
    for (key, value) in servers {
        let name = key.as_str().unwrap_or_default().into_owned();
        changed.names.push(name.clone());
        if only.is_empty() || only.contains(&name) {
            let entry = edit_entry(text, (key, value), name, direction);
            if let Ok(after) = &entry.outcome {
                edits.push(Change::replace(value.span(), after.clone()));
            }
            changed.entries.push(entry);
        }
    }
    changed.text = splice::apply(text, 0..text.len(), edits);
    Ok(changed)
}

fn edit_entry(
    text: &str,
    (key, value): (Node<'_>, Node<'_>),
    name: String,
    direction: Direction<'_>,
) -> Entry {
    let changes = entry::changes(text, key, value, direction);
    let outcome = changes.map(|changes| splice::apply(text, value.span(), changes));
    let is_remote = matches!(direction, Direction::Wrap(_)) && value.get("url").is_some();
    let note = is_remote.then(|| {
        "the client now starts it as a command; if it needs the OAuth sign-in of the client, unwrap it"
            .to_owned()
    });
    Entry { name, before: value.raw().to_owned(), outcome, note }
}

/// Replaces a file atomically. Symbolic links, owner, group and permissions are preserved.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = path.canonicalize()?;
    let old = std::fs::metadata(&path)?;
    let (temp_path, mut file) = create_temp_file(&path)?;
    let written = keep_owner(&file, &old)
        .and_then(|()| file.set_permissions(old.permissions()))
        .and_then(|()| file.write_all(text.as_bytes()))
        .and_then(|()| file.sync_all())
        .and_then(|()| std::fs::rename(&temp_path, &path));
    if written.is_err() {
        let _ = std::fs::remove_file(&temp_path);
    }
    written
}

/// Copies owner and group of the old file: its owner could otherwise lose access to a file with mode 600.
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

/// Creates a temporary file in the same folder, readable by the current user only.
fn create_temp_file(path: &Path) -> io::Result<(PathBuf, File)> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temp_path = path.with_file_name(format!(".{name}.{}.new", std::process::id()));
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temp_path)?;
    Ok((temp_path, file))
}
