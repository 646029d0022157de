//! A client on standard input and output, with a gateway of its own.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::calls::{Served, initialize, initialized};
use super::process;
use super::tally::{Requests, Tally};
use crate::random::Random;

/// A response that takes longer is lost.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

/// A gateway on standard input and output.
pub(super) struct Gateway {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<Value>,
}

impl Gateway {
    /// Starts a gateway whose output is read with a pause before each line.
    pub(super) fn start(words: &[String], pause: Duration) -> Result<Self, String> {
        let mut command = process::command(words)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("{words:?}: {error}"))?;
        let input = child.stdin.take();
        let stdout = child.stdout.take().ok_or("no standard output")?;
        let (sender, output) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                std::thread::sleep(pause);
                // What is not a message counts as a response without an id.
                let message =
                    serde_json::from_str(&line).unwrap_or_else(|_| json!({ "line": line }));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, input, output })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    fn send(&mut self, message: &Value) {
        if let Some(input) = &mut self.input {
            // A gateway that has exited answers nothing, which is counted.
            let _ = writeln!(input, "{message}").and_then(|()| input.flush());
        }
    }

    /// Receives messages until a number of requests is open. Returns false if the output ends or the time is over.
    fn receive(&mut self, requests: &mut Requests<'_>, until_open: usize) -> bool {
        let deadline = Instant::now() + RESPONSE_TIMEOUT;
        while requests.open() > until_open {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(message) = self.output.recv_timeout(left) else { return false };
            self.take(requests, &message);
        }
        true
    }

    fn take(&mut self, requests: &mut Requests<'_>, message: &Value) {
        if let (Some(id), Some(_)) = (message.get("id"), message.get("method")) {
            self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
        }
        requests.receive(message);
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a client does with its gateway.
pub(super) struct Plan<'p> {
    pub(super) served: Served,
    pub(super) is_modern: bool,
    /// Number of bursts of requests; `None` until `is_over`.
    pub(super) bursts: Option<usize>,
    pub(super) is_over: &'p (dyn Fn() -> bool + Sync),
}

/// Sends bursts of requests and then leaves in one of several ways.
pub(super) fn run(gateway: &mut Gateway, plan: &Plan<'_>, random: &mut Random, tally: &Tally) {
    let mut requests = Requests::new(tally);
    Tally::count(&tally.clients);
    let mut id = 0;
    if !plan.is_modern {
        requests.send(id, None);
        gateway.send(&initialize(id));
        gateway.receive(&mut requests, 0);
        gateway.send(&initialized());
    }
    let mut burst = 0;
    while plan.bursts.is_none_or(|bursts| burst < bursts) && !(plan.is_over)() {
        burst += 1;
        for _ in 0..=random.below(12) {
            id += 1;
            let token = format!("<{:x}-{id}>", random.next());
            let request = plan.served.request(random, &token);
            let message = request.message(id, plan.is_modern);
            requests.send(id, request.expected);
            gateway.send(&message);
        }
        let keep_open = if random.chance(30) { random.below(6) } else { 0 };
        if !gateway.receive(&mut requests, keep_open) {
            break;
        }
        std::thread::sleep(Duration::from_millis(random.next() % 40));
    }
    leave(gateway, requests, random);
}

/// Half-closes, waits, or vanishes.
fn leave(gateway: &mut Gateway, mut requests: Requests<'_>, random: &mut Random) {
    match random.below(4) {
        0 => {
            process::kill(gateway.id());
            return requests.abandon();
        }
        1 => drop(gateway.receive(&mut requests, 0)),
        // Pending requests are answered after the end of the input, too.
        _ => drop(gateway.input.take()),
    }
    gateway.receive(&mut requests, 0);
    // A second response would come after the first.
    drop(gateway.input.take());
    while let Ok(message) = gateway.output.recv_timeout(Duration::from_secs(20)) {
        requests.receive(&message);
    }
    requests.finish("no response on stdio:");
}
