//! The cost of the gateway on stdio relative to a relay that only copies bytes.
//!
//! The same gateway with a recording is compared with the one without.
//!
//! All candidates run at the same time and take turns in every round; each has the same server behind
//! it. Validation is on and all traffic is valid.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::comparison::median;
use super::program;
use crate::Outcome;

/// One kind of call, and the goal for the gateway relative to the relay: the maximum median latency of
/// sequential calls, or the minimum throughput of concurrent calls.
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

/// Maximum cost of the recording: the latency with it relative to the latency without it.
const MAX_RECORDING_COST: f64 = 1.1;

/// The duration of one candidate's turn.
const TURN_DURATION: Duration = Duration::from_millis(120);

#[allow(clippy::print_stdout)]
pub(super) fn run(rounds: usize) -> Outcome {
    let recordings = std::env::temp_dir().join(format!("stickler-bench-{}", std::process::id()));
    let mut candidates = candidates(program::build()?, &recordings)?;
    println!("\nthe gateway on stdio, median ratios to a bare relay, {rounds} rounds\n");
    println!(
        "{:<22} {:>10} {:>10} {:>10} {:>12}",
        "calls", "direct", "relay", "stickler", "+ recording"
    );
    let mut missed = Vec::new();
    for case in &CASES {
        let [direct, gateway, recording] = compare(case, &mut candidates, rounds)?;
        println!(
            "{:<22} {direct:>10.2} {:>10.2} {gateway:>10.2} {:>12}",
            case.name,
            1.0,
            format!("× {recording:.2}")
        );
        let cost = match case.goal {
            Goal::LatencyAtMost(_) => recording,
            Goal::RateAtLeast(_) => 1.0 / recording,
        };
        // Copying messages of a megabyte takes longer than the goal allows; the goal is about common sizes.
        if cost > MAX_RECORDING_COST && case.name != "1 MB result" {
            missed.push(format!("{} recorded: {cost:.2} > {MAX_RECORDING_COST}", case.name));
        }
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
    drop(candidates);
    let _ = std::fs::remove_dir_all(recordings);
    if missed.is_empty() { Ok(()) } else { Err(format!("goals missed: {}", missed.join("; "))) }
}

fn candidates(stickler: PathBuf, recordings: &Path) -> Result<[Candidate; 4], String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let server = || vec![this.clone(), "bench-peer".into(), "serve".into()];
    let before = |words: &[PathBuf]| [words, &server()].concat();
    Ok([
        Candidate::start(&server())?,
        Candidate::start(&before(&[
            this.clone(),
            "bench-peer".into(),
            "relay".into(),
            "--".into(),
        ]))?,
        Candidate::start(&before(&[stickler.clone(), "run".into(), "--".into()]))?,
        Candidate::start(&before(&[
            stickler,
            "run".into(),
            "--record".into(),
            recordings.to_owned(),
            "--".into(),
        ]))?,
    ])
}

/// Returns the ratios of the direct connection and of the gateway to the relay, and of the gateway with a recording to
/// the one without.
fn compare(
    case: &Case,
    candidates: &mut [Candidate; 4],
    rounds: usize,
) -> Result<[f64; 3], String> {
    let (mut directs, mut gateways, mut recorded) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        let mut figures = [0.0; 4];
        for turn in 0..4 {
            // The order rotates with every round.
            let index = (turn + round) % 4;
            if let (Some(candidate), Some(figure)) =
                (candidates.get_mut(index), figures.get_mut(index))
            {
                *figure = candidate.turn(case).map_err(|error| error.to_string())?;
            }
        }
        let [direct, relay, gateway, recording] = figures;
        directs.push(direct / relay);
        gateways.push(gateway / relay);
        recorded.push(recording / gateway);
    }
    Ok([median(directs), median(gateways), median(recorded)])
}

struct Candidate {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    id: u64,
}

impl Candidate {
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
        let mut candidate = Self { child, stdin, stdout, id: 0 };
        candidate.handshake().map_err(|error| error.to_string())?;
        Ok(candidate)
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
            0 => Err(std::io::Error::other("a candidate closed its output")),
            _ => Ok(()),
        }
    }

    /// Returns seconds per call or calls per second, depending on the goal.
    fn turn(&mut self, case: &Case) -> std::io::Result<f64> {
        let tool = if (case.arguments)().get("size").is_some() { "big" } else { "echo" };
        let params = json!({ "name": tool, "arguments": (case.arguments)() });
        let mut times = Vec::new();
        let start = Instant::now();
        while start.elapsed() < TURN_DURATION || times.len() < 3 {
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

impl Drop for Candidate {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}
