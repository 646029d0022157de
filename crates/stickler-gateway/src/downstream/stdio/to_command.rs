//! Relays between a client on standard input and output and a server child process.
//!
//! One thread per direction reads, validates and writes, so a message is forwarded without a thread switch.
//! Messages that the server's thread sends back to the server are written by a third thread, because a server
//! that is writing may not be reading.

mod restart;
mod server_queue;
mod shutdown;

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd as _;
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use stickler_protocol::frame::{Frame, LineFramer};
use stickler_protocol::{Action, Actions, Connection, Side};
use stickler_transport::stdin_slot::StdinSlot;
use stickler_transport::wire::LineWriter;
use stickler_transport::{Backoff, ServerCommand, SignalForwarder, exit_code, signal_group};

use crate::connection_factory::ConnectionFactory;
use crate::downstream::http::ServerLimits;
use crate::failure::Failure;
use crate::log::Log;
use crate::observe::exchange::{Payload, of_actions};
use crate::upstream::process::handshake::Handshake;
use server_queue::ServerWrite;

/// Size of the read buffer in bytes.
const READ_CHUNK_BYTES: usize = 256 << 10;

/// Multiple of the grace period to wait for pending responses after the client has closed its output.
const DRAIN_GRACE_FACTOR: u32 = 12;

/// Poll interval while waiting for a condition.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// State shared by all threads of a relay.
struct Shared {
    connection: Mutex<Connection>,
    /// The generation of the current server; changed only while the connection is locked.
    generation: AtomicU64,
    deadline_changed: Condvar,
    client: Mutex<File>,
    server: StdinSlot,
    signal_forwarder: Arc<SignalForwarder>,
    handshake: Mutex<Handshake>,
    handshake_is_pending: AtomicBool,
    /// The client has closed its output or stopped reading.
    client_is_done: AtomicBool,
    /// Lists of actions whose messages to the server are not queued yet.
    unqueued_outputs: AtomicUsize,
    /// Messages queued for the server.
    queued_messages: AtomicUsize,
    /// Incremented whenever data is read from either side.
    progress: AtomicUsize,
    log: Log,
    started: Instant,
    message_bytes: usize,
    limits: ServerLimits,
    weak_self: Weak<Shared>,
}

/// Relays until either side ends. Returns the exit code of the server.
pub fn relay(
    factory: &ConnectionFactory,
    command: &ServerCommand,
    log: Log,
    limits: ServerLimits,
) -> Result<i32, Failure> {
    // Installed before the server starts, so that no signal is lost.
    let signal_forwarder = SignalForwarder::install(limits.grace)?;
    let (mut server, stdin, mut stdout) = command.start(log.span()).map_err(|error| {
        let program = &command.program;
        Failure::Unreachable(format!("[STK-101] cannot start `{program}`: {error}"))
    })?;
    signal_forwarder.set(server.pid());
    let client_in = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let shared = Shared::new(factory, stdin, signal_forwarder, log, limits)?;
    let (server_queue, writes) = channel();
    spawn(&shared, move |shared| shared.write_queued(&writes));
    let last = server_queue.clone();
    let watched = client_in.try_clone()?;
    spawn(&shared, move |shared| shared.read_client(client_in, &last));
    spawn(&shared, move |shared| shared.watch_client(&watched));
    let timer = server_queue.clone();
    spawn(&shared, move |shared| shared.run_timer(&timer));
    let mut backoff = Backoff::new(limits.restart);
    loop {
        let started_at = Instant::now();
        let Some(output) = shared.start_reading(&server, stdout, &server_queue) else {
            return Ok(0);
        };
        let status = shared.wait_for_exit(&mut server, &output)?;
        let is_failure = !status.success() && !shared.is_ending();
        shared.server_exited(is_failure, &format!("the server ended with {status}"));
        let next = if status.success() { None } else { backoff.next(started_at.elapsed()) };
        let Some(pause) = next.filter(|_| !shared.is_ending()) else {
            return Ok(exit_code(status));
        };
        // An orphan may hold the pipe open while a thread blocks writing to it.
        drop(server);
        shared.server.clear();
        let Some(next) = shared.restart(command, pause, &mut backoff) else {
            // Requests may have arrived during the delay.
            shared.server_exited(false, "the server was not restarted");
            return Ok(exit_code(status));
        };
        (server, stdout) = next;
    }
}

fn spawn(shared: &Arc<Shared>, work: impl FnOnce(&Shared) + Send + 'static) {
    let shared = Arc::clone(shared);
    std::thread::spawn(move || work(&shared));
}

impl Shared {
    fn new(
        factory: &ConnectionFactory,
        stdin: ChildStdin,
        signal_forwarder: Arc<SignalForwarder>,
        log: Log,
        limits: ServerLimits,
    ) -> io::Result<Arc<Self>> {
        let client_out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        Ok(Arc::new_cyclic(|weak_self| Self {
            connection: Mutex::new(factory.subscriber(&factory.name, None)),
            generation: AtomicU64::new(0),
            deadline_changed: Condvar::new(),
            client: Mutex::new(client_out),
            server: StdinSlot::new(stdin),
            signal_forwarder,
            handshake: Mutex::default(),
            handshake_is_pending: AtomicBool::new(false),
            client_is_done: AtomicBool::new(false),
            unqueued_outputs: AtomicUsize::new(0),
            queued_messages: AtomicUsize::new(0),
            progress: AtomicUsize::new(0),
            log,
            started: Instant::now(),
            message_bytes: factory.message_bytes(),
            limits,
            weak_self: weak_self.clone(),
        }))
    }

    /// Locks the connection. Poisoning is ignored: the state stays consistent when a thread panics.
    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn client(&self) -> MutexGuard<'_, File> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handshake(&self) -> MutexGuard<'_, Handshake> {
        self.handshake.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads and forwards the client's messages until its output ends, then closes the server's input.
    fn read_client(&self, mut input: File, server_queue: &Sender<ServerWrite>) {
        let mut framer = LineFramer::new(self.message_bytes);
        let mut chunk = vec![0; READ_CHUNK_BYTES];
        let mut lines = LineWriter::default();
        let mut generation = 0;
        loop {
            let read = read_some(&mut input, &mut chunk);
            self.progress.fetch_add(1, Ordering::Relaxed);
            framer.push(chunk.get(..read).unwrap_or_default());
            loop {
                let frame = if read == 0 { framer.finish() } else { framer.next_frame() };
                let Some(frame) = frame else { break };
                let (actions, frame_generation) = self.process_frame(Side::Client, frame);
                if frame_generation != generation {
                    lines.clear();
                    generation = frame_generation;
                }
                self.write_to_server(generation, &mut lines, &actions);
                let _ = self.deliver_to_client(&actions);
            }
            if !lines.is_empty() {
                self.server.write(generation, &mut lines, LineWriter::flush);
            }
            if read == 0 {
                break;
            }
        }
        self.client_is_done.store(true, Ordering::SeqCst);
        self.wait_for_held_calls();
        // Queued behind the calls that were just released.
        if server_queue.send(ServerWrite::Close).is_err() {
            self.server.close();
        }
        self.drain_client();
    }

    /// Waits for calls that are held until the tool list is available; they must reach the server.
    fn wait_for_held_calls(&self) {
        let latest = Instant::now() + self.limits.grace * DRAIN_GRACE_FACTOR;
        let waits = || {
            self.connection().has_held_calls() || self.unqueued_outputs.load(Ordering::SeqCst) > 0
        };
        while Instant::now() < latest && waits() {
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Waits for pending responses after the client has closed its output, then terminates the server.
    fn drain_client(&self) {
        let last_answer = Instant::now() + self.limits.grace * DRAIN_GRACE_FACTOR;
        let waits =
            || self.connection().pending_requests() > 0 && !shutdown::client_output_is_closed();
        while Instant::now() < last_answer && waits() {
            std::thread::sleep(POLL_INTERVAL);
        }
        for signal in [Signal::TERM, Signal::KILL] {
            std::thread::sleep(self.limits.grace);
            signal_group(self.signal_forwarder.pid(), signal);
        }
    }

    /// Reads and forwards the messages of the server of that generation.
    fn read_server(
        &self,
        mut output: ChildStdout,
        server_queue: &Sender<ServerWrite>,
        generation: u64,
        is_waiting: &AtomicBool,
    ) {
        let mut framer = LineFramer::new(self.message_bytes);
        let mut chunk = vec![0; READ_CHUNK_BYTES];
        let mut lines = LineWriter::default();
        loop {
            is_waiting.store(true, Ordering::SeqCst);
            let read = read_some(&mut output, &mut chunk);
            is_waiting.store(false, Ordering::SeqCst);
            self.progress.fetch_add(1, Ordering::Relaxed);
            if self.generation.load(Ordering::SeqCst) != generation {
                // Output of a previous server's orphan: ignore it.
                return;
            }
            framer.push(chunk.get(..read).unwrap_or_default());
            let mut client = None;
            loop {
                let frame = if read == 0 { framer.finish() } else { framer.next_frame() };
                let Some(frame) = frame else { break };
                if self.handshake_is_pending.load(Ordering::SeqCst)
                    && let Frame::Line(line) = &frame
                    && self.is_handshake_response(line)
                {
                    continue;
                }
                let (actions, generation) = self.process_frame(Side::Server, frame);
                self.queue_for_server(generation, &actions, server_queue);
                let client = client.get_or_insert_with(|| self.client());
                for message in messages_to(Side::Client, &actions) {
                    if lines.push(message, &mut **client).is_err() {
                        return self.client_is_done.store(true, Ordering::SeqCst);
                    }
                }
            }
            if let Some(mut client) = client
                && lines.flush(&mut *client).is_err()
            {
                return self.client_is_done.store(true, Ordering::SeqCst);
            }
            if read == 0 {
                return;
            }
        }
    }

    /// Processes a frame. Returns the resulting messages and the generation that they are for.
    fn process_frame<'m>(&self, sender: Side, frame: Frame<'m>) -> (Actions<'m>, u64) {
        let now = self.started.elapsed();
        let received = match frame {
            Frame::Line(line) => Some((sender, Payload::Borrowed(line))),
            Frame::TooLong { .. } => None,
        };
        let mut connection = self.connection();
        let actions = match (frame, sender) {
            (Frame::Line(line), Side::Client) => connection.handle_client(line, now),
            (Frame::Line(line), Side::Server) => connection.handle_server(line, now),
            (Frame::TooLong { partial, .. }, sender) => {
                connection.handle_oversized(sender, partial)
            }
        };
        if connection.poll_timeout().is_some() {
            self.deadline_changed.notify_one();
        }
        let generation = self.generation.load(Ordering::SeqCst);
        if sender == Side::Server {
            self.unqueued_outputs.fetch_add(1, Ordering::SeqCst);
        }
        drop(connection);
        self.log.observe(received, of_actions(&actions));
        (actions, generation)
    }

    fn write_to_server(&self, generation: u64, lines: &mut LineWriter, actions: &Actions<'_>) {
        for action in actions {
            let (Some(Side::Server), Some(message)) = (action.receiver(), action.message()) else {
                continue;
            };
            if self.may_restart()
                && let Some(header) = action.header()
            {
                self.handshake().watch(header, message);
            }
            self.server.write(generation, lines, |lines, server| lines.push(message, server));
        }
    }

    fn deliver_to_client(&self, actions: &Actions<'_>) -> io::Result<()> {
        let mut messages = messages_to(Side::Client, actions).peekable();
        if messages.peek().is_none() {
            return Ok(());
        }
        let mut lines = LineWriter::default();
        let mut client = self.client();
        for message in messages {
            lines.push(message, &mut *client)?;
        }
        lines.flush(&mut *client)
    }

    /// Handles the timeouts of the connection.
    fn run_timer(&self, server_queue: &Sender<ServerWrite>) {
        let mut connection = self.connection();
        loop {
            let now = self.started.elapsed();
            connection = match connection.poll_timeout() {
                Some(deadline) if deadline <= now => {
                    let actions = connection.handle_timeout(now);
                    let generation = self.generation.load(Ordering::SeqCst);
                    self.unqueued_outputs.fetch_add(1, Ordering::SeqCst);
                    drop(connection);
                    self.log.observe(None, of_actions(&actions));
                    self.queue_for_server(generation, &actions, server_queue);
                    let _ = self.deliver_to_client(&actions);
                    self.connection()
                }
                Some(deadline) => {
                    let wait = self
                        .deadline_changed
                        .wait_timeout(connection, deadline.saturating_sub(now));
                    wait.unwrap_or_else(PoisonError::into_inner).0
                }
                None => {
                    self.deadline_changed.wait(connection).unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
    }
}

/// Returns the messages to one side.
fn messages_to<'a>(to: Side, actions: &'a Actions<'_>) -> impl Iterator<Item = &'a [u8]> {
    let sent = actions.iter().filter(move |action| action.receiver() == Some(to));
    sent.filter_map(Action::message)
}

/// Reads available bytes. Returns 0 at the end of input and after an error.
fn read_some(input: &mut impl Read, chunk: &mut [u8]) -> usize {
    loop {
        match input.read(chunk) {
            Ok(read) => return read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return 0,
        }
    }
}
