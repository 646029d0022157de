//! Limits that protect the gateway from clients over HTTP: memory for bodies, time for bodies, open connections. At a limit
//! clients get an error that says so, and what they held is free again afterwards.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::support::http::{Gateway, initialize, scripted_server};
use crate::support::stdio::wait_until;

fn gateway(variables: &[(&str, &str)]) -> Gateway {
    Gateway::start_with(&["--", scripted_server().to_str().unwrap()], variables)
}

/// Opens a connection and sends the head of a POST.
fn begin_post(gateway: &Gateway, length: usize) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", gateway.port)).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

/// Reads what the gateway sends until it closes the connection.
fn read_to_end(mut stream: TcpStream) -> String {
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn bodies_share_one_memory_limit_which_is_free_again_when_they_end() {
    let gateway = gateway(&[("STICKLER_MAX_WAITING_BYTES", "3500000")]);
    let part = vec![b' '; 1_000_000];
    let mut unfinished: Vec<TcpStream> = Vec::new();
    for _ in 0..3 {
        let mut stream = begin_post(&gateway, 2_000_000);
        stream.write_all(&part).unwrap();
        unfinished.push(stream);
    }
    // The gateway has read the three parts when it has no memory for a fourth one.
    wait_until("the memory is used up", || {
        let response = response_to_pieces(begin_post(&gateway, part.len()), &part);
        response.starts_with("HTTP/1.1 503") && response.contains("`max_waiting_bytes` (3500000)")
    });
    drop(unfinished);
    wait_until("the memory is free", || {
        let body = format!("{}{}", initialize(), " ".repeat(3_000_000));
        gateway.post(&[], &body).status == 200
    });
}

/// Sends a body in pieces until there is a response, and reads its first part. The response to a body that is sent at once
/// may be lost: the gateway closes the connection, and bytes that it has not read reset it.
fn response_to_pieces(mut stream: TcpStream, body: &[u8]) -> String {
    stream.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
    let mut text = [0; 4096];
    for piece in body.chunks(20_000) {
        if stream.write_all(piece).is_err() {
            break;
        }
        if let Ok(length @ 1..) = stream.read(&mut text) {
            return String::from_utf8_lossy(&text[..length]).into_owned();
        }
    }
    first_part(stream)
}

/// Reads the first part of a response.
fn first_part(mut stream: TcpStream) -> String {
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut text = vec![0; 4096];
    let length = stream.read(&mut text).unwrap_or(0);
    String::from_utf8_lossy(text.get(..length).unwrap_or_default()).into_owned()
}

#[test]
fn body_that_never_ends_is_rejected_after_the_body_timeout() {
    let gateway = gateway(&[("STICKLER_BODY_TIMEOUT", "0.5")]);
    let stream = begin_post(&gateway, 100_000);
    let mut sender = stream.try_clone().unwrap();
    std::thread::spawn(move || {
        // Each byte comes long before the gateway gives up on an idle body.
        while sender.write_all(b" ").is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let response = read_to_end(stream);
    assert!(response.starts_with("HTTP/1.1 408"), "{response}");
    assert!(response.contains("the body did not arrive within 0.5 s"), "{response}");
}

#[test]
fn connections_beyond_the_limit_are_rejected_until_others_close() {
    let gateway = gateway(&[("STICKLER_MAX_CONNECTIONS", "3")]);
    let mut open: Vec<TcpStream> = (0..3).map(|_| begin_post(&gateway, 100)).collect();
    let rejected = read_to_end(TcpStream::connect(("127.0.0.1", gateway.port)).unwrap());
    assert!(rejected.starts_with("HTTP/1.1 503"), "{rejected}");
    assert!(rejected.contains("the limit of 3 connections is reached"), "{rejected}");
    open.pop();
    wait_until("a connection is free", || {
        let stream = begin_post(&gateway, 0);
        first_part(stream).starts_with("HTTP/1.1 400")
    });
}
