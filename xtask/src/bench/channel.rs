//! A client of the gateway benchmark: it sends messages to a process on stdio or HTTP and waits for the responses.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A started process and the connections to it.
pub(super) struct Channel {
    child: Child,
    transport: Transport,
}

enum Transport {
    Stdio(Option<ChildStdin>, BufReader<ChildStdout>),
    /// Keep-alive connections to a port; each carries one request at a time.
    Http(u16, Vec<BufReader<TcpStream>>),
}

impl Channel {
    /// Starts a process that reads and writes lines.
    pub(super) fn stdio(words: &[PathBuf]) -> Result<Self, String> {
        let mut child = start(words, Stdio::piped(), Stdio::inherit())?;
        let stdout = BufReader::with_capacity(256 << 10, child.stdout.take().ok_or("no pipe")?);
        let transport = Transport::Stdio(child.stdin.take(), stdout);
        Ok(Self { child, transport })
    }

    /// Starts a process that writes a line ending in the address it listens on, or in a URL with it, to standard
    /// error.
    pub(super) fn http(words: &[PathBuf], connections: usize) -> Result<Self, String> {
        let mut child = start(words, Stdio::null(), Stdio::piped())?;
        let mut log = BufReader::new(child.stderr.take().ok_or("no pipe")?);
        let port = loop {
            let mut line = String::new();
            if log.read_line(&mut line).map_err(|error| error.to_string())? == 0 {
                return Err("a candidate does not listen".to_owned());
            }
            let address = line.rsplit_once("127.0.0.1:").map(|(_, rest)| rest);
            let digits = address.map(|rest| rest.split(|c: char| !c.is_ascii_digit()));
            if let Some(port) = digits.and_then(|mut all| all.next()?.parse().ok()) {
                break port;
            }
        };
        std::thread::spawn(move || io::copy(&mut log, &mut io::sink()));
        let connect = |_| {
            let stream = TcpStream::connect(("127.0.0.1", port))?;
            stream.set_nodelay(true)?;
            Ok(BufReader::with_capacity(256 << 10, stream))
        };
        let streams: io::Result<Vec<_>> = (0..connections).map(connect).collect();
        let streams = streams.map_err(|error| error.to_string())?;
        Ok(Self { child, transport: Transport::Http(port, streams) })
    }

    /// Returns the port of an HTTP server; 0 on stdio.
    pub(super) fn port(&self) -> u16 {
        match self.transport {
            Transport::Http(port, _) => port,
            Transport::Stdio(..) => 0,
        }
    }

    /// Sends messages at once and waits for the response to each request.
    pub(super) fn exchange(&mut self, messages: &[String]) -> io::Result<()> {
        match &mut self.transport {
            Transport::Stdio(stdin, stdout) => {
                let text = messages.join("\n") + "\n";
                stdin.as_mut().map_or(Ok(()), |stdin| stdin.write_all(text.as_bytes()))?;
                let requests = messages.iter().filter(|message| message.contains("\"id\""));
                for _ in requests {
                    if stdout.read_until(b'\n', &mut Vec::new())? == 0 {
                        return Err(io::Error::other("a candidate closed its output"));
                    }
                }
                Ok(())
            }
            Transport::Http(_, streams) => {
                for (stream, message) in streams.iter_mut().zip(messages) {
                    let length = message.len();
                    let request = format!(
                        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
                         accept: application/json, text/event-stream\r\n\
                         mcp-protocol-version: 2025-11-25\r\ncontent-length: {length}\r\n\r\n{message}"
                    );
                    stream.get_mut().write_all(request.as_bytes())?;
                }
                streams.iter_mut().zip(messages).try_for_each(|(stream, _)| receive(stream))
            }
        }
    }
}

/// Reads a response with a content length.
fn receive(stream: &mut BufReader<TcpStream>) -> io::Result<()> {
    let length = super::peers::read_head(stream)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body)
}

fn start(words: &[PathBuf], stdin: Stdio, stderr: Stdio) -> Result<Child, String> {
    let (program, arguments) = words.split_first().ok_or("no program")?;
    let child = Command::new(program)
        .args(arguments)
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(stderr)
        .spawn();
    child.map_err(|error| format!("{}: {error}", program.display()))
}

impl Drop for Channel {
    fn drop(&mut self) {
        match &mut self.transport {
            Transport::Stdio(stdin, _) => drop(stdin.take()),
            Transport::Http(..) => drop(self.child.kill()),
        }
        let _ = self.child.wait();
    }
}
