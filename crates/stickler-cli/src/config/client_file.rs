//! The files that clients keep their servers in: `mcpServers` of most of them, `servers` of VS Code.

use std::collections::HashSet;
use std::ops::Range;

use super::Layer;
use super::document::{Data, Member, Value};
use super::draft::{self, Draft};
use super::fault::{Fault, did_you_mean};
use super::settings::ServerSettings;
use crate::logging::LogLevel;

/// The members that hold servers.
pub(crate) const HOLDERS: [&str; 2] = ["mcpServers", "servers"];

/// Reads the servers; what else clients keep there is noted and left alone.
pub(super) fn read(root: &Value) -> Result<Layer, Vec<Fault>> {
    let mut layer = Layer::default();
    let members = whole(root).map_err(|fault| vec![fault])?;
    let Some(holder) = members.iter().rfind(|member| HOLDERS.contains(&member.key.as_str())) else {
        let names = members.iter().map(|member| (member.key.as_str(), member.key_span.clone()));
        return Err(vec![no_holder(root.span.start, names)]);
    };
    let mut faults = Vec::new();
    let mut names = HashSet::new();
    let what = format!("`{}`", holder.key);
    for member in holder.value.table(&what).map_err(|fault| vec![fault])? {
        match server(member, &mut layer.notes) {
            _ if !names.insert(&member.key) => faults.push(named_twice(member)),
            Ok(draft) => layer.drafts.push(draft),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok(layer) } else { Err(faults) }
}

/// The members of the file, in the words of JSON.
fn whole(root: &Value) -> Result<&[Member], Fault> {
    if let Data::Table(members) = &root.data {
        return Ok(members);
    }
    let kind = if matches!(root.data, Data::List(_)) { "an array" } else { root.kind() };
    let message = format!("the file is {kind}, expected an object with `mcpServers` or `servers`");
    Err(Fault::new(&root.span, message))
}

/// What to say of a file, which begins there, with these names and no servers.
pub(crate) fn no_holder<N: AsRef<str>>(
    begin: usize,
    names: impl IntoIterator<Item = (N, Range<usize>)>,
) -> Fault {
    let misspelt = names.into_iter().find_map(|(name, span)| {
        let name = name.as_ref();
        let meant = Some(did_you_mean(name, HOLDERS)).filter(|meant| !meant.is_empty())?;
        Some(Fault::new(&span, format!("`{name}` is not where clients keep their servers{meant}")))
    });
    misspelt.unwrap_or_else(|| {
        let message = "no `mcpServers` and no `servers` here: this is no file of a client that is \
            known";
        Fault::new(&(begin..begin), message)
    })
}

/// Which of the two a client takes is not known, so neither is taken.
fn named_twice(member: &Member) -> Fault {
    let message = format!("there is a server `{}` already: each needs its own name", member.key);
    Fault::new(&member.key_span, message)
}

/// A name that was probably meant for how the server is reached.
fn misspelt(member: &Member) -> Option<Fault> {
    let key = &member.key;
    let meant = did_you_mean(key, ["command", "url"]);
    let message = format!("`{key}` is not a known setting{meant}");
    (!meant.is_empty()).then(|| Fault::new(&member.key_span, message))
}

fn server(member: &Member, notes: &mut Vec<(LogLevel, String)>) -> Result<Draft, Fault> {
    let name = &member.key;
    let mut draft = Draft::new(member, ServerSettings::default())?;
    let mut unused = Vec::new();
    for one in member.value.table(&format!("server `{name}`"))? {
        match (one.key.as_str(), &one.value.data) {
            (key, _) if draft::KEYS.contains(&key) => draft.take(one)?,
            ("disabled", Data::Flag(is_disabled)) => draft.is_disabled = *is_disabled,
            ("type", Data::Text(kind)) => {
                if kind == "sse" {
                    let message = format!(
                        "server `{name}` speaks the HTTP+SSE transport of 2024-11-05, which is not \
                         supported; Streamable HTTP (`\"type\": \"http\"`) is"
                    );
                    draft.refusal = Some(Fault::new(&one.value.span, message));
                }
            }
            _ => unused.push(one),
        }
    }
    // Clients have names of their own: only where something is missing was another one meant.
    draft.check().map_err(|fault| {
        let misspelt = unused.iter().find_map(|one| misspelt(one));
        misspelt.filter(|_| !draft.is_reachable()).unwrap_or(fault)
    })?;
    notes.extend(unused.into_iter().map(|Member { key, .. }| {
        let meant = did_you_mean(key, draft::KEYS);
        (LogLevel::Info, format!("`{key}` of server `{name}` is not used here{meant}"))
    }));
    Ok(draft)
}
