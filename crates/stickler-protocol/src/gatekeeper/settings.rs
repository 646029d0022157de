//! How a gatekeeper behaves.

use std::time::Duration;

/// What can be chosen about a gatekeeper.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch by itself")]
pub struct GatekeeperSettings {
    /// Ask the server for its tools when they are not known.
    pub learns: bool,
    /// Subscribe to changes of the tools that were learnt, where the revision has subscriptions and
    /// the server offers this one. For those who can keep a request open to its end.
    pub subscribes: bool,
    /// Let calls wait for the tools to be known; without it they go on unchecked until then.
    pub holds: bool,
    /// How long a call waits for the tools to be known.
    pub longest_wait: Duration,
    /// How old a tool list may be and still be the reason for a refusal.
    pub fresh_enough: Duration,
    /// How long the server is left in peace after it did not list its tools.
    pub pause_after_failure: Duration,
    /// How long a request may wait for its answer before it gets an error instead; `None` for as
    /// long as it takes.
    pub request_timeout: Option<Duration>,
    /// Announce and serve `toolValidation` where the server does not.
    pub announces: bool,
    /// From where our own questions to the server are numbered. Gatekeepers in a row choose
    /// different numbers, so that none takes an answer for its own that is another's.
    pub first_number: u64,
}

impl Default for GatekeeperSettings {
    fn default() -> Self {
        Self {
            learns: true,
            subscribes: false,
            holds: true,
            longest_wait: Duration::from_secs(5),
            fresh_enough: Duration::from_secs(5),
            pause_after_failure: Duration::from_secs(30),
            request_timeout: None,
            announces: true,
            first_number: 1,
        }
    }
}
