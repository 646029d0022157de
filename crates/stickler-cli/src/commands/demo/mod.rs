//! `stickler demo`: a gateway in front of a real server, a bad call, its help and the corrected call.
//!
//! Everything that is shown has happened: the gateway and the server are processes of this very
//! program. The demo ends with an error when anything is not as it says.

mod peers;

use std::io::Write;
use std::path::Path;

use clap::Args;
use serde_json::{Value, json};

use crate::cli::LogOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::style::Ink;
use crate::{config, logging};
use peers::{HttpGateway, StdioGateway};

#[derive(Debug, Args)]
pub(crate) struct DemoOptions {
    /// Leave the gateway of the last step running until it is interrupted
    #[arg(long)]
    pub(crate) stay: bool,
}

/// What a model sends when it remembers the tool but not its fields.
fn half_remembered() -> Value {
    json!({ "Path": "notes/today.txt", "contents": "Bread and butter.\n" })
}

pub(crate) fn run(options: &DemoOptions) -> Outcome {
    logging::install(config::log_settings(LogOptions::default())?)?;
    let folder = tempfile::Builder::new().prefix("stickler-demo-").tempdir()?;
    let root = folder.path();
    let mut out = std::io::stdout().lock();
    let mut story = Story { out: &mut out, ink: Ink::for_stdout() };
    over_stdio(&mut story, root)?;
    let gateway = over_http(&mut story, root)?;
    story.heading("5. In front of your own server")?;
    story.say(NEXT_STEPS)?;
    if options.stay {
        let url = gateway.url();
        story.say(&format!("\nThe gateway stays at {url} until you press Ctrl-C."))?;
        story.out.flush()?;
        gateway.wait()?;
    }
    Ok(Exit::Fine)
}

const NEXT_STEPS: &str = "\
Put `stickler run --` where the server's command was:
  stickler run -- npx -y @modelcontextprotocol/server-filesystem /data
  stickler run --listen 127.0.0.1:8787 --url https://example.com/mcp
or let it be put in front of every server that a client has in its configuration:
  stickler wrap CLIENT-CONFIGURATION.json";

fn over_stdio(story: &mut Story<'_, impl Write>, root: &Path) -> Result<(), Failure> {
    story.heading("1. A gateway in front of a server")?;
    let mut gateway = StdioGateway::start(root)?;
    let root_shown = root.display();
    story.command(&format!("stickler run -- stickler serve --suite files --root {root_shown}"))?;
    let tools = gateway.ask("tools/list", &json!({}))?;
    let tools = tools["result"]["tools"].as_array().cloned().unwrap_or_default();
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    expect(names.contains(&"write_file"), "the server lists its tools")?;
    story.say(&format!("Its tools: {}\n", names.join(", ")))?;

    story.heading("2. A model calls a tool, with its fields half remembered")?;
    let bad = half_remembered();
    story.sent("write_file", &bad)?;
    let answer = gateway.call("write_file", &bad)?;
    expect(answer["result"]["isError"] == true, "the bad call is refused")?;
    story.say("\nThe server never sees it. The model gets this, to correct itself from:\n")?;
    story.quoted(&text(&answer))?;
    expect(!root.join("notes").exists(), "nothing has been written")?;
    story.say("\nNothing was written.\n")?;

    story.heading("3. The corrected call passes")?;
    let corrected = &answer["result"]["_meta"]["dev.stickler/validation"]["corrected"];
    let arguments = corrected["arguments"].clone();
    expect(arguments.is_object(), "there is a corrected call")?;
    story.sent("write_file", &arguments)?;
    let answer = gateway.call("write_file", &arguments)?;
    expect(answer["result"]["isError"] != true, "the corrected call passes")?;
    story.quoted(&text(&answer))?;
    let written = std::fs::read_to_string(root.join("notes/today.txt")).unwrap_or_default();
    expect(written == half_remembered()["contents"], "the file is written")?;
    story.say("")?;
    gateway.end()
}

fn over_http(story: &mut Story<'_, impl Write>, root: &Path) -> Result<HttpGateway, Failure> {
    story.heading("4. The same over HTTP")?;
    let mut gateway = HttpGateway::start(root)?;
    let url = gateway.url().to_owned();
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    story.command(&format!("stickler run --listen {address} -- stickler serve --suite files …"))?;
    let bad = json!({ "pth": "notes/today.txt" });
    story.say(&format!("POST {url}"))?;
    story.sent("read_file", &bad)?;
    let answer = gateway.call("read_file", &bad)?;
    expect(answer["result"]["isError"] == true, "the bad call is refused over HTTP")?;
    let help = text(&answer);
    let problems = help.lines().filter(|line| line.contains("`/p"));
    story.quoted(&problems.collect::<Vec<_>>().join("\n"))?;
    let good =
        answer["result"]["_meta"]["dev.stickler/validation"]["corrected"]["arguments"].clone();
    story.sent("read_file", &good)?;
    let answer = gateway.call("read_file", &good)?;
    let read = text(&answer);
    expect(read == half_remembered()["contents"], "the file is read over HTTP")?;
    story.quoted(&read)?;
    story.say("")?;
    Ok(gateway)
}

/// An error unless it is so.
fn expect(is_so: bool, what: &str) -> Result<(), Failure> {
    if is_so {
        return Ok(());
    }
    Err(Failure::Unreachable(format!("the demo is not as it should be: {what}, but it is not so")))
}

fn text(answer: &Value) -> String {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

/// What is told, to a terminal or not.
struct Story<'o, W> {
    out: &'o mut W,
    ink: Ink,
}

impl<W: Write> Story<'_, W> {
    fn heading(&mut self, text: &str) -> std::io::Result<()> {
        writeln!(self.out, "{}\n", self.ink.bold(&format!("── {text}")))
    }

    fn say(&mut self, text: &str) -> std::io::Result<()> {
        writeln!(self.out, "{text}")
    }

    fn command(&mut self, command: &str) -> std::io::Result<()> {
        writeln!(self.out, "$ {command}")
    }

    fn sent(&mut self, tool: &str, arguments: &Value) -> std::io::Result<()> {
        writeln!(self.out, "→ {tool} {arguments}")
    }

    fn quoted(&mut self, text: &str) -> std::io::Result<()> {
        for line in text.lines() {
            writeln!(self.out, "{}", format!("│ {line}").trim_end())?;
        }
        Ok(())
    }
}
