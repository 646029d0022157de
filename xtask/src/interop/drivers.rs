//! Runs each client: list the tools, then make the given calls.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::clients::Observation;
use super::install::Installed;
use super::rmcp_client;

/// Where a client connects to.
#[derive(Debug, Clone)]
pub(super) enum Target {
    Command(Vec<String>),
    Url(String),
}

/// The clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Client {
    TypeScript1,
    TypeScript2,
    Python1,
    Python2,
    Inspector,
    Rmcp,
}

impl Client {
    pub(super) const ALL: [Self; 6] = [
        Self::TypeScript1,
        Self::TypeScript2,
        Self::Python1,
        Self::Python2,
        Self::Inspector,
        Self::Rmcp,
    ];

    /// The inspector is a new process for every request, so it is tested with two servers only.
    pub(super) fn is_tested_with(self, server: &str) -> bool {
        self != Self::Inspector || matches!(server, "everything" | "filesystem")
    }

    /// rmcp is tested over stdio only; its HTTP client would add a second HTTP stack as a dependency.
    pub(super) fn supports_http(self) -> bool {
        self != Self::Rmcp
    }

    pub(super) fn run(
        self,
        installed: &Installed,
        target: &Target,
        calls: &[Value],
    ) -> Result<Observation, String> {
        let script = |mut parts: Vec<String>| {
            parts.push(plan(target, calls));
            let answer = printed(&parts)?;
            let results = answer["results"].as_array().cloned().unwrap_or_default();
            Ok(Observation { tools: names(&answer["tools"]), results })
        };
        let python = |environment: &str, name: &str| {
            let file = installed.folder.join("node").join(name);
            script(vec![
                installed.python(environment, "python"),
                file.to_string_lossy().into_owned(),
            ])
        };
        match self {
            Self::TypeScript1 => script(installed.script("typescript1.mjs")),
            Self::TypeScript2 => script(installed.script("typescript2.mjs")),
            Self::Python1 => python("python1", "python1.py"),
            Self::Python2 => python("python2", "python2.py"),
            Self::Inspector => inspect(installed, target, calls),
            Self::Rmcp => rmcp_client::run(target, calls),
        }
    }
}

fn plan(target: &Target, calls: &[Value]) -> String {
    match target {
        Target::Command(command) => json!({ "command": command, "calls": calls }).to_string(),
        Target::Url(url) => json!({ "url": url, "calls": calls }).to_string(),
    }
}

/// Makes the name of every configuration file unique, because jobs run in parallel.
static NEXT_FILE: AtomicUsize = AtomicUsize::new(0);

/// Runs the inspector once per request, with a configuration file as in normal use.
fn inspect(installed: &Installed, target: &Target, calls: &[Value]) -> Result<Observation, String> {
    let server = match target {
        Target::Command(command) => {
            json!({ "command": command.first(), "args": command.get(1..) })
        }
        Target::Url(url) => json!({ "type": "streamable-http", "url": url }),
    };
    let config = json!({ "mcpServers": { "it": server } }).to_string();
    let number = NEXT_FILE.fetch_add(1, Ordering::Relaxed);
    let file = installed.folder.join(format!("inspector-{number}.json"));
    std::fs::write(&file, config).map_err(|error| format!("{}: {error}", file.display()))?;
    let ask = |rest: Vec<String>| {
        let mut parts = installed.npm_program("mcp-inspector");
        let file = file.to_string_lossy().into_owned();
        parts.extend(["--cli", "--config", &file, "--server", "it"].map(str::to_owned));
        parts.extend(rest);
        printed(&parts)
    };
    let call = |call: &Value| {
        let mut rest = vec!["--method".to_owned(), "tools/call".to_owned()];
        rest.extend(["--tool-name".to_owned(), call["name"].as_str().unwrap_or_default().into()]);
        for (name, value) in call["arguments"].as_object().into_iter().flatten() {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            rest.extend(["--tool-arg".to_owned(), format!("{name}={value}")]);
        }
        ask(rest)
    };
    let tools = ask(vec!["--method".to_owned(), "tools/list".to_owned()])?;
    let tools = tools["tools"].as_array().into_iter().flatten().map(|tool| tool["name"].clone());
    Ok(Observation {
        tools: names(&tools.collect()),
        results: calls.iter().map(call).collect::<Result<_, _>>()?,
    })
}

fn names(tools: &Value) -> Vec<String> {
    let names = tools.as_array().into_iter().flatten();
    names.map(|name| name.as_str().unwrap_or_default().to_owned()).collect()
}

/// Runs a program and parses its standard output as JSON.
fn printed(parts: &[String]) -> Result<Value, String> {
    let (program, arguments) = parts.split_first().ok_or("no command")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    let output = command.output().map_err(|error| format!("cannot run {program}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).map_err(|_| {
        let errors = String::from_utf8_lossy(&output.stderr);
        let last: Vec<&str> = errors.lines().rev().take(5).collect();
        format!("the client printed no JSON ({}): {text} {last:?}", output.status)
    })
}
