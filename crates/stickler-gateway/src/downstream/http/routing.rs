//! Routes requests to servers by path.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::{Request, StatusCode};
use stickler_transport::Server;
use tracing::{Span, info, warn};

use crate::downstream::http::admin::{self, AdminPath, MetricsText};
use crate::downstream::http::content_negotiation::AllowedHosts;
use crate::downstream::http::frontend::{Backend, Frontend, LEGACY_SSE_NOT_SUPPORTED};
use crate::downstream::http::half_close::HalfClose;
use crate::downstream::http::log_limit::{LogLimit, omitted};
use crate::downstream::http::reply::{self, HttpResponse, Rejection};
use crate::downstream::http::sessions::Sessions;
use crate::downstream::http::{Endpoint, HttpSettings};
use crate::multiplexer::Multiplexer;
use crate::upstream::http::Proxy;

/// All servers and their paths.
pub(crate) struct Router {
    routes: Vec<Route>,
    accepts_without_token: bool,
    /// Where to get the metrics.
    metrics: Option<MetricsText>,
    /// Operators use this listener too.
    serves_operators: bool,
    /// Lines about rejected requests.
    log: LogLimit,
}

struct Route {
    name: Arc<str>,
    /// The paths of the server; the first one is shown to users.
    paths: Vec<String>,
    frontend: Frontend,
}

impl Router {
    pub(crate) fn new(
        endpoints: Vec<Endpoint>,
        settings: HttpSettings,
        is_loopback: bool,
    ) -> io::Result<Self> {
        let body_timeout = settings.body_timeout;
        let HttpSettings { listen, path, origins, token, admin_listen, metrics, .. } = settings;
        let serves_operators = is_loopback && admin_listen.is_none();
        let hosts = AllowedHosts::new(&listen, is_loopback, &origins);
        let is_only = endpoints.len() == 1;
        let accepts_without_token = token.is_none();
        let routes = endpoints.into_iter().map(|endpoint| {
            let name = Arc::clone(&endpoint.factory.name);
            let named_path = format!("/{}{path}", path_segment(&name));
            // A single server is also available without its name in the path.
            let paths = if is_only {
                vec![path.clone(), named_path, String::new()]
            } else {
                vec![named_path]
            };
            let log = endpoint.log.clone();
            let keep_alive = endpoint.limits.keep_alive;
            let backend = backend(endpoint)?;
            let frontend = Frontend {
                backend,
                origins: origins.clone(),
                token: token.clone(),
                hosts: hosts.clone(),
                keep_alive,
                body_timeout,
                log,
            };
            Ok(Route { name, paths, frontend })
        });
        let routes = routes.collect::<io::Result<_>>()?;
        let log = LogLimit::default();
        Ok(Self { routes, accepts_without_token, metrics, serves_operators, log })
    }

    pub(crate) async fn handle(
        &self,
        request: Request<Incoming>,
        half_close: &HalfClose,
        peer: SocketAddr,
    ) -> HttpResponse {
        let path = request.uri().path().trim_end_matches('/');
        let matches_path = |route: &&Route| route.paths.iter().any(|one| one == path);
        if let Some(route) = self.routes.iter().find(matches_path) {
            let answer = route.frontend.handle(request, half_close).await;
            return self.log_rejection(answer, peer, route.frontend.log.span());
        }
        let answer = self.unrouted(path, &request).await;
        self.log_rejection(answer, peer, &Span::none())
    }

    /// Logs a rejected request with its peer and the reason.
    fn log_rejection(
        &self,
        mut answer: HttpResponse,
        peer: SocketAddr,
        span: &Span,
    ) -> HttpResponse {
        if let Some(Rejection(reason)) = answer.extensions_mut().remove()
            && let Some(lines) = self.log.admit()
        {
            let (status, omitted) = (answer.status().as_u16(), omitted(lines));
            warn!(parent: span, status, %peer, "request rejected: {reason}{omitted}");
        }
        answer
    }

    /// Handles requests for paths without a server.
    async fn unrouted(&self, path: &str, request: &Request<Incoming>) -> HttpResponse {
        let admin_path = AdminPath::of(path);
        let rejected = self.routes.first().and_then(|route| route.frontend.check_access(request));
        if admin_path == Some(AdminPath::Health) {
            return admin::health(rejected.is_none().then(|| self.names()));
        }
        if let Some(rejected) = rejected {
            return rejected;
        }
        if let Some(admin_path) = admin_path.filter(|_| self.serves_operators)
            && let Some(answer) = self.administer(admin_path).await
        {
            return answer;
        }
        let paths: Vec<String> = self.routes.iter().map(Route::display_path).collect();
        let paths = paths.join(", ");
        let reason = match path {
            "/sse" | "/message" | "/messages" => format!("{LEGACY_SSE_NOT_SUPPORTED} {paths}"),
            _ => format!("no server at this path; servers are at {paths}"),
        };
        reply::invalid_request(StatusCode::NOT_FOUND, &reason)
    }

    /// Answers an operator; `None` if there is nothing at this path.
    pub(crate) async fn administer(&self, path: AdminPath) -> Option<HttpResponse> {
        let backends = self.routes.iter().map(|route| (&*route.name, &route.frontend.backend));
        match path {
            AdminPath::Health => Some(admin::health(Some(self.names()))),
            AdminPath::Readiness => Some(admin::readiness(backends).await),
            AdminPath::Metrics => {
                let running = self.routes.iter().map(|route| {
                    (Arc::clone(&route.name), route.frontend.backend.running_processes())
                });
                let running: Vec<(Arc<str>, usize)> = running.collect();
                self.metrics.as_ref().map(|metrics| admin::metrics(metrics, &running))
            }
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.routes.iter().map(|route| &*route.name)
    }

    /// Returns whether a request belongs to a session of this router.
    pub(crate) fn has_session(&self, request: &Request<Incoming>) -> bool {
        let path = request.uri().path().trim_end_matches('/');
        let is_it = |route: &&Route| route.paths.iter().any(|one| one == path);
        let route = self.routes.iter().find(is_it);
        route.is_some_and(|route| route.frontend.backend.has_session(request.headers()))
    }

    /// Returns whether there are neither sessions nor requests.
    pub(crate) async fn is_idle(&self) -> bool {
        for route in &self.routes {
            if !route.frontend.backend.is_idle().await {
                return false;
            }
        }
        true
    }

    /// Logs the addresses of all servers.
    pub(crate) fn log_addresses(&self, address: SocketAddr) {
        for Route { paths, frontend, .. } in &self.routes {
            let path = paths.first().map(String::as_str).unwrap_or_default();
            info!(
                target: "announcement", parent: frontend.log.span(),
                "listening on http://{address}{path}"
            );
        }
        if !address.ip().is_loopback() && self.accepts_without_token {
            warn!("{address} accepts connections from other machines without a token");
        }
    }

    /// Ends the standalone streams of all servers.
    pub(crate) fn close_streams(&self) {
        self.routes.iter().for_each(|route| route.frontend.backend.close_streams());
    }

    /// Closes all servers concurrently.
    pub(crate) async fn close_all(self: &Arc<Self>) {
        let ends = (0..self.routes.len()).map(|index| {
            let router = Arc::clone(self);
            tokio::spawn(async move {
                if let Some(route) = router.routes.get(index) {
                    route.frontend.backend.close_all().await;
                }
            })
        });
        for end in ends.collect::<Vec<_>>() {
            let _ = end.await;
        }
    }
}

impl Route {
    fn display_path(&self) -> String {
        format!("`{}`", self.paths.first().map(String::as_str).unwrap_or_default())
    }
}

fn backend(endpoint: Endpoint) -> io::Result<Backend> {
    let Endpoint { factory, server, limits, log } = endpoint;
    Ok(match server {
        Server::Command(command) => {
            let sessions = Sessions::new(command, Arc::new(factory), log, limits);
            Backend::Command(Arc::clone(&sessions), Multiplexer::new(sessions))
        }
        Server::Url(url, headers) => {
            Backend::Url(Proxy::new((url, headers), factory, log, limits)?)
        }
    })
}

/// Percent-encodes a name as a path segment.
fn path_segment(name: &str) -> String {
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
    use super::path_segment;

    #[test]
    fn server_name_is_encoded_as_path_segment() {
        assert_eq!(path_segment("files"), "files");
        assert_eq!(path_segment("my files/ä"), "my%20files%2F%C3%A4");
    }
}
