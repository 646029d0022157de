//! Finds the servers in a client configuration file.

use std::path::Path;

use crate::config::{Data, Fault, Format, Member, Value, did_you_mean, read_document};

/// Members that contain servers, as an object by name or as a list.
const SERVER_MEMBERS: [&str; 5] =
    ["mcpServers", "servers", "context_servers", "mcp_servers", "amp.mcpServers"];

/// Clients whose files give the same member another meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Client {
    Gemini,
}

impl Client {
    /// Recognises the client by the path of its file.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let folder = path.parent().and_then(Path::file_name);
        folder.is_some_and(|folder| folder == ".gemini").then_some(Self::Gemini)
    }
}

/// A server in a file.
#[derive(Debug, Clone)]
pub(super) struct Server<'d> {
    pub(super) name: String,
    /// Folder of the project that the server belongs to (Claude Code).
    pub(super) project: Option<&'d str>,
    pub(super) entry: &'d Value,
    pub(super) client: Option<Client>,
    /// Whether the user named the server.
    pub(super) is_named: bool,
}

impl Server<'_> {
    /// Returns the name for messages, with the project if there is one.
    pub(super) fn label(&self) -> String {
        match self.project {
            Some(project) => format!("`{}` (project {project})", self.name),
            None => format!("`{}`", self.name),
        }
    }
}

/// Parses a file. An empty one has no servers, which is not a syntax error for the user.
pub(super) fn read(text: &str, format: Format) -> Result<Value, Fault> {
    if text.trim().is_empty() {
        return Err(Fault::new(&(0..0), "no servers found: the file is empty"));
    }
    read_document(text, format)
}

/// Returns all servers of a file.
pub(super) fn find<'d>(
    root: &'d Value,
    client: Option<Client>,
    only: &[String],
) -> Result<Vec<Server<'d>>, Fault> {
    let Data::Table(members) = &root.data else {
        let message = format!("the file is {}, expected an object with servers", root.kind());
        return Err(Fault::new(&root.span, message));
    };
    let mut search = Search { servers: Vec::new(), client, only, found_list: false };
    search.members(members, None);
    for member in members {
        match (member.key.as_str(), &member.value.data) {
            ("mcp", Data::Table(inner)) => search.members(inner, None),
            ("projects", Data::Table(projects)) => {
                for project in projects {
                    if let Data::Table(inner) = &project.value.data {
                        search.members(inner, Some(&project.key));
                    }
                }
            }
            _ => {}
        }
    }
    if !search.found_list {
        return Err(no_servers(root, members));
    }
    Ok(search.servers)
}

/// Returns the error for a file without servers: a misspelt member, or another kind of file.
fn no_servers(root: &Value, members: &[Member]) -> Fault {
    let misspelt = members.iter().find_map(|Member { key, key_span, value }| {
        if SERVER_MEMBERS.contains(&key.as_str()) {
            let message = format!("`{key}` is {}, expected servers", value.kind());
            return Some(Fault::new(&value.span, message));
        }
        let meant = did_you_mean(key, SERVER_MEMBERS);
        let message = format!("unknown member `{key}`{meant}");
        (!meant.is_empty()).then(|| Fault::new(key_span, message))
    });
    let is_server = members.iter().any(|member| matches!(member.key.as_str(), "command" | "url"));
    misspelt.unwrap_or_else(|| {
        let start = root.span.start;
        if is_server {
            let message = "the file describes one server without a name; most clients expect it as a member of \
                           `mcpServers`";
            return Fault::new(&(start..start), message);
        }
        let message = "no servers found: expected `mcpServers` (most clients), `servers` (VS Code), \
                       `context_servers` (Zed) or `mcp_servers` (Codex)";
        Fault::new(&(start..start), message)
    })
}

struct Search<'d, 'o> {
    servers: Vec<Server<'d>>,
    client: Option<Client>,
    only: &'o [String],
    found_list: bool,
}

impl<'d> Search<'d, '_> {
    fn members(&mut self, members: &'d [Member], project: Option<&'d str>) {
        for member in members {
            if !SERVER_MEMBERS.contains(&member.key.as_str()) {
                continue;
            }
            match &member.value.data {
                Data::Table(servers) => {
                    self.found_list = true;
                    for server in servers {
                        self.add(server.key.clone(), project, &server.value);
                    }
                }
                Data::List(servers) => {
                    self.found_list = true;
                    for (index, server) in servers.iter().enumerate() {
                        self.add(list_name(server, index), project, server);
                    }
                }
                // An empty member of a YAML file is `null`.
                Data::Other(_) => self.found_list = true,
                _ => {}
            }
        }
    }

    fn add(&mut self, name: String, project: Option<&'d str>, entry: &'d Value) {
        let is_named = self.only.contains(&name);
        self.servers.push(Server { name, project, entry, client: self.client, is_named });
    }
}

/// Returns the name of a server in a list (Continue), or its number.
fn list_name(server: &Value, index: usize) -> String {
    let Data::Table(members) = &server.data else { return format!("#{}", index + 1) };
    let name = members.iter().find(|member| member.key == "name");
    match name.map(|name| &name.value.data) {
        Some(Data::Text(name)) => name.clone(),
        _ => format!("#{}", index + 1),
    }
}
