//! Probes the tools with invalid calls and judges the responses against that to a valid call.
//!
//! A response that a valid call gets as well says nothing about the mistake: the server ignores an unknown field,
//! or every call fails because the server lacks something. The second is reported once, not per tool.

use std::collections::HashMap;

use serde_json::{Value, json};
use stickler::rules::probes as rules;

use super::grade::{self, Grade};
use super::handshake::ToolListing;
use super::plan::{self, InvalidCall, UNKNOWN_FIELD};
use super::probes::Prober;
use super::response::{Outcome, Response};
use super::{SkippedTool, server_finding};
use crate::commands::check::report::CheckFinding;
use crate::commands::counts::count;
use crate::exit::Failure;
use crate::style::printable;

/// Number of requests without a response after which no more tools are responses.
const MAX_TIMEOUTS: usize = 3;

/// Names of fields whose values a tool may request from the network.
const NETWORK_FIELDS: [&str; 8] =
    ["url", "urls", "uri", "href", "link", "domain", "host", "hostname"];

/// A response to an invalid call.
struct Probed {
    tool: String,
    call: InvalidCall,
    response: Response,
    grade: Grade,
}

pub(super) fn run(
    prober: &mut Prober<'_>,
    listing: &ToolListing,
    max_tools: usize,
) -> Result<(), Failure> {
    let mut responses: Vec<Probed> = Vec::new();
    let mut controls = HashMap::new();
    let mut tools = 0;
    for tool in &listing.tools {
        let Some(name) = tool["name"].as_str() else { continue };
        let calls = if prober.timeouts >= MAX_TIMEOUTS {
            Err("the server stopped responding".to_owned())
        } else if tools >= max_tools {
            Err(format!("the limit of {max_tools} tools is reached (`--probe-limit`)"))
        } else {
            plan::plan(tool, &prober.setup.validator).map_err(str::to_owned)
        };
        match calls {
            Err(reason) => {
                prober.report.skipped.push(SkippedTool { tool: name.to_owned(), reason });
            }
            Ok(calls) => {
                tools += 1;
                prober.setup.progress.step(&format!("probing {name}"));
                probe(prober, tool, name, calls, &mut responses, &mut controls)?;
            }
        }
    }
    judge(prober, responses, &controls)
}

/// Sends the invalid calls of a tool, and a valid call if it is needed to judge the responses.
fn probe(
    prober: &mut Prober<'_>,
    tool: &Value,
    name: &str,
    calls: Vec<InvalidCall>,
    responses: &mut Vec<Probed>,
    controls: &mut HashMap<String, String>,
) -> Result<(), Failure> {
    let valid = calls.iter().find_map(valid_arguments);
    if valid.is_some() && may_reach_network(tool) {
        prober.report.network.push(name.to_owned());
    }
    let is_first = controls.is_empty();
    if is_first && let Some(arguments) = &valid {
        control(prober, name, arguments, controls);
    }
    let mut is_vague = false;
    for call in calls {
        let params = json!({ "name": name, "arguments": call.arguments });
        let response = prober.session.request_invalid("tools/call", params);
        let grade = grade::of(&response, &call.fields, None);
        is_vague |= grade == Grade::Vague && call.name == UNKNOWN_FIELD;
        if matches!(grade, Grade::Died | Grade::Silent) {
            let what = describe(&call);
            prober.record_probe(call.name, Some(name), grade, &response, &what)?;
        } else {
            responses.push(Probed { tool: name.to_owned(), call, response, grade });
        }
    }
    match valid {
        Some(arguments) if is_vague && !controls.contains_key(name) => {
            control(prober, name, &arguments, controls);
        }
        _ => {}
    }
    Ok(())
}

/// Makes a valid call and records its error, if there is one.
fn control(
    prober: &mut Prober<'_>,
    tool: &str,
    arguments: &Value,
    controls: &mut HashMap<String, String>,
) {
    let params = json!({ "name": tool, "arguments": arguments });
    let response = prober.session.request("tools/call", params);
    let failed = match &response.outcome {
        Outcome::Result(result) => result["isError"] == true,
        Outcome::Error { .. } => true,
        _ => false,
    };
    if failed {
        controls.insert(tool.to_owned(), grade::summary(&response));
    }
}

/// Returns the arguments of a call without its unknown field, which are valid.
fn valid_arguments(call: &InvalidCall) -> Option<Value> {
    let mut arguments = call.arguments.clone();
    let [field] = call.fields.as_slice() else { return None };
    (call.name == UNKNOWN_FIELD).then(|| {
        if let Value::Object(members) = &mut arguments {
            members.remove(field);
        }
        arguments
    })
}

/// Whether a read-only tool may request something from the network.
fn may_reach_network(tool: &Value) -> bool {
    let hint = &tool["annotations"]["openWorldHint"];
    let properties = tool["inputSchema"]["properties"].as_object();
    let is_address = |(name, schema): (&String, &Value)| {
        let format = schema["format"].as_str().unwrap_or_default();
        NETWORK_FIELDS.contains(&name.to_lowercase().as_str()) || matches!(format, "uri" | "url")
    };
    *hint == true || (*hint != false && properties.into_iter().flatten().any(is_address))
}

fn judge(
    prober: &mut Prober<'_>,
    responses: Vec<Probed>,
    controls: &HashMap<String, String>,
) -> Result<(), Failure> {
    // An error of a valid call that calls without required fields get, too.
    let is_failing = |text: &String| {
        responses.iter().any(|one| {
            one.call.name != UNKNOWN_FIELD
                && one.grade == Grade::Vague
                && grade::summary(&one.response) == *text
        })
    };
    let failing: Vec<String> = controls.values().filter(|text| is_failing(text)).cloned().collect();
    let mut failed = 0;
    for Probed { tool, call, response, grade } in responses {
        let text = grade::summary(&response);
        let what = describe(&call);
        let mut grade = grade;
        if grade == Grade::Vague && failing.contains(&text) {
            grade = Grade::Failing;
            failed += 1;
        } else if grade == Grade::Vague
            && call.name == UNKNOWN_FIELD
            && controls.get(&tool) == Some(&text)
        {
            grade = Grade::Accepted;
        }
        prober.record_probe(call.name, Some(&tool), grade, &response, &what)?;
    }
    if let Some(text) = failing.first() {
        let text = printable(text, 160);
        // The response to an unknown tool may be the same.
        let is_same = |found: &CheckFinding| {
            found.rule.id == rules::VAGUE.id
                && found.tool.is_none()
                && found.message.contains(&text)
        };
        prober.report.findings.retain(|found| !is_same(found));
        let failed = count(failed, "probe");
        let message = format!("valid and invalid calls fail alike ({failed}): {text}");
        prober.report.findings.push(server_finding(&rules::FAILING, message));
    }
    Ok(())
}

fn describe(call: &InvalidCall) -> String {
    if let (UNKNOWN_FIELD, [field]) = (call.name, call.fields.as_slice()) {
        return format!("the unknown field `{field}`");
    }
    let arguments = printable(&call.arguments.to_string(), 160);
    format!("a call with the arguments {arguments}")
}
