//! Settings of a connection.

use std::time::Duration;

/// Settings of a [`Connection`](super::Connection).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
pub struct ConnectionSettings {
    /// Fetch the tool list if it is unknown.
    pub fetch_tools: bool,
    /// Subscribe to tool list changes if the revision has subscriptions and the server offers this
    /// one. Requires a caller that can keep the request open.
    pub subscribe: bool,
    /// Hold calls until the tool list is known; otherwise they are forwarded unchecked until then.
    pub hold_calls: bool,
    /// Maximum time to hold a call.
    pub max_hold_time: Duration,
    /// Maximum age of a tool list that may reject a call without a refresh.
    pub max_list_age: Duration,
    /// Pause before the next attempt after the server failed to list its tools.
    pub fetch_backoff: Duration,
    /// Maximum time to wait for a response; `None` disables the timeout.
    pub request_timeout: Option<Duration>,
    /// Maximum time that pending requests wait after an answer of the server that matches no request; `None` disables
    /// this. Requires a caller that calls [`handle_timeout`](super::Connection::handle_timeout).
    pub unmatched_timeout: Option<Duration>,
    /// Announce and serve `toolValidation` if the server does not.
    pub announce: bool,
    /// Return work that takes long as actions and hold the calls that need it; otherwise it is done at once.
    /// Requires a caller that passes the outcome to [`handle_done`](super::Connection::handle_done).
    pub defer_work: bool,
    /// First number in the ids of gateway requests. Chained gateways use different numbers, so that
    /// none consumes a response meant for another.
    pub first_request_number: u64,
}

impl Default for ConnectionSettings {
    fn default() -> Self {
        Self {
            fetch_tools: true,
            subscribe: false,
            hold_calls: true,
            max_hold_time: Duration::from_secs(5),
            max_list_age: Duration::from_secs(5),
            fetch_backoff: Duration::from_secs(30),
            request_timeout: None,
            unmatched_timeout: Some(Duration::from_secs(60)),
            announce: true,
            defer_work: false,
            first_request_number: 1,
        }
    }
}
