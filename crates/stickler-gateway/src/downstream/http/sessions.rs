//! Legacy sessions for a server command: each session has an exclusive server process.
//!
//! At the limit of processes a new session takes the place of the one that has been idle for the longest time. A session with
//! a pending request or an open stream is never closed for another one. Modern requests have a process of their own, so
//! sessions cannot lock them out.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::io;
use std::process::ChildStdout;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use stickler_transport::{Restart, ServerCommand, StderrOutput, SupervisedProcess, read_output};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tracing::{Span, info};

use crate::connection_factory::ConnectionFactory;
use crate::downstream::http::{SHUTDOWN_TIMEOUT, ServerLimits};
use crate::driver::Driver;
use crate::log::Log;
use crate::tool_views::ToolView;
use crate::upstream::process::PipeLink;

/// A client and its server process.
pub(crate) struct Session {
    pub(crate) driver: Arc<Driver>,
    pub(crate) process: Arc<SupervisedProcess>,
    /// Time of the last use, in milliseconds since the start.
    last_used: AtomicU64,
}

/// All sessions by session id.
pub(crate) struct Sessions {
    pub(crate) command: ServerCommand,
    pub(crate) factory: Arc<ConnectionFactory>,
    pub(crate) children: Arc<Semaphore>,
    max_children: usize,
    /// The process that modern requests share.
    shared_child: Arc<Semaphore>,
    pub(crate) log: Log,
    pub(crate) started: Instant,
    pub(crate) idle: Duration,
    pub(crate) grace: Duration,
    pub(crate) restart: Restart,
    pub(crate) keep_alive: Duration,
    table: Mutex<HashMap<String, Arc<Session>>>,
    /// The tool view of the server, and the number of the next process's view.
    view: Arc<ToolView>,
    next_view_number: AtomicU64,
}

/// Why a session cannot be opened.
pub(crate) enum SessionError {
    /// The limit of server processes is reached.
    Full,
    Failed(io::Error),
    /// The limit of consecutive restarts is reached.
    GivenUp(u32),
}

impl Session {
    /// Returns whether no request is in progress and no stream is open. The table must be locked.
    fn is_idle(self: &Arc<Self>) -> bool {
        // A request in progress holds a reference.
        Arc::strong_count(self) == 1
            && self.driver.is_established()
            && self.driver.pending_requests() == 0
            && !self.driver.has_held_calls()
            && !self.driver.pending_responses().has_readers()
    }
}

impl Sessions {
    pub(crate) fn new(
        command: ServerCommand,
        factory: Arc<ConnectionFactory>,
        log: Log,
        limits: ServerLimits,
    ) -> Arc<Self> {
        let idle = limits.idle;
        let children = limits.children.min(Semaphore::MAX_PERMITS);
        let view = ToolView::of_server(&factory.name, &factory.validator);
        let sessions = Arc::new(Self {
            command,
            view,
            factory,
            children: Arc::new(Semaphore::new(children)),
            max_children: children,
            shared_child: Arc::new(Semaphore::new(1)),
            log,
            started: Instant::now(),
            idle,
            grace: limits.grace,
            restart: limits.restart,
            keep_alive: limits.keep_alive,
            table: Mutex::default(),
            next_view_number: AtomicU64::new(0),
        });
        tokio::spawn(reap(Arc::downgrade(&sessions), idle));
        sessions
    }

    fn table(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the session with that id and marks it as used.
    pub(crate) fn get(&self, name: &str) -> Option<Arc<Session>> {
        let session = self.table().get(name).cloned()?;
        self.touch(&session);
        Some(session)
    }

    /// Marks a session as used.
    pub(crate) fn touch(&self, session: &Session) {
        session.last_used.store(self.now(), Ordering::Relaxed);
    }

    /// Returns whether a session exists, without marking it as used.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.table().contains_key(name)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.table().is_empty()
    }

    /// Returns the number of running server processes.
    pub(crate) fn running_processes(&self) -> usize {
        let available = self.children.available_permits() + self.shared_child.available_permits();
        (self.max_children + 1).saturating_sub(available)
    }

    /// Starts a server for a new session.
    pub(crate) async fn open(self: &Arc<Self>) -> Result<(String, Arc<Session>), SessionError> {
        let permit = self.permit().await?;
        let name = random_session_id().map_err(SessionError::Failed)?;
        let log = self.log.for_session(Some(&name));
        let (process, stdout) = self.start(permit, log.span())?;
        // A separate view: the tool list may depend on the client's capabilities.
        let view = self.next_view();
        let connection = self.factory.connection(&view.name, None);
        let link = Box::new(PipeLink(Arc::clone(&process.pipe)));
        let driver = Arc::new(self.factory.driver(connection, link, log.clone(), self.started));
        let memory = self.factory.validator.cache().memory();
        driver.pending_responses().enable_resumption(event_id_prefix(&name), memory);
        let session = Arc::new(Session {
            driver: Arc::clone(&driver),
            process: Arc::clone(&process),
            last_used: AtomicU64::new(self.now()),
        });
        self.table().insert(name.clone(), Arc::clone(&session));
        let (sessions, listed) = (Arc::downgrade(self), name.clone());
        let limit_and_span = (self.factory.message_bytes(), log.span().clone());
        tokio::spawn(async move {
            read_output(process, stdout, driver, limit_and_span).await;
            if let Some(sessions) = sessions.upgrade() {
                sessions.table().remove(&listed);
            }
            drop(view);
        });
        Ok((name, session))
    }

    /// Returns the permit for the process of a session. At the limit, closes an idle session first.
    async fn permit(&self) -> Result<OwnedSemaphorePermit, SessionError> {
        if let Ok(permit) = Arc::clone(&self.children).try_acquire_owned() {
            return Ok(permit);
        }
        if !self.evict_idle() {
            return Err(SessionError::Full);
        }
        self.wait_for(&self.children).await
    }

    /// Returns the permit for the process that modern requests share. Its predecessor may still be shutting down; then it
    /// takes the place of a session, or waits.
    pub(crate) async fn shared_permit(&self) -> Result<OwnedSemaphorePermit, SessionError> {
        let permits = [&self.shared_child, &self.children];
        let mut free =
            permits.into_iter().filter_map(|one| Arc::clone(one).try_acquire_owned().ok());
        match free.next() {
            Some(permit) => Ok(permit),
            None => self.wait_for(&self.shared_child).await,
        }
    }

    /// Waits for the exit of a process that is shutting down.
    async fn wait_for(
        &self,
        permits: &Arc<Semaphore>,
    ) -> Result<OwnedSemaphorePermit, SessionError> {
        let longest = self.grace.saturating_mul(2).saturating_add(SHUTDOWN_TIMEOUT);
        match tokio::time::timeout(longest, Arc::clone(permits).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(SessionError::Full),
        }
    }

    /// Closes the session that has been idle for the longest time. Returns false if none is idle.
    fn evict_idle(&self) -> bool {
        let mut table = self.table();
        let idle = table.iter().filter(|(_, session)| session.is_idle());
        let oldest = idle.min_by_key(|(_, session)| session.last_used.load(Ordering::Relaxed));
        let Some(name) = oldest.map(|(name, _)| name.clone()) else { return false };
        // Removed under the same lock, so that no request can begin to use it.
        let Some(session) = table.remove(&name) else { return false };
        drop(table);
        info!(parent: session.driver.span(), "idle session closed to make room for a new one");
        tokio::spawn(async move { session.process.end().await });
        true
    }

    /// Starts a process that logs its standard error within `span`.
    pub(crate) fn start(
        &self,
        permit: OwnedSemaphorePermit,
        span: &Span,
    ) -> Result<(Arc<SupervisedProcess>, ChildStdout), SessionError> {
        let stderr = StderrOutput::Log(span.clone());
        SupervisedProcess::start(&self.command, self.grace, stderr, Some(permit))
            .map_err(SessionError::Failed)
    }

    /// Creates the tool view of a new process.
    pub(crate) fn next_view(&self) -> Arc<ToolView> {
        self.view.narrow(self.next_view_number.fetch_add(1, Ordering::Relaxed))
    }

    /// Closes a session. Returns false if it does not exist.
    pub(crate) fn close(&self, name: &str) -> bool {
        let Some(session) = self.table().remove(name) else { return false };
        tokio::spawn(async move { session.process.end().await });
        true
    }

    /// Ends the standalone streams of all sessions.
    pub(crate) fn close_streams(&self) {
        for session in self.table().values() {
            session.driver.pending_responses().close_standalone_stream();
        }
    }

    /// Closes all sessions and waits for their servers to exit.
    pub(crate) async fn close_all(&self) {
        let all: Vec<Arc<Session>> = self.table().drain().map(|(_, session)| session).collect();
        let ends = all.into_iter().map(|session| {
            tokio::spawn(async move {
                session.process.end().await;
                let notified = session.driver.server_gone("the gateway is shutting down");
                // Do not wait for a client that does not read.
                let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, notified).await;
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
        let idle_since =
            self.now().saturating_sub(self.idle.as_millis().try_into().unwrap_or(u64::MAX));
        let now = self.now();
        let is_idle = |session: &Session| {
            if session.driver.pending_responses().has_readers() {
                // A client that loses its stream gets the full idle time to reconnect.
                session.last_used.store(now, Ordering::Relaxed);
            }
            session.last_used.load(Ordering::Relaxed) < idle_since
        };
        let table = self.table();
        let idle = table.iter().filter(|(_, session)| is_idle(session));
        let idle: Vec<_> = idle.map(|(name, one)| (name.clone(), Arc::clone(one))).collect();
        drop(table);
        for (name, session) in idle {
            info!(
                parent: session.driver.span(),
                "session closed after the idle timeout"
            );
            self.close(&name);
        }
    }
}

/// Closes idle sessions periodically.
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

/// Returns the prefix of a session's event ids, which does not reveal the session id.
fn event_id_prefix(name: &str) -> String {
    format!("{:016x}", RandomState::new().hash_one(name))
}

/// Generates an unguessable session id: knowing the id is sufficient to use the session.
fn random_session_id() -> io::Result<String> {
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
