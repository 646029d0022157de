//! What HTTP itself asks: hosts, kinds of content, methods, streams that are quiet, and TLS.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::format_push_string,
    reason = "tests are blunt, and start processes"
)]

mod support {
    pub(crate) mod http;
    pub(crate) mod upstream;
}

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;

use serde_json::json;
use support::http::{Gateway, call, initialize};
use support::upstream::{Upstream, usual};

#[test]
fn a_foreign_host_is_not_served_on_loopback() {
    let gateway = Gateway::scripted(&["--allow-origin", "https://app.example"]);
    let status =
        |gateway: &Gateway, host: &str| gateway.post(&[("host", host)], &initialize()).status;
    for host in ["localhost", "LocalHost:80", "127.0.0.1:9", "[::1]", "[::1]:9", "app.example:1"] {
        assert_eq!(status(&gateway, host), 200, "{host}");
    }
    let others =
        ["evil.example", "evil.example:80", "localhost.evil.example", "192.168.0.1", "a b"];
    let odd = ["localhost:evil.example", "evil.example:80@localhost", "127.0.0.1.evil.example:9"];
    for host in others.into_iter().chain(odd) {
        assert!(matches!(status(&gateway, host), 400 | 403), "{host}");
    }
    let refused = gateway.post(&[("host", "evil.example")], &initialize());
    assert_eq!(refused.status, 403);
    assert!(refused.text().contains("`Host`"), "{}", refused.text());
    assert_eq!(gateway.open("GET", "/mcp", &[("host", "evil.example")], "").status, 403);
    let open = Gateway::scripted(&["--allow-origin", "*"]);
    assert_eq!(status(&open, "evil.example"), 200);
}

#[test]
fn content_of_the_wrong_kind_and_methods_that_mean_nothing_are_refused() {
    let gateway = Gateway::scripted(&[]);
    let status = |header: (&str, &str)| gateway.post(&[header], &initialize()).status;
    assert_eq!(status(("content-type", "text/plain")), 415);
    assert_eq!(status(("content-type", "application/x-www-form-urlencoded")), 415);
    assert_eq!(status(("content-type", "application/json; charset=utf-8")), 200);
    assert_eq!(status(("accept", "text/html")), 406);
    assert_eq!(status(("accept", "application/json")), 200);
    assert_eq!(status(("accept", "*/*")), 200);
    let page = gateway.open("GET", "/mcp", &[("accept", "text/html")], "").finish();
    assert_eq!(page.status, 406);
    for empty in ["", " \n"] {
        let answer = gateway.post(&[], empty);
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32700)));
    }
    let put = gateway.open("PUT", "/mcp", &[], "").finish();
    assert_eq!((put.status, put.header("allow")), (405, Some("GET, POST, DELETE")));
    // In front of a URL the server has the word.
    let upstream = Upstream::start(|message| usual(message).unwrap());
    let gateway = Gateway::start(&["--url", &upstream.url()]);
    assert_eq!(gateway.post(&[("content-type", "text/plain")], &initialize()).status, 200);
}

#[test]
fn quiet_streams_say_that_they_are_still_there() {
    let gateway = Gateway::scripted(&["--keep-alive", "1"]);
    let session = gateway.session();
    let headers = [("mcp-session-id", session.as_str())];
    let mut stream = gateway.open("GET", "/mcp", &headers, "");
    assert_eq!(stream.line(":").as_deref(), Some(": keep-alive"));
    let slow = call(1, "slow", &json!({ "text": "at last", "millis": 2500 }));
    let mut answer = gateway.open("POST", "/mcp", &headers, &slow);
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert_eq!(answer.line(":").as_deref(), Some(": keep-alive"));
    assert_eq!(answer.event().unwrap()["result"]["content"][0]["text"], "at last");
}

/// A server with a certificate that no browser knows; every request gets the same answer.
fn https_server(body: String) -> (u16, String) {
    let own = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(own.signing_key.serialize_der()).unwrap();
    let config = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut tls = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut tls = rustls::Stream::new(&mut tls, &mut stream);
            // A client that does not trust us hangs up here.
            let Ok(_) = tls.read(&mut [0; 4096]) else { continue };
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\
                 content-length: {}\r\n\r\n{body}",
                body.len()
            );
            let _ = tls.write_all(answer.as_bytes());
            tls.conn.send_close_notify();
            let _ = tls.flush();
        }
    });
    (port, own.cert.pem())
}

#[test]
fn servers_are_reached_by_tls_and_only_with_a_certificate_that_is_trusted() {
    let answer = usual(&serde_json::from_str(&initialize()).unwrap()).unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (port, certificate) = https_server(answer.split("\r\n\r\n").nth(1).unwrap().to_owned());
    let file = std::env::temp_dir().join(format!("stickler-roots-{}.pem", std::process::id()));
    std::fs::write(&file, certificate).unwrap();
    let url = format!("https://localhost:{port}/mcp");
    let trusting = [("SSL_CERT_FILE", file.to_str().unwrap())];
    let gateway = Gateway::start_with(&["--url", &url], &trusting);
    let answer = gateway.post(&[], &initialize());
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.json()["result"]["serverInfo"]["name"], "upstream");
    let wary = Gateway::start_with(&["--url", &url], &[("SSL_CERT_FILE", "")]);
    let answer = wary.post(&[], &initialize());
    assert_eq!((answer.status, &answer.json()["id"]), (502, &json!(0)));
    assert!(answer.text().contains("STK-101"), "{}", answer.text());
    let _ = std::fs::remove_file(file);
}
