//! Wraps or unwraps the servers in a text, and proves that the change is right before it is made.
//!
//! Every change is a splice into the original text. After wrapping, the new text is parsed again: each wrapped
//! server must run the program with the expected arguments, and unwrapping must restore the original text byte
//! for byte. A server for which this does not hold is left unchanged.

use super::document::Document;
use super::entry::{self, Members, SkipReason, text as text_of};
use super::servers::{self, Client, Server};
use super::splice::{self, Change};
use super::{Direction, Wrapping};
use crate::config::{Fault, Format, Value, read_document};

/// Result of editing a text.
#[derive(Debug)]
pub(super) struct Edited {
    pub(super) text: String,
    /// The selected servers.
    pub(super) entries: Vec<Entry>,
    /// Names of all servers.
    pub(super) names: Vec<String>,
}

/// Result for one server.
#[derive(Debug)]
pub(super) struct Entry {
    /// The quoted name, with the project if there is one.
    pub(super) label: String,
    /// The text before and after, or why the server is unchanged.
    pub(super) outcome: Result<(String, String), SkipReason>,
    /// Consequence of the change for the user.
    pub(super) note: Option<&'static str>,
}

impl Edited {
    pub(super) fn changed(&self) -> usize {
        self.entries.iter().filter(|entry| entry.outcome.is_ok()).count()
    }
}

const REMOTE_NOTE: &str =
    "the client now starts it as a command; if it needs the OAuth sign-in of the client, unwrap it";

/// Edits all servers in a text, or those in `only`.
pub(super) fn edit(
    text: &str,
    (format, client): (Format, Option<Client>),
    only: &[String],
    direction: Direction<'_>,
) -> Result<Edited, Fault> {
    let root = servers::read(text, format)?;
    let servers = servers::find(&root, client, only)?;
    let document = Document::new(text, format);
    let is_selected = |server: &Server<'_>| only.is_empty() || server.is_named;
    let mut planned: Vec<(usize, Result<Vec<Change>, SkipReason>)> = servers
        .iter()
        .enumerate()
        .filter(|(_, server)| is_selected(server))
        .map(|(index, server)| (index, entry::changes(&document, server, direction)))
        .collect();
    check(&document, client, &mut planned, direction);
    let edits = planned.iter().filter_map(|(_, changes)| changes.as_ref().ok()).flatten().cloned();
    let edited = splice::apply(text, 0..text.len(), edits.collect());
    let entries = planned.into_iter().filter_map(|(index, changes)| {
        let server = servers.get(index)?;
        Some(outcome(&document, server, changes, direction))
    });
    Ok(Edited {
        text: edited,
        entries: entries.collect(),
        names: servers.iter().map(|server| server.name.clone()).collect(),
    })
}

type Planned = [(usize, Result<Vec<Change>, SkipReason>)];

/// Replaces changes that are not right by a reason. All changes are checked together, and one by one only if
/// that fails.
fn check(
    document: &Document<'_>,
    client: Option<Client>,
    planned: &mut Planned,
    direction: Direction<'_>,
) {
    let all: Vec<(usize, Vec<Change>)> = planned
        .iter()
        .filter_map(|(index, changes)| Some((*index, changes.as_ref().ok()?.clone())))
        .collect();
    if all.is_empty() || is_right(document, client, &all, direction) {
        return;
    }
    for (index, changes) in planned {
        if let Ok(one) = changes
            && !is_right(document, client, &[(*index, one.clone())], direction)
        {
            *changes = Err("it cannot be changed without affecting the rest of the file; \
                            change it by hand"
                .to_owned());
        }
    }
}

fn is_right(
    document: &Document<'_>,
    client: Option<Client>,
    changes: &[(usize, Vec<Change>)],
    direction: Direction<'_>,
) -> bool {
    let edits = changes.iter().flat_map(|(_, changes)| changes).cloned().collect();
    let text = splice::apply(document.text, 0..document.text.len(), edits);
    let Ok(root) = read_document(&text, document.format) else { return false };
    let Direction::Wrap(wrapping) = direction else { return true };
    let Ok(servers) = servers::find(&root, client, &[]) else { return false };
    let edited = Document::new(&text, document.format);
    let mut back = Vec::new();
    for (index, _) in changes {
        let Some(server) = servers.get(*index) else { return false };
        if !runs_program(server.entry, wrapping) {
            return false;
        }
        let Ok(changes) = entry::changes(&edited, server, Direction::Unwrap) else { return false };
        back.extend(changes);
    }
    splice::apply(&text, 0..text.len(), back) == document.text
}

/// Whether a wrapped server runs the program with the options of the wrapping.
fn runs_program(entry: &Value, wrapping: &Wrapping) -> bool {
    let Ok(members) = Members::of(entry) else { return false };
    let command = members.command.as_ref().and_then(|command| text_of(command.value));
    let words = members.words();
    let options: Vec<Option<&str>> =
        wrapping.options.iter().map(|option| Some(option.as_str())).collect();
    command == Some(wrapping.program.as_str())
        && words.get(3..).is_some_and(|words| words.starts_with(&options))
}

fn outcome(
    document: &Document<'_>,
    server: &Server<'_>,
    changes: Result<Vec<Change>, SkipReason>,
    direction: Direction<'_>,
) -> Entry {
    let is_remote = Members::of(server.entry).is_ok_and(|members| members.url.is_some());
    let note = (is_remote && matches!(direction, Direction::Wrap(_))).then_some(REMOTE_NOTE);
    let outcome = changes.map(|changes| {
        let places = changes.iter().map(|change| &change.place);
        let start = places.clone().map(|place| place.start).min().unwrap_or_default();
        let end = places.map(|place| place.end).max().unwrap_or_default();
        let entry = &server.entry.span;
        let within = start.min(entry.start)..end.max(entry.end);
        let before = document.raw(&within).to_owned();
        (before, splice::apply(document.text, within, changes))
    });
    let note = note.filter(|_| outcome.is_ok());
    Entry { label: server.label(), outcome, note }
}
