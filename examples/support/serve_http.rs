//! Serves a tower service over HTTP on a local address.

use std::convert::Infallible;
use std::io::Write as _;
use std::sync::Arc;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tower_service::Service;

/// The HTTP service of rmcp. Each session is a clone of the server.
pub(crate) fn service<H: ServerHandler + Clone>(
    server: H,
) -> StreamableHttpService<H, LocalSessionManager> {
    let sessions = Arc::new(LocalSessionManager::default());
    let config = StreamableHttpServerConfig::default();
    StreamableHttpService::new(move || Ok(server.clone()), sessions, config)
}

/// Binds the address, prints the URL on standard error and serves until the process ends.
pub(crate) async fn listen<S, B>(address: &str, service: S) -> std::io::Result<()>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let listener = TcpListener::bind(address).await?;
    writeln!(std::io::stderr(), "listening on http://{}/mcp", listener.local_addr()?)?;
    serve(listener, service).await
}

/// Accepts connections and serves each in its own task.
pub(crate) async fn serve<S, B>(listener: TcpListener, service: S) -> std::io::Result<()>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    loop {
        let (stream, _) = listener.accept().await?;
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            let connection = hyper::server::conn::http1::Builder::new();
            // A disconnected client is not an error of the server.
            let _ = connection.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
