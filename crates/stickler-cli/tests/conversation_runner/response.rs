//! Reads the response to a request of the HTTP client, part by part.

use std::io::BufReader;
use std::net::TcpStream;

use super::http::{Event, Head, Part, events, part};
use super::inbox::Inbox;

/// A part of a response.
pub(crate) enum Received {
    Head(Head),
    Body(Vec<u8>),
    Event(Event),
    End,
    Broken,
}

/// Reads the whole response. Events of a stream are reported as they arrive, unless `as_bytes` is set.
pub(crate) fn read_response(
    connection: &TcpStream,
    label: &str,
    inbox: &Inbox<(String, Received)>,
    as_bytes: bool,
) {
    let push = |received| inbox.push((label.to_owned(), received));
    let mut reader = BufReader::new(connection);
    let Some(head) = Head::read(&mut reader) else { return push(Received::Broken) };
    push(Received::Head(head.clone()));
    let (mut left, mut body) = (None, Vec::new());
    let end = loop {
        match part(&head, &mut reader, &mut left) {
            Part::Bytes(bytes) => body.extend(bytes),
            Part::End => break Received::End,
            Part::Broken => break Received::Broken,
        }
        if head.is_stream() && !as_bytes {
            for event in events(&mut body) {
                push(Received::Event(event));
            }
        }
    };
    if !body.is_empty() {
        push(Received::Body(body));
    }
    push(end);
}
