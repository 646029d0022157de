//! Traces and metrics over OTLP, received and decoded by the test.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::support::http::scripted_server;
use crate::support::stdio::Gateway;

/// A collector: the bodies that it received, by path.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<(String, Vec<u8>)>>>);

impl Collector {
    fn start() -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let collector = Self::default();
        let received = collector.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let received = received.clone();
                std::thread::spawn(move || received.serve(stream));
            }
        });
        (collector, url)
    }

    fn serve(&self, mut stream: std::net::TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream.try_clone().ok()?);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
            let path = line.split(' ').nth(1)?.to_owned();
            let mut length = 0;
            loop {
                let mut header = String::new();
                reader.read_line(&mut header).ok()?;
                let header = header.trim().to_ascii_lowercase();
                if let Some(value) = header.strip_prefix("content-length:") {
                    length = value.trim().parse().ok()?;
                }
                if header.is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).ok()?;
            self.0.lock().unwrap().push((path, body));
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").ok()?;
        }
    }

    fn bodies(&self, path: &str) -> Vec<Vec<u8>> {
        let all = self.0.lock().unwrap();
        all.iter().filter(|(one, _)| one == path).map(|(_, body)| body.clone()).collect()
    }
}

/// A field of a protobuf message.
#[derive(Debug, Clone)]
enum Field {
    Number(u64),
    Bytes(Vec<u8>),
}

fn varint(bytes: &[u8], at: &mut usize) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[*at];
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return value;
        }
    }
}

/// Decodes the fields of a protobuf message.
fn fields(bytes: &[u8]) -> Vec<(u64, Field)> {
    let mut at = 0;
    let mut all = Vec::new();
    while at < bytes.len() {
        let tag = varint(bytes, &mut at);
        let mut take = |length: usize| {
            at += length;
            bytes[at - length..at].to_vec()
        };
        let field = match tag & 7 {
            1 => Field::Bytes(take(8)),
            5 => Field::Bytes(take(4)),
            0 => Field::Number(varint(bytes, &mut at)),
            2 => {
                let length = usize::try_from(varint(bytes, &mut at)).unwrap();
                at += length;
                Field::Bytes(bytes[at - length..at].to_vec())
            }
            other => panic!("wire type {other}"),
        };
        all.push((tag >> 3, field));
    }
    all
}

/// The bytes of all fields with this number.
fn all(bytes: &[u8], number: u64) -> Vec<Vec<u8>> {
    let found = fields(bytes).into_iter().filter(|(one, _)| *one == number);
    found
        .filter_map(|(_, field)| match field {
            Field::Bytes(bytes) => Some(bytes),
            Field::Number(_) => None,
        })
        .collect()
}

fn text(bytes: &[u8], number: u64) -> String {
    all(bytes, number)
        .first()
        .map(|one| String::from_utf8_lossy(one).into_owned())
        .unwrap_or_default()
}

#[derive(Debug)]
struct Span {
    trace: Vec<u8>,
    id: Vec<u8>,
    parent: Vec<u8>,
    name: String,
    kind: u64,
    attributes: HashMap<String, String>,
}

const SERVER: u64 = 2;
const CLIENT: u64 = 3;

fn spans(body: &[u8]) -> Vec<Span> {
    let scopes = all(body, 1).into_iter().flat_map(|resource| all(&resource, 2));
    let spans = scopes.flat_map(|scope| all(&scope, 2));
    let first = |bytes: &[u8], number| all(bytes, number).into_iter().next().unwrap_or_default();
    spans
        .map(|span| Span {
            trace: first(&span, 1),
            id: first(&span, 2),
            parent: first(&span, 4),
            name: text(&span, 5),
            kind: fields(&span)
                .iter()
                .find_map(|(number, field)| match field {
                    Field::Number(kind) if *number == 6 => Some(*kind),
                    _ => None,
                })
                .unwrap_or_default(),
            attributes: all(&span, 9)
                .iter()
                .map(|pair| (text(pair, 1), text(&all(pair, 2)[0], 1)))
                .collect(),
        })
        .collect()
}

#[test]
fn requests_are_spans_with_the_attributes_of_the_conventions() {
    let (collector, url) = Collector::start();
    let server = scripted_server();
    let arguments = ["--", server.to_str().unwrap()];
    let mut gateway =
        Gateway::with_env(&arguments, &[("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str())]);
    gateway.handshake();
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    gateway.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "echo", "arguments": { "text": "x" }, "_meta": { "traceparent": parent },
    } }));
    gateway.receive();
    gateway.call(2, "echo", &json!({ "txt": "x" }));
    gateway.end();
    let bodies = collector.bodies("/v1/traces");
    let spans: Vec<Span> = bodies.iter().flat_map(|body| spans(body)).collect();
    let calls: Vec<&Span> = spans.iter().filter(|span| span.name == "tools/call echo").collect();
    let of = |kind: u64, id: &str| {
        calls.iter().find(|one| one.kind == kind && one.attributes["jsonrpc.request.id"] == id)
    };
    let (ours, theirs) = (of(SERVER, "1").unwrap(), of(CLIENT, "1").unwrap());
    assert_eq!(ours.trace, u128::from_str_radix(&parent[3..35], 16).unwrap().to_be_bytes());
    assert_eq!(ours.parent, u64::from_str_radix(&parent[36..52], 16).unwrap().to_be_bytes());
    assert_eq!((&theirs.trace, &theirs.parent), (&ours.trace, &ours.id), "{spans:?}");
    for (name, value) in [
        ("mcp.method.name", "tools/call"),
        ("gen_ai.tool.name", "echo"),
        ("gen_ai.operation.name", "execute_tool"),
        ("mcp.protocol.version", "2025-11-25"),
        ("network.transport", "pipe"),
    ] {
        assert_eq!(ours.attributes.get(name).map(String::as_str), Some(value), "{ours:?}");
    }
    let rejected = of(SERVER, "2").unwrap();
    assert_eq!(rejected.attributes["stickler.rule"], "STK-107");
    assert!(of(CLIENT, "2").is_none(), "a rejected call is not forwarded");
    let metrics = collector.bodies("/v1/metrics");
    let scopes = metrics.iter().flat_map(|body| all(body, 1)).flat_map(|one| all(&one, 2));
    let names: Vec<String> =
        scopes.flat_map(|scope| all(&scope, 2)).map(|metric| text(&metric, 1)).collect();
    for name in [
        "mcp.server.operation.duration",
        "mcp.client.operation.duration",
        "mcp.server.session.duration",
    ] {
        assert!(names.iter().any(|one| one == name), "{name} in {names:?}");
    }
}

#[test]
fn collector_that_does_not_answer_delays_nothing() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let server = scripted_server();
    let arguments = ["--", server.to_str().unwrap()];
    let mut gateway =
        Gateway::with_env(&arguments, &[("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str())]);
    gateway.handshake();
    for id in 0..50 {
        assert!(gateway.call(id, "echo", &json!({ "text": "x" }))["result"].is_object());
    }
    assert_eq!(gateway.end().status, 0);
}
