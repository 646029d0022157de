//! Client on standard input and output, server as a child process.
//!
//! One thread for each direction, each reading, judging and writing by itself: a message is on its
//! way again without having been handed from one thread to another. What the server's thread has to
//! tell the server goes through a third one, because a server that is busy talking may not listen.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd as _;
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use stickler::frame::{Frame, LineFramer};
use stickler::{Code, Gatekeeper, Outbox, Side};

use super::child::{Server, exit_code, signal_group};
use super::log::{Level, Log};
use super::wire::Lines;

/// Bytes asked for at once.
const CHUNK: usize = 256 << 10;

/// Messages of our own that may wait for a server that does not read.
const UNREAD: usize = 1024;

/// How many times the usual grace a client that has gone still waits for its answers.
const PATIENT_GRACES: u32 = 12;

/// How often it is looked whether they have come.
const BEAT: Duration = Duration::from_millis(20);

/// What both directions share.
struct Shared {
    gatekeeper: Mutex<Gatekeeper>,
    deadline_changed: Condvar,
    client: Mutex<File>,
    server: Mutex<Option<ChildStdin>>,
    log: Log,
    started: Instant,
    message_bytes: usize,
    grace: Duration,
    pid: u32,
}

/// Relays until either side ends; gives the exit code of the server.
pub(crate) fn relay(
    gatekeeper: Gatekeeper,
    mut server: Server,
    (stdin, stdout): (ChildStdin, ChildStdout),
    log: Log,
    message_bytes: usize,
    grace: Duration,
) -> io::Result<i32> {
    let client_in = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let client_out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let shared = Arc::new(Shared {
        gatekeeper: Mutex::new(gatekeeper),
        deadline_changed: Condvar::new(),
        client: Mutex::new(client_out),
        server: Mutex::new(Some(stdin)),
        log,
        started: Instant::now(),
        message_bytes,
        grace,
        pid: server.pid(),
    });
    let (own, unsent) = sync_channel(UNREAD);
    spawn(&shared, move |shared| shared.send_own(&unsent));
    spawn(&shared, move |shared| shared.hear_client(client_in));
    let timer = own.clone();
    spawn(&shared, move |shared| shared.keep_time(&timer));
    shared.hear_server(stdout, &own);
    let status = server.end(grace)?;
    let reason = format!("the server ended with {status}");
    shared.log.say(Level::Info, &reason);
    let now = shared.started.elapsed();
    let outbox = shared.gatekeeper().server_gone(Code::ServerGone, &reason, now);
    let _ = shared.deliver_to_client(&outbox);
    Ok(exit_code(status))
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

    fn server(&self) -> MutexGuard<'_, Option<ChildStdin>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything the client says, until it says no more: then the server hears the end too.
    fn hear_client(&self, mut input: File) {
        let mut framer = LineFramer::new(self.message_bytes);
        let mut chunk = vec![0; CHUNK];
        let mut lines = Lines::default();
        loop {
            let read = read_some(&mut input, &mut chunk);
            framer.push(chunk.get(..read).unwrap_or_default());
            loop {
                let frame = if read == 0 { framer.finish() } else { framer.next_frame() };
                let Some(frame) = frame else { break };
                let outbox = self.judge(Side::Client, frame);
                self.to_server(&mut lines, &outbox);
                let _ = self.deliver_to_client(&outbox);
            }
            if let Some(server) = self.server().as_mut() {
                let _ = lines.flush(server);
            }
            if read == 0 {
                break;
            }
        }
        // Closing the pipe is what tells a server that nothing more will come.
        *self.server() = None;
        self.see_out();
    }

    /// The client has gone. What it has asked for is waited for; then the server is to end.
    fn see_out(&self) {
        let last_answer = Instant::now() + self.grace * PATIENT_GRACES;
        while Instant::now() < last_answer && self.gatekeeper().in_flight() > 0 {
            std::thread::sleep(BEAT);
        }
        for signal in [Signal::TERM, Signal::KILL] {
            std::thread::sleep(self.grace);
            signal_group(self.pid, signal);
        }
    }

    /// Everything the server says.
    fn hear_server(&self, mut output: ChildStdout, own: &SyncSender<Vec<u8>>) {
        let mut framer = LineFramer::new(self.message_bytes);
        let mut chunk = vec![0; CHUNK];
        let mut lines = Lines::default();
        loop {
            let read = read_some(&mut output, &mut chunk);
            framer.push(chunk.get(..read).unwrap_or_default());
            let mut client = None;
            loop {
                let frame = if read == 0 { framer.finish() } else { framer.next_frame() };
                let Some(frame) = frame else { break };
                let outbox = self.judge(Side::Server, frame);
                self.send_later(&outbox, own);
                let client = client.get_or_insert_with(|| self.client());
                for message in &outbox.to_client {
                    if lines.push(message, &mut **client).is_err() {
                        return;
                    }
                }
            }
            if let Some(mut client) = client
                && lines.flush(&mut *client).is_err()
            {
                return;
            }
            if read == 0 {
                return;
            }
        }
    }

    fn judge<'m>(&self, sender: Side, frame: Frame<'m>) -> Outbox<'m> {
        let now = self.started.elapsed();
        let mut gatekeeper = self.gatekeeper();
        let outbox = match (frame, sender) {
            (Frame::Line(line), Side::Client) => gatekeeper.from_client(line, now),
            (Frame::Line(line), Side::Server) => gatekeeper.from_server(line, now),
            (Frame::TooLong(beginning), sender) => gatekeeper.overlong(sender, beginning),
        };
        if gatekeeper.next_deadline().is_some() {
            self.deadline_changed.notify_one();
        }
        drop(gatekeeper);
        self.observe(&outbox);
        outbox
    }

    fn observe(&self, outbox: &Outbox<'_>) {
        for event in &outbox.events {
            self.log.event(event);
        }
    }

    fn to_server(&self, lines: &mut Lines, outbox: &Outbox<'_>) {
        if outbox.to_server.is_empty() {
            return;
        }
        if let Some(server) = self.server().as_mut() {
            for message in &outbox.to_server {
                // A server that is gone is noticed where its output ends.
                let _ = lines.push(message, server);
            }
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

    fn send_later(&self, outbox: &Outbox<'_>, own: &SyncSender<Vec<u8>>) {
        for message in &outbox.to_server {
            if own.try_send(message.to_vec()).is_err() {
                self.log.say(Level::Warn, "the server does not read; a message to it was dropped");
            }
        }
    }

    /// What is to be told to the server from elsewhere than the client's thread.
    fn send_own(&self, unsent: &Receiver<Vec<u8>>) {
        while let Ok(message) = unsent.recv() {
            if let Some(server) = self.server().as_mut() {
                let mut lines = Lines::default();
                let _ = lines.push(&message, server).and_then(|()| lines.flush(server));
            }
        }
    }

    /// Lets calls go on that have waited long enough.
    fn keep_time(&self, own: &SyncSender<Vec<u8>>) {
        let mut gatekeeper = self.gatekeeper();
        loop {
            let now = self.started.elapsed();
            gatekeeper = match gatekeeper.next_deadline() {
                Some(deadline) if deadline <= now => {
                    let outbox = gatekeeper.timeout(now);
                    drop(gatekeeper);
                    self.observe(&outbox);
                    self.send_later(&outbox, own);
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
