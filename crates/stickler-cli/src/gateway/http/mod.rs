//! The gateway over HTTP: clients come by Streamable HTTP, the server is a command or a URL.
//!
//! | file | holds |
//! | --- | --- |
//! | `front` | what every request is asked first: where from, where to, how large |
//! | `conversation`, `mail` | one client and one server: the gatekeeper, and who waits for what |
//! | `to_command`, `sessions`, `process`, `pipe` | legacy sessions, each with a server process |
//! | `to_url`, `relay`, `own`, `upstream`, `opening` | a server that is reached by HTTP itself |
//! | `from_stdio`, `posting` | a client on stdio, in front of a URL |
//! | `old_transport` | servers that cannot be spoken to, told from others |
//! | `manners`, `trust` | what HTTP itself asks of clients, whom TLS trusts |
//! | `modern` | what 2026-07-28 asks of HTTP |
//! | `switchboard`, `numbering` | modern requests, which share one server process |
//! | `body`, `reply` | what goes back |

mod body;
mod conversation;
mod from_stdio;
mod front;
mod mail;
mod manners;
mod modern;
mod numbering;
mod old_transport;
mod opening;
mod own;
mod pipe;
mod posting;
mod process;
mod relay;
mod reply;
mod sessions;
mod switchboard;
mod to_command;
mod to_url;
mod trust;
mod upstream;

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::Uri;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};

use super::child::ServerCommand;
use super::log::{Level, Log};
use super::recipe::Recipe;
pub(crate) use from_stdio::relay_to_url;
use front::{Backend, Front};
use manners::Hosts;
use sessions::Sessions;
use switchboard::Switchboard;
use to_url::Proxy;

/// Where the server is.
#[derive(Debug, Clone)]
pub(crate) enum Server {
    Command(ServerCommand),
    Url(Uri),
}

impl Server {
    /// A name for people.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Command(command) => command.name(),
            Self::Url(url) => url.host().unwrap_or("server").to_owned(),
        }
    }
}

/// How clients are served.
#[derive(Debug, Clone)]
pub(crate) struct HttpSettings {
    /// Where clients come to.
    pub(crate) listen: String,
    /// Origins that are let in beside those of this machine.
    pub(crate) origins: Vec<String>,
    /// What clients must show.
    pub(crate) token: Option<String>,
    /// How long a session may be without use.
    pub(crate) idle: Duration,
    /// How many server processes there may be.
    pub(crate) children: usize,
    /// How long requests and servers have to end.
    pub(crate) grace: Duration,
    /// After how long a quiet stream says that it is still there.
    pub(crate) keep_alive: Duration,
}

/// How long those have that were just told that all is over.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Headers must have come after this long.
const HEADERS: Duration = Duration::from_secs(30);

/// Serves until a signal ends it.
pub(crate) fn serve(
    recipe: Recipe,
    settings: HttpSettings,
    server: Server,
    log: Log,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(run(recipe, settings, server, log));
    // A task that does not end keeps nobody here.
    runtime.shutdown_timeout(LAST_WORDS);
    outcome
}

async fn run(recipe: Recipe, settings: HttpSettings, server: Server, log: Log) -> io::Result<()> {
    let listener = TcpListener::bind(&settings.listen).await?;
    let address = listener.local_addr()?;
    log.say(Level::Info, &format!("listening on http://{address}/mcp"));
    if !address.ip().is_loopback() && settings.token.is_none() {
        log.say(Level::Warn, &format!("{address} is open to other machines, without a token"));
    }
    let grace = settings.grace;
    let recipe = Arc::new(recipe);
    let backend = match server {
        Server::Command(command) => {
            let times = (settings.idle, settings.grace, settings.keep_alive);
            let children = settings.children;
            let sessions = Sessions::new(command, recipe, log.clone(), times, children);
            Backend::Command(Arc::clone(&sessions), Switchboard::new(sessions))
        }
        Server::Url(url) => Backend::Url(Proxy::new(url, recipe, log.clone(), settings.idle)?),
    };
    let front = Arc::new(Front {
        hosts: Hosts::new(&settings.listen, address.ip().is_loopback(), &settings.origins),
        backend,
        origins: settings.origins,
        token: settings.token,
        keep_alive: settings.keep_alive,
        log,
    });
    let (stop, stopped) = watch::channel(false);
    let (alive, mut all_gone) = mpsc::channel::<Infallible>(1);
    accept(&listener, &front, &stopped, alive).await?;
    drop(listener);
    let _ = stop.send(true);
    front.backend.hang_up();
    // First those in flight may end by themselves, then they are told that they will not.
    let _ = tokio::time::timeout(grace, all_gone.recv()).await;
    front.backend.close_all().await;
    let _ = tokio::time::timeout(LAST_WORDS, all_gone.recv()).await;
    Ok(())
}

/// Lets clients in until a signal comes.
async fn accept(
    listener: &TcpListener,
    front: &Arc<Front>,
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
            Ok((stream, _)) => {
                tokio::spawn(connection(stream, Arc::clone(front), stopped.clone(), alive.clone()));
            }
            Err(error) => {
                // Out of file descriptors, most likely: those in use will come back.
                front.log.say(Level::Warn, &format!("cannot accept a connection: {error}"));
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

async fn connection(
    stream: TcpStream,
    front: Arc<Front>,
    mut stopped: watch::Receiver<bool>,
    alive: mpsc::Sender<Infallible>,
) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let front = Arc::clone(&front);
        async move { Ok::<_, Infallible>(front.handle(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    tokio::select! {
        // A client that breaks off has nobody to be told.
        _ = connection.as_mut() => {}
        _ = stopped.changed() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
    drop(alive);
}
