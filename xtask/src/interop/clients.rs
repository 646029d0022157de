//! Runs third-party clients against third-party servers, directly and through the gateway.
//!
//! Clients must observe the same in both cases, except for the added validation tool and the help in
//! the response to an invalid call.

use serde_json::{Value, json};

use super::drivers::{Client, Target};
use super::install::Installed;
use super::process::HttpProcess;
use super::report::Job;
use super::test_servers::{self, TestServer};

/// Tools and results that a client received.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Observation {
    pub(super) tools: Vec<String>,
    /// The results of its calls, in order.
    pub(super) results: Vec<Value>,
}

pub(super) fn jobs(installed: &Installed) -> Result<Vec<Job<'_>>, String> {
    let mut jobs = Vec::new();
    for test_server in test_servers::all(installed)? {
        for client in Client::ALL {
            if client.is_tested_with(test_server.name) {
                let (name, test_server) =
                    (format!("{client:?}, {}", test_server.name), test_server.clone());
                jobs.push(Job::new(name, move || check(installed, client, &test_server)));
            }
        }
    }
    Ok(jobs)
}

/// Tests one client with one server over every combination of transports that both support.
fn check(
    installed: &Installed,
    client: Client,
    test_server: &TestServer,
) -> Result<String, String> {
    let mut routes = Vec::new();
    let command = Target::Command(test_server.command.clone());
    // The invalid call is never sent to the server directly: the server might execute it.
    let good = std::slice::from_ref(&test_server.good);
    let direct = client.run(installed, &command, good)?;
    let mut through = |route: &'static str, target: &Target, direct: &Observation| {
        let calls = [test_server.good.clone(), test_server.bad.clone()];
        let observed = client.run(installed, target, &calls);
        let observed = observed.and_then(|observed| compare(&observed, direct, test_server));
        observed.map_err(|reason| format!("{route}: {reason}"))?;
        routes.push(route);
        Ok::<(), String>(())
    };
    let wrapped = |server: &[String]| {
        let binary = installed.stickler().to_string_lossy().into_owned();
        let run = [binary, "run".to_owned(), "--grace".to_owned(), "1".to_owned()];
        Target::Command(run.into_iter().chain(server.iter().cloned()).collect())
    };
    let behind: Vec<String> =
        ["--".to_owned()].into_iter().chain(test_server.command.iter().cloned()).collect();
    through("stdio to stdio", &wrapped(&behind), &direct)?;
    let Some(server) = start_http_server(installed, test_server.name)? else {
        if client.supports_http() {
            let gateway = HttpProcess::gateway(installed, &behind)?;
            through("HTTP to stdio", &Target::Url(gateway.url()), &direct)?;
        }
        return Ok(routes.join(", "));
    };
    let upstream = ["--url".to_owned(), server.url()];
    through("stdio to HTTP", &wrapped(&upstream), &direct)?;
    if client.supports_http() {
        let direct = client.run(installed, &Target::Url(server.url()), good)?;
        let gateway = HttpProcess::gateway(installed, &upstream)?;
        through("HTTP to HTTP", &Target::Url(gateway.url()), &direct)?;
        let gateway = HttpProcess::gateway(installed, &behind)?;
        through("HTTP to stdio", &Target::Url(gateway.url()), &direct)?;
    }
    Ok(routes.join(", "))
}

/// Starts the server as an HTTP server; `None` if it supports stdio only.
fn start_http_server(installed: &Installed, name: &str) -> Result<Option<HttpProcess>, String> {
    let start = |mut parts: Vec<String>, last: &dyn Fn(u16) -> String| {
        HttpProcess::start(|port| {
            parts.push(last(port));
            let mut command = std::process::Command::new(parts.remove(0));
            command.args(parts).env("PORT", port.to_string());
            command
        })
        .map(Some)
    };
    match name {
        "everything" => {
            start(installed.npm_program("mcp-server-everything"), &|_| "streamableHttp".to_owned())
        }
        "fixture" => start(installed.script("server.mjs"), &|port| port.to_string()),
        _ => Ok(None),
    }
}

fn compare(
    observed: &Observation,
    direct: &Observation,
    test_server: &TestServer,
) -> Result<(), String> {
    let mut tools = direct.tools.clone();
    tools.push("stickler_validate".to_owned());
    if observed.tools != tools {
        return Err(format!("the tools are {:?}, not {tools:?}", observed.tools));
    }
    let ([good, bad], [directly]) = (observed.results.as_slice(), direct.results.as_slice()) else {
        return Err("a call has no response".to_owned());
    };
    if without_clock(good) != without_clock(directly) {
        return Err(format!("a valid call returned {good}, not {directly}"));
    }
    let bad = bad.to_string();
    let tool = test_server.bad["name"].as_str().unwrap_or_default();
    let is_help = bad.contains(&format!("Tool call failed for: {tool}"));
    if !is_help || !bad.contains(test_server.hint) {
        return Err(format!(
            "an invalid call returned no help that names {}: {bad}",
            test_server.hint
        ));
    }
    test_server.check_untouched()
}

/// Replaces the digits of results that contain the current time, which differs between runs.
fn without_clock(answer: &Value) -> Value {
    let zero_digits = |text: String| {
        text.chars().map(|one| if one.is_ascii_digit() { '0' } else { one }).collect::<String>()
    };
    match answer.to_string() {
        text if text.contains("datetime") => json!(zero_digits(text)),
        _ => answer.clone(),
    }
}
