//! The gateway over HTTP: clients come by Streamable HTTP, the server is a command or a URL.
//!
//! | file | holds |
//! | --- | --- |
//! | `routing` | which server a request is for, by its path |
//! | `front` | what every request to a server is asked first: where from, how large |
//! | `letter` | what a client posts, and where it belongs |
//! | `conversation`, `mail` | one client and one server: the gatekeeper, and who waits for what |
//! | `to_command`, `sessions`, `process`, `pipe` | legacy sessions, each with a server process |
//! | `reading`, `streams`, `replay` | streams of such sessions, which can be taken up where they broke off |
//! | `to_url`, `relay`, `deadline`, `own`, `opening` | a server that is reached by HTTP itself |
//! | `hop` | headers that belong to one connection and are not passed on |
//! | `listening` | our own subscription to changes of such a server's tools |
//! | `known`, `recent`, `credentials` | the sessions of such a server that are known here, and whose they are |
//! | `from_stdio`, `posting` | a client on stdio, in front of a URL |
//! | `manners` | what HTTP itself asks of clients |
//! | `modern`, `views` | what 2026-07-28 asks of HTTP, servers that list other tools to other clients |
//! | `switchboard`, `numbering`, `dialled` | modern requests, which share one server process |
//! | `body`, `reply` | what goes back |
//! | `own_pace`, `awake` | connections that need not be woken by others, threads that need not sleep |
//! | `parting` | clients that close their side right behind a request |

mod awake;
mod body;
mod conversation;
mod credentials;
mod deadline;
mod dialled;
mod from_stdio;
mod front;
mod hop;
mod known;
mod letter;
mod listening;
mod mail;
mod manners;
mod modern;
mod numbering;
mod opening;
mod own;
mod own_pace;
mod parting;
mod pipe;
mod posting;
mod process;
mod reading;
mod recent;
mod relay;
mod replay;
mod reply;
mod routing;
mod sessions;
mod streams;
mod switchboard;
mod to_command;
mod to_url;
mod views;

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
use tracing::{debug, error, warn};

use super::log::Log;
use super::recipe::Recipe;
pub use from_stdio::relay_to_url;
use own_pace::OwnPace;
use parting::{Line, Parting};
use routing::Router;

/// How clients are served.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// Where clients come to.
    pub listen: String,
    /// Where a server is on that address; with several, after the name of each.
    pub path: String,
    /// Origins that are let in beside those of this machine.
    pub origins: Vec<String>,
    /// What clients must show.
    pub token: Option<String>,
}

/// A server that clients can come to.
#[derive(Debug)]
pub struct Endpoint {
    /// How its gatekeepers are made.
    pub recipe: Recipe,
    /// Where it is.
    pub server: Server,
    /// How its sessions and processes are kept.
    pub keeping: Keeping,
    /// Where its events are written.
    pub log: Log,
}

/// How sessions and processes of a server are kept.
#[derive(Debug, Clone, Copy)]
pub struct Keeping {
    /// How long a session may be without use.
    pub idle: Duration,
    /// How many server processes there may be.
    pub children: usize,
    /// How many sessions of a server at a URL are known at once.
    pub sessions: usize,
    /// How long requests and servers have to end.
    pub grace: Duration,
    /// When a process that has ended is started again.
    pub restart: Restart,
    /// After how long a quiet stream says that it is still there.
    pub keep_alive: Duration,
}

/// How long those have that were just told that all is over.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Headers must have come after this long.
const HEADERS: Duration = Duration::from_secs(30);

/// Shorter than what requests set timers for.
const TICK: Duration = Duration::from_secs(5);

/// Serves until a signal ends it.
pub fn serve(endpoints: Vec<Endpoint>, settings: HttpSettings) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(run(endpoints, settings));
    // A task that does not end keeps nobody here.
    runtime.shutdown_timeout(LAST_WORDS);
    outcome
}

/// A timer that is always set. A timer that comes before all others makes tokio wake the thread that
/// waits for them, which costs more than a small request: with this one there, those of requests
/// never do.
async fn tick() {
    let mut ticks = tokio::time::interval(TICK);
    loop {
        ticks.tick().await;
    }
}

async fn run(endpoints: Vec<Endpoint>, settings: HttpSettings) -> io::Result<()> {
    tokio::spawn(tick());
    let listener = TcpListener::bind(&settings.listen).await?;
    let address = listener.local_addr()?;
    let grace = endpoints.iter().map(|one| one.keeping.grace).max().unwrap_or_default();
    let router = Arc::new(Router::new(endpoints, settings, address.ip().is_loopback())?);
    router.say_where(address);
    let (stop, stopped) = watch::channel(false);
    let (alive, mut all_gone) = mpsc::channel::<Infallible>(1);
    accept(&listener, &router, &stopped, alive).await?;
    drop(listener);
    let _ = stop.send(true);
    router.hang_up();
    // First those in flight may end by themselves, then they are told that they will not.
    let _ = tokio::time::timeout(grace, all_gone.recv()).await;
    router.close_all().await;
    let _ = tokio::time::timeout(LAST_WORDS, all_gone.recv()).await;
    Ok(())
}

/// Lets clients in until a signal comes.
async fn accept(
    listener: &TcpListener,
    router: &Arc<Router>,
    stopped: &watch::Receiver<bool>,
    alive: mpsc::Sender<Infallible>,
) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = terminate.recv() => return Ok(()),
            _ = interrupt.recv() => return Ok(()),
            _ = hang_up.recv() => return Ok(()),
        };
        match accepted {
            Ok((stream, peer)) => {
                tokio::spawn(connection(
                    (stream, peer),
                    Arc::clone(router),
                    stopped.clone(),
                    alive.clone(),
                ));
            }
            Err(error) => {
                // Out of file descriptors, most likely: those in use will come back.
                error!("cannot accept a connection: {error}");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

async fn connection(
    (stream, peer): (TcpStream, SocketAddr),
    router: Arc<Router>,
    mut stopped: watch::Receiver<bool>,
    alive: mpsc::Sender<Infallible>,
) {
    let _ = stream.set_nodelay(true);
    let parting = Arc::new(Parting::default());
    let line = Line::new(stream, Arc::clone(&parting));
    let service = service_fn(move |request| {
        let (router, parting) = (Arc::clone(&router), Arc::clone(&parting));
        // At once: hyper looks for the end before it asks for the answer.
        parting.begin();
        async move {
            let mut answer = router.handle(request, &parting, peer).await;
            parting.end(&mut answer);
            Ok::<_, Infallible>(answer)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS)
        .serve_connection(TokioIo::new(line), service);
    let mut connection = OwnPace::new(connection);
    tokio::select! {
        outcome = &mut connection => {
            if let Err(error) = outcome {
                log_failure(&error, peer);
            }
        }
        _ = stopped.changed() => {
            connection.future().graceful_shutdown();
            let _ = connection.await;
        }
    }
    drop(alive);
}

/// Logs why a connection has ended. Bytes that are not HTTP are an error of the peer; a connection that
/// breaks off, or is idle, is not.
fn log_failure(error: &hyper::Error, peer: SocketAddr) {
    if error.is_parse() {
        warn!(%peer, "connection rejected: {error}");
    } else {
        debug!(%peer, "connection ended: {error}");
    }
}
