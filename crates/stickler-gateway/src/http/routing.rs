//! Which server a request is for: each has a path of its own.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::{Request, StatusCode};
use serde_json::json;
use stickler_transport::Server;
use tracing::{Span, info, warn};

use super::front::{Backend, Front, OLD_TRANSPORT};
use super::manners::Hosts;
use super::parting::Parting;
use super::reply::{self, Answer, Rejection};
use super::sessions::Sessions;
use super::switchboard::Switchboard;
use super::to_url::Proxy;
use super::{Endpoint, HttpSettings};

/// All servers, by their paths.
pub(super) struct Router {
    routes: Vec<Route>,
    is_open: bool,
}

struct Route {
    name: Arc<str>,
    /// Where it is; the first is the one that is told to people.
    paths: Vec<String>,
    front: Front,
}

impl Router {
    pub(super) fn new(
        endpoints: Vec<Endpoint>,
        settings: HttpSettings,
        is_loopback: bool,
    ) -> io::Result<Self> {
        let HttpSettings { listen, path, origins, token } = settings;
        let hosts = Hosts::new(&listen, is_loopback, &origins);
        let is_only = endpoints.len() == 1;
        let is_open = token.is_none();
        let routes = endpoints.into_iter().map(|endpoint| {
            let name = Arc::clone(&endpoint.recipe.name);
            let own = format!("/{}{path}", segment(&name));
            // The only server is where people look first.
            let paths = if is_only { vec![path.clone(), own, String::new()] } else { vec![own] };
            let log = endpoint.log.clone();
            let keep_alive = endpoint.keeping.keep_alive;
            let backend = backend(endpoint)?;
            let front = Front {
                backend,
                origins: origins.clone(),
                token: token.clone(),
                hosts: hosts.clone(),
                keep_alive,
                log,
            };
            Ok(Route { name, paths, front })
        });
        Ok(Self { routes: routes.collect::<io::Result<_>>()?, is_open })
    }

    pub(super) async fn handle(
        &self,
        request: Request<Incoming>,
        parting: &Parting,
        peer: SocketAddr,
    ) -> Answer {
        let path = request.uri().path().trim_end_matches('/');
        let is_there = |route: &&Route| route.paths.iter().any(|one| one == path);
        match self.routes.iter().find(is_there) {
            Some(route) => {
                let answer = route.front.handle(request, parting).await;
                log_rejection(answer, peer, route.front.log.span())
            }
            None => log_rejection(self.elsewhere(path, &request), peer, &Span::none()),
        }
    }

    /// What is at no server's path.
    fn elsewhere(&self, path: &str, request: &Request<Incoming>) -> Answer {
        if path == "/healthz" {
            let names: Vec<&str> = self.routes.iter().map(|route| &*route.name).collect();
            let health = json!({ "status": "ok", "servers": names });
            return reply::json(StatusCode::OK, health.to_string());
        }
        let refused = self.routes.first().and_then(|route| route.front.turn_away(request));
        if let Some(refused) = refused {
            return refused;
        }
        let paths: Vec<String> = self.routes.iter().map(Route::shown).collect();
        let paths = paths.join(", ");
        let reason = match path {
            "/sse" | "/message" | "/messages" => format!("{OLD_TRANSPORT} {paths}"),
            _ => format!("there is nothing here; servers are at {paths}"),
        };
        reply::refusal(StatusCode::NOT_FOUND, &reason)
    }

    /// Tells people where to go.
    pub(super) fn say_where(&self, address: SocketAddr) {
        for Route { paths, front, .. } in &self.routes {
            let path = paths.first().map(String::as_str).unwrap_or_default();
            info!(
                target: "announcement", parent: front.log.span(),
                "listening on http://{address}{path}"
            );
        }
        if !address.ip().is_loopback() && self.is_open {
            warn!("{address} is open to other machines, without a token");
        }
    }

    /// Streams that have no end are ended.
    pub(super) fn hang_up(&self) {
        self.routes.iter().for_each(|route| route.front.backend.hang_up());
    }

    /// Everything ends, at all servers at once.
    pub(super) async fn close_all(self: &Arc<Self>) {
        let ends = (0..self.routes.len()).map(|index| {
            let router = Arc::clone(self);
            tokio::spawn(async move {
                if let Some(route) = router.routes.get(index) {
                    route.front.backend.close_all().await;
                }
            })
        });
        for end in ends.collect::<Vec<_>>() {
            let _ = end.await;
        }
    }
}

/// Logs a request that did not get to a server, with its peer and the reason.
fn log_rejection(mut answer: Answer, peer: SocketAddr, span: &Span) -> Answer {
    if let Some(Rejection(reason)) = answer.extensions_mut().remove() {
        let status = answer.status().as_u16();
        warn!(parent: span, status, %peer, "request rejected: {reason}");
    }
    answer
}

impl Route {
    fn shown(&self) -> String {
        format!("`{}`", self.paths.first().map(String::as_str).unwrap_or_default())
    }
}

fn backend(endpoint: Endpoint) -> io::Result<Backend> {
    let Endpoint { recipe, server, keeping, log } = endpoint;
    Ok(match server {
        Server::Command(command) => {
            let sessions = Sessions::new(command, Arc::new(recipe), log, keeping);
            Backend::Command(Arc::clone(&sessions), Switchboard::new(sessions))
        }
        Server::Url(url, headers) => {
            Backend::Url(Proxy::new((url, headers), recipe, log, keeping)?)
        }
    })
}

/// A name as a part of a path.
fn segment(name: &str) -> String {
    use std::fmt::Write as _;
    let mut segment = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            segment.push(char::from(byte));
        } else {
            let _ = write!(segment, "%{byte:02X}");
        }
    }
    segment
}

#[cfg(test)]
mod tests {
    use super::segment;

    #[test]
    fn names_become_parts_of_paths() {
        assert_eq!(segment("files"), "files");
        assert_eq!(segment("my files/ä"), "my%20files%2F%C3%A4");
    }
}
