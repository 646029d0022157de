//! Client on standard input and output, server as a child process.
//!
//! One thread for each direction, each reading, judging and writing by itself: a message is on its
//! way again without having been handed from one thread to another. What the server's thread has to
//! tell the server goes through a third one, because a server that is busy talking may not listen.

mod ending;
mod restarting;

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd as _;
use std::process::ChildStdout;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use stickler_protocol::envelope::{Address, Bearing};
use stickler_protocol::frame::{Frame, LineFramer};
use stickler_protocol::{Gatekeeper, Outbox, Side};
use stickler_transport::way::Way;
use stickler_transport::wire::Lines;
use stickler_transport::{Addressee, Backoff, ServerCommand, exit_code, signal_group};
use tracing::warn;

use super::footprint;
use super::handshake::Handshake;
use super::http::Keeping;
use super::log::Log;
use super::recipe::Recipe;
use crate::failure::Failure;

/// Bytes asked for at once.
const CHUNK: usize = 256 << 10;

/// Answers to a server that may wait until it reads. Requests wait whatever their number: they are bounded
/// where they come from.
const UNREAD: usize = 1024;

/// How many times the usual grace a client that has gone still waits for its answers.
const PATIENT_GRACES: u32 = 12;

/// How often it is looked whether they have come.
const BEAT: Duration = Duration::from_millis(20);

/// What both directions share.
struct Shared {
    gatekeeper: Mutex<Gatekeeper>,
    /// Which server messages are for; changed only while the gatekeeper is locked.
    number: AtomicU64,
    deadline_changed: Condvar,
    client: Mutex<File>,
    server: Way,
    addressee: Arc<Addressee>,
    handshake: Mutex<Handshake>,
    is_shaking: AtomicBool,
    /// The client has nothing more to say, or does not listen any more.
    is_alone: AtomicBool,
    /// Outboxes of which the server is still to be told.
    on_the_way: AtomicUsize,
    /// Messages that wait until the server reads.
    unread: AtomicUsize,
    /// Changes whenever something is read from either side.
    progress: AtomicUsize,
    log: Log,
    started: Instant,
    message_bytes: usize,
    keeping: Keeping,
    me: Weak<Shared>,
}

/// What is to be told to the server from elsewhere than the client's thread.
enum Own {
    /// A message for the server with that number.
    Message(u64, Vec<u8>),
    /// Nothing more will come.
    End,
}

/// Relays until either side ends; gives the exit code of the server.
pub fn relay(
    recipe: &Recipe,
    command: &ServerCommand,
    log: Log,
    keeping: Keeping,
) -> Result<i32, Failure> {
    // Before there is anybody to be told, so that no signal is lost.
    let addressee = Addressee::listen(keeping.grace)?;
    let (mut server, stdin, mut stdout) = command.start(log.span()).map_err(|error| {
        let program = &command.program;
        Failure::Unreachable(format!("[STK-101] cannot start `{program}`: {error}"))
    })?;
    addressee.set(server.pid());
    let client_in = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let client_out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let shared = Arc::new_cyclic(|me| Shared {
        gatekeeper: Mutex::new(recipe.subscriber(&recipe.name, None)),
        number: AtomicU64::new(0),
        deadline_changed: Condvar::new(),
        client: Mutex::new(client_out),
        server: Way::new(stdin),
        addressee,
        handshake: Mutex::default(),
        is_shaking: AtomicBool::new(false),
        is_alone: AtomicBool::new(false),
        on_the_way: AtomicUsize::new(0),
        unread: AtomicUsize::new(0),
        progress: AtomicUsize::new(0),
        log,
        started: Instant::now(),
        message_bytes: recipe.message_bytes(),
        keeping,
        me: me.clone(),
    });
    let (own, unsent) = channel();
    spawn(&shared, move |shared| shared.send_own(&unsent));
    let last = own.clone();
    let watched = client_in.try_clone()?;
    spawn(&shared, move |shared| shared.hear_client(client_in, &last));
    spawn(&shared, move |shared| shared.watch_client(&watched));
    let timer = own.clone();
    spawn(&shared, move |shared| shared.keep_time(&timer));
    let mut backoff = Backoff::new(keeping.restart);
    loop {
        let began = Instant::now();
        let Some(listening) = shared.listen(&server, stdout, &own) else { return Ok(0) };
        let status = shared.hear_out(&mut server, &listening)?;
        let is_failure = !status.success() && !shared.is_over();
        shared.lose_server(is_failure, &format!("the server ended with {status}"));
        let next = if status.success() { None } else { backoff.next(began.elapsed()) };
        let Some(pause) = next.filter(|_| !shared.is_over()) else { return Ok(exit_code(status)) };
        // Whoever it left behind may hold its pipe open, and somebody may be writing to that.
        drop(server);
        shared.server.lose();
        let Some(next) = shared.start_again(command, pause, &mut backoff) else {
            // Somebody may have asked for something during the pause.
            shared.lose_server(false, "no other server was started in its place");
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
    /// A panic in another thread left whole values behind; the conversation goes on.
    fn gatekeeper(&self) -> MutexGuard<'_, Gatekeeper> {
        self.gatekeeper.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn client(&self) -> MutexGuard<'_, File> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handshake(&self) -> MutexGuard<'_, Handshake> {
        self.handshake.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything the client says, until it says no more: then the server hears the end too.
    fn hear_client(&self, mut input: File, own: &Sender<Own>) {
        let mut framer = LineFramer::new(self.message_bytes);
        let mut chunk = vec![0; CHUNK];
        let mut lines = Lines::default();
        let mut number = 0;
        loop {
            let read = read_some(&mut input, &mut chunk);
            self.progress.fetch_add(1, Ordering::Relaxed);
            framer.push(chunk.get(..read).unwrap_or_default());
            loop {
                let frame = if read == 0 { framer.finish() } else { framer.next_frame() };
                let Some(frame) = frame else { break };
                let (outbox, judged_for) = self.judge(Side::Client, frame);
                if judged_for != number {
                    lines.clear();
                    number = judged_for;
                }
                self.to_server(number, &mut lines, &outbox);
                let _ = self.deliver_to_client(&outbox);
            }
            if !lines.is_empty() {
                self.server.write(number, &mut lines, Lines::flush);
            }
            if read == 0 {
                break;
            }
        }
        self.is_alone.store(true, Ordering::SeqCst);
        self.await_held();
        // After what was let go of just now.
        if own.send(Own::End).is_err() {
            self.server.close();
        }
        self.see_out();
    }

    /// Calls that wait for the tools to be known must still reach the server.
    fn await_held(&self) {
        let latest = Instant::now() + self.keeping.grace * PATIENT_GRACES;
        let waits = || self.gatekeeper().is_holding() || self.on_the_way.load(Ordering::SeqCst) > 0;
        while Instant::now() < latest && waits() {
            std::thread::sleep(BEAT);
        }
    }

    /// The client has gone. What it has asked for is waited for; then the server is to end.
    fn see_out(&self) {
        let last_answer = Instant::now() + self.keeping.grace * PATIENT_GRACES;
        let waits = || self.gatekeeper().in_flight() > 0 && !ending::is_client_deaf();
        while Instant::now() < last_answer && waits() {
            std::thread::sleep(BEAT);
        }
        for signal in [Signal::TERM, Signal::KILL] {
            std::thread::sleep(self.keeping.grace);
            signal_group(self.addressee.pid(), signal);
        }
    }

    /// Everything that the server of that number says.
    fn hear_server(
        &self,
        mut output: ChildStdout,
        own: &Sender<Own>,
        number: u64,
        is_waiting: &AtomicBool,
    ) {
        let mut framer = LineFramer::new(self.message_bytes);
        let mut chunk = vec![0; CHUNK];
        let mut lines = Lines::default();
        loop {
            is_waiting.store(true, Ordering::SeqCst);
            let read = read_some(&mut output, &mut chunk);
            is_waiting.store(false, Ordering::SeqCst);
            self.progress.fetch_add(1, Ordering::Relaxed);
            if self.number.load(Ordering::SeqCst) != number {
                // What it left behind has something to say, and nobody asked.
                return;
            }
            framer.push(chunk.get(..read).unwrap_or_default());
            let mut client = None;
            loop {
                let frame = if read == 0 { framer.finish() } else { framer.next_frame() };
                let Some(frame) = frame else { break };
                if self.is_shaking.load(Ordering::SeqCst)
                    && let Frame::Line(line) = &frame
                    && self.is_greeted(line)
                {
                    continue;
                }
                let (outbox, number) = self.judge(Side::Server, frame);
                self.send_later(number, &outbox, own);
                let client = client.get_or_insert_with(|| self.client());
                for message in &outbox.to_client {
                    if lines.push(message, &mut **client).is_err() {
                        return self.is_alone.store(true, Ordering::SeqCst);
                    }
                }
            }
            if let Some(mut client) = client
                && lines.flush(&mut *client).is_err()
            {
                return self.is_alone.store(true, Ordering::SeqCst);
            }
            if read == 0 {
                return;
            }
        }
    }

    /// What is to become of a message, and for which server it is.
    fn judge<'m>(&self, sender: Side, frame: Frame<'m>) -> (Outbox<'m>, u64) {
        let now = self.started.elapsed();
        let from_client = match frame {
            Frame::Line(line) if sender == Side::Client => Some(line),
            _ => None,
        };
        let mut gatekeeper = self.gatekeeper();
        let outbox = match (frame, sender) {
            (Frame::Line(line), Side::Client) => gatekeeper.from_client(line, now),
            (Frame::Line(line), Side::Server) => gatekeeper.from_server(line, now),
            (Frame::TooLong { glimpse, .. }, sender) => gatekeeper.overlong(sender, glimpse),
        };
        if gatekeeper.next_deadline().is_some() {
            self.deadline_changed.notify_one();
        }
        let number = self.number.load(Ordering::SeqCst);
        if sender == Side::Server {
            self.on_the_way.fetch_add(1, Ordering::SeqCst);
        }
        drop(gatekeeper);
        self.observe(&outbox, from_client);
        (outbox, number)
    }

    fn observe(&self, outbox: &Outbox<'_>, from_client: Option<&[u8]>) {
        for event in &outbox.events {
            self.log.event(event, from_client);
            footprint::observe(event);
        }
    }

    fn to_server(&self, number: u64, lines: &mut Lines, outbox: &Outbox<'_>) {
        for message in &outbox.to_server {
            if self.may_restart() {
                self.handshake().watch(message);
            }
            self.server.write(number, lines, |lines, server| lines.push(message, server));
        }
    }

    fn deliver_to_client(&self, outbox: &Outbox<'_>) -> io::Result<()> {
        if outbox.to_client.is_empty() {
            return Ok(());
        }
        let mut lines = Lines::default();
        let mut client = self.client();
        for message in &outbox.to_client {
            lines.push(message, &mut *client)?;
        }
        lines.flush(&mut *client)
    }

    fn send_later(&self, number: u64, outbox: &Outbox<'_>, own: &Sender<Own>) {
        for message in &outbox.to_server {
            let is_answer = || Address::of(message).bearing == Bearing::Response;
            if self.unread.load(Ordering::SeqCst) >= UNREAD && is_answer() {
                warn!(
                    parent: self.log.span(),
                    "the server does not read; an answer to it was dropped"
                );
                continue;
            }
            self.unread.fetch_add(1, Ordering::SeqCst);
            let _ = own.send(Own::Message(number, message.to_vec()));
        }
        self.on_the_way.fetch_sub(1, Ordering::SeqCst);
    }

    fn send_own(&self, unsent: &Receiver<Own>) {
        while let Ok(own) = unsent.recv() {
            let Own::Message(number, message) = own else {
                self.server.close();
                continue;
            };
            let mut lines = Lines::default();
            self.server.write(number, &mut lines, |lines, server| {
                lines.push(&message, server).and_then(|()| lines.flush(server))
            });
            self.unread.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Lets calls go on that have waited long enough.
    fn keep_time(&self, own: &Sender<Own>) {
        let mut gatekeeper = self.gatekeeper();
        loop {
            let now = self.started.elapsed();
            gatekeeper = match gatekeeper.next_deadline() {
                Some(deadline) if deadline <= now => {
                    let outbox = gatekeeper.timeout(now);
                    let number = self.number.load(Ordering::SeqCst);
                    self.on_the_way.fetch_add(1, Ordering::SeqCst);
                    drop(gatekeeper);
                    self.observe(&outbox, None);
                    self.send_later(number, &outbox, own);
                    let _ = self.deliver_to_client(&outbox);
                    self.gatekeeper()
                }
                Some(deadline) => {
                    let wait = self
                        .deadline_changed
                        .wait_timeout(gatekeeper, deadline.saturating_sub(now));
                    wait.unwrap_or_else(PoisonError::into_inner).0
                }
                None => {
                    self.deadline_changed.wait(gatekeeper).unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
    }
}

/// Bytes as they come; none at the end, and none after an error, which is an end too.
fn read_some(input: &mut impl Read, chunk: &mut [u8]) -> usize {
    loop {
        match input.read(chunk) {
            Ok(read) => return read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return 0,
        }
    }
}
