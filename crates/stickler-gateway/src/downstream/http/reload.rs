//! Loads new settings while the gateway runs. Sessions keep the settings with which they began.
//!
//! A router belongs to one version of the settings. The current one serves new sessions and all requests without a
//! session; previous ones serve their sessions until these have ended, and then close their servers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use hyper::Request;
use hyper::body::Incoming;
use stickler_transport::http::SESSION;
use tokio::time::Instant;
use tracing::{error, info, warn};

use crate::downstream::http::log_limit::LogLimit;
use crate::downstream::http::routing::Router;
use crate::downstream::http::systemd::{ServiceState, notify};
use crate::downstream::http::{Endpoint, HttpSettings};

/// Interval between checks of the configuration file, and of previous routers.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// How to load new settings.
pub struct Reload<'r> {
    load: Box<dyn FnMut() -> Result<Reloaded, String> + 'r>,
    watched: Option<Watched>,
}

/// A file that is watched for changes.
struct Watched {
    path: PathBuf,
    /// The last known modification.
    modified: Option<SystemTime>,
    next_check: Instant,
}

/// New settings.
#[derive(Debug)]
pub struct Reloaded {
    /// The servers.
    pub endpoints: Vec<Endpoint>,
    /// The settings of the listener, which keeps its address.
    pub settings: HttpSettings,
    /// Changed settings that take effect only after a restart.
    pub need_restart: Vec<String>,
}

impl<'r> Reload<'r> {
    /// Creates a way to load settings: `load` reads the configuration, and its error describes what is wrong with it. If
    /// a file is given, it is watched for changes.
    pub fn new(
        load: impl FnMut() -> Result<Reloaded, String> + 'r,
        watched: Option<PathBuf>,
    ) -> Self {
        let watched = watched.map(|path| Watched {
            modified: modified(&path),
            path,
            next_check: Instant::now() + POLL_INTERVAL,
        });
        Self { load: Box::new(load), watched }
    }

    /// Completes when the watched file has changed. It can be called again at any time without losing a change.
    pub(crate) async fn file_changed(reload: Option<&mut Self>) {
        let Some(watched) = reload.and_then(|reload| reload.watched.as_mut()) else {
            return std::future::pending().await;
        };
        loop {
            tokio::time::sleep_until(watched.next_check).await;
            watched.next_check = Instant::now() + POLL_INTERVAL;
            // A file that is being replaced does not exist for a moment.
            let modified = modified(&watched.path);
            if modified.is_some() && modified != watched.modified {
                watched.modified = modified;
                return;
            }
        }
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|file| file.modified()).ok()
}

/// The current router, and previous ones with open sessions.
pub(crate) struct Routers {
    is_loopback: bool,
    /// Lines about rejected connections and requests.
    log: Arc<LogLimit>,
    state: Mutex<State>,
}

struct State {
    current: Arc<Router>,
    previous: Vec<Arc<Router>>,
}

impl Routers {
    pub(crate) fn new(router: Router, is_loopback: bool) -> Arc<Self> {
        let state = State { current: Arc::new(router), previous: Vec::new() };
        Arc::new(Self { is_loopback, log: Arc::default(), state: Mutex::new(state) })
    }

    /// Returns the limit of log lines about rejected connections.
    pub(crate) fn log_limit(&self) -> Arc<LogLimit> {
        Arc::clone(&self.log)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn current(&self) -> Arc<Router> {
        Arc::clone(&self.state().current)
    }

    /// Returns the router of a request.
    pub(crate) fn of(&self, request: &Request<Incoming>) -> Arc<Router> {
        let state = self.state();
        if !state.previous.is_empty() && request.headers().contains_key(SESSION) {
            let mut previous = state.previous.iter().rev();
            if let Some(router) = previous.find(|router| router.has_session(request)) {
                return Arc::clone(router);
            }
        }
        Arc::clone(&state.current)
    }

    /// Loads new settings for new sessions. If they are invalid, the old ones stay.
    pub(crate) fn reload(self: &Arc<Self>, reload: &mut Reload<'_>) {
        notify(ServiceState::Reloading);
        match tokio::task::block_in_place(|| (reload.load)()) {
            Ok(Reloaded { endpoints, settings, need_restart }) => {
                match Router::new(endpoints, settings, self.is_loopback) {
                    Ok(router) => self.replace(router, &need_restart),
                    Err(error) => error!("the configuration is not reloaded: {error}"),
                }
            }
            Err(reason) => error!("the configuration is not reloaded: {reason}"),
        }
        notify(ServiceState::Ready);
    }

    fn replace(self: &Arc<Self>, router: Router, need_restart: &[String]) {
        let mut state = self.state();
        let previous = std::mem::replace(&mut state.current, Arc::new(router));
        state.previous.push(Arc::clone(&previous));
        drop(state);
        info!(target: "announcement", "the configuration is reloaded; open sessions keep their settings");
        if !need_restart.is_empty() {
            warn!("these changes need a restart: {}", need_restart.join(", "));
        }
        let routers = Arc::clone(self);
        tokio::spawn(async move { routers.retire(previous).await });
    }

    /// Closes a previous router when its sessions have ended.
    async fn retire(&self, router: Arc<Router>) {
        // Referenced by the list and by this task, and by each request.
        while Arc::strong_count(&router) > 2 || !router.is_idle().await {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        self.state().previous.retain(|one| !Arc::ptr_eq(one, &router));
        router.close_streams();
        router.close_all().await;
    }

    fn all(&self) -> Vec<Arc<Router>> {
        let state = self.state();
        state.previous.iter().chain([&state.current]).cloned().collect()
    }

    /// Ends the standalone streams of all servers.
    pub(crate) fn close_streams(&self) {
        self.all().iter().for_each(|router| router.close_streams());
    }

    /// Closes all servers.
    pub(crate) async fn close_all(&self) {
        for router in self.all() {
            router.close_all().await;
        }
    }
}

impl std::fmt::Debug for Reload<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reload").finish_non_exhaustive()
    }
}
