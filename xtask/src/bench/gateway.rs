//! The cost of the gateway on stdio relative to a relay that only copies bytes.
//!
//! All contestants are live at once and take turns in every round; each has the same server behind
//! it. Validation is on and all traffic is valid.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::contest::median;
use super::program;
use crate::Outcome;

/// One kind of call, and the most that the gateway may cost in units of the relay: the median of
/// one call at a time, or the least share of the relay's calls a second with several in flight.
struct Case {
    name: &'static str,
    arguments: fn() -> Value,
    in_flight: usize,
    goal: Goal,
}

enum Goal {
    LatencyAtMost(f64),
    RateAtLeast(f64),
}

const CASES: [Case; 5] = [
    Case { name: "400 B", arguments: short, in_flight: 1, goal: Goal::LatencyAtMost(1.25) },
    Case { name: "4 KB", arguments: medium, in_flight: 1, goal: Goal::LatencyAtMost(1.25) },
    Case { name: "64 KB result", arguments: long, in_flight: 1, goal: Goal::LatencyAtMost(1.4) },
    Case { name: "1 MB result", arguments: huge, in_flight: 1, goal: Goal::LatencyAtMost(2.0) },
    Case {
        name: "400 B, 16 in flight",
        arguments: short,
        in_flight: 16,
        goal: Goal::RateAtLeast(0.65),
    },
];

fn short() -> Value {
    json!({ "text": "x".repeat(300) })
}

fn medium() -> Value {
    json!({ "text": "x".repeat(4 << 10) })
}

fn long() -> Value {
    json!({ "size": 64 << 10 })
}

fn huge() -> Value {
    json!({ "size": 1 << 20 })
}

/// The duration of one contestant's turn.
const TURN: Duration = Duration::from_millis(120);

#[allow(clippy::print_stdout)]
pub(super) fn run(rounds: usize) -> Outcome {
    let mut contestants = contestants(program::build()?)?;
    println!("\nthe gateway on stdio, median ratios to a bare relay, {rounds} rounds\n");
    println!("{:<22} {:>10} {:>10} {:>10}", "calls", "direct", "relay", "stickler");
    let mut missed = Vec::new();
    for case in &CASES {
        let [direct, gateway] = compare(case, &mut contestants, rounds)?;
        println!("{:<22} {direct:>10.2} {:>10.2} {gateway:>10.2}", case.name, 1.0);
        match case.goal {
            Goal::LatencyAtMost(most) if gateway > most => {
                missed.push(format!("{}: {gateway:.2} > {most}", case.name));
            }
            Goal::RateAtLeast(least) if gateway < least => {
                missed.push(format!("{}: {gateway:.2} < {least}", case.name));
            }
            _ => {}
        }
    }
    if missed.is_empty() { Ok(()) } else { Err(format!("goals missed: {}", missed.join("; "))) }
}

fn contestants(stickler: PathBuf) -> Result<[Contestant; 3], String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let server = || vec![this.clone(), "bench-peer".into(), "serve".into()];
    let before = |words: &[PathBuf]| [words, &server()].concat();
    Ok([
        Contestant::start(&server())?,
        Contestant::start(&before(&[
            this.clone(),
            "bench-peer".into(),
            "relay".into(),
            "--".into(),
        ]))?,
        Contestant::start(&before(&[stickler, "run".into(), "--".into()]))?,
    ])
}

/// The first and the third beside the second.
fn compare(
    case: &Case,
    contestants: &mut [Contestant; 3],
    rounds: usize,
) -> Result<[f64; 2], String> {
    let (mut directs, mut gateways) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let mut figures = [0.0; 3];
        for turn in 0..3 {
            // The order rotates with every round.
            let index = (turn + round) % 3;
            if let (Some(contestant), Some(figure)) =
                (contestants.get_mut(index), figures.get_mut(index))
            {
                *figure = contestant.turn(case).map_err(|error| error.to_string())?;
            }
        }
        let [direct, relay, gateway] = figures;
        directs.push(direct / relay);
        gateways.push(gateway / relay);
    }
    Ok([median(directs), median(gateways)])
}

struct Contestant {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    id: u64,
}

impl Contestant {
    fn start(words: &[PathBuf]) -> Result<Self, String> {
        let (program, arguments) = words.split_first().ok_or("no program")?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let stdin = child.stdin.take();
        let stdout = BufReader::with_capacity(256 << 10, child.stdout.take().ok_or("no pipe")?);
        let mut contestant = Self { child, stdin, stdout, id: 0 };
        contestant.handshake().map_err(|error| error.to_string())?;
        Ok(contestant)
    }

    fn handshake(&mut self) -> std::io::Result<()> {
        let peer = json!({ "name": "bench", "version": "1" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": peer });
        self.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }))?;
        self.receive()?;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        self.send(&json!({ "jsonrpc": "2.0", "id": "list", "method": "tools/list" }))?;
        self.receive()
    }

    fn send(&mut self, message: &Value) -> std::io::Result<()> {
        self.write(format!("{message}\n").as_bytes())
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stdin.as_mut().map_or(Ok(()), |stdin| stdin.write_all(bytes))
    }

    fn receive(&mut self) -> std::io::Result<()> {
        let mut line = Vec::new();
        match self.stdout.read_until(b'\n', &mut line)? {
            0 => Err(std::io::Error::other("a contestant has gone")),
            _ => Ok(()),
        }
    }

    /// Microseconds a call, or calls a second, by what the goal is about.
    fn turn(&mut self, case: &Case) -> std::io::Result<f64> {
        let tool = if (case.arguments)().get("size").is_some() { "big" } else { "echo" };
        let params = json!({ "name": tool, "arguments": (case.arguments)() });
        let mut times = Vec::new();
        let begun = Instant::now();
        while begun.elapsed() < TURN || times.len() < 3 {
            let mut messages = String::new();
            for _ in 0..case.in_flight {
                self.id += 1;
                let id = self.id;
                let call =
                    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
                messages.push_str(&call.to_string());
                messages.push('\n');
            }
            let sent = Instant::now();
            self.write(messages.as_bytes())?;
            for _ in 0..case.in_flight {
                self.receive()?;
            }
            times.push(sent.elapsed().as_secs_f64());
        }
        let typical = median(times);
        Ok(match case.goal {
            Goal::LatencyAtMost(_) => typical,
            Goal::RateAtLeast(_) => 1.0 / typical,
        })
    }
}

impl Drop for Contestant {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}
