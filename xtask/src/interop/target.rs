//! What the official suite is run on: servers, and the ways to them.

use std::process::Command;

use super::install::Installed;
use super::process::Listening;

/// Servers that the suite is run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Server {
    Everything,
    Fixture,
    /// On `FastMCP`, with tools that can be called and are not listed.
    FastMcp,
    /// On the Rust SDK, with and without the wrapper of `stickler-rmcp`.
    Rmcp,
}

/// How the suite gets to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Direct,
    /// Through the gateway to a server that listens.
    Url,
    /// Through the gateway to a server that it starts.
    Command,
    /// To a server that checks its calls itself.
    Wrapped,
    /// To one that has its messages judged before rmcp reads them, too.
    WrappedRaw,
}

impl Way {
    /// How the two runs that are compared differ.
    pub(super) fn compared(self) -> (&'static str, &'static str) {
        match self {
            Self::Wrapped => ("plain", "wrapped"),
            Self::WrappedRaw => ("plain", "wrapped with the raw layer"),
            _ => ("directly", "through the gateway"),
        }
    }
}

/// A server that is ready, and perhaps a gateway in front of it.
pub(super) struct Target {
    gateway: Option<Listening>,
    server: Option<Listening>,
}

impl Target {
    pub(super) fn start(installed: &Installed, server: Server, way: Way) -> Result<Self, String> {
        let program = match server {
            Server::Everything => installed.npm_program("mcp-server-everything"),
            Server::Fixture => installed.script("server.mjs"),
            Server::FastMcp => {
                let script = "xtask/fixtures/fastmcp-server/server.py";
                let script = crate::paths::root().join(script).to_string_lossy().into_owned();
                vec![installed.python("fastmcp", "python"), script]
            }
            Server::Rmcp => vec![installed.rmcp_server()],
        };
        if way == Way::Command {
            let behind: Vec<String> = ["--".to_owned()].into_iter().chain(program).collect();
            let gateway = Some(Listening::gateway(installed, &behind)?);
            return Ok(Self { gateway, server: None });
        }
        let server = listening(server, way, &program)?;
        let upstream = ["--url".to_owned(), server.url()];
        let gateway = (way == Way::Url).then(|| Listening::gateway(installed, &upstream));
        Ok(Self { gateway: gateway.transpose()?, server: Some(server) })
    }

    /// Where the suite is to go.
    pub(super) fn url(&self) -> String {
        self.gateway.as_ref().or(self.server.as_ref()).map(Listening::url).unwrap_or_default()
    }
}

fn listening(server: Server, way: Way, program: &[String]) -> Result<Listening, String> {
    Listening::start(|port| {
        let mut command = command(program);
        match (server, way) {
            (Server::Everything, _) => {
                command.arg("streamableHttp").env("PORT", port.to_string());
            }
            (Server::Fixture | Server::FastMcp, _) => {
                command.arg(port.to_string());
            }
            (Server::Rmcp, way) => {
                command.args(["--listen", &format!("127.0.0.1:{port}")]);
                match way {
                    Way::Wrapped => {}
                    Way::WrappedRaw => {
                        command.arg("--raw");
                    }
                    _ => {
                        command.arg("--plain");
                    }
                }
            }
        }
        command
    })
}

pub(super) fn command(parts: &[String]) -> Command {
    let mut command = Command::new(parts.first().map_or("", String::as_str));
    command.args(parts.get(1..).unwrap_or_default());
    command
}
