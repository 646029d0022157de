//! Minimal HTTP/1.1 parser for both peers: heads, bodies and events.

use std::io::BufRead;

/// The first line and the headers of a request or a response.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    pub(crate) first: String,
    pub(crate) headers: Vec<(String, String)>,
}

/// A server-sent event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) data: String,
}

/// The next part of a body.
pub(crate) enum Part {
    Bytes(Vec<u8>),
    End,
    Broken,
}

impl Head {
    /// Reads a head; `None` if the connection ends before the head is complete.
    pub(crate) fn read(reader: &mut impl BufRead) -> Option<Self> {
        let mut head = Self { first: line(reader)?, headers: Vec::new() };
        loop {
            let line = line(reader)?;
            let Some((name, value)) = line.split_once(':') else { return Some(head) };
            head.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn status(&self) -> u16 {
        self.first.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"))
    }
}

/// Reads the next part of a body. `left` is the unread length of a body with a `content-length`.
pub(crate) fn part(head: &Head, reader: &mut impl BufRead, left: &mut Option<usize>) -> Part {
    if head.header("transfer-encoding") == Some("chunked") {
        let Some(size) = line(reader).and_then(|size| usize::from_str_radix(size.trim(), 16).ok())
        else {
            return Part::Broken;
        };
        let mut chunk = vec![0; size + 2];
        return match reader.read_exact(&mut chunk) {
            Err(_) => Part::Broken,
            Ok(()) if size == 0 => Part::End,
            Ok(()) => {
                chunk.truncate(size);
                Part::Bytes(chunk)
            }
        };
    }
    let length = head.header("content-length").and_then(|length| length.parse().ok());
    match left.or(length) {
        Some(0) => Part::End,
        Some(length) => {
            let mut body = vec![0; length];
            *left = Some(0);
            reader.read_exact(&mut body).map_or(Part::Broken, |()| Part::Bytes(body))
        }
        None => {
            let mut body = Vec::new();
            let is_whole = reader.read_to_end(&mut body).is_ok();
            *left = Some(0);
            if is_whole { Part::Bytes(body) } else { Part::Broken }
        }
    }
}

/// Removes the complete events from the received bytes and returns them. Comments are skipped.
pub(crate) fn events(received: &mut Vec<u8>) -> Vec<Event> {
    let mut events = Vec::new();
    while let Some(end) = received.windows(2).position(|pair| pair == b"\n\n") {
        let block: Vec<u8> = received.drain(..end + 2).collect();
        let mut event = Event::default();
        let mut data = Vec::new();
        let mut has_field = false;
        for line in String::from_utf8_lossy(&block).lines() {
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value).to_owned();
            has_field |= matches!(field, "data" | "id" | "event");
            match field {
                "data" => data.push(value),
                "id" => event.id = Some(value),
                "event" => event.name = Some(value),
                _ => {}
            }
        }
        event.data = data.join("\n");
        if has_field {
            events.push(event);
        }
    }
    events
}

fn line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    let read = reader.read_line(&mut line).ok()?;
    (read > 0 && line.ends_with('\n')).then(|| line.trim_end().to_owned())
}
