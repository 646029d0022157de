//! The client's connection to one server: handshake, change notifications and shutdown.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http::{HeaderName, HeaderValue};
use rmcp::model::{ProtocolVersion, ServerPeerInfo, SubscriptionFilter};
use rmcp::service::{ClientInitializeError, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientLifecycleMode, ClientServiceExt as _, RoleClient};
use stickler::Era;
use stickler::rules::Code;
use tokio::task::JoinHandle;

use super::config::without_secrets;
use super::config::{Endpoint, McpConfig};
use super::http::HttpClient;
use super::lines::{LineTransport, StartedServer};
use super::listener::{Changes, Listener, set, take};
use crate::Error;

/// How long a child process may take to exit before it is terminated, and then before it is killed.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// Age up to which a cached tool list may be the basis for rejecting a call.
const MAX_FRESH_AGE: Duration = Duration::from_secs(5);

type Running = RunningService<RoleClient, Listener>;

pub(super) struct Connection {
    pub(super) running: Running,
    pub(super) timeout: Duration,
    changes: Arc<Changes>,
    /// When the tools were last listed.
    listed: Mutex<Option<Instant>>,
    server: Option<StartedServer>,
    /// Reads the subscription to changes of modern servers.
    subscription: Option<JoinHandle<()>>,
}

impl Connection {
    /// Connects and completes the handshake. Without a configured era, the modern handshake is
    /// attempted first and then the legacy one.
    pub(super) async fn open(config: &McpConfig) -> Result<Self, Error> {
        let first = match config.era {
            Some(Era::Legacy) => ClientLifecycleMode::Initialize,
            Some(Era::Modern) => ClientLifecycleMode::Discover { preferred_versions: modern() },
            None => ClientLifecycleMode::Auto {
                preferred_versions: modern(),
                legacy_version: Some(ProtocolVersion::V_2025_11_25),
            },
        };
        match Self::attempt(config, first).await {
            // Some servers exit when they receive an unknown request.
            Err(error) if config.era.is_none() && error.code() != Code::Timeout => {
                tracing::info!(server = config.name, %error, "retrying with the legacy handshake");
                let again = Self::attempt(config, ClientLifecycleMode::Initialize).await;
                again.map_err(|second| if second == error { error } else { second })
            }
            outcome => outcome,
        }
    }

    async fn attempt(config: &McpConfig, mode: ClientLifecycleMode) -> Result<Self, Error> {
        let listener = Listener::new(&mode);
        let changes = Arc::clone(&listener.changes);
        let unreachable = |reason: String| {
            let message = match &config.endpoint {
                Endpoint::Command { program, .. } => {
                    format!("`{program}` started, but the MCP handshake failed: {reason}")
                }
                Endpoint::Url { url, .. } => {
                    format!("cannot reach `{}`: {reason}", without_secrets(url))
                }
            };
            Error::new(Code::CannotStart, message)
        };
        let (starting, server) = match &config.endpoint {
            Endpoint::Command { program, .. } => {
                let started = LineTransport::start(config, SHUTDOWN_TIMEOUT);
                let (transport, server) = started.map_err(|error| {
                    Error::new(Code::CannotStart, format!("cannot start `{program}`: {error}"))
                })?;
                let starting = listener.serve_with_lifecycle(transport, mode);
                (futures_util::future::Either::Left(starting), Some(server))
            }
            Endpoint::Url { url, headers } => {
                let transport = http_transport(url, headers).map_err(unreachable)?;
                let starting = listener.serve_with_lifecycle(transport, mode);
                (futures_util::future::Either::Right(starting), None)
            }
        };
        let running = match tokio::time::timeout(config.timeout, starting).await {
            Ok(Ok(running)) => running,
            Ok(Err(error)) => return Err(unreachable(reason(&error))),
            Err(_) => {
                let name = match &config.endpoint {
                    Endpoint::Command { program, .. } => program.clone(),
                    Endpoint::Url { url, .. } => without_secrets(url),
                };
                let seconds = config.timeout.as_secs_f64();
                let message = format!("`{name}` did not complete the handshake within {seconds} s");
                return Err(Error::new(Code::Timeout, message));
            }
        };
        Ok(Self {
            running,
            timeout: config.timeout,
            changes,
            listed: Mutex::default(),
            server,
            subscription: None,
        })
    }

    pub(super) fn info(&self) -> Option<Arc<ServerPeerInfo>> {
        self.running.peer_info()
    }

    pub(super) fn is_open(&self) -> bool {
        !self.running.is_closed() && !self.running.is_transport_closed()
    }

    /// Subscribes to changes of the tools and resources. Modern servers notify only subscribers.
    pub(super) async fn watch_for_changes(&mut self) {
        let Some(info) = self.info() else { return };
        if info.protocol_version.has_initialize() {
            return;
        }
        let tools = info.capabilities.tools.as_ref().and_then(|tools| tools.list_changed);
        let resources = info.capabilities.resources.as_ref().and_then(|one| one.list_changed);
        let mut filter = SubscriptionFilter::builder();
        if tools == Some(true) {
            filter = filter.tools_list_changed();
        }
        if resources == Some(true) {
            filter = filter.resources_list_changed();
        }
        if tools != Some(true) && resources != Some(true) {
            return;
        }
        let filter = filter.build();
        let listening = tokio::time::timeout(self.timeout, self.running.listen(filter));
        let mut subscription = match listening.await {
            Ok(Ok(subscription)) => subscription,
            outcome => {
                let reason = outcome.map(|error| error.err().map(|error| error.to_string()));
                tracing::debug!(?reason, "cannot subscribe to changes");
                return;
            }
        };
        let changes = Arc::clone(&self.changes);
        self.subscription = Some(tokio::spawn(async move {
            while let Ok(Some(notification)) = subscription.next().await {
                changes.note(&notification);
            }
        }));
    }

    pub(super) fn tools_may_have_changed(&self) {
        set(&self.changes.tools);
    }

    /// Returns whether the tools may have changed, and resets the flag.
    pub(super) fn take_changed(&self) -> bool {
        take(&self.changes.tools)
    }

    /// Returns whether a resource may have changed, and resets the flag.
    pub(super) fn take_resource_change(&self) -> bool {
        take(&self.changes.resources)
    }

    pub(super) fn mark_listed(&self) {
        *self.listed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Returns whether the tool list is recent enough to reject calls on its basis.
    pub(super) fn is_list_fresh(&self) -> bool {
        let listed = *self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        listed.is_some_and(|at| at.elapsed() < MAX_FRESH_AGE)
    }

    /// Closes the connection. A child process that does not exit in time is terminated, then killed.
    pub(super) async fn close(mut self) {
        if let Some(subscription) = self.subscription.take() {
            subscription.abort();
        }
        // Closes the child's standard input, which signals it to exit.
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, self.running.cancel()).await;
        if let Some(server) = self.server.take() {
            server.end().await;
        }
    }
}

fn modern() -> Vec<ProtocolVersion> {
    vec![ProtocolVersion::V_2026_07_28]
}

fn http_transport(
    url: &str,
    headers: &[(String, String)],
) -> Result<StreamableHttpClientTransport<HttpClient>, String> {
    let invalid = |name: &str| format!("the header `{name}` cannot be sent");
    let mut all = std::collections::HashMap::new();
    for (name, value) in headers {
        let header = HeaderName::try_from(name).map_err(|_| invalid(name))?;
        all.insert(header, HeaderValue::try_from(value).map_err(|_| invalid(name))?);
    }
    let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(all);
    Ok(StreamableHttpClientTransport::with_client(HttpClient::new(url)?, config))
}

/// Returns the part of an rmcp error that is useful in a message.
fn reason(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => {
            "the server exited before it completed the handshake".to_owned()
        }
        ClientInitializeError::JsonRpcError(error) => {
            format!("the server rejected the handshake: {}", error.message)
        }
        ClientInitializeError::TransportError { error, .. } => error.error.to_string(),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => reason(fallback),
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_) => {
            "the server sent an unexpected response to the handshake".to_owned()
        }
        other => other.to_string(),
    }
}
