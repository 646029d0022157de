//! Probes a server with invalid requests and records findings. No probe has side effects, see `plan`.

use std::time::Duration;

use serde_json::json;
use stickler::rules::{json_rpc, probes as rules};
use stickler::{Rule, Severity};

use super::grade::{self, Grade};
use super::handshake::{self, ToolListing};
use super::plan::UNKNOWN_FIELD;
use super::response::{Outcome, Response};
use super::session::Session;
use super::{ProbeResult, Setup, server_finding, tool_probes};
use crate::commands::check::report::{CheckFinding, Report};
use crate::exit::Failure;

/// Maximum wait for a response to malformed JSON, which most servers do not send.
const MALFORMED_JSON_TIMEOUT: Duration = Duration::from_millis(500);

/// Maximum number of restarts of a server that exits.
const MAX_RESTARTS: usize = 3;

const BAD_PARAMETERS: &str = "bad parameters";
const NO_SUCH_TOOL: &str = "stickler_no_such_tool";
const NO_SUCH_METHOD: &str = "stickler/no-such-method";

pub(super) struct Prober<'p> {
    pub(super) setup: &'p Setup,
    pub(super) session: Session,
    pub(super) report: &'p mut Report,
    pub(super) timeouts: usize,
    restarts: usize,
}

/// Runs all probes. Returns the session, which is a new one if the server was restarted.
pub(super) fn run(
    setup: &Setup,
    session: Session,
    listing: &ToolListing,
    max_tools: usize,
    report: &mut Report,
) -> Result<Session, Failure> {
    let mut prober = Prober { setup, session, report, timeouts: 0, restarts: 0 };
    if !prober.session.is_modern {
        prober.ping("ping")?;
    }
    prober.unknown_method()?;
    if prober.session.has_tools {
        prober.bad_parameters()?;
        prober.unknown_tool()?;
        tool_probes::run(&mut prober, listing, max_tools)?;
    }
    prober.malformed_json()?;
    Ok(prober.session)
}

impl Prober<'_> {
    fn ping(&mut self, name: &'static str) -> Result<(), Failure> {
        let response = self.session.request("ping", json!({}));
        let grade = match &response.outcome {
            Outcome::Result(_) => Grade::Answered,
            Outcome::Exited(_) => Grade::Died,
            Outcome::Timeout => Grade::Silent,
            Outcome::Error { .. } | Outcome::Status(_) => Grade::Vague,
        };
        if matches!(grade, Grade::Vague | Grade::Silent) {
            let received = grade::summary(&response);
            let message = format!("expected an empty result for `ping`, got {received}");
            let finding = server_finding(&rules::SILENT, message);
            self.report.findings.push(CheckFinding { severity: Severity::Error, ..finding });
        }
        self.add_probe(name, None, grade, &response);
        self.restart_if_exited(name, grade)
    }

    fn unknown_method(&mut self) -> Result<(), Failure> {
        let response = self.session.request_invalid(NO_SUCH_METHOD, json!({}));
        let code = i64::from(json_rpc::METHOD_NOT_FOUND);
        let grade = grade::of(&response, &[NO_SUCH_METHOD.to_owned()], Some(code));
        self.check_error_code("unknown method", &response, code);
        self.record_probe("unknown method", None, grade, &response, "a method that does not exist")
    }

    /// Sends parameters that the SDK of the server checks before the server's own code runs. How it words its
    /// error is not the author's doing; no response, an exit or an accepted call is.
    fn bad_parameters(&mut self) -> Result<(), Failure> {
        let calls = [
            (BAD_PARAMETERS, "tools/list", json!({ "cursor": 42 }), "cursor"),
            ("call without a name", "tools/call", json!({ "arguments": {} }), "name"),
        ];
        for (name, method, params, field) in calls {
            let what = format!("`{method}` with {params}");
            let response = self.session.request_invalid(method, params);
            let grade = grade::of(&response, &[field.to_owned()], None);
            let is_harmless =
                grade == Grade::Vague || (grade == Grade::Accepted && name == BAD_PARAMETERS);
            if is_harmless {
                self.add_probe(name, None, grade, &response);
            } else {
                self.record_probe(name, None, grade, &response, &what)?;
            }
        }
        Ok(())
    }

    fn unknown_tool(&mut self) -> Result<(), Failure> {
        let params = json!({ "name": NO_SUCH_TOOL, "arguments": {} });
        let response = self.session.request_invalid("tools/call", params);
        let grade = grade::of(&response, &[NO_SUCH_TOOL.to_owned()], None);
        self.check_error_code("unknown tool", &response, i64::from(json_rpc::INVALID_PARAMS));
        self.record_probe(
            "unknown tool",
            None,
            grade,
            &response,
            "a call to a tool that does not exist",
        )
    }

    /// Sends malformed JSON, then a valid request to see whether the server still responds.
    fn malformed_json(&mut self) -> Result<(), Failure> {
        let wait = self.setup.timeout.min(MALFORMED_JSON_TIMEOUT);
        let response = self.session.send_malformed(br#"{"jsonrpc":"2.0","id":"#, wait);
        let code = i64::from(json_rpc::PARSE_ERROR);
        let grade =
            grade::of(&response, &["JSON".to_owned(), "Parse error".to_owned()], Some(code));
        let name = "malformed JSON";
        if grade == Grade::Died {
            self.record_probe(name, None, grade, &response, "malformed JSON")?;
        } else {
            // The transport of the SDK answers, or drops the line; the author cannot change it.
            self.add_probe(name, None, grade, &response);
        }
        if self.session.is_modern {
            let response = self.session.request("server/discover", json!({}));
            let grade = match &response.outcome {
                Outcome::Result(_) => Grade::Answered,
                Outcome::Exited(_) => Grade::Died,
                _ => Grade::Silent,
            };
            self.add_probe("still there", None, grade, &response);
            return self.restart_if_exited("malformed JSON", grade);
        }
        self.ping("still there")
    }

    /// Records a probe, and a finding unless the response is as expected.
    pub(super) fn record_probe(
        &mut self,
        name: &'static str,
        tool: Option<&str>,
        grade: Grade,
        response: &Response,
        what: &str,
    ) -> Result<(), Failure> {
        self.add_probe(name, tool, grade, response);
        let received = crate::style::printable(&grade::summary(response), 160);
        let finding: Option<(&'static Rule, String)> = match grade {
            Grade::Answered | Grade::Rejected | Grade::Names | Grade::Failing => None,
            Grade::Vague if name == UNKNOWN_FIELD => {
                let message = format!("{what} got a response that does not mention it: {received}");
                Some((&rules::VAGUE, message))
            }
            Grade::Vague => Some((&rules::VAGUE, format!("{what} is rejected with: {received}"))),
            Grade::Accepted if name == UNKNOWN_FIELD => {
                Some((&rules::ACCEPTED, format!("{what} is ignored")))
            }
            Grade::Accepted => {
                Some((&rules::ACCEPTED, format!("{what} is accepted as if it were valid")))
            }
            Grade::Silent => {
                // Apart from the unknown field the call is valid, so the tool may be running.
                self.timeouts += usize::from(name != UNKNOWN_FIELD);
                let seconds = self.setup.timeout.as_secs();
                let message = format!("{what} got no response within {seconds} s");
                let may_be_running =
                    "; the tool may have been running, so the field was not rejected";
                let hint = if name == UNKNOWN_FIELD { may_be_running } else { "" };
                Some((&rules::SILENT, format!("{message}{hint}")))
            }
            Grade::Died => Some((&rules::DIED, format!("the server exited after {what}"))),
        };
        if let Some((rule, message)) = finding {
            // A tool may be slow.
            let is_harmless = grade == Grade::Silent && name == UNKNOWN_FIELD;
            let severity = if is_harmless { Severity::Note } else { rule.severity };
            self.report.findings.push(CheckFinding {
                severity,
                tool: tool.map(str::to_owned),
                path: probe_path(name, tool),
                ..server_finding(rule, message)
            });
        }
        self.restart_if_exited(name, grade)
    }

    fn check_error_code(&mut self, name: &'static str, response: &Response, expected: i64) {
        if let Outcome::Error { code, .. } = &response.outcome
            && *code != expected
        {
            let message = format!("{name}: error code {code}, expected {expected}");
            let finding = server_finding(&rules::ERROR_CODE, message);
            self.report.findings.push(CheckFinding { path: probe_path(name, None), ..finding });
        }
    }

    pub(super) fn add_probe(
        &mut self,
        name: &'static str,
        tool: Option<&str>,
        grade: Grade,
        response: &Response,
    ) {
        self.report.probes.push(ProbeResult {
            name,
            tool: tool.map(str::to_owned),
            grade,
            answer: grade::summary(response),
            millis: response.millis,
        });
    }

    /// Restarts a server that exited, so that the remaining probes can run.
    fn restart_if_exited(&mut self, name: &str, grade: Grade) -> Result<(), Failure> {
        if grade != Grade::Died {
            return Ok(());
        }
        self.restarts += 1;
        if self.restarts > MAX_RESTARTS {
            return Err(Failure::Unreachable(format!(
                "[STK-105] the server exited {MAX_RESTARTS} times, last after `{name}`"
            )));
        }
        let mut session = handshake::open(self.setup)?;
        session.timeout = self.setup.timeout;
        let earlier = std::mem::replace(&mut self.session, session);
        self.session.take_findings(earlier);
        Ok(())
    }
}

/// Returns the path that identifies the finding in a baseline.
fn probe_path(name: &str, tool: Option<&str>) -> String {
    match tool {
        Some(_) => format!("/probes/{}", name.replace(' ', "-")),
        None => format!("/probes/server/{}", name.replace(' ', "-")),
    }
}
