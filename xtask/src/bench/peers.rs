//! The peers of the gateway benchmark: a minimal server and a relay that only copies bytes.
//! Both are this binary, started with a hidden subcommand.

use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
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
    /// A server on HTTP with the same tools, on a free port
    ServeHttp,
    /// A relay of TCP connections to a local port, on a free port
    RelayTcp { port: u16 },
}

pub(crate) fn run(peer: &Peer) -> Outcome {
    let outcome = match peer {
        Peer::Serve => serve(),
        Peer::Relay { command } => relay(command),
        Peer::ServeHttp => accept(|stream| serve_http(&stream)),
        Peer::RelayTcp { port } => {
            let port = *port;
            accept(move |stream| relay_tcp(&stream, port))
        }
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

/// Handles every connection to a free port on a thread. The port is written to standard error.
#[allow(clippy::print_stderr)]
fn accept(handle: impl Fn(TcpStream) -> io::Result<()> + Clone + Send + 'static) -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    eprintln!("{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        let handle = handle.clone();
        std::thread::spawn(move || handle(stream));
    }
}

fn serve_http(mut stream: &TcpStream) -> io::Result<()> {
    let mut input = BufReader::with_capacity(256 << 10, stream);
    while let Some(length) = read_head(&mut input)? {
        let mut body = vec![0; length];
        input.read_exact(&mut body)?;
        let response = match answer(&body) {
            Some(body) => format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            ),
            None => "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".to_owned(),
        };
        stream.write_all(response.as_bytes())?;
    }
    Ok(())
}

/// Reads the head of an HTTP message and returns its content length; `None` at the end of input.
pub(super) fn read_head(input: &mut impl io::BufRead) -> io::Result<Option<usize>> {
    let mut length = 0;
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        if line.trim().is_empty() {
            return Ok(Some(length));
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
        line.clear();
    }
    Ok(None)
}

fn relay_tcp(client: &TcpStream, port: u16) -> io::Result<()> {
    let server = TcpStream::connect(("127.0.0.1", port))?;
    server.set_nodelay(true)?;
    let (from, to) = (client.try_clone()?, server.try_clone()?);
    std::thread::spawn(move || copy(from, to));
    copy(server, client)
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
