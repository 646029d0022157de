//! Validation for an rmcp client that knows nothing of it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Serialize;
use serde::de::DeserializeOwned;
use stickler::rules::Code;
use stickler::{McpValidator, ValidationConfig};
use stickler_protocol::{
    Event, Gatekeeper, GatekeeperSettings, Outbox, Policy, ValidationMiddleware,
};
use tokio::sync::mpsc;

use crate::problems::Problems;

type Incoming = RxJsonRpcMessage<RoleClient>;
type Outgoing = TxJsonRpcMessage<RoleClient>;

/// A transport that checks the calls which an unmodified rmcp client makes.
///
/// It asks the server for its tools itself when a call comes whose tools are not known. A call that
/// is refused is not sent; the client gets the answer that a gateway would give.
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
    gate: Arc<Gate>,
    /// What rmcp is to receive.
    ready: VecDeque<Incoming>,
    /// Answers to what rmcp has sent.
    answers: mpsc::UnboundedReceiver<Vec<u8>>,
    is_gone: bool,
}

struct Gate {
    gatekeeper: Mutex<Gatekeeper>,
    started: Instant,
    answer: mpsc::UnboundedSender<Vec<u8>>,
}

impl<T: Transport<RoleClient>> CheckedTransport<T> {
    /// Around another transport.
    pub fn new(inner: T, config: ValidationConfig) -> Self {
        Self::with_policy(inner, config, Policy::default())
    }

    /// The same, with what becomes of messages that break a rule.
    pub fn with_policy(inner: T, config: ValidationConfig, policy: Policy) -> Self {
        let validator = Arc::new(McpValidator::new(config));
        let middleware =
            ValidationMiddleware::new("server", Arc::clone(&validator)).with_policy(policy);
        let mut settings = GatekeeperSettings::default();
        settings.announces = false;
        let gatekeeper = Gatekeeper::new("server", validator, middleware, settings);
        let (answer, answers) = mpsc::unbounded_channel();
        let gate = Gate { gatekeeper: Mutex::new(gatekeeper), started: Instant::now(), answer };
        Self { inner, gate: Arc::new(gate), ready: VecDeque::new(), answers, is_gone: false }
    }

    /// Takes in what the gatekeeper decided about something that came.
    fn settle(&mut self, outbox: Outbox<'_>, original: Option<(Vec<u8>, Incoming)>) {
        log(&outbox.events);
        for message in outbox.to_server {
            if let Some(message) = read::<Outgoing>(&message) {
                // The client waits for the answer, not for the sending.
                tokio::spawn(self.inner.send(message));
            }
        }
        let mut original = original;
        for message in outbox.to_client {
            let same = original.take_if(|(bytes, _)| **bytes == *message);
            let message = same.map(|(_, one)| one).or_else(|| read(&message));
            self.ready.extend(message);
        }
    }
}

impl Gate {
    fn gatekeeper(&self) -> MutexGuard<'_, Gatekeeper> {
        self.gatekeeper.lock().unwrap_or_else(PoisonError::into_inner)
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
        let bytes = written(&item);
        let mut sending: Vec<BoxFuture<'static, Result<(), Self::Error>>> = Vec::new();
        {
            let outbox = self.gate.gatekeeper().from_client(&bytes, self.gate.now());
            log(&outbox.events);
            let mut original = Some(item);
            for message in outbox.to_server {
                let same = if *message == *bytes { original.take() } else { None };
                if let Some(message) = same.or_else(|| read(&message)) {
                    sending.push(Box::pin(self.inner.send(message)));
                }
            }
            for answer in outbox.to_client {
                // Nobody is left to read it when the transport is gone.
                let _ = self.gate.answer.send(answer.into_owned());
            }
        }
        async move {
            for one in sending {
                one.await?;
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<Incoming> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            if self.is_gone {
                return None;
            }
            let deadline = self.gate.gatekeeper().next_deadline();
            let deadline = deadline.map(|at| (self.gate.started + at).into());
            let wait = async {
                match deadline {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                Some(answer) = self.answers.recv() => self.ready.extend(read(&answer)),
                message = self.inner.receive() => self.received(message),
                () = wait => {
                    let outbox = self.gate.gatekeeper().timeout(self.gate.now());
                    self.settle(outbox, None);
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
        let now = self.gate.now();
        let Some(message) = message else {
            self.is_gone = true;
            let outbox =
                self.gate.gatekeeper().server_gone(Code::ServerGone, "the server went away", now);
            self.settle(outbox, None);
            return;
        };
        let bytes = written(&message);
        let copy = bytes.clone();
        let gate = Arc::clone(&self.gate);
        let outbox = gate.gatekeeper().from_server(&bytes, now);
        self.settle(outbox, Some((copy, message)));
    }
}

/// What rmcp has made can be written.
fn written(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).unwrap_or_default()
}

fn read<M: DeserializeOwned>(message: &[u8]) -> Option<M> {
    match serde_json::from_slice(message) {
        Ok(message) => Some(message),
        Err(error) => {
            tracing::warn!(%error, "rmcp cannot read a message");
            None
        }
    }
}

fn log(events: &[Event]) {
    for event in events {
        match event {
            Event::Judged { sender, verdict } if !verdict.is_forward() => {
                let tool = verdict.subject.tool.as_deref();
                let problems = Problems(&verdict.findings);
                let rule = problems.rule();
                tracing::warn!(tool, rule, "message from the {sender} rejected: {problems}");
            }
            Event::Degraded { reason } => {
                tracing::warn!(reason, "calls go on unchecked for now");
            }
            _ => {}
        }
    }
}

impl<T> std::fmt::Debug for CheckedTransport<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CheckedTransport").field("is_gone", &self.is_gone).finish_non_exhaustive()
    }
}
