//! Relays between a client on standard input and output and a server process.
//!
//! Everything runs on one thread: a message is read, validated and written without a switch of threads or tasks. The
//! messages of one read are written together. The server is restarted as its policy says; the relay ends with the
//! server, and with the client after pending requests are answered ([`shutdown`](super::shutdown)).

use std::process::ChildStdout;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use stickler_protocol::frame::Frame;
use stickler_protocol::{RequestContext, Side};
use stickler_transport::{
    Backoff, Input, LineReader, Output, OutputHandler, Pipe, RestartWhen, ServerCommand,
    StderrOutput, SupervisedProcess, TerminationSignals, exit_code, read_output,
};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tracing::{error, warn};

use crate::connection_factory::ConnectionFactory;
use crate::downstream::http::ServerLimits;
use crate::downstream::stdio::shutdown::Ending;
use crate::driver::{Driver, WaitPolicy};
use crate::failure::Failure;
use crate::log::Log;
use crate::upstream::process::slot::{ServerSlot, SlotLink};

/// Exit code if the status of the server is not known.
const UNKNOWN_EXIT_CODE: i32 = 1;

/// A client on the standard streams and its server.
pub(super) struct Relay {
    pub(super) driver: Arc<Driver>,
    pub(super) slot: Arc<ServerSlot>,
    pub(super) output: Arc<Pipe>,
    pub(super) limits: ServerLimits,
    pub(super) ending: watch::Sender<Ending>,
    /// Incremented whenever data is read from either side.
    pub(super) progress: AtomicUsize,
    message_bytes: usize,
    log: Log,
}

type Started = (Arc<SupervisedProcess>, ChildStdout);

/// Relays until either side ends. Returns the exit code of the server.
pub fn relay(
    factory: &ConnectionFactory,
    command: &ServerCommand,
    log: Log,
    limits: ServerLimits,
) -> Result<i32, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(run(factory, command, log, limits));
    runtime.shutdown_background();
    outcome
}

async fn run(
    factory: &ConnectionFactory,
    command: &ServerCommand,
    log: Log,
    limits: ServerLimits,
) -> Result<i32, Failure> {
    // Installed before the server starts, so that no signal is lost.
    let signals = TerminationSignals::install()?;
    let input = LineReader::new(Input::standard()?, factory.message_bytes());
    let output = Pipe::new(Output::standard()?);
    let is_restarted = limits.restart.when != RestartWhen::Never;
    let slot = ServerSlot::new(is_restarted, log.span().clone());
    let connection = factory.subscriber(&factory.name, None);
    let link = Box::new(SlotLink(Arc::clone(&slot)));
    let driver = factory.driver(connection, link, log.clone(), Instant::now());
    let relay = Arc::new(Relay {
        driver: Arc::new(driver.with_output(Arc::clone(&output))),
        slot,
        output,
        limits,
        ending: watch::Sender::default(),
        progress: AtomicUsize::new(0),
        message_bytes: factory.message_bytes(),
        log,
    });
    let server = relay.start(command).map_err(|error| {
        let program = &command.program;
        Failure::Unreachable(format!("[STK-101] cannot start `{program}`: {error}"))
    })?;
    tokio::spawn(Arc::clone(&relay).handle_signals(signals));
    tokio::spawn(Arc::clone(&relay).read_client(input));
    tokio::spawn(Arc::clone(&relay).watch_output());
    let code = relay.supervise(command, server).await;
    relay.deliver_final().await;
    Ok(code)
}

impl Relay {
    fn start(&self, command: &ServerCommand) -> std::io::Result<Started> {
        let stderr = StderrOutput::Log(self.log.span().clone());
        let server = SupervisedProcess::start(command, self.limits.grace, stderr, None)?;
        self.slot.occupy(&server.0, self.driver.agreed_revision());
        Ok(server)
    }

    /// Runs the server, and restarts it as configured, until it is not needed or has failed. Returns its exit code.
    async fn supervise(self: &Arc<Self>, command: &ServerCommand, mut server: Started) -> i32 {
        let mut backoff = Backoff::new(self.limits.restart);
        loop {
            let started_at = Instant::now();
            let (process, stdout) = server;
            let limit_and_span = (self.message_bytes, self.log.span().clone());
            read_output(Arc::clone(&process), stdout, Arc::clone(self), limit_and_span).await;
            let status = process.exit_status().await;
            let code = status.map_or(UNKNOWN_EXIT_CODE, exit_code);
            let next = if code == 0 { None } else { backoff.next(started_at.elapsed()) };
            let Some(pause) = next.filter(|_| !self.is_ending()) else { return code };
            let Some(restarted) = self.restart(command, pause, &mut backoff).await else {
                // Requests may have arrived during the delay.
                self.on_exit("the server was not restarted").await;
                return code;
            };
            server = restarted;
        }
    }

    /// Restarts the server after a delay. Returns `None` if the relay is ending or the backoff gives up.
    async fn restart(
        &self,
        command: &ServerCommand,
        mut pause: Duration,
        backoff: &mut Backoff,
    ) -> Option<Started> {
        let mut ending = self.ending.subscribe();
        loop {
            let (seconds, failures) = (pause.as_secs_f64(), backoff.failures());
            warn!(
                parent: self.log.span(),
                "server failed; restart attempt {failures} in {seconds} s"
            );
            if timeout(pause, ending.wait_for(|ending| ending.is_set())).await.is_ok() {
                return None;
            }
            match self.start(command) {
                Ok(server) => {
                    self.log.server_restarted();
                    return Some(server);
                }
                Err(error) => {
                    error!(parent: self.log.span(), rule = "STK-101", "[STK-101] cannot restart the server: {error}");
                    pause = backoff.next(Duration::ZERO)?;
                }
            }
        }
    }

    /// Reads and forwards the client's messages until its output ends, then drains.
    async fn read_client(self: Arc<Self>, mut input: LineReader) {
        loop {
            let is_open = input.fill().await;
            self.progress.fetch_add(1, Ordering::Relaxed);
            while let Some(frame) = input.next_frame() {
                self.handle_client(frame).await;
            }
            self.driver.flush();
            if !is_open {
                return self.drain().await;
            }
            if !self.slot.has_capacity() {
                self.wait_for_capacity(&input).await;
            }
        }
    }

    async fn handle_client(&self, frame: Frame<'_>) {
        match frame {
            Frame::Line(line) => {
                let line = Bytes::copy_from_slice(line);
                let outcome =
                    self.driver.post(&line, &RequestContext::default(), true, WaitPolicy::Never);
                self.driver.send(outcome.to_server);
                self.driver.deliver(outcome.answers).await;
            }
            Frame::TooLong { partial, .. } => {
                let outgoing = self.driver.handle_oversized(Side::Client, partial);
                self.driver.dispatch(outgoing).await;
            }
        }
    }
}

impl OutputHandler for Relay {
    async fn on_frame(self: &Arc<Self>, frame: Frame<'_>) {
        self.progress.fetch_add(1, Ordering::Relaxed);
        if !self.slot.is_handshake_response(&frame, || self.driver.agreed_revision()) {
            self.driver.on_frame(frame).await;
        }
    }

    fn on_chunk_end(&self) {
        self.driver.flush();
    }

    fn expects_exit(&self) -> bool {
        self.is_ending()
    }

    /// Answers all pending requests with errors. Later messages are for the next process.
    async fn on_exit(self: &Arc<Self>, reason: &str) {
        self.slot.vacate();
        self.driver.server_replaced(reason).await;
    }
}
