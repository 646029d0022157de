//! Traces and metrics over OTLP, received and decoded by the test.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::support::folder::Folder;
use crate::support::http::{self, scripted_server};
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
    /// Trace and span of each link.
    links: Vec<(Vec<u8>, Vec<u8>)>,
}

/// The attributes in the fields with this number.
fn attributes(bytes: &[u8], number: u64) -> HashMap<String, String> {
    let value = |value: &[u8]| match fields(value).as_slice() {
        [(3, Field::Number(number))] => number.to_string(),
        _ => text(value, 1),
    };
    all(bytes, number).iter().map(|pair| (text(pair, 1), value(&all(pair, 2)[0]))).collect()
}

/// A data point of a histogram: its attributes and bounds.
type Point = (HashMap<String, String>, Vec<f64>);

/// The data points of a metric, after its unit.
fn points(collector: &Collector, name: &str) -> Vec<(String, Point)> {
    let bodies = collector.bodies("/v1/metrics");
    let scopes = bodies.iter().flat_map(|body| all(body, 1)).flat_map(|one| all(&one, 2));
    let metrics = scopes.flat_map(|scope| all(&scope, 2)).filter(|metric| text(metric, 1) == name);
    let point = |point: &[u8]| {
        let bounds = all(point, 7).concat();
        let bounds = bounds.chunks(8).map(|one| f64::from_le_bytes(one.try_into().unwrap()));
        (attributes(point, 9), bounds.collect())
    };
    metrics
        .flat_map(|metric| {
            let unit = text(&metric, 3);
            let points = all(&metric, 9).iter().flat_map(|one| all(one, 1)).collect::<Vec<_>>();
            points.into_iter().map(move |one| (unit.clone(), point(&one)))
        })
        .collect()
}

fn received_spans(collector: &Collector) -> Vec<Span> {
    collector.bodies("/v1/traces").iter().flat_map(|body| spans(body)).collect()
}

/// The bytes of hexadecimal digits.
fn hex(digits: &str) -> Vec<u8> {
    let pairs = (0..digits.len()).step_by(2);
    pairs.map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
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
            attributes: attributes(&span, 9),
            links: all(&span, 13).iter().map(|link| (first(link, 1), first(link, 2))).collect(),
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

const IN_META: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const IN_HEADER: &str = "00-1111651916cd43dd8448eb211c80319c-2222222269203331-01";

#[test]
fn http_context_is_a_link_beside_a_context_in_meta_and_the_parent_without_one() {
    let (collector, url) = Collector::start();
    let upstream = http::Gateway::scripted(&[]);
    let port = upstream.port.to_string();
    let server = format!("http://127.0.0.1:{port}/mcp");
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str())];
    let gateway = http::Gateway::start_with(&["--url", &server], &variables);
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str()), ("traceparent", IN_HEADER)];
    let call = |id: u32, meta: Value| {
        let params = json!({ "name": "echo", "arguments": { "text": "x" }, "_meta": meta });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
    };
    assert_eq!(gateway.post(&headers, &call(1, json!({ "traceparent": IN_META }))).status, 200);
    assert_eq!(gateway.post(&headers, &call(2, json!({}))).status, 200);
    assert_eq!(gateway.end(), 0);
    let spans = received_spans(&collector);
    let of = |kind: u64, id: &str| {
        let is_it = |one: &&Span| {
            one.kind == kind
                && one.name == "tools/call echo"
                && one.attributes["jsonrpc.request.id"] == id
        };
        spans.iter().find(is_it).unwrap_or_else(|| panic!("{id} in {spans:?}"))
    };
    let (in_meta, in_header) = (of(SERVER, "1"), of(SERVER, "2"));
    assert_eq!((&in_meta.trace, &in_meta.parent), (&hex(&IN_META[3..35]), &hex(&IN_META[36..52])));
    assert_eq!(in_meta.links, [(hex(&IN_HEADER[3..35]), hex(&IN_HEADER[36..52]))]);
    let parent = (&in_header.trace, &in_header.parent);
    assert_eq!(parent, (&hex(&IN_HEADER[3..35]), &hex(&IN_HEADER[36..52])));
    assert!(in_header.links.is_empty());
    for (span, expected) in [
        (in_meta, vec![("mcp.session.id", &session[..8])]),
        (of(CLIENT, "1"), vec![("server.address", "127.0.0.1"), ("server.port", &port)]),
    ] {
        let common = [
            ("network.transport", "tcp"),
            ("network.protocol.name", "http"),
            ("network.protocol.version", "1.1"),
        ];
        for (name, value) in expected.into_iter().chain(common) {
            assert_eq!(span.attributes.get(name).map(String::as_str), Some(value), "{span:?}");
        }
    }
}

#[test]
fn forwarded_request_names_the_span_towards_the_server_only_if_configured() {
    for inject in ["false", "true"] {
        let (collector, url) = Collector::start();
        let (folder, server) = (Folder::new(), scripted_server());
        let log = folder.path("received");
        let arguments = ["--", server.to_str().unwrap(), "--log", &log];
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()),
            ("STICKLER_OTEL_INJECT_CONTEXT", inject),
        ];
        let mut gateway = Gateway::with_env(&arguments, &variables);
        gateway.handshake();
        let call = |meta: &str| {
            format!(
                r#"{{"jsonrpc":"2.0", "id":"a","method":"tools/call","params":{{"name":"echo","arguments":{{"text":"\u0041"}}{meta}}}}}"#
            )
        };
        let with_parent = format!(r#","_meta":{{"x":1.0,"traceparent":"{IN_META}"}}"#);
        for meta in ["", &with_parent] {
            gateway.write_raw(&format!("{}\n", call(meta)));
            assert!(gateway.receive()["result"].is_object());
        }
        gateway.end();
        let received = std::fs::read_to_string(&log).unwrap();
        let calls: Vec<&str> =
            received.lines().filter(|line| line.contains("tools/call")).collect();
        if inject == "false" {
            assert_eq!(calls, [call(""), call(&with_parent)]);
            continue;
        }
        let spans = received_spans(&collector);
        let clients: Vec<&Span> = spans
            .iter()
            .filter(|one| one.kind == CLIENT && one.name == "tools/call echo")
            .collect();
        let text = |bytes: &[u8]| bytes.iter().map(|one| format!("{one:02x}")).collect::<String>();
        let context = |span: &Span| format!("00-{}-{}-01", text(&span.trace), text(&span.id));
        let [fresh, continued] = clients[..] else { panic!("{spans:?}") };
        assert_eq!(continued.trace, hex(&IN_META[3..35]));
        let fresh = format!(r#","_meta":{{"traceparent":"{}"}}"#, context(fresh));
        let replaced = with_parent.replace(IN_META, &context(continued));
        assert_eq!(calls, [call(&fresh), call(&replaced)]);
        let server = spans.iter().find(|one| one.id == continued.parent).unwrap();
        assert_eq!((server.kind, &server.parent), (SERVER, &hex(&IN_META[36..52])));
    }
}

#[test]
fn prompts_resources_errors_and_metrics_follow_the_conventions() {
    let (collector, url) = Collector::start();
    let server = scripted_server();
    let arguments = ["--", server.to_str().unwrap()];
    let mut gateway =
        Gateway::with_env(&arguments, &[("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str())]);
    gateway.handshake();
    let request = |id: u32, method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    gateway.send(&request(1, "prompts/get", json!({ "name": "greet" })));
    gateway.receive();
    gateway.send(&request(2, "resources/read", json!({ "uri": "file:///a" })));
    gateway.receive();
    gateway.call(3, "echo", &json!({ "txt": "x" }));
    gateway.end();
    let spans = received_spans(&collector);
    let of = |kind: u64, name: &str| {
        let found = spans.iter().find(|one| one.kind == kind && one.name == name);
        found.unwrap_or_else(|| panic!("{name} in {spans:?}"))
    };
    assert_eq!(of(SERVER, "prompts/get greet").attributes["gen_ai.prompt.name"], "greet");
    let (towards_client, towards_server) =
        (of(SERVER, "resources/read"), of(CLIENT, "resources/read"));
    assert_eq!(towards_client.attributes["mcp.resource.uri"], "file:///a");
    // The server knows no resources: an error of the client's request, not of the gateway.
    assert_eq!(towards_client.attributes["rpc.response.status_code"], "-32601");
    assert_eq!(towards_client.attributes.get("error.type"), None);
    assert_eq!(towards_server.attributes["error.type"], "-32601");
    // A failed result of the gateway's own.
    assert_eq!(of(SERVER, "tools/call echo").attributes["error.type"], "tool_error");
    let bounds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];
    for name in [
        "mcp.server.operation.duration",
        "mcp.client.operation.duration",
        "mcp.server.session.duration",
        "mcp.client.session.duration",
    ] {
        let points = points(&collector, name);
        assert!(!points.is_empty(), "{name}");
        for (unit, (attributes, found)) in &points {
            assert_eq!((unit.as_str(), &found[..]), ("s", &bounds[..]), "{name}");
            assert!(!attributes.contains_key("mcp.session.id"), "{name}: {attributes:?}");
            let is_operation = attributes.contains_key("mcp.method.name");
            assert_eq!(is_operation, name.contains("operation"), "{name}: {attributes:?}");
        }
    }
}
