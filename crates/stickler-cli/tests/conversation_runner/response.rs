//! Reads the answer to a request of the HTTP client, part by part.

use std::io::BufReader;
use std::net::TcpStream;

use super::http::{Event, Head, Part, events, part};
use super::inbox::Inbox;

/// What comes of a request.
pub(crate) enum Came {
    Head(Head),
    Body(Vec<u8>),
    Event(Event),
    End,
    Broken,
}

/// Reads to the end of the answer; events of a stream as they come, unless it is to stay bytes.
pub(crate) fn read_response(
    connection: &TcpStream,
    label: &str,
    inbox: &Inbox<(String, Came)>,
    as_bytes: bool,
) {
    let push = |came| inbox.push((label.to_owned(), came));
    let mut reader = BufReader::new(connection);
    let Some(head) = Head::read(&mut reader) else { return push(Came::Broken) };
    push(Came::Head(head.clone()));
    let (mut left, mut received) = (None, Vec::new());
    let end = loop {
        match part(&head, &mut reader, &mut left) {
            Part::Bytes(bytes) => received.extend(bytes),
            Part::End => break Came::End,
            Part::Broken => break Came::Broken,
        }
        if head.is_stream() && !as_bytes {
            for event in events(&mut received) {
                push(Came::Event(event));
            }
        }
    };
    if !received.is_empty() {
        push(Came::Body(received));
    }
    push(end);
}
