//! Expected differences of the conformance suite between a direct run and one through the gateway.
//!
//! Each has a reason. A check that passes directly must pass through the gateway and on a wrapped server.

use super::target::{Route, Server};

/// The path of this file, for the report.
pub(super) const PATH: &str = "xtask/src/interop/expected_differences.rs";

/// The differing scenarios for one server and one route to it, with reasons.
pub(super) struct ExpectedDifferences(&'static [(&'static str, &'static str)]);

const HOST_CHECK: &str = "the server does not check `Host` and `Origin`, the gateway does";

const HEADERS: &str = "the server does not support 2026-07-28; the gateway compares headers, \
    `_meta` and body before it forwards the request";

const INVALID_PARAMS: &str = "the server mistakes parameters of the wrong type for a first call; the \
    gateway rejects them, as the check requires";

const NO_STREAM: &str = "in front of a command, a response without other messages is JSON and not a \
    stream that could be resumed";

const UNKNOWN_TOOL: &str = "the server does not have the tool of the scenario and answers with an error; the \
    wrapped server answers with a failed result, which some of its checks accept";

impl ExpectedDifferences {
    pub(super) fn of(server: Server, route: Route, requirements: &str) -> Self {
        Self(match (server, route, requirements) {
            (Server::Everything, Route::Url, "2026-07-28") => {
                &[("server-stateless", HEADERS), ("tasks-request-headers", HEADERS)]
            }
            (Server::Everything | Server::FastMcp, Route::Url, "2025-11-25") => {
                &[("dns-rebinding-protection", HOST_CHECK)]
            }
            (Server::FastMcp, Route::Url, _) => &[
                ("dns-rebinding-protection", HOST_CHECK),
                ("input-required-result-validate-input", INVALID_PARAMS),
            ],
            (Server::Fixture, Route::Command, "2025-11-25") => {
                &[("server-sse-multiple-streams", NO_STREAM), ("server-sse-polling", NO_STREAM)]
            }
            (Server::Rmcp, Route::Wrapped | Route::WrappedRaw, "2026-07-28") => &[
                ("tasks-capability-negotiation", UNKNOWN_TOOL),
                ("tasks-dispatch-and-envelope", UNKNOWN_TOOL),
                ("tasks-lifecycle", UNKNOWN_TOOL),
            ],
            _ => &[],
        })
    }

    pub(super) fn scenarios(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|(scenario, _)| *scenario)
    }

    pub(super) fn contains(&self, scenario: &str) -> bool {
        self.scenarios().any(|one| one == scenario)
    }
}
