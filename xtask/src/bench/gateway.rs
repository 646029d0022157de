//! The cost of the gateway relative to a relay that only copies bytes: on stdio in front of a command, and on HTTP in
//! front of a URL. The same gateway with a recording is compared with the one without.
//!
//! All candidates run at the same time and take turns in every round; each has the same server behind
//! it. Validation is on and all traffic is valid.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::channel::Channel;
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

const HTTP_CASES: [Case; 4] = [
    Case { name: "400 B", arguments: short, in_flight: 1, goal: Goal::LatencyAtMost(1.6) },
    Case { name: "4 KB", arguments: medium, in_flight: 1, goal: Goal::LatencyAtMost(1.6) },
    Case { name: "64 KB result", arguments: long, in_flight: 1, goal: Goal::LatencyAtMost(1.6) },
    Case {
        name: "400 B, 16 in flight",
        arguments: short,
        in_flight: 16,
        goal: Goal::RateAtLeast(0.7),
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

/// The maximum cost of a recording, relative to the gateway without one.
const MAX_RECORDING_COST: f64 = 1.1;

/// The duration of one candidate's turn.
const TURN_DURATION: Duration = Duration::from_millis(120);

#[allow(clippy::print_stdout)]
pub(super) fn run(rounds: usize) -> Outcome {
    let stickler = program::build()?;
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let recordings = std::env::temp_dir().join(format!("stickler-bench-{}", std::process::id()));
    let mut missed = Vec::new();
    for (transport, cases, mut candidates) in [
        ("stdio", CASES.as_slice(), on_stdio(&this, &stickler, &recordings)?),
        ("HTTP", HTTP_CASES.as_slice(), on_http(&this, &stickler, &recordings)?),
    ] {
        println!("\nthe gateway on {transport}, median ratios to a bare relay, {rounds} rounds\n");
        let heads = ["direct", "relay", "stickler", "+ recording"];
        println!(
            "{:<22} {:>10} {:>10} {:>10} {:>12}",
            "calls", heads[0], heads[1], heads[2], heads[3]
        );
        for case in cases {
            let ratios = compare(case, &mut candidates, rounds)?;
            let Ratios { direct, gateway, recording } = ratios;
            let recorded = format!("× {recording:.2}");
            println!(
                "{:<22} {direct:>10.2} {:>10.2} {gateway:>10.2} {recorded:>12}",
                case.name, 1.0
            );
            missed.extend(
                case.missed(&ratios).into_iter().map(|goal| format!("{transport}, {goal}")),
            );
        }
    }
    let _ = std::fs::remove_dir_all(recordings);
    if missed.is_empty() { Ok(()) } else { Err(format!("goals missed: {}", missed.join("; "))) }
}

/// The results of one case.
struct Ratios {
    /// The direct connection and the gateway, relative to the relay.
    direct: f64,
    gateway: f64,
    /// The gateway with a recording, relative to the one without.
    recording: f64,
}

impl Case {
    /// Returns the goals that the ratios miss.
    fn missed(&self, ratios: &Ratios) -> Vec<String> {
        let (name, gateway) = (self.name, ratios.gateway);
        let (is_missed, goal, cost) = match self.goal {
            Goal::LatencyAtMost(most) => {
                (gateway > most, format!("{name}: {gateway:.2} > {most}"), ratios.recording)
            }
            Goal::RateAtLeast(least) => {
                (gateway < least, format!("{name}: {gateway:.2} < {least}"), 1.0 / ratios.recording)
            }
        };
        let recorded = format!("{name} recorded: {cost:.2} > {MAX_RECORDING_COST}");
        let goals = [(is_missed, goal), (cost > MAX_RECORDING_COST, recorded)];
        goals.into_iter().filter(|(is_missed, _)| *is_missed).map(|(_, goal)| goal).collect()
    }
}

/// Starts the server, and the server behind the relay and behind the gateway without and with a recording, on stdio.
fn on_stdio(this: &Path, stickler: &Path, recordings: &Path) -> Result<[Candidate; 4], String> {
    let server: Vec<PathBuf> = vec![this.into(), "bench-peer".into(), "serve".into()];
    let before = |words: &[PathBuf]| [words, &server].concat();
    let relay = before(&[this.into(), "bench-peer".into(), "relay".into(), "--".into()]);
    let gateway = before(&[stickler.into(), "run".into(), "--".into()]);
    let recording =
        before(&[stickler.into(), "run".into(), "--record".into(), recordings.into(), "--".into()]);
    Ok([
        Candidate::new(Channel::stdio(&server)?)?,
        Candidate::new(Channel::stdio(&relay)?)?,
        Candidate::new(Channel::stdio(&gateway)?)?,
        Candidate::new(Channel::stdio(&recording)?)?,
    ])
}

/// Starts the server, and a relay and the gateway without and with a recording in front of its URL.
fn on_http(this: &Path, stickler: &Path, recordings: &Path) -> Result<[Candidate; 4], String> {
    let connections = HTTP_CASES.iter().map(|case| case.in_flight).max().unwrap_or(1);
    let peer = |words: &[&str]| -> Vec<PathBuf> {
        [this.into(), "bench-peer".into()].into_iter().chain(words.iter().map(Into::into)).collect()
    };
    let server = Channel::http(&peer(&["serve-http"]), connections)?;
    let port = server.port().to_string();
    let relay = Channel::http(&peer(&["relay-tcp", &port]), connections)?;
    let url = format!("http://127.0.0.1:{port}/mcp");
    let gateway = |more: &[PathBuf]| {
        let options = ["run", "--log", "info", "--listen", "127.0.0.1:0", "--url", &url];
        let mut command = vec![stickler.to_owned()];
        command.extend(options.map(PathBuf::from));
        command.extend_from_slice(more);
        Channel::http(&command, connections)
    };
    let (plain, recording) = (gateway(&[])?, gateway(&["--record".into(), recordings.into()])?);
    Ok([
        Candidate::new(server)?,
        Candidate::new(relay)?,
        Candidate::new(plain)?,
        Candidate::new(recording)?,
    ])
}

fn compare(case: &Case, candidates: &mut [Candidate; 4], rounds: usize) -> Result<Ratios, String> {
    let (mut directs, mut gateways, mut recordings) = (Vec::new(), Vec::new(), Vec::new());
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
        recordings.push(recording / gateway);
    }
    let [direct, gateway, recording] = [directs, gateways, recordings].map(median);
    Ok(Ratios { direct, gateway, recording })
}

struct Candidate {
    channel: Channel,
    id: u64,
}

impl Candidate {
    /// Performs the handshake and lists the tools.
    fn new(mut channel: Channel) -> Result<Self, String> {
        let peer = json!({ "name": "bench", "version": "1" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": peer });
        for request in [
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "id": "list", "method": "tools/list" }),
        ] {
            channel.exchange(&[request.to_string()]).map_err(|error| error.to_string())?;
        }
        Ok(Self { channel, id: 0 })
    }

    /// Returns seconds per call or calls per second, depending on the goal.
    fn turn(&mut self, case: &Case) -> std::io::Result<f64> {
        let tool = if (case.arguments)().get("size").is_some() { "big" } else { "echo" };
        let params = json!({ "name": tool, "arguments": (case.arguments)() });
        let mut times = Vec::new();
        let start = Instant::now();
        while start.elapsed() < TURN_DURATION || times.len() < 3 {
            let calls = (0..case.in_flight).map(|_| {
                self.id += 1;
                let id = self.id;
                json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
                    .to_string()
            });
            let calls: Vec<String> = calls.collect();
            let sent = Instant::now();
            self.channel.exchange(&calls)?;
            times.push(sent.elapsed().as_secs_f64());
        }
        let typical = median(times);
        Ok(match case.goal {
            Goal::LatencyAtMost(_) => typical,
            Goal::RateAtLeast(_) => 1.0 / typical,
        })
    }
}
