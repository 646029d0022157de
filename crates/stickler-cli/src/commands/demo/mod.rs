//! `stickler demo`: runs a gateway in front of a real server and shows an invalid call, its help and the
//! corrected call.
//!
//! The gateway and the server are child processes of this program, and the output shows their real responses.
//! The demo fails if a response is not as described.

mod peers;

use std::io::Write;
use std::path::Path;

use clap::Args;
use serde_json::{Value, json};

use crate::cli::LogOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::style::Palette;
use crate::{config, logging};
use peers::{HttpGateway, StdioGateway};

#[derive(Debug, Args)]
pub(crate) struct DemoOptions {
    /// Keep the HTTP gateway running until Ctrl-C
    #[arg(long)]
    pub(crate) stay: bool,
}

/// Returns the arguments of a model that misremembers the fields of the tool.
fn misremembered_arguments() -> Value {
    json!({ "Path": "notes/today.txt", "contents": "Bread and butter.\n" })
}

pub(crate) fn run(options: &DemoOptions) -> Outcome {
    logging::install(config::log_settings(LogOptions::default())?)?;
    let folder = tempfile::Builder::new().prefix("stickler-demo-").tempdir()?;
    let root = folder.path();
    let mut out = std::io::stdout().lock();
    let mut output = Output { out: &mut out, palette: Palette::for_stdout() };
    over_stdio(&mut output, root)?;
    let gateway = over_http(&mut output, root)?;
    output.heading("5. Use it with your own server")?;
    output.line(NEXT_STEPS)?;
    if options.stay {
        let url = gateway.url();
        output.line(&format!("\nThe gateway stays at {url} until you press Ctrl-C."))?;
        output.out.flush()?;
        gateway.wait()?;
    }
    Ok(Exit::Success)
}

const NEXT_STEPS: &str = "\
Put `stickler run --` before the command of the server:
  stickler run -- npx -y @modelcontextprotocol/server-filesystem /data
  stickler run --listen 127.0.0.1:8787 --url https://example.com/mcp
or put it in front of the servers that your clients already use:
  stickler wrap";

fn over_stdio(output: &mut Output<'_, impl Write>, root: &Path) -> Result<(), Failure> {
    output.heading("1. A gateway in front of a server")?;
    let mut gateway = StdioGateway::start(root)?;
    let root_shown = root.display();
    output.command(&format!("stickler run -- stickler serve --suite files --root {root_shown}"))?;
    let tools = gateway.request("tools/list", &json!({}))?;
    let tools = tools["result"]["tools"].as_array().cloned().unwrap_or_default();
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    expect(names.contains(&"write_file"), "the server lists its tools")?;
    output.line(&format!("Its tools: {}\n", names.join(", ")))?;

    output.heading("2. A model calls a tool with misremembered field names")?;
    let bad = misremembered_arguments();
    output.sent("write_file", &bad)?;
    let answer = gateway.call("write_file", &bad)?;
    expect(answer["result"]["isError"] == true, "the invalid call is rejected")?;
    output.line("\nThe call does not reach the server. The model receives this help:\n")?;
    output.quoted(&text(&answer))?;
    expect(!root.join("notes").exists(), "nothing was written")?;
    output.line("\nNothing was written.\n")?;

    output.heading("3. The corrected call passes")?;
    let corrected = &answer["result"]["_meta"]["dev.stickler/validation"]["corrected"];
    let arguments = corrected["arguments"].clone();
    expect(arguments.is_object(), "the rejection contains a corrected call")?;
    output.sent("write_file", &arguments)?;
    let answer = gateway.call("write_file", &arguments)?;
    expect(answer["result"]["isError"] != true, "the corrected call passes")?;
    output.quoted(&text(&answer))?;
    let written = std::fs::read_to_string(root.join("notes/today.txt")).unwrap_or_default();
    expect(written == misremembered_arguments()["contents"], "the file is written")?;
    output.line("")?;
    gateway.end()
}

fn over_http(output: &mut Output<'_, impl Write>, root: &Path) -> Result<HttpGateway, Failure> {
    output.heading("4. The same over HTTP")?;
    let mut gateway = HttpGateway::start(root)?;
    let url = gateway.url().to_owned();
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    output
        .command(&format!("stickler run --listen {address} -- stickler serve --suite files …"))?;
    let bad = json!({ "pth": "notes/today.txt" });
    output.line(&format!("POST {url}"))?;
    output.sent("read_file", &bad)?;
    let answer = gateway.call("read_file", &bad)?;
    expect(answer["result"]["isError"] == true, "the invalid call is rejected over HTTP")?;
    let help = text(&answer);
    let problems = help.lines().filter(|line| line.contains("`/p"));
    output.quoted(&problems.collect::<Vec<_>>().join("\n"))?;
    let good =
        answer["result"]["_meta"]["dev.stickler/validation"]["corrected"]["arguments"].clone();
    output.sent("read_file", &good)?;
    let answer = gateway.call("read_file", &good)?;
    let read = text(&answer);
    expect(read == misremembered_arguments()["contents"], "the file is read over HTTP")?;
    output.quoted(&read)?;
    output.line("")?;
    Ok(gateway)
}

/// Fails unless the condition holds.
fn expect(condition: bool, what: &str) -> Result<(), Failure> {
    if condition {
        return Ok(());
    }
    Err(Failure::Unreachable(format!("the demo failed: expected that {what}")))
}

fn text(answer: &Value) -> String {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

/// Output of the demo.
struct Output<'o, W> {
    out: &'o mut W,
    palette: Palette,
}

impl<W: Write> Output<'_, W> {
    fn heading(&mut self, text: &str) -> std::io::Result<()> {
        writeln!(self.out, "{}\n", self.palette.bold(&format!("── {text}")))
    }

    fn line(&mut self, text: &str) -> std::io::Result<()> {
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
