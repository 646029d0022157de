//! The HTTP server of the page: accepts connections on a loopback address and serves the page and its data.

mod access;
mod assets;
mod events;
mod response;
mod routes;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};

pub(crate) use access::Access;
pub(crate) use routes::Page;

const HEADER_READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Serves the page until the process ends.
pub(crate) async fn serve(listener: TcpListener, page: Arc<Page>) -> io::Result<()> {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                tokio::spawn(connection(stream, peer, Arc::clone(&page)));
            }
            Err(error) => {
                // Probably out of file descriptors: retry when some are closed.
                tracing::warn!("cannot accept a connection: {error}");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

async fn connection(stream: TcpStream, peer: SocketAddr, page: Arc<Page>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let page = Arc::clone(&page);
        async move { Ok::<_, Infallible>(page.handle(request).await) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADER_READ_TIMEOUT);
    if let Err(error) = builder.serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!(%peer, "connection ended: {error}");
    }
}
