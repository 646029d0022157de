//! The files that clients keep their servers in: `mcpServers` of most of them, `servers` of VS Code.

use super::Layer;
use super::document::{Data, Member, Value};
use super::draft::{self, Draft};
use super::fault::Fault;
use super::settings::ServerSettings;
use crate::gateway::Level;

/// The members that hold servers.
pub(crate) const HOLDERS: [&str; 2] = ["mcpServers", "servers"];

/// Reads the servers; what else clients keep there is noted and left alone.
pub(super) fn read(root: &Value) -> Result<Layer, Vec<Fault>> {
    let mut layer = Layer::default();
    let members = root.table("the file").map_err(|fault| vec![fault])?;
    let Some(holder) = members.iter().rfind(|member| HOLDERS.contains(&member.key.as_str())) else {
        let message = "no `mcpServers` and no `servers` here: this is no file of a client that is \
            known";
        return Err(vec![Fault::new(&(root.span.start..root.span.start), message)]);
    };
    let mut faults = Vec::new();
    let what = format!("`{}`", holder.key);
    for member in holder.value.table(&what).map_err(|fault| vec![fault])? {
        match server(member, &mut layer.notes) {
            Ok(draft) => layer.drafts.push(draft),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok(layer) } else { Err(faults) }
}

fn server(member: &Member, notes: &mut Vec<(Level, String)>) -> Result<Draft, Fault> {
    let name = &member.key;
    let mut draft = Draft::new(member, ServerSettings::default())?;
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
                    return Err(Fault::new(&one.value.span, message));
                }
            }
            (key, _) => {
                notes.push((Level::Info, format!("`{key}` of server `{name}` is not used here")));
            }
        }
    }
    draft.check()?;
    Ok(draft)
}
