//! What is sent to a server to see how it takes it. None of it can change anything: see `plan`.

use std::time::Duration;

use serde_json::json;
use stickler::rules::{json_rpc, probes as rules};
use stickler::{Rule, Severity};

use super::grade::{self, Grade};
use super::opening::{self, Listed};
use super::plan::{self, UNKNOWN_FIELD, WrongCall};
use super::talk::{Outcome, Reply, Talk};
use super::{Probed, Setup, Spared, about_server};
use crate::commands::check::report::{Found, Report};
use crate::exit::Failure;

/// Most servers never answer what is no JSON; there is no point in waiting long.
const LONGEST_NONSENSE: Duration = Duration::from_secs(3);

/// After so many questions without an answer no more tools are tried.
const MOST_SILENCES: usize = 3;

/// How often a server that died is started again.
const MOST_RESTARTS: usize = 3;

const BAD_PARAMETERS: &str = "bad parameters";
const NO_SUCH_TOOL: &str = "stickler_no_such_tool";
const NO_SUCH_METHOD: &str = "stickler/no-such-method";

struct Prober<'p> {
    setup: &'p Setup,
    talk: Talk,
    report: &'p mut Report,
    silences: usize,
    restarts: usize,
}

/// Tries everything; gives the conversation back, or a later one.
pub(super) fn run(
    setup: &Setup,
    talk: Talk,
    listed: &Listed,
    most_tools: usize,
    report: &mut Report,
) -> Result<Talk, Failure> {
    let mut prober = Prober { setup, talk, report, silences: 0, restarts: 0 };
    if !prober.talk.is_modern {
        prober.ping("ping")?;
    }
    prober.unknown_method()?;
    if prober.talk.has_tools {
        prober.bad_parameters()?;
        prober.unknown_tool()?;
        prober.tools(listed, most_tools)?;
    }
    prober.nonsense()?;
    Ok(prober.talk)
}

impl Prober<'_> {
    fn ping(&mut self, name: &'static str) -> Result<(), Failure> {
        let reply = self.talk.ask("ping", json!({}));
        let grade = match &reply.outcome {
            Outcome::Result(_) => Grade::Answered,
            Outcome::Gone(_) => Grade::Died,
            Outcome::Silence => Grade::Silent,
            Outcome::Error { .. } | Outcome::Status(_) => Grade::Vague,
        };
        if matches!(grade, Grade::Vague | Grade::Silent) {
            let told = grade::shortly(&reply);
            let message = format!("`ping` must be answered with an empty result; there was {told}");
            let finding = about_server(&rules::SILENT, message);
            self.report.findings.push(Found { severity: Severity::Error, ..finding });
        }
        self.note(name, None, grade, &reply);
        self.revive(name, grade)
    }

    fn unknown_method(&mut self) -> Result<(), Failure> {
        let reply = self.talk.ask(NO_SUCH_METHOD, json!({}));
        let code = i64::from(json_rpc::METHOD_NOT_FOUND);
        let grade = grade::of(&reply, &[NO_SUCH_METHOD.to_owned()], Some(code));
        self.judge_code("unknown method", &reply, code);
        self.judge("unknown method", None, grade, &reply, "a method that does not exist")
    }

    fn bad_parameters(&mut self) -> Result<(), Failure> {
        let code = i64::from(json_rpc::INVALID_PARAMS);
        let reply = self.talk.ask("tools/list", json!({ "cursor": 42 }));
        let grade = grade::of(&reply, &["cursor".to_owned()], None);
        self.judge(BAD_PARAMETERS, None, grade, &reply, "`tools/list` with the cursor 42")?;
        let reply = self.talk.ask("tools/call", json!({ "arguments": {} }));
        let grade = grade::of(&reply, &["name".to_owned()], None);
        self.judge_code("call without a name", &reply, code);
        self.judge("call without a name", None, grade, &reply, "a call that names no tool")
    }

    fn unknown_tool(&mut self) -> Result<(), Failure> {
        let params = json!({ "name": NO_SUCH_TOOL, "arguments": {} });
        let reply = self.talk.ask("tools/call", params);
        let grade = grade::of(&reply, &[NO_SUCH_TOOL.to_owned()], None);
        self.judge_code("unknown tool", &reply, i64::from(json_rpc::INVALID_PARAMS));
        self.judge("unknown tool", None, grade, &reply, "a call of a tool that does not exist")
    }

    fn tools(&mut self, listed: &Listed, most: usize) -> Result<(), Failure> {
        let mut probed = 0;
        for tool in &listed.tools {
            let Some(name) = tool["name"].as_str() else { continue };
            let calls = if self.silences >= MOST_SILENCES {
                Err("the server had stopped answering".to_owned())
            } else if probed >= most {
                Err(format!("{most} tools were tried already (`--probe-limit`)"))
            } else {
                plan::plan(tool, &self.setup.validator).map_err(str::to_owned)
            };
            match calls {
                Err(reason) => {
                    self.report.spared.push(Spared { tool: name.to_owned(), reason });
                }
                Ok(calls) => {
                    probed += 1;
                    for call in calls {
                        self.wrong_call(name, &call)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn wrong_call(&mut self, tool: &str, call: &WrongCall) -> Result<(), Failure> {
        let params = json!({ "name": tool, "arguments": call.arguments });
        let reply = self.talk.ask("tools/call", params);
        let grade = grade::of(&reply, &call.fields, None);
        let arguments = crate::style::printable(&call.arguments.to_string(), 160);
        let mut what = format!("a call with the arguments {arguments}");
        if call.name == UNKNOWN_FIELD
            && let [field] = call.fields.as_slice()
        {
            what = format!("a call with the unknown field `{field}`");
        }
        self.judge(call.name, Some(tool), grade, &reply, &what)
    }

    /// Bytes that are no JSON, and then a question to see whether the server is still there.
    fn nonsense(&mut self) -> Result<(), Failure> {
        let wait = self.setup.timeout.min(LONGEST_NONSENSE);
        let reply = self.talk.say_nonsense(br#"{"jsonrpc":"2.0","id":"#, wait);
        let code = i64::from(json_rpc::PARSE_ERROR);
        let grade = grade::of(&reply, &["JSON".to_owned(), "Parse error".to_owned()], Some(code));
        let name = "malformed JSON";
        if grade == Grade::Silent {
            // So do the servers of all official SDKs: worth knowing, no more.
            let message = "bytes that are no JSON get no answer";
            self.report.findings.push(Found {
                severity: Severity::Note,
                path: probe_path(name, None),
                fix: "Answer with the error -32700, without an id.".to_owned(),
                ..about_server(&rules::SILENT, message)
            });
            self.note(name, None, grade, &reply);
        } else {
            self.judge(name, None, grade, &reply, "bytes that are no JSON")?;
        }
        if self.talk.is_modern {
            let reply = self.talk.ask("server/discover", json!({}));
            let grade = match &reply.outcome {
                Outcome::Result(_) => Grade::Answered,
                Outcome::Gone(_) => Grade::Died,
                _ => Grade::Silent,
            };
            self.note("still there", None, grade, &reply);
            return self.revive("malformed JSON", grade);
        }
        self.ping("still there")
    }

    /// Notes what came of a probe and makes a finding of it where it is not as it should be.
    fn judge(
        &mut self,
        name: &'static str,
        tool: Option<&str>,
        grade: Grade,
        reply: &Reply,
        what: &str,
    ) -> Result<(), Failure> {
        self.note(name, tool, grade, reply);
        let told = crate::style::printable(&grade::shortly(reply), 160);
        let finding: Option<(&'static Rule, String)> = match grade {
            Grade::Answered | Grade::Names => None,
            Grade::Vague if name == UNKNOWN_FIELD => {
                let message = format!("{what} got an answer that does not mention it: {told}");
                Some((&rules::VAGUE, message))
            }
            Grade::Vague => Some((&rules::VAGUE, format!("{what} is refused with: {told}"))),
            Grade::Accepted => {
                Some((&rules::ACCEPTED, format!("{what} is answered as if nothing were wrong")))
            }
            Grade::Silent => {
                self.silences += 1;
                let seconds = self.setup.timeout.as_secs();
                let message = format!("{what} got no answer within {seconds} s");
                let at_work = "; the tool may have been at work, so the field was not refused";
                let hint = if name == UNKNOWN_FIELD { at_work } else { "" };
                Some((&rules::SILENT, format!("{message}{hint}")))
            }
            Grade::Died => Some((&rules::DIED, format!("the server ended after {what}"))),
        };
        if let Some((rule, message)) = finding {
            // A list that ignores an odd cursor does no harm.
            let is_harmless = grade == Grade::Accepted && name == BAD_PARAMETERS;
            let severity = if is_harmless { Severity::Note } else { rule.severity };
            self.report.findings.push(Found {
                severity,
                tool: tool.map(str::to_owned),
                path: probe_path(name, tool),
                ..about_server(rule, message)
            });
        }
        self.revive(name, grade)
    }

    fn judge_code(&mut self, name: &'static str, reply: &Reply, expected: i64) {
        if let Outcome::Error { code, .. } = &reply.outcome
            && *code != expected
        {
            let message = format!("{name}: answered with the code {code}, {expected} was expected");
            let finding = about_server(&rules::ERROR_CODE, message);
            self.report.findings.push(Found { path: probe_path(name, None), ..finding });
        }
    }

    fn note(&mut self, name: &'static str, tool: Option<&str>, grade: Grade, reply: &Reply) {
        self.report.probes.push(Probed {
            name,
            tool: tool.map(str::to_owned),
            grade,
            answer: grade::shortly(reply),
            millis: reply.millis,
        });
    }

    /// A server that died is started again, so that the rest can be tried too.
    fn revive(&mut self, name: &str, grade: Grade) -> Result<(), Failure> {
        if grade != Grade::Died {
            return Ok(());
        }
        self.restarts += 1;
        if self.restarts > MOST_RESTARTS {
            return Err(Failure::Unreachable(format!(
                "[STK-105] the server ended {MOST_RESTARTS} times, last after `{name}`"
            )));
        }
        let talk = opening::open(self.setup)?;
        let earlier = std::mem::replace(&mut self.talk, talk);
        self.talk.inherit(earlier);
        Ok(())
    }
}

/// Where a baseline looks for the same finding again.
fn probe_path(name: &str, tool: Option<&str>) -> String {
    match tool {
        Some(_) => format!("/probes/{}", name.replace(' ', "-")),
        None => format!("/probes/server/{}", name.replace(' ', "-")),
    }
}
