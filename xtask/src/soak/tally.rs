//! Counts what became of the requests of all clients.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

/// Counts over all clients. The first three must stay 0.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Requests without a response.
    pub(super) lost: AtomicU64,
    /// Second responses to a request.
    pub(super) doubled: AtomicU64,
    /// Responses with the content or the id of another request.
    pub(super) crossed: AtomicU64,
    pub(super) succeeded: AtomicU64,
    /// Rejected by the gateway, or answered with an error.
    pub(super) failed: AtomicU64,
    /// Requests of clients that disconnected before the response.
    pub(super) abandoned: AtomicU64,
    pub(super) clients: AtomicU64,
    pub(super) kills: AtomicU64,
    pub(super) restarts: AtomicU64,
}

fn add(counter: &AtomicU64, number: usize) {
    counter.fetch_add(number as u64, Ordering::Relaxed);
}

impl Tally {
    pub(super) fn count(counter: &AtomicU64) {
        add(counter, 1);
    }

    /// Whether no response was lost, doubled or crossed, and requests succeeded at all.
    pub(super) fn is_clean(&self) -> bool {
        let is_zero = |counter: &AtomicU64| counter.load(Ordering::Relaxed) == 0;
        [&self.lost, &self.doubled, &self.crossed].into_iter().all(is_zero)
            && !is_zero(&self.succeeded)
    }

    pub(super) fn to_json(&self) -> Value {
        let value = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        json!({
            "lost": value(&self.lost), "doubled": value(&self.doubled), "crossed": value(&self.crossed),
            "succeeded": value(&self.succeeded), "failed": value(&self.failed),
            "abandoned": value(&self.abandoned), "clients": value(&self.clients),
            "kills": value(&self.kills), "restarts": value(&self.restarts),
        })
    }
}

/// The requests of one client on one connection.
#[derive(Debug)]
pub(super) struct Requests<'t> {
    tally: &'t Tally,
    /// The text that a successful response must contain, and whether there was a response.
    sent: HashMap<u64, (Option<String>, bool)>,
    open: usize,
}

impl<'t> Requests<'t> {
    pub(super) fn new(tally: &'t Tally) -> Self {
        Self { tally, sent: HashMap::new(), open: 0 }
    }

    pub(super) fn send(&mut self, id: u64, expected: Option<String>) {
        self.sent.insert(id, (expected, false));
        self.open += 1;
    }

    pub(super) fn open(&self) -> usize {
        self.open
    }

    /// Counts a message from the gateway, unless it is a request or a notification.
    pub(super) fn receive(&mut self, message: &Value) {
        if message.get("method").is_some() {
            return;
        }
        let request = message["id"].as_u64().and_then(|id| self.sent.get_mut(&id));
        let Some((expected, is_answered)) = request else {
            return report(&self.tally.crossed, "no request has the id of", message);
        };
        if std::mem::replace(is_answered, true) {
            return report(&self.tally.doubled, "second response", message);
        }
        self.open -= 1;
        let result = &message["result"];
        if result.is_null() || result["isError"] == true {
            return add(&self.tally.failed, 1);
        }
        add(&self.tally.succeeded, 1);
        if let Some(expected) = expected
            && result["content"][0]["text"].as_str().is_none_or(|text| !text.contains(&**expected))
        {
            let note = format!("`{expected}` expected in");
            report(&self.tally.crossed, &note, message);
        }
    }

    /// Counts an open request as answered by an HTTP error, which has no id.
    pub(super) fn fail(&mut self, id: u64) {
        if let Some((_, is_answered)) = self.sent.get_mut(&id)
            && !std::mem::replace(is_answered, true)
        {
            self.open -= 1;
            add(&self.tally.failed, 1);
        }
    }

    /// Ends the connection: what has no response now is lost.
    pub(super) fn finish(self, what: &str) {
        if self.open > 0 {
            let open: Vec<&u64> = self
                .sent
                .iter()
                .filter(|(_, (_, is_answered))| !is_answered)
                .map(|(id, _)| id)
                .collect();
            report(&self.tally.lost, what, &json!({ "without response": open }));
            add(&self.tally.lost, self.open - 1);
        }
    }

    /// Ends the connection before the responses have arrived.
    pub(super) fn abandon(self) {
        add(&self.tally.abandoned, self.open);
    }
}

/// Counts a fault and prints it.
#[allow(clippy::print_stderr)]
fn report(counter: &AtomicU64, what: &str, message: &Value) {
    add(counter, 1);
    let text: String = message.to_string().chars().take(300).collect();
    eprintln!("{what} {text}");
}

#[cfg(test)]
mod tests {
    use super::{Requests, Tally};
    use serde_json::{Value, json};
    use std::sync::atomic::Ordering;

    fn response(id: u64, text: &str) -> Value {
        json!({ "id": id, "result": { "content": [{ "type": "text", "text": text }] } })
    }

    fn counts(run: impl Fn(Requests<'_>)) -> [u64; 5] {
        let tally = Tally::default();
        let mut requests = Requests::new(&tally);
        requests.send(1, Some("one".to_owned()));
        requests.send(2, Some("two".to_owned()));
        run(requests);
        [&tally.lost, &tally.doubled, &tally.crossed, &tally.succeeded, &tally.failed]
            .map(|counter| counter.load(Ordering::Relaxed))
    }

    #[test]
    fn responses_are_counted() {
        let both = |mut requests: Requests<'_>| {
            requests.receive(&json!({ "method": "notifications/message" }));
            requests.receive(&response(2, "two"));
            requests.receive(&json!({ "id": 1, "error": { "code": -32603 } }));
            requests.finish("");
        };
        assert_eq!(counts(both), [0, 0, 0, 1, 1]);
    }

    #[test]
    fn lost_doubled_and_crossed_responses_are_detected() {
        assert_eq!(counts(|requests| requests.finish(""))[0], 2);
        let doubled = |mut requests: Requests<'_>| {
            requests.receive(&response(1, "one"));
            requests.receive(&response(1, "one"));
            requests.abandon();
        };
        assert_eq!(counts(doubled), [0, 1, 0, 1, 0]);
        for crossed in [response(1, "two"), response(3, "one"), json!({ "id": null, "error": {} })]
        {
            let run = |mut requests: Requests<'_>| {
                requests.receive(&crossed);
                requests.abandon();
            };
            assert_eq!(counts(run)[2], 1, "{crossed}");
        }
    }
}
