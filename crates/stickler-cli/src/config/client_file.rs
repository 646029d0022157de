//! Reads the servers from the configuration file of a client: `mcpServers` in most of them, `servers` in VS Code.

use std::collections::HashSet;
use std::ops::Range;

use super::Layer;
use super::document::{Data, Member, Value};
use super::draft::{self, Draft};
use super::fault::{Fault, did_you_mean};
use super::settings::ServerSettings;
use crate::logging::LogLevel;

/// Members that contain the servers.
const SERVER_MEMBERS: [&str; 2] = ["mcpServers", "servers"];

/// Reads the servers. Other members of a server are ignored and noted.
pub(super) fn read(root: &Value) -> Result<Layer, Vec<Fault>> {
    let mut layer = Layer::default();
    let members = root_members(root).map_err(|fault| vec![fault])?;
    let Some(server_list) =
        members.iter().rfind(|member| SERVER_MEMBERS.contains(&member.key.as_str()))
    else {
        let names = members.iter().map(|member| (member.key.as_str(), member.key_span.clone()));
        return Err(vec![missing_servers(root.span.start, names)]);
    };
    let mut faults = Vec::new();
    let mut names = HashSet::new();
    let what = format!("`{}`", server_list.key);
    for member in server_list.value.table(&what).map_err(|fault| vec![fault])? {
        match server(member, &mut layer.notes) {
            _ if !names.insert(&member.key) => faults.push(duplicate_name(member)),
            Ok(draft) => layer.drafts.push(draft),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok(layer) } else { Err(faults) }
}

/// Returns the members of the root object. The error uses the terms of JSON.
fn root_members(root: &Value) -> Result<&[Member], Fault> {
    if let Data::Table(members) = &root.data {
        return Ok(members);
    }
    let kind = root.kind();
    let message = format!("the file is {kind}, expected an object with `mcpServers` or `servers`");
    Err(Fault::new(&root.span, message))
}

/// Returns the error for a file that starts at `begin` and has these members, none of which contains servers.
fn missing_servers<N: AsRef<str>>(
    begin: usize,
    names: impl IntoIterator<Item = (N, Range<usize>)>,
) -> Fault {
    let misspelt = names.into_iter().find_map(|(name, span)| {
        let name = name.as_ref();
        let meant = Some(did_you_mean(name, SERVER_MEMBERS)).filter(|meant| !meant.is_empty())?;
        Some(Fault::new(&span, format!("unknown member `{name}`{meant}")))
    });
    misspelt.unwrap_or_else(|| {
        let message =
            "neither `mcpServers` nor `servers` found: not a known client configuration file";
        Fault::new(&(begin..begin), message)
    })
}

/// Returns the error for a duplicate name: clients differ in which of the two they use.
fn duplicate_name(member: &Member) -> Fault {
    let message = format!("duplicate server name `{}`", member.key);
    Fault::new(&member.key_span, message)
}

/// Returns the error for a key that is probably a misspelt `command` or `url`.
fn misspelt_key(member: &Member) -> Option<Fault> {
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
                        "server `{name}` uses the HTTP+SSE transport of 2024-11-05, which is not \
                         supported; use Streamable HTTP (`\"type\": \"http\"`)"
                    );
                    draft.rejection = Some(Fault::new(&one.value.span, message));
                }
            }
            _ => unused.push(one),
        }
    }
    // Clients have keys that are unknown here, so a key counts as misspelt only if one is missing.
    draft.check().map_err(|fault| {
        let misspelt = unused.iter().find_map(|one| misspelt_key(one));
        misspelt.filter(|_| !draft.is_reachable()).unwrap_or(fault)
    })?;
    notes.extend(unused.into_iter().map(|Member { key, .. }| {
        let meant = did_you_mean(key, draft::KEYS);
        (LogLevel::Info, format!("`{key}` of server `{name}` is ignored{meant}"))
    }));
    Ok(draft)
}
