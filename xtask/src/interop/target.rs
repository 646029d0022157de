//! Servers that the official suite runs on, and the routes to them.

use std::process::Command;

use super::install::Installed;
use super::process::HttpProcess;

/// Servers that the suite is run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Server {
    Everything,
    Fixture,
    /// Built on `FastMCP`, with tools that can be called but are not listed.
    FastMcp,
    /// Built on the Rust SDK, with and without the wrapper of `stickler-rmcp`.
    Rmcp,
}

/// How the suite connects to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    Direct,
    /// Through the gateway to a server at a URL.
    Url,
    /// Through the gateway to a server process that the gateway starts.
    Command,
    /// Directly to a server that validates its calls.
    Wrapped,
    /// Directly to a server that also validates raw messages before rmcp parses them.
    WrappedRaw,
}

impl Route {
    /// Labels of the two runs that are compared.
    pub(super) fn compared(self) -> (&'static str, &'static str) {
        match self {
            Self::Wrapped => ("plain", "wrapped"),
            Self::WrappedRaw => ("plain", "wrapped with the raw layer"),
            _ => ("directly", "through the gateway"),
        }
    }
}

/// A running server, and the gateway in front of it if the route has one.
pub(super) struct Target {
    gateway: Option<HttpProcess>,
    server: Option<HttpProcess>,
}

impl Target {
    pub(super) fn start(
        installed: &Installed,
        server: Server,
        route: Route,
    ) -> Result<Self, String> {
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
        if route == Route::Command {
            let behind: Vec<String> = ["--".to_owned()].into_iter().chain(program).collect();
            let gateway = Some(HttpProcess::gateway(installed, &behind)?);
            return Ok(Self { gateway, server: None });
        }
        let server = start_http_server(server, route, &program)?;
        let upstream = ["--url".to_owned(), server.url()];
        let gateway = (route == Route::Url).then(|| HttpProcess::gateway(installed, &upstream));
        Ok(Self { gateway: gateway.transpose()?, server: Some(server) })
    }

    /// The URL that the suite connects to.
    pub(super) fn url(&self) -> String {
        self.gateway.as_ref().or(self.server.as_ref()).map(HttpProcess::url).unwrap_or_default()
    }
}

fn start_http_server(
    server: Server,
    route: Route,
    program: &[String],
) -> Result<HttpProcess, String> {
    HttpProcess::start(|port| {
        let mut command = command(program);
        match (server, route) {
            (Server::Everything, _) => {
                command.arg("streamableHttp").env("PORT", port.to_string());
            }
            (Server::Fixture | Server::FastMcp, _) => {
                command.arg(port.to_string());
            }
            (Server::Rmcp, route) => {
                command.args(["--listen", &format!("127.0.0.1:{port}")]);
                match route {
                    Route::Wrapped => {}
                    Route::WrappedRaw => {
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
