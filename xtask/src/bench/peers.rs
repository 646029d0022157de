//! The peers of the gateway benchmark: a minimal server and a relay that only copies bytes.
//! Both are this binary, started with a hidden subcommand.

use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::process::{Command, Stdio};

use clap::Subcommand;
use serde_json::{Value, json};

use crate::Outcome;

#[derive(Debug, Subcommand)]
pub(crate) enum Peer {
    /// A server on standard input and output, with the tools `echo` and `big`
    Serve,
    /// A bare relay in front of a command
    Relay {
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
}

pub(crate) fn run(peer: &Peer) -> Outcome {
    let outcome = match peer {
        Peer::Serve => serve(),
        Peer::Relay { command } => relay(command),
    };
    outcome.map_err(|error| error.to_string())
}

fn serve() -> io::Result<()> {
    let mut input = BufReader::with_capacity(256 << 10, io::stdin().lock());
    let mut output = io::stdout().lock();
    let mut line = Vec::new();
    let mut answers = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        if let Some(answer) = answer(&line) {
            answers.extend_from_slice(answer.as_bytes());
            answers.push(b'\n');
        }
        line.clear();
        // Requests that arrived together are answered in one write.
        if !input.buffer().contains(&b'\n') {
            output.write_all(&answers)?;
            output.flush()?;
            answers.clear();
        }
    }
    Ok(())
}

fn answer(line: &[u8]) -> Option<String> {
    let message: Value = serde_json::from_slice(line).ok()?;
    let id = message.get("id")?;
    let params = &message["params"];
    let result = match message["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "bench", "version": "1" },
        }),
        "tools/list" => json!({ "tools": tools() }),
        _ => {
            let text = match params["arguments"]["size"].as_u64() {
                Some(size) => "x".repeat(usize::try_from(size).unwrap_or_default()),
                None => params["arguments"]["text"].as_str().unwrap_or_default().to_owned(),
            };
            json!({ "content": [{ "type": "text", "text": text }] })
        }
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string())
}

fn tools() -> Value {
    let tool = |name: &str, field: &str, kind: &str| {
        json!({ "name": name, "inputSchema": {
            "type": "object", "properties": { field: { "type": kind } }, "required": [field],
        } })
    };
    json!([tool("echo", "text", "string"), tool("big", "size", "integer")])
}

fn relay(command: &[String]) -> io::Result<()> {
    let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    std::thread::spawn(move || stdin.map(|stdin| copy(io::stdin().lock(), stdin)));
    if let Some(stdout) = stdout {
        copy(stdout, io::stdout().lock())?;
    }
    child.wait().map(drop)
}

fn copy(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut chunk = vec![0; 64 << 10];
    loop {
        match from.read(&mut chunk)? {
            0 => return Ok(()),
            read => {
                to.write_all(chunk.get(..read).unwrap_or_default())?;
                to.flush()?;
            }
        }
    }
}
