//! Legacy sessions in front of a command: each has a server process of its own.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use stickler_transport::{Restart, ServerCommand};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tracing::info;

use super::conversation::Conversation;
use super::process::{self, Process, ToPipe};
use super::views::View;
use super::{Keeping, LAST_WORDS};
use crate::log::Log;
use crate::recipe::Recipe;

/// A client and its server.
pub(super) struct Session {
    pub(super) conversation: Arc<Conversation>,
    pub(super) process: Arc<Process>,
    /// When it was last used, in milliseconds since the start.
    used: AtomicU64,
}

/// All sessions, by the name that their clients were given.
pub(super) struct Sessions {
    pub(super) command: ServerCommand,
    pub(super) recipe: Arc<Recipe>,
    pub(super) children: Arc<Semaphore>,
    pub(super) log: Log,
    pub(super) started: Instant,
    pub(super) idle: Duration,
    pub(super) grace: Duration,
    pub(super) restart: Restart,
    pub(super) keep_alive: Duration,
    table: Mutex<HashMap<String, Arc<Session>>>,
    /// The server, and the number of the next process's own view of it.
    view: Arc<View>,
    views: AtomicU64,
}

/// Why there is no new session.
pub(super) enum NoSession {
    /// As many servers run as may.
    Full,
    Failed(io::Error),
    /// It has failed too often in a row.
    GivenUp(u32),
}

impl Sessions {
    pub(super) fn new(
        command: ServerCommand,
        recipe: Arc<Recipe>,
        log: Log,
        keeping: Keeping,
    ) -> Arc<Self> {
        let idle = keeping.idle;
        let children = keeping.children.min(Semaphore::MAX_PERMITS);
        let view = View::of_server(&recipe.name, &recipe.validator);
        let sessions = Arc::new(Self {
            command,
            view,
            recipe,
            children: Arc::new(Semaphore::new(children)),
            log,
            started: Instant::now(),
            idle,
            grace: keeping.grace,
            restart: keeping.restart,
            keep_alive: keeping.keep_alive,
            table: Mutex::default(),
            views: AtomicU64::new(0),
        });
        tokio::spawn(reap(Arc::downgrade(&sessions), idle));
        sessions
    }

    fn table(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session with that name, which is used by asking for it.
    pub(super) fn get(&self, name: &str) -> Option<Arc<Session>> {
        let session = self.table().get(name).cloned()?;
        session.used.store(self.now(), Ordering::Relaxed);
        Some(session)
    }

    /// Starts a server for a new session.
    pub(super) fn open(self: &Arc<Self>) -> Result<(String, Arc<Session>), NoSession> {
        let permit = Arc::clone(&self.children).try_acquire_owned().map_err(|_| NoSession::Full)?;
        let name = unguessable().map_err(NoSession::Failed)?;
        let log = self.log.for_session(Some(&name));
        let (process, stdout) = Process::start(&self.command, self.grace, permit, log.span())
            .map_err(NoSession::Failed)?;
        // Another process, and what it lists may depend on what its client can do.
        let view = self.next_view();
        let gatekeeper = self.recipe.gatekeeper(&view.name, None);
        let link = Box::new(ToPipe(Arc::clone(&process.pipe)));
        let conversation = Conversation::new(gatekeeper, link, log.clone(), self.started);
        conversation.mail().keep_streams(tag(&name));
        let session = Arc::new(Session {
            conversation: Arc::clone(&conversation),
            process: Arc::clone(&process),
            used: AtomicU64::new(self.now()),
        });
        self.table().insert(name.clone(), Arc::clone(&session));
        let (sessions, listed) = (Arc::downgrade(self), name.clone());
        let limit_and_log = (self.recipe.message_bytes(), log);
        tokio::spawn(async move {
            process::listen(process, stdout, conversation, limit_and_log).await;
            if let Some(sessions) = sessions.upgrade() {
                sessions.table().remove(&listed);
            }
            drop(view);
        });
        Ok((name, session))
    }

    /// A process's own view of the server.
    pub(super) fn next_view(&self) -> Arc<View> {
        self.view.narrow(self.views.fetch_add(1, Ordering::Relaxed))
    }

    /// Ends a session; false when there is none of that name.
    pub(super) fn close(&self, name: &str) -> bool {
        let Some(session) = self.table().remove(name) else { return false };
        tokio::spawn(async move { session.process.end().await });
        true
    }

    /// Nobody need wait for streams that have no end.
    pub(super) fn hang_up(&self) {
        for session in self.table().values() {
            session.conversation.mail().hang_up();
        }
    }

    /// Ends all of them, and waits for their servers to be gone.
    pub(super) async fn close_all(&self) {
        let all: Vec<Arc<Session>> = self.table().drain().map(|(_, session)| session).collect();
        let ends = all.into_iter().map(|session| {
            tokio::spawn(async move {
                session.process.end().await;
                let told = session.conversation.server_gone("the gateway is shutting down");
                // A client that does not read keeps nobody here.
                let _ = tokio::time::timeout(LAST_WORDS, told).await;
            })
        });
        for end in ends.collect::<Vec<_>>() {
            let _ = end.await;
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn close_idle(&self) {
        let oldest =
            self.now().saturating_sub(self.idle.as_millis().try_into().unwrap_or(u64::MAX));
        let now = self.now();
        let is_idle = |session: &Session| {
            if session.conversation.mail().is_attended() {
                // A client that loses its stream has its time to come back.
                session.used.store(now, Ordering::Relaxed);
            }
            session.used.load(Ordering::Relaxed) < oldest
        };
        let table = self.table();
        let idle = table.iter().filter(|(_, session)| is_idle(session));
        let idle: Vec<_> = idle.map(|(name, one)| (name.clone(), Arc::clone(one))).collect();
        drop(table);
        for (name, session) in idle {
            info!(
                parent: session.conversation.span(),
                "the session was idle for too long and is closed"
            );
            self.close(&name);
        }
    }
}

/// Closes sessions that nobody uses.
async fn reap(sessions: std::sync::Weak<Sessions>, idle: Duration) {
    let pause = (idle / 4).clamp(Duration::from_millis(100), Duration::from_secs(60));
    loop {
        tokio::time::sleep(pause).await;
        match sessions.upgrade() {
            Some(sessions) => sessions.close_idle(),
            None => return,
        }
    }
}

/// What the ids of a session's events begin with. It says nothing about the session's name.
fn tag(name: &str) -> String {
    format!("{:016x}", RandomState::new().hash_one(name))
}

/// A name that nobody can guess: whoever knows it may speak in the session.
fn unguessable() -> io::Result<String> {
    use std::fmt::Write as _;
    let mut random = [0_u8; 16];
    let mut filled = 0;
    while filled < random.len() {
        let rest = random.get_mut(filled..).unwrap_or_default();
        filled += rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty())?;
    }
    let mut name = String::with_capacity(32);
    for byte in random {
        let _ = write!(name, "{byte:02x}");
    }
    Ok(name)
}
