//! Real clients on real servers, directly and through the gateway: what they see must be the same,
//! but for the tool that is added and the help that a bad call gets.

use serde_json::{Value, json};

use super::drivers::{Client, Target};
use super::install::Installed;
use super::partners::{self, Partner};
use super::process::Listening;
use super::report::Job;

/// What a client saw.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Seen {
    pub(super) tools: Vec<String>,
    /// The answers to its calls.
    pub(super) results: Vec<Value>,
}

pub(super) fn jobs(installed: &Installed) -> Result<Vec<Job<'_>>, String> {
    let mut jobs = Vec::new();
    for partner in partners::all(installed)? {
        for client in Client::ALL {
            if client.is_tried_with(partner.name) {
                let (name, partner) = (format!("{client:?}, {}", partner.name), partner.clone());
                jobs.push(Job::new(name, move || check(installed, client, &partner)));
            }
        }
    }
    Ok(jobs)
}

/// One client and one server, every way that both can go.
fn check(installed: &Installed, client: Client, partner: &Partner) -> Result<String, String> {
    let mut ways = Vec::new();
    let command = Target::Command(partner.command.clone());
    // The bad call is never made directly: some server might do something.
    let good = std::slice::from_ref(&partner.good);
    let direct = client.run(installed, &command, good)?;
    let mut through = |way: &'static str, target: &Target, direct: &Seen| {
        let calls = [partner.good.clone(), partner.bad.clone()];
        let seen = client.run(installed, target, &calls);
        let seen = seen.and_then(|seen| judge(&seen, direct, partner));
        seen.map_err(|reason| format!("{way}: {reason}"))?;
        ways.push(way);
        Ok::<(), String>(())
    };
    let wrapped = |server: &[String]| {
        let binary = installed.stickler().to_string_lossy().into_owned();
        let run = [binary, "run".to_owned(), "--grace".to_owned(), "1".to_owned()];
        Target::Command(run.into_iter().chain(server.iter().cloned()).collect())
    };
    let behind: Vec<String> =
        ["--".to_owned()].into_iter().chain(partner.command.iter().cloned()).collect();
    through("stdio to stdio", &wrapped(&behind), &direct)?;
    let Some(server) = listening(installed, partner.name)? else {
        if client.speaks_http() {
            let gateway = Listening::gateway(installed, &behind)?;
            through("HTTP to stdio", &Target::Url(gateway.url()), &direct)?;
        }
        return Ok(ways.join(", "));
    };
    let upstream = ["--url".to_owned(), server.url()];
    through("stdio to HTTP", &wrapped(&upstream), &direct)?;
    if client.speaks_http() {
        let direct = client.run(installed, &Target::Url(server.url()), good)?;
        let gateway = Listening::gateway(installed, &upstream)?;
        through("HTTP to HTTP", &Target::Url(gateway.url()), &direct)?;
        let gateway = Listening::gateway(installed, &behind)?;
        through("HTTP to stdio", &Target::Url(gateway.url()), &direct)?;
    }
    Ok(ways.join(", "))
}

/// The servers that can listen.
fn listening(installed: &Installed, name: &str) -> Result<Option<Listening>, String> {
    let start = |mut parts: Vec<String>, last: &dyn Fn(u16) -> String| {
        Listening::start(|port| {
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

fn judge(seen: &Seen, direct: &Seen, partner: &Partner) -> Result<(), String> {
    let mut tools = direct.tools.clone();
    tools.push("stickler_validate".to_owned());
    if seen.tools != tools {
        return Err(format!("the tools are {:?}, not {tools:?}", seen.tools));
    }
    let ([good, bad], [directly]) = (seen.results.as_slice(), direct.results.as_slice()) else {
        return Err("a call has no answer".to_owned());
    };
    if still(good) != still(directly) {
        return Err(format!("a good call gave {good}, not {directly}"));
    }
    let bad = bad.to_string();
    let tool = partner.bad["name"].as_str().unwrap_or_default();
    let is_help = bad.contains(&format!("Tool call failed for: {tool}"));
    if !is_help || !bad.contains(partner.hint) {
        return Err(format!("a bad call gave no help that names {}: {bad}", partner.hint));
    }
    partner.check_untouched()
}

/// What a clock says differs from one moment to the next.
fn still(answer: &Value) -> Value {
    let digits = |text: String| {
        text.chars().map(|one| if one.is_ascii_digit() { '0' } else { one }).collect::<String>()
    };
    match answer.to_string() {
        text if text.contains("datetime") => json!(digits(text)),
        _ => answer.clone(),
    }
}
