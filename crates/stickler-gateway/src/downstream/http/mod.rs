//! Serves clients by Streamable HTTP.
//!
//! | module | purpose |
//! | --- | --- |
//! | `routing` | selects the server of a request by its path |
//! | `frontend` | checks host, origin, token and size of each request, then dispatches it to a backend |
//! | `content_negotiation` | checks `Host`, `Accept` and `Content-Type` |
//! | `inbound_message` | a client message with its routing header |
//! | `to_command`, `sessions` | requests for a command: legacy sessions, each with a process, and modern requests |
//! | `stream_response` | resumable event streams of legacy sessions |
//! | `modern` | HTTP headers and statuses of revision 2026-07-28 |
//! | `admin`, `systemd` | health, readiness and metrics for operators, and the state of the service for systemd |
//! | `reload` | new settings for new sessions |
//! | `request_context` | what headers say about the message in the body |
//! | `body`, `reply` | HTTP responses |
//! | `half_close` | clients that close their write side after a request |
//! | `connection_limit`, `log_limit` | bound the connections, and the log lines that they cause |
//! | `self_wake` | avoids thread wake-ups on the hot path |

pub(crate) mod admin;
pub(crate) mod body;
mod connection_limit;
pub(crate) mod content_negotiation;
pub(crate) mod frontend;
mod half_close;
pub(crate) mod inbound_message;
mod log_limit;
pub(crate) mod modern;
pub(crate) mod reload;
pub(crate) mod reply;
pub(crate) mod request_context;
mod routing;
mod self_wake;
pub(crate) mod sessions;
mod stream_response;
mod systemd;
mod to_command;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use stickler_transport::{Restart, Server};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tracing::{debug, error, info, warn};

use crate::connection_factory::ConnectionFactory;
use crate::log::Log;
use admin::{AdminPath, MetricsText};
use connection_limit::ConnectionLimit;
use half_close::{HalfClose, HalfCloseStream};
use log_limit::{LogLimit, omitted};
use reload::{Reload, Routers};
use routing::Router;
use self_wake::SelfWake;
use systemd::ServiceState;

/// Settings of the HTTP listener.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// The address and port to listen on.
    pub listen: String,
    /// The path of a server; with several servers, the server name precedes it.
    pub path: String,
    /// Allowed origins in addition to those of this machine.
    pub origins: Vec<String>,
    /// The bearer token that clients must send.
    pub token: Option<String>,
    /// The address of a listener for operators: readiness and metrics.
    pub admin_listen: Option<String>,
    /// Where to get the metrics.
    pub metrics: Option<MetricsText>,
    /// Maximum number of open connections.
    pub max_connections: usize,
    /// Maximum time for a whole request body.
    pub body_timeout: Duration,
}

/// A server that the gateway serves to clients.
#[derive(Debug)]
pub struct Endpoint {
    /// Creates the connections to the server.
    pub factory: ConnectionFactory,
    /// The command or URL of the server.
    pub server: Server,
    /// Limits of its sessions and processes.
    pub limits: ServerLimits,
    /// Logs its events.
    pub log: Log,
}

/// Limits of the sessions and processes of a server.
#[derive(Debug, Clone, Copy)]
pub struct ServerLimits {
    /// Maximum time that a session may be unused.
    pub idle: Duration,
    /// Maximum number of server processes.
    pub children: usize,
    /// Maximum number of cached sessions of a server behind a URL.
    pub sessions: usize,
    /// Grace period for requests and server processes at shutdown.
    pub grace: Duration,
    /// Restart policy of a server process that exits.
    pub restart: Restart,
    /// Interval between keep-alive comments on an idle stream.
    pub keep_alive: Duration,
}

/// Time for connections to send their final errors at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// Maximum time to read the headers of a request.
const HEADER_READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Shorter than any timer that a request sets.
const BASE_TIMER_INTERVAL: Duration = Duration::from_secs(5);

/// Serves clients until a signal stops the gateway, then drains open requests.
///
/// With `reload`, SIGHUP and changes of the configuration file load new settings; without it, SIGHUP stops the gateway.
pub fn serve(
    endpoints: Vec<Endpoint>,
    settings: HttpSettings,
    reload: Option<Reload<'_>>,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(run(endpoints, settings, reload));
    // Tasks that do not finish must not block the exit.
    runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
    outcome
}

/// Keeps a timer set at all times. Setting a timer that expires before all others makes tokio wake the
/// thread that waits for timers, which costs more than a small request. With this timer in place, the
/// timers of requests never expire first.
async fn hold_base_timer() {
    let mut ticks = tokio::time::interval(BASE_TIMER_INTERVAL);
    loop {
        ticks.tick().await;
    }
}

async fn run(
    endpoints: Vec<Endpoint>,
    settings: HttpSettings,
    reload: Option<Reload<'_>>,
) -> io::Result<()> {
    tokio::spawn(hold_base_timer());
    let listener = TcpListener::bind(&settings.listen).await?;
    let address = listener.local_addr()?;
    let grace = endpoints.iter().map(|one| one.limits.grace).max().unwrap_or_default();
    let admin = match &settings.admin_listen {
        Some(listen) => Some(TcpListener::bind(listen).await?),
        None => None,
    };
    let connections = ConnectionLimit::new(settings.max_connections);
    let router = Router::new(endpoints, settings, address.ip().is_loopback())?;
    router.log_addresses(address);
    let router = Routers::new(router, address.ip().is_loopback());
    if let Some(admin) = admin {
        let address = admin.local_addr()?;
        info!(target: "announcement", "readiness and metrics at http://{address}");
        tokio::spawn(serve_operators(admin, Arc::clone(&router)));
    }
    let (stop, stopped) = watch::channel(false);
    let (alive, mut all_closed) = mpsc::channel::<Infallible>(1);
    accept((&listener, &connections), &router, &stopped, (alive, reload)).await?;
    systemd::notify(ServiceState::Stopping);
    drop(listener);
    let _ = stop.send(true);
    router.close_streams();
    // Let pending requests finish during the grace period, then fail the remaining ones.
    let _ = tokio::time::timeout(grace, all_closed.recv()).await;
    router.close_all().await;
    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, all_closed.recv()).await;
    Ok(())
}

/// Accepts connections until a signal arrives.
async fn accept(
    (listener, connections): (&TcpListener, &ConnectionLimit),
    router: &Arc<Routers>,
    stopped: &watch::Receiver<bool>,
    (alive, mut reload): (mpsc::Sender<Infallible>, Option<Reload<'_>>),
) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let log = LogLimit::default();
    // From now on a signal of the service manager is handled.
    systemd::notify(ServiceState::Ready);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = terminate.recv() => return Ok(()),
            _ = interrupt.recv() => return Ok(()),
            _ = hangup.recv() => match &mut reload {
                Some(reload) => {
                    router.reload(reload);
                    continue;
                }
                None => return Ok(()),
            },
            () = Reload::file_changed(reload.as_mut()) => {
                if let Some(reload) = &mut reload {
                    router.reload(reload);
                }
                continue;
            }
        };
        match accepted {
            Ok((stream, peer)) => {
                let Some((stream, permit)) = connections.admit(stream, peer) else { continue };
                let (router, stopped, alive) = (Arc::clone(router), stopped.clone(), alive.clone());
                tokio::spawn(async move {
                    serve_connection((stream, peer), router, stopped, alive).await;
                    drop(permit);
                });
            }
            Err(error) => {
                // Probably out of file descriptors: retry when some are closed.
                if let Some(lines) = log.admit() {
                    error!("cannot accept a connection: {error}{}", omitted(lines));
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// Serves operators on a listener of their own, without host, origin and token checks.
async fn serve_operators(listener: TcpListener, routers: Arc<Routers>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Probably out of file descriptors: retry when some are closed.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let routers = Arc::clone(&routers);
        let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            let router = routers.current();
            async move {
                let path = AdminPath::of(request.uri().path().trim_end_matches('/'));
                let answer = match path {
                    Some(path) => router.administer(path).await,
                    None => None,
                };
                Ok::<_, Infallible>(answer.unwrap_or_else(admin::unknown_path))
            }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_READ_TIMEOUT)
            .serve_connection(TokioIo::new(stream), service);
        tokio::spawn(connection);
    }
}

async fn serve_connection(
    (stream, peer): (TcpStream, SocketAddr),
    router: Arc<Routers>,
    mut stopped: watch::Receiver<bool>,
    alive: mpsc::Sender<Infallible>,
) {
    let _ = stream.set_nodelay(true);
    let limit = router.log_limit();
    let half_close = Arc::new(HalfClose::default());
    let stream = HalfCloseStream::new(stream, Arc::clone(&half_close));
    let service = service_fn(move |request| {
        let (router, half_close) = (Arc::clone(&router), Arc::clone(&half_close));
        // Before the future is polled: hyper checks for end of input before it polls the response.
        half_close.request_started();
        async move {
            let router = router.of(&request);
            let mut response = router.handle(request, &half_close, peer).await;
            half_close.response_ready(&mut response);
            Ok::<_, Infallible>(response)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_READ_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = SelfWake::new(connection);
    tokio::select! {
        outcome = &mut connection => {
            if let Err(error) = outcome {
                log_failure(&error, peer, &limit);
            }
        }
        _ = stopped.changed() => {
            connection.future().graceful_shutdown();
            let _ = connection.await;
        }
    }
    drop(alive);
}

/// Logs why a connection ended. Invalid HTTP is a fault of the peer and a warning; a dropped or idle
/// connection is not.
fn log_failure(error: &hyper::Error, peer: SocketAddr, limit: &LogLimit) {
    if error.is_parse() {
        if let Some(lines) = limit.admit() {
            warn!(%peer, "connection rejected: {error}{}", omitted(lines));
        }
    } else {
        debug!(%peer, "connection ended: {error}");
    }
}
