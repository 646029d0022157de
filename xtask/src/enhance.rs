//! Measures layer 3 on recorded responses of real servers to good and bad calls.
//!
//! A response is an error about the arguments if the call has a mistake in its arguments and the response is an error that
//! does not report another failure. Such a response should be extended. No other response may be changed, except that an
//! error about an unknown tool may be extended by the name of a similar tool.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use clap::Args;
use serde::Deserialize;
use serde_json::Value;
use stickler::{ErrorEnhancer, McpValidator, ToolList, ValidationConfig};

use crate::{Outcome, paths};

/// The only server in each cache.
const SERVER: &str = "server";

/// Texts of errors that are not about the arguments although the call has a mistake in them, and why.
const OTHER_FAILURES: [(&str, &str); 2] = [
    ("already exists", "the call has created the object before"),
    ("Cannot read properties of undefined", "a TypeError in the server that names no argument"),
];

/// Kinds of calls without a mistake in their arguments.
const NOT_ABOUT_ARGUMENTS: [&str; 7] = [
    "control",
    "unknown_tool",
    "misspelt_tool",
    "case_tool",
    "name_missing",
    "name_not_string",
    "params_absent",
];

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Print up to this many different texts of each group that should be empty
    #[arg(long, value_name = "N", default_value_t = 5)]
    show: usize,

    /// Fail if an error about arguments is not extended or another response is changed
    #[arg(long)]
    check: bool,
}

/// One recorded call with the response of the server.
#[derive(Deserialize)]
struct Record {
    kind: String,
    c2s: String,
    s2c: Option<String>,
}

#[derive(Default)]
struct Figures {
    calls: usize,
    extended: usize,
    missed: BTreeMap<String, usize>,
    other_failures: BTreeMap<&'static str, usize>,
    tool_names: usize,
    untouched: usize,
    wrongly_changed: BTreeMap<String, usize>,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let corpus = paths::shared("corpus");
    let folder = corpus.join("badcalls");
    if !folder.exists() {
        print(&format!("skipped: {} does not exist", folder.display()));
        return Ok(());
    }
    let read = |path: &Path| {
        fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
    };
    let mut figures = Figures::default();
    let files = fs::read_dir(&folder).map_err(|error| error.to_string())?;
    let mut files: Vec<_> = files.flatten().map(|entry| entry.path()).collect();
    files.sort();
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let validator = McpValidator::new(ValidationConfig::default());
        let tools = read(&corpus.join("tools").join(format!("{name}.json")))?;
        let list = ToolList::read(tools.as_bytes(), &validator.config().limits)
            .map_err(|error| format!("{name}: {error}"))?;
        validator.cache().populate(SERVER, &list.tools);
        for line in read(&file)?.lines() {
            let record = serde_json::from_str(line).map_err(|error| format!("{name}: {error}"))?;
            figures.add(&validator, &name, &record);
        }
    }
    figures.print(options.show);
    let is_clean = figures.missed.is_empty() && figures.wrongly_changed.is_empty();
    if options.check && !is_clean {
        return Err(
            "an error about arguments was missed, or another response was changed".to_owned()
        );
    }
    Ok(())
}

impl Figures {
    fn add(&mut self, validator: &McpValidator, server: &str, record: &Record) {
        self.calls += 1;
        let Some(reply) = &record.s2c else {
            self.untouched += 1;
            return;
        };
        let enhancer = ErrorEnhancer::of(validator);
        // Without the name of a tool, no adapter can tell which schema to use.
        let call: Value = serde_json::from_str(&record.c2s).unwrap_or_default();
        let tool = call["params"]["name"].as_str();
        let changed = tool.map(|tool| enhancer.enhance_reply(SERVER, tool, reply.as_bytes()));
        let is_changed = changed.is_some_and(|changed| *changed != *reply.as_bytes());
        let text = error_text(reply);
        let other = OTHER_FAILURES.iter().find(|(other, _)| {
            !is_changed && text.as_ref().is_some_and(|text| text.contains(other))
        });
        if let Some((_, why)) = other {
            *self.other_failures.entry(why).or_default() += 1;
            return;
        }
        let is_about_arguments =
            text.is_some() && !NOT_ABOUT_ARGUMENTS.contains(&record.kind.as_str());
        let is_about_tool = record.kind.ends_with("_tool");
        let sample = || {
            let text = text.clone().unwrap_or_default().replace('\n', " ⏎ ");
            let text: String = text.chars().take(240).collect();
            format!("{server} {} {}: {text}", tool.unwrap_or("-"), record.kind)
        };
        match (is_about_arguments, is_changed) {
            (true, true) => self.extended += 1,
            (true, false) => *self.missed.entry(sample()).or_default() += 1,
            (false, true) if is_about_tool => self.tool_names += 1,
            (false, true) => *self.wrongly_changed.entry(sample()).or_default() += 1,
            (false, false) => self.untouched += 1,
        }
    }

    fn print(&self, show: usize) {
        let sum = |group: &BTreeMap<String, usize>| group.values().sum::<usize>();
        print(&format!("calls: {}", self.calls));
        print(&format!("errors about arguments, extended: {}", self.extended));
        print(&format!("errors about arguments, not extended: {}", sum(&self.missed)));
        print_group(&self.missed, show);
        for (why, count) in &self.other_failures {
            print(&format!("other failures, unchanged ({why}): {count}"));
        }
        print(&format!("errors about an unknown tool, extended: {}", self.tool_names));
        print(&format!("other responses, unchanged: {}", self.untouched));
        print(&format!("other responses, changed: {}", sum(&self.wrongly_changed)));
        print_group(&self.wrongly_changed, show);
    }
}

/// Returns the text of a JSON-RPC error or of a failed result; `None` for any other response.
fn error_text(reply: &str) -> Option<String> {
    let reply: Value = serde_json::from_str(reply).ok()?;
    if let Some(error) = reply.get("error") {
        return Some(error["message"].as_str()?.to_owned());
    }
    let result = reply.get("result").filter(|result| result["isError"] == true)?;
    let content = result["content"].as_array()?.iter();
    Some(content.filter_map(|piece| piece["text"].as_str()).collect::<Vec<_>>().join("\n"))
}

fn print_group(group: &BTreeMap<String, usize>, show: usize) {
    for (sample, count) in group.iter().take(show) {
        print(&format!("  {count} × {sample}"));
    }
}

#[allow(clippy::print_stdout)]
fn print(line: &str) {
    println!("{line}");
}
