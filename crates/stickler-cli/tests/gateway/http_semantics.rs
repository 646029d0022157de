//! HTTP semantics of the gateway: host check, content negotiation, methods, keep-alive comments and TLS.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;

use crate::support::http::{Gateway, call, initialize};
use crate::support::upstream::{Upstream, default_response};
use serde_json::json;

#[test]
fn foreign_host_header_is_rejected_on_loopback() {
    let gateway = Gateway::scripted(&["--allow-origin", "https://app.example"]);
    let status =
        |gateway: &Gateway, host: &str| gateway.post(&[("host", host)], &initialize()).status;
    for host in ["localhost", "LocalHost:80", "127.0.0.1:9", "[::1]", "[::1]:9", "app.example:1"] {
        assert_eq!(status(&gateway, host), 200, "{host}");
    }
    let others =
        ["evil.example", "evil.example:80", "localhost.evil.example", "192.168.0.1", "a b"];
    let deceptive =
        ["localhost:evil.example", "evil.example:80@localhost", "127.0.0.1.evil.example:9"];
    for host in others.into_iter().chain(deceptive) {
        assert_eq!(status(&gateway, host), 403, "{host}");
    }
    let rejected = gateway.post(&[("host", "evil.example")], &initialize());
    assert_eq!(rejected.status, 403);
    assert!(rejected.text().contains("`Host`"), "{}", rejected.text());
    assert_eq!(gateway.open("GET", "/mcp", &[("host", "evil.example")], "").status, 403);
    let open = Gateway::scripted(&["--allow-origin", "*"]);
    assert_eq!(status(&open, "evil.example"), 200);
}

#[test]
fn unsupported_content_types_and_methods_are_rejected() {
    let gateway = Gateway::scripted(&[]);
    let status = |header: (&str, &str)| gateway.post(&[header], &initialize()).status;
    assert_eq!(status(("content-type", "text/plain")), 415);
    assert_eq!(status(("content-type", "application/x-www-form-urlencoded")), 415);
    assert_eq!(status(("content-type", "application/json; charset=utf-8")), 200);
    assert_eq!(status(("accept", "text/html")), 406);
    assert_eq!(status(("accept", "application/json")), 200);
    assert_eq!(status(("accept", "*/*")), 200);
    let html = gateway.open("GET", "/mcp", &[("accept", "text/html")], "").finish();
    assert_eq!(html.status, 406);
    for empty in ["", " \n"] {
        let response = gateway.post(&[], empty);
        assert_eq!((response.status, &response.json()["error"]["code"]), (400, &json!(-32700)));
    }
    let put = gateway.open("PUT", "/mcp", &[], "").finish();
    assert_eq!((put.status, put.header("allow")), (405, Some("GET, POST, DELETE")));
    // In front of a URL, content negotiation is left to the server.
    let upstream = Upstream::start(|message| default_response(message).unwrap());
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    assert_eq!(gateway.post(&[("content-type", "text/plain")], &initialize()).status, 200);
}

#[test]
fn idle_streams_send_keep_alive_comments() {
    let gateway = Gateway::scripted(&["--keep-alive", "1"]);
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    let mut stream = gateway.open("GET", "/mcp", &headers, "");
    assert_eq!(stream.line(":").as_deref(), Some(": keep-alive"));
    let slow = call(1, "slow", &json!({ "text": "at last", "millis": 2500 }));
    let mut response = gateway.open("POST", "/mcp", &headers, &slow);
    assert_eq!(response.header("content-type"), Some("text/event-stream"));
    assert_eq!(response.line(":").as_deref(), Some(": keep-alive"));
    assert_eq!(response.event().unwrap()["result"]["content"][0]["text"], "at last");
}

/// Starts a server with a self-signed certificate that answers every request with the same body; returns its
/// port and the certificate.
fn https_server(body: String) -> (u16, String) {
    let certified = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key =
        rustls::pki_types::PrivateKeyDer::try_from(certified.signing_key.serialize_der()).unwrap();
    let config = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut tls = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut tls = rustls::Stream::new(&mut tls, &mut stream);
            // A client that does not trust the certificate disconnects here.
            let Ok(_) = tls.read(&mut [0; 4096]) else { continue };
            let response = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\
                 content-length: {}\r\n\r\n{body}",
                body.len()
            );
            let _ = tls.write_all(response.as_bytes());
            tls.conn.send_close_notify();
            let _ = tls.flush();
        }
    });
    (port, certified.cert.pem())
}

#[test]
fn tls_connection_requires_a_trusted_certificate() {
    let response = default_response(&serde_json::from_str(&initialize()).unwrap()).unwrap();
    let response = String::from_utf8(response).unwrap();
    let (port, certificate) = https_server(response.split("\r\n\r\n").nth(1).unwrap().to_owned());
    let file = std::env::temp_dir().join(format!("stickler-roots-{}.pem", std::process::id()));
    std::fs::write(&file, certificate).unwrap();
    let url = format!("https://localhost:{port}/mcp");
    let trusting = [("SSL_CERT_FILE", file.to_str().unwrap())];
    let gateway = Gateway::start_with(&["--url", &url], &trusting);
    let response = gateway.post(&[], &initialize());
    assert_eq!(response.status, 200, "{}", response.text());
    assert_eq!(response.json()["result"]["serverInfo"]["name"], "upstream");
    let distrusting = Gateway::start_with(&["--url", &url], &[("SSL_CERT_FILE", "")]);
    let response = distrusting.post(&[], &initialize());
    assert_eq!((response.status, &response.json()["id"]), (502, &json!(0)));
    assert!(response.text().contains("STK-101"), "{}", response.text());
    let _ = std::fs::remove_file(file);
}

/// Sends a GET with these lines after the request line, and returns the status of the response.
fn status_of(port: u16, request_line: &str, lines: &[&str]) -> String {
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    let head = [&[request_line], lines, &["connection: close", "", ""]].concat().join("\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response.split(' ').nth(1).unwrap_or_default().to_owned()
}

#[test]
fn request_has_exactly_one_host_and_an_allowed_target() {
    let gateway = Gateway::scripted(&[]);
    let status = |line: &str, lines: &[&str]| status_of(gateway.port, line, lines);
    let (get, local) = ("GET /unknown HTTP/1.1", "host: localhost");
    assert_eq!(status(get, &[local]), "404");
    assert_eq!(status(get, &[local, "host: evil.example"]), "400");
    assert_eq!(status(get, &[local, local]), "400");
    assert_eq!(status(get, &[]), "400");
    assert_eq!(status("GET /unknown HTTP/1.0", &[]), "404");
    assert_eq!(status("GET http://localhost/unknown HTTP/1.1", &[local]), "404");
    assert_eq!(status("GET http://evil.example/unknown HTTP/1.1", &[local]), "403");
}

#[test]
fn protocol_switch_of_the_server_is_an_error() {
    let upstream = Upstream::start(|message| {
        let switch =
            "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n";
        default_response(message).unwrap_or_else(|| switch.as_bytes().to_vec())
    });
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    let response = gateway.post(&[], &call(3, "echo", &json!({ "text": "x" })));
    assert_eq!((response.status, &response.json()["id"]), (502, &json!(3)));
}
