//! The page of `stickler ui`: recorded sessions, live and past, in the browser.
//!
//! [`serve`] and [`serve_in_background`] follow the recordings of a directory and serve a page about them on a loopback address. They only read:
//! recordings are indexed by where their records are, and a message is read from its file when the page shows it. The
//! page can send a call only through the [`CallSender`] that the program passes in, never to a command that it
//! found in a recording.
//!
//! | module | contents |
//! | --- | --- |
//! | `files`, `indexing` | the files of the directory, and the thread that follows them |
//! | `record`, `envelope`, `verdict` | a line, a message, and what was decided about it |
//! | `index` | what is kept per session and per exchange |
//! | `library` | all sessions, shared with the requests |
//! | `filter`, `text_search`, `view` | the rows that match a filter |
//! | `api` | the data of the page as JSON |
//! | `http` | the server: access, files of the page, paths, events |

mod api;
mod base64;
mod envelope;
mod files;
mod filter;
mod http;
mod index;
mod indexing;
mod library;
mod record;
#[cfg(test)]
mod tests;
mod text_search;
mod verdict;
mod view;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

pub use files::Source;

use crate::http::{Access, Page};
use crate::indexing::Indexing;
use crate::library::Library;

/// Sends calls to the servers that the user has configured.
pub trait CallSender: Send + Sync {
    /// Returns the names of the servers.
    fn servers(&self) -> Vec<String>;

    /// Sends a call and returns its result as JSON, or why it failed.
    fn call(&self, server: String, tool: String, arguments: Value) -> Sent<'_>;
}

/// The outcome of a call that is sent.
pub type Sent<'s> = Pin<Box<dyn Future<Output = Result<Value, String>> + Send + 's>>;

/// What the page is about and where it is served.
pub struct Settings {
    /// Where the recordings are.
    pub source: Source,
    /// Address to listen on; must be a loopback address. Port 0 selects a free port.
    pub listen: SocketAddr,
    /// Sends calls; `None` disables sending.
    pub sender: Option<Arc<dyn CallSender>>,
}

/// Serves the page until the process is interrupted. `ready` receives its address with the token.
pub fn serve(settings: Settings, ready: impl FnOnce(&str) -> io::Result<()>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(run(settings, ready));
    // Open pages and searches must not delay the exit.
    runtime.shutdown_background();
    outcome
}

/// Serves the page on threads of its own until the process exits, for a program with another purpose. Returns the
/// address of the page with the token.
pub fn serve_in_background(settings: Settings) -> io::Result<String> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let Opened { listener, page, url } = runtime.block_on(open(settings))?;
    let serve = move || runtime.block_on(http::serve(listener, page));
    std::thread::Builder::new().name("page".to_owned()).spawn(serve)?;
    Ok(url)
}

async fn run(settings: Settings, ready: impl FnOnce(&str) -> io::Result<()>) -> io::Result<()> {
    let Opened { listener, page, url } = open(settings).await?;
    ready(&url)?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        outcome = http::serve(listener, page) => outcome,
        _ = terminate.recv() => Ok(()),
        _ = interrupt.recv() => Ok(()),
    }
}

/// A page that can be served.
struct Opened {
    listener: TcpListener,
    page: Arc<Page>,
    /// The address with the token.
    url: String,
}

/// Listens, and starts to follow the recordings.
async fn open(settings: Settings) -> io::Result<Opened> {
    if !settings.listen.ip().is_loopback() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the address must be a loopback address",
        ));
    }
    let listener = TcpListener::bind(settings.listen).await?;
    let address = listener.local_addr()?;
    let access = Access::new(address.port())?;
    let url = format!("http://{address}/?token={}", access.token());
    let library = Arc::new(Library::new());
    let source = match &settings.source {
        Source::Directory(directory) => directory.display().to_string(),
        Source::Files(files) => {
            files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ")
        }
    };
    Indexing::start(settings.source, Arc::clone(&library))?;
    let page = Page {
        library,
        access,
        definitions: api::definitions::Definitions::default(),
        sender: settings.sender,
        source,
        views: std::sync::Mutex::default(),
    };
    Ok(Opened { listener, page: Arc::new(page), url })
}

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
