//! How the end of a server is noticed, and how nobody is kept by one that will not end.
//!
//! A server has ended when its process has: its output may be held open by something that it started.
//! And what is written to a server that does not read, or to a client that does not, never gets there.

use std::fs::File;
use std::io;
use std::process::{ChildStdout, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, sync_channel};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;
use stickler_protocol::Outbox;
use stickler_transport::{Process, await_end, signal_group};

use super::{BEAT, Own, PATIENT_GRACES, Shared};

/// How long output may take to come to its end when its server has, and a client to take its last words.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How often it is looked whether a server that its starter has left behind is still there.
const LOOK: Duration = Duration::from_millis(200);

/// What has ended of a server.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    Output,
    /// As it should, or not.
    Process(bool),
}

/// The output of a server, as it is being read.
pub(super) struct Listening {
    ends: Receiver<End>,
    /// It waits for something to read, and not for the client.
    is_waiting: Arc<AtomicBool>,
}

impl Shared {
    /// Reads what a server says, and watches for its end.
    pub(super) fn listen(
        &self,
        server: &Process,
        output: ChildStdout,
        own: &Sender<Own>,
    ) -> Option<Listening> {
        let (ended, ends) = sync_channel(2);
        let is_waiting = Arc::new(AtomicBool::new(false));
        let (number, pid) = (self.number.load(Ordering::SeqCst), server.pid());
        let (shared, own, waits) = (self.me.upgrade()?, own.clone(), Arc::clone(&is_waiting));
        let watched = ended.clone();
        std::thread::spawn(move || {
            shared.hear_server(output, &own, number, &waits);
            let _ = ended.send(End::Output);
        });
        std::thread::spawn(move || {
            let is_good = await_end(pid);
            let _ = watched.send(End::Process(is_good));
        });
        Some(Listening { ends, is_waiting })
    }

    /// Waits for the end of a server, however it comes, and sees it out.
    pub(super) fn hear_out(
        &self,
        server: &mut Process,
        listening: &Listening,
    ) -> io::Result<ExitStatus> {
        let first = listening.ends.recv();
        let is_over = match first {
            Ok(End::Process(true)) => self.outlive_starter(listening),
            Ok(End::Process(false)) => false,
            Ok(End::Output) | Err(_) => true,
        };
        let status = server.end(self.keeping.grace)?;
        if !is_over {
            self.drain(listening);
        }
        Ok(status)
    }

    /// A program that only starts the server ends well, and leaves it both pipes: then that one is waited
    /// for, for as long as anybody wants it. Whether its output has come to its end.
    fn outlive_starter(&self, listening: &Listening) -> bool {
        while self.server.is_read() && !self.is_over() {
            match listening.ends.recv_timeout(LOOK) {
                Ok(End::Process(_)) | Err(RecvTimeoutError::Timeout) => {}
                Ok(End::Output) | Err(RecvTimeoutError::Disconnected) => return true,
            }
        }
        false
    }

    /// Lets what a server has said before its end be read. What it left behind may hold its output
    /// open for ever, and a client may not read.
    fn drain(&self, listening: &Listening) {
        let began = Instant::now();
        let mut quiet_since = None;
        loop {
            match listening.ends.recv_timeout(BEAT) {
                Ok(End::Process(_)) => {}
                Ok(End::Output) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    let is_quiet = listening.is_waiting.load(Ordering::SeqCst);
                    quiet_since = is_quiet.then(|| quiet_since.unwrap_or_else(Instant::now));
                    let is_long = |since: Instant| since.elapsed() > LAST_WORDS;
                    if quiet_since.is_some_and(is_long)
                        || self.addressee.was_signalled() && is_long(began)
                    {
                        return;
                    }
                }
            }
        }
    }

    /// The last that a client is told by a server that has gone. When we are to end, it is not waited
    /// for.
    pub(super) fn say_last(&self, outbox: Outbox<'static>) {
        if !self.addressee.was_signalled() {
            let _ = self.deliver_to_client(&outbox);
        } else if let Some(shared) = self.me.upgrade() {
            let (told, is_told) = sync_channel(1);
            std::thread::spawn(move || {
                let _ = shared.deliver_to_client(&outbox);
                let _ = told.send(());
            });
            let _ = is_told.recv_timeout(LAST_WORDS);
        }
    }

    /// A client that has gone is noticed where its input ends, which is not read while the server does
    /// not read. A server that reads nothing for too long is then made to go.
    pub(super) fn watch_client(&self, input: &File) {
        let mut watched = [PollFd::new(input, PollFlags::empty())];
        while poll(&mut watched, None) == Err(rustix::io::Errno::INTR) {}
        let patience = self.keeping.grace * PATIENT_GRACES;
        let (mut seen, mut since) = (self.progress.load(Ordering::Relaxed), Instant::now());
        while !self.is_alone.load(Ordering::SeqCst) {
            std::thread::sleep(BEAT);
            let now = self.progress.load(Ordering::Relaxed);
            if now != seen {
                (seen, since) = (now, Instant::now());
            } else if since.elapsed() > patience {
                signal_group(self.addressee.pid(), Signal::TERM);
                std::thread::sleep(self.keeping.grace);
                return signal_group(self.addressee.pid(), Signal::KILL);
            }
        }
    }
}

/// Whether nobody will read another answer.
pub(super) fn is_client_deaf() -> bool {
    let output = io::stdout();
    let mut watched = [PollFd::new(&output, PollFlags::empty())];
    let is_gone = PollFlags::ERR | PollFlags::HUP;
    poll(&mut watched, Some(&Timespec::default())).is_ok()
        && watched.iter().any(|one| one.revents().intersects(is_gone))
}
