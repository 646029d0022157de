//! Transport wrapper that adds validation to an unmodified rmcp client.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Serialize;
use serde::de::DeserializeOwned;
use stickler::ValidationConfig;
use stickler::rules::Code;
use stickler_protocol::{
    Action, Actions, Connection, ConnectionSettings, Event, Policy, RequestContext, Side,
};
use tokio::sync::mpsc;

use crate::problems::Problems;
use crate::schema_store;

type Incoming = RxJsonRpcMessage<RoleClient>;
type Outgoing = TxJsonRpcMessage<RoleClient>;

/// A transport that validates the calls of an unmodified rmcp client.
///
/// When the tools are not known yet, it requests the tool list from the server before it validates
/// a call. A rejected call is not sent; the client receives the response that a gateway would send.
///
/// ```no_run
/// use rmcp::ServiceExt;
/// use rmcp::transport::TokioChildProcess;
/// use stickler_rmcp::{CheckedTransport, ValidationConfig};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let server = TokioChildProcess::new(tokio::process::Command::new("some-server"))?;
/// let client = ().serve(CheckedTransport::new(server, ValidationConfig::default())).await?;
/// # let _ = client;
/// # Ok(())
/// # }
/// ```
pub struct CheckedTransport<T> {
    inner: T,
    shared: Arc<Shared>,
    /// Messages for rmcp, in order.
    ready: VecDeque<Incoming>,
    /// Responses to rejected messages of rmcp.
    responses: mpsc::UnboundedReceiver<Vec<u8>>,
    is_closed: bool,
}

/// State that sending and receiving share.
struct Shared {
    connection: Mutex<Connection>,
    started: Instant,
    response: mpsc::UnboundedSender<Vec<u8>>,
}

impl<T: Transport<RoleClient>> CheckedTransport<T> {
    /// Wraps another transport.
    pub fn new(inner: T, config: ValidationConfig) -> Self {
        Self::with_policy(inner, config, Policy::default())
    }

    /// Wraps another transport, with a policy for messages that violate a rule.
    pub fn with_policy(inner: T, config: ValidationConfig, policy: Policy) -> Self {
        let validator = schema_store::validator(config);
        let mut settings = ConnectionSettings::default();
        settings.announce = false;
        let connection = Connection::new("server", validator, settings).with_policy(policy);
        let (response, responses) = mpsc::unbounded_channel();
        let shared =
            Shared { connection: Mutex::new(connection), started: Instant::now(), response };
        Self {
            inner,
            shared: Arc::new(shared),
            ready: VecDeque::new(),
            responses,
            is_closed: false,
        }
    }

    /// Carries out the actions. `original` is the handled message; it is not parsed again if it is
    /// forwarded unchanged.
    fn process(&mut self, actions: Actions<'_>, mut original: Option<Incoming>) {
        for action in actions {
            let message = match (action.receiver(), action.message()) {
                (Some(Side::Client), Some(_)) if is_unchanged(&action) => original.take(),
                (Some(Side::Client), Some(message)) => parse(message),
                (Some(Side::Server), Some(message)) => {
                    if let Some(message) = parse::<Outgoing>(message) {
                        // `receive` must not block until the message has been written.
                        tokio::spawn(self.inner.send(message));
                    }
                    None
                }
                _ => None,
            };
            self.ready.extend(message);
            if let Action::Event(event) = &action {
                log(event);
            }
        }
    }
}

impl Shared {
    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for CheckedTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: Outgoing,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let bytes = to_json(&item);
        let mut sending: Vec<BoxFuture<'static, Result<(), Self::Error>>> = Vec::new();
        {
            let actions = self.shared.connection().handle_client(
                &bytes,
                &RequestContext::default(),
                self.shared.now(),
            );
            let mut original = Some(item);
            for action in actions {
                match (action.receiver(), action.message()) {
                    (Some(Side::Server), Some(message)) => {
                        let unchanged =
                            if is_unchanged(&action) { original.take() } else { parse(message) };
                        if let Some(message) = unchanged {
                            sending.push(Box::pin(self.inner.send(message)));
                        }
                    }
                    (Some(Side::Client), Some(response)) => {
                        // Fails only if the transport has been dropped.
                        let _ = self.shared.response.send(response.to_vec());
                    }
                    _ => {}
                }
                if let Action::Event(event) = &action {
                    log(event);
                }
            }
        }
        async move {
            for item in sending {
                item.await?;
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<Incoming> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            if self.is_closed {
                return None;
            }
            let deadline = self.shared.connection().poll_timeout();
            let deadline = deadline.map(|at| (self.shared.started + at).into());
            let wait = async {
                match deadline {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                Some(response) = self.responses.recv() => self.ready.extend(parse(&response)),
                message = self.inner.receive() => self.received(message),
                () = wait => {
                    let actions = self.shared.connection().handle_timeout(self.shared.now());
                    self.process(actions, None);
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

impl<T: Transport<RoleClient>> CheckedTransport<T> {
    fn received(&mut self, message: Option<Incoming>) {
        let now = self.shared.now();
        let Some(message) = message else {
            self.is_closed = true;
            let reason = "the server closed the connection";
            let actions = self.shared.connection().server_gone(Code::ServerGone, reason, now);
            self.process(actions, None);
            return;
        };
        let bytes = to_json(&message);
        let shared = Arc::clone(&self.shared);
        let actions = shared.connection().handle_server(&bytes, now);
        self.process(actions, Some(message));
    }
}

/// Serialization of rmcp's own message types does not fail.
fn to_json(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).unwrap_or_default()
}

fn parse<M: DeserializeOwned>(message: &[u8]) -> Option<M> {
    match serde_json::from_slice(message) {
        Ok(message) => Some(message),
        Err(error) => {
            tracing::warn!(%error, "rmcp cannot read a message");
            None
        }
    }
}

/// Returns whether an action forwards the handled message as it is.
fn is_unchanged(action: &Action<'_>) -> bool {
    matches!(action, Action::Forward { bytes: Cow::Borrowed(_), .. })
}

fn log(event: &Event) {
    match event {
        Event::Checked { sender, verdict } if !verdict.is_forward() => {
            let tool = verdict.header.tool.as_deref();
            let problems = Problems(&verdict.findings);
            let rule = problems.rule();
            tracing::warn!(tool, rule, "message from the {sender} rejected: {problems}");
        }
        Event::Degraded { reason } => {
            tracing::warn!(reason, "calls are forwarded without validation for now");
        }
        _ => {}
    }
}

impl<T> std::fmt::Debug for CheckedTransport<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CheckedTransport")
            .field("is_closed", &self.is_closed)
            .finish_non_exhaustive()
    }
}
