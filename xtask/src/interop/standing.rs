//! Expected differences of the conformance suite through the gateway, with reasons. No check may
//! fail that does not also fail directly, and a wrapped server has no differences.

use super::target::{Server, Way};

/// Where a reader finds the reasons.
pub(super) const WHERE: &str = "xtask/src/interop/standing.rs";

/// The expected differences for one server and one route to it.
pub(super) struct Standing(&'static [(&'static str, &'static str)]);

const STRICTER: &str = "the server does not check `Host` and `Origin`, the gateway does";

const HEADERS: &str = "the server does not support 2026-07-28; the gateway compares headers, \
    `_meta` and body before it forwards the request";

const MISSHAPEN: &str = "the server takes parameters of the wrong shape for a first call; the \
    gateway rejects them, as the check requires";

const NO_STREAM: &str = "in front of a command an answer without other messages is JSON, not a \
    stream that could be resumed";

impl Standing {
    pub(super) fn of(server: Server, way: Way, requirements: &str) -> Self {
        Self(match (server, way, requirements) {
            (Server::Everything, Way::Url, "2025-11-25") => {
                &[("dns-rebinding-protection", STRICTER)]
            }
            (Server::Everything, Way::Url, "2026-07-28") => {
                &[("server-stateless", HEADERS), ("tasks-request-headers", HEADERS)]
            }
            (Server::FastMcp, Way::Url, "2025-11-25") => &[("dns-rebinding-protection", STRICTER)],
            (Server::FastMcp, Way::Url, _) => &[
                ("dns-rebinding-protection", STRICTER),
                ("input-required-result-validate-input", MISSHAPEN),
            ],
            (Server::Fixture, Way::Command, "2025-11-25") => {
                &[("server-sse-multiple-streams", NO_STREAM), ("server-sse-polling", NO_STREAM)]
            }
            _ => &[],
        })
    }

    pub(super) fn scenarios(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|(scenario, _)| *scenario)
    }

    pub(super) fn explains(&self, scenario: &str) -> bool {
        self.scenarios().any(|one| one == scenario)
    }
}
