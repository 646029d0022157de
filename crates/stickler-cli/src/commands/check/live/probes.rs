//! Probes a server with invalid requests and records findings. No probe has side effects, see `plan`.

use std::time::Duration;

use serde_json::json;
use stickler::rules::{json_rpc, probes as rules};
use stickler::{Rule, Severity};

use super::grade::{self, Grade};
use super::handshake::{self, ToolListing};
use super::plan::{self, InvalidCall, UNKNOWN_FIELD};
use super::response::{Outcome, Response};
use super::session::Session;
use super::{ProbeResult, Setup, SkippedTool, server_finding};
use crate::commands::check::report::{CheckFinding, Report};
use crate::exit::Failure;

/// Maximum wait for a response to malformed JSON, which most servers do not send.
const MALFORMED_JSON_TIMEOUT: Duration = Duration::from_secs(3);

/// Number of requests without a response after which no more tools are probed.
const MAX_TIMEOUTS: usize = 3;

/// Maximum number of restarts of a server that exits.
const MAX_RESTARTS: usize = 3;

const BAD_PARAMETERS: &str = "bad parameters";
const NO_SUCH_TOOL: &str = "stickler_no_such_tool";
const NO_SUCH_METHOD: &str = "stickler/no-such-method";

struct Prober<'p> {
    setup: &'p Setup,
    session: Session,
    report: &'p mut Report,
    timeouts: usize,
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
        prober.tools(listing, max_tools)?;
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

    fn bad_parameters(&mut self) -> Result<(), Failure> {
        let code = i64::from(json_rpc::INVALID_PARAMS);
        let response = self.session.request_invalid("tools/list", json!({ "cursor": 42 }));
        let grade = grade::of(&response, &["cursor".to_owned()], None);
        self.record_probe(
            BAD_PARAMETERS,
            None,
            grade,
            &response,
            "`tools/list` with the cursor 42",
        )?;
        let response = self.session.request_invalid("tools/call", json!({ "arguments": {} }));
        let grade = grade::of(&response, &["name".to_owned()], None);
        self.check_error_code("call without a name", &response, code);
        self.record_probe(
            "call without a name",
            None,
            grade,
            &response,
            "a call without a tool name",
        )
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

    fn tools(&mut self, listing: &ToolListing, max_tools: usize) -> Result<(), Failure> {
        let mut probed = 0;
        for tool in &listing.tools {
            let Some(name) = tool["name"].as_str() else { continue };
            let calls = if self.timeouts >= MAX_TIMEOUTS {
                Err("the server stopped responding".to_owned())
            } else if probed >= max_tools {
                Err(format!("the limit of {max_tools} tools is reached (`--probe-limit`)"))
            } else {
                plan::plan(tool, &self.setup.validator).map_err(str::to_owned)
            };
            match calls {
                Err(reason) => {
                    self.report.skipped.push(SkippedTool { tool: name.to_owned(), reason });
                }
                Ok(calls) => {
                    probed += 1;
                    for call in calls {
                        self.invalid_call(name, &call)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn invalid_call(&mut self, tool: &str, call: &InvalidCall) -> Result<(), Failure> {
        let params = json!({ "name": tool, "arguments": call.arguments });
        let response = self.session.request_invalid("tools/call", params);
        let grade = grade::of(&response, &call.fields, None);
        let arguments = crate::style::printable(&call.arguments.to_string(), 160);
        let mut what = format!("a call with the arguments {arguments}");
        if call.name == UNKNOWN_FIELD
            && let [field] = call.fields.as_slice()
        {
            what = format!("a call with the unknown field `{field}`");
        }
        self.record_probe(call.name, Some(tool), grade, &response, &what)
    }

    /// Sends malformed JSON, then a valid request to see whether the server still responds.
    fn malformed_json(&mut self) -> Result<(), Failure> {
        let wait = self.setup.timeout.min(MALFORMED_JSON_TIMEOUT);
        let response = self.session.send_malformed(br#"{"jsonrpc":"2.0","id":"#, wait);
        let code = i64::from(json_rpc::PARSE_ERROR);
        let grade =
            grade::of(&response, &["JSON".to_owned(), "Parse error".to_owned()], Some(code));
        let name = "malformed JSON";
        if grade == Grade::Silent {
            // The servers of all official SDKs behave like this, so it is only a note.
            let message = "malformed JSON gets no response";
            self.report.findings.push(CheckFinding {
                severity: Severity::Note,
                path: probe_path(name, None),
                fix: "Respond with error -32700, without an id.".to_owned(),
                ..server_finding(&rules::SILENT, message)
            });
            self.add_probe(name, None, grade, &response);
        } else {
            self.record_probe(name, None, grade, &response, "malformed JSON")?;
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
    fn record_probe(
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
            Grade::Answered | Grade::Names => None,
            Grade::Vague if name == UNKNOWN_FIELD => {
                let message = format!("{what} got a response that does not mention it: {received}");
                Some((&rules::VAGUE, message))
            }
            Grade::Vague => Some((&rules::VAGUE, format!("{what} is rejected with: {received}"))),
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
            // An ignored cursor is harmless, and a tool may be slow.
            let is_harmless = (grade == Grade::Accepted && name == BAD_PARAMETERS)
                || (grade == Grade::Silent && name == UNKNOWN_FIELD);
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

    fn add_probe(
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
