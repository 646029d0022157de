//! The gRPC server of the processor.
//!
//! Contract: serves until SIGTERM or SIGINT, then reports itself as not serving, accepts no further connection and
//! finishes the exchanges in progress within the grace period.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use envoy_types::pb::envoy::service::ext_proc::v3::external_processor_server::{
    ExternalProcessor, ExternalProcessorServer,
};
use envoy_types::pb::envoy::service::ext_proc::v3::{ProcessingRequest, ProcessingResponse};
use futures_util::Stream;
use stickler_gateway::{MetricsText, serve_operators};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Certificate, Identity, Server, ServerTlsConfig};
use tonic::{Request, Response, Status, Streaming};
use tonic_health::ServingStatus;
use tracing::info;

use crate::Routes;
use crate::exchange::Exchange;

/// Settings of the server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address and port to listen on.
    pub listen: String,
    /// Certificates; `None` for plain text.
    pub tls: Option<Tls>,
    /// The secret of requests that list tools; they are not checked.
    pub secret: Option<Arc<str>>,
    /// Time for exchanges in progress at shutdown.
    pub grace: Duration,
    /// The address of a listener for operators: health and metrics.
    pub admin_listen: Option<String>,
    /// Where to get the metrics.
    pub metrics: Option<MetricsText>,
}

/// Certificates in PEM.
#[derive(Debug, Clone)]
pub struct Tls {
    /// The certificate chain of the server.
    pub certificate: Vec<u8>,
    /// Its private key.
    pub key: Vec<u8>,
    /// The authority that signs the certificates of clients; with it, clients must have one.
    pub client_ca: Option<Vec<u8>>,
}

/// Streams of one connection of Envoy. A long response stream occupies one, so the default of hyper (200) is too low.
const MAX_STREAMS: u32 = 100_000;

/// Flow-control window: bodies of this size arrive without waiting.
const WINDOW_BYTES: u32 = 1 << 20;

/// Room for headers beside the body of a message.
const HEADER_BYTES: usize = 1 << 20;

/// Serves Envoy until a signal stops the processor.
pub fn serve(routes: Routes, settings: Settings) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(run(routes, settings));
    runtime.shutdown_background();
    outcome
}

async fn run(routes: Routes, settings: Settings) -> io::Result<()> {
    let listener = TcpListener::bind(&settings.listen).await?;
    let address = listener.local_addr()?;
    if let Some(listen) = &settings.admin_listen {
        let admin = TcpListener::bind(listen).await?;
        info!(target: "announcement", "health and metrics at http://{}", admin.local_addr()?);
        let names = routes.named.keys().map(String::as_str).chain(["default"]);
        let names = names.map(Into::into).collect();
        tokio::spawn(serve_operators(admin, names, settings.metrics));
    }
    let limit = routes.message_bytes().saturating_add(HEADER_BYTES);
    let processor = Processor { routes: Arc::new(routes), secret: settings.secret };
    let service = ExternalProcessorServer::new(processor)
        .max_decoding_message_size(limit)
        .max_encoding_message_size(usize::MAX);
    let (health, health_service) = tonic_health::server::health_reporter();
    health.set_serving::<ExternalProcessorServer<Processor>>().await;
    let mut builder = Server::builder()
        .max_concurrent_streams(MAX_STREAMS)
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES);
    if let Some(tls) = settings.tls {
        builder = builder.tls_config(tls.config()).map_err(io::Error::other)?;
    }
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    let (stop, stopped) = oneshot::channel::<()>();
    let server = builder
        .add_service(health_service)
        .add_service(service)
        .serve_with_incoming_shutdown(incoming, async { drop(stopped.await) });
    let server = tokio::spawn(server);
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    info!(target: "announcement", "external processor at {address}");
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    health.set_service_status("", ServingStatus::NotServing).await;
    health.set_not_serving::<ExternalProcessorServer<Processor>>().await;
    drop(stop);
    match tokio::time::timeout(settings.grace, server).await {
        Ok(Ok(outcome)) => outcome.map_err(io::Error::other),
        // Exchanges that do not finish must not block the exit.
        Ok(Err(_)) | Err(_) => Ok(()),
    }
}

impl Tls {
    fn config(&self) -> ServerTlsConfig {
        let identity = Identity::from_pem(&self.certificate, &self.key);
        let config = ServerTlsConfig::new().identity(identity);
        match &self.client_ca {
            Some(authority) => config.client_ca_root(Certificate::from_pem(authority)),
            None => config,
        }
    }
}

/// The gRPC service.
struct Processor {
    routes: Arc<Routes>,
    secret: Option<Arc<str>>,
}

type Responses = Pin<Box<dyn Stream<Item = Result<ProcessingResponse, Status>> + Send>>;

#[tonic::async_trait]
impl ExternalProcessor for Processor {
    type ProcessStream = Responses;

    async fn process(
        &self,
        request: Request<Streaming<ProcessingRequest>>,
    ) -> Result<Response<Self::ProcessStream>, Status> {
        let name = Routes::name_in(request.metadata());
        let exchange = Exchange::new(Arc::clone(&self.routes), name, self.secret.clone());
        let parts = Some((request.into_inner(), exchange));
        // Envoy resets the stream if the client disconnects, which drops the exchange wherever it waits.
        Ok(Response::new(Box::pin(futures_util::stream::unfold(parts, next))))
    }
}

type Parts = Option<(Streaming<ProcessingRequest>, Exchange)>;

/// Receives the next part and returns the response to it; nothing after an error.
async fn next(parts: Parts) -> Option<(Result<ProcessingResponse, Status>, Parts)> {
    let (mut incoming, mut exchange) = parts?;
    loop {
        let message = incoming.message().await.ok()??;
        match exchange.handle(message).await {
            Ok(None) => {}
            Ok(Some(response)) => return Some((Ok(response), Some((incoming, exchange)))),
            Err(status) => return Some((Err(status), None)),
        }
    }
}
