//! Serves a suite on standard input and output or over Streamable HTTP.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rmcp::ServiceExt as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use stickler_rmcp::{AnswerForm, Mode, RawLayer, RawTransport, Validated};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tower_layer::Layer as _;
use tracing::{debug, error, info, warn};

use super::server::ReferenceServer;
use super::workspace::Workspace;
use super::{Suite, scheduler};

/// Time limit for the headers of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);

/// Delay after a failure to accept a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How a server treats invalid calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answers {
    /// How much it intervenes.
    pub mode: Mode,
    /// The form of the response to a rejected call.
    pub form: AnswerForm,
}

/// Serves on standard input and output until the input ends or a signal arrives.
pub fn over_stdio(suite: Suite, workspace: Workspace, answers: Answers) -> io::Result<()> {
    run(suite, workspace, answers, |server| async move {
        let transport = RawTransport::stdio(&server.raw_settings());
        // A client that disconnects before the handshake is not an error.
        if let Ok(running) = server.serve(transport).await {
            let _ = running.waiting().await;
        }
        Ok(())
    })
}

/// Serves at `/mcp` until a signal arrives, and logs the address.
pub fn over_http(
    suite: Suite,
    workspace: Workspace,
    answers: Answers,
    listen: &str,
) -> io::Result<()> {
    let listen = listen.to_owned();
    run(suite, workspace, answers, |server| async move {
        let listener = TcpListener::bind(&listen).await?;
        let address = listener.local_addr()?;
        info!(target: "announcement", "listening on http://{address}/mcp");
        if !address.ip().is_loopback() {
            warn!("{address} is reachable from other machines");
        }
        accept(&listener, server).await
    })
}

async fn accept(listener: &TcpListener, server: Validated<ReferenceServer>) -> io::Result<()> {
    let sessions = Arc::new(LocalSessionManager::default());
    let config = StreamableHttpServerConfig::default();
    let raw = server.raw_settings();
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    let service = RawLayer::new(raw).layer(service);
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                // Usually caused by a lack of file descriptors, which is temporary.
                error!("cannot accept a connection: {error}");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let answer = service.call(request);
                async move { answer.await.inspect(|answer| log_rejection(answer.status(), peer)) }
            });
            let mut connection = http1::Builder::new();
            let connection =
                connection.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
            match connection.serve_connection(TokioIo::new(stream), service).await {
                Err(error) if error.is_parse() => warn!(%peer, "connection rejected: {error}"),
                Err(error) => debug!(%peer, "connection ended: {error}"),
                Ok(()) => {}
            }
        });
    }
}

/// Logs a request with an error status.
fn log_rejection(status: StatusCode, peer: SocketAddr) {
    if status.is_client_error() || status.is_server_error() {
        warn!(status = status.as_u16(), %peer, "request rejected: {status}");
    }
}

/// Runs a server; terminates all programs that its tools have started before it returns.
fn run<F: Future<Output = io::Result<()>>>(
    suite: Suite,
    workspace: Workspace,
    answers: Answers,
    serve: impl FnOnce(Validated<ReferenceServer>) -> F,
) -> io::Result<()> {
    let workspace = Arc::new(workspace);
    let handler = ReferenceServer::new(suite, Arc::clone(&workspace));
    let server =
        Validated::in_mode(handler, answers.mode).answer_with(answers.form).with_deep_checks();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let runner = (suite == Suite::Scheduler)
        .then(|| scheduler::Runner::start_thread(&workspace, runtime.handle().clone()));
    let outcome = runtime.block_on(async {
        server
            .check_tools()
            .await
            .map_err(io::Error::other)?
            .require_all()
            .map_err(io::Error::other)?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut hang_up = signal(SignalKind::hangup())?;
        tokio::select! {
            outcome = serve(server) => outcome,
            _ = terminate.recv() => Ok(()),
            _ = interrupt.recv() => Ok(()),
            _ = hang_up.recv() => Ok(()),
        }
    });
    if let Some(runner) = runner {
        runner.drain();
    }
    workspace.running.kill_all();
    runtime.shutdown_timeout(Duration::from_secs(1));
    outcome
}
