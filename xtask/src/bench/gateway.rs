//! The cost of the gateway relative to a relay that only copies bytes: on stdio in front of a command, and on HTTP in
//! front of a URL. The same gateway with a recording, and with traces and metrics over OTLP, is compared with the one
//! without.
//!
//! All candidates run at the same time and take turns in every round; each has the same server behind
//! it. Validation is on and all traffic is valid.

use std::path::PathBuf;
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

/// The maximum cost of a recording, and of traces and metrics, relative to the gateway without them.
const MAX_OBSERVER_COST: f64 = 1.1;

/// The duration of one candidate's turn.
const TURN_DURATION: Duration = Duration::from_millis(120);

#[allow(clippy::print_stdout)]
pub(super) fn run(rounds: usize) -> Outcome {
    let stickler = program::build()?;
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let recordings = std::env::temp_dir().join(format!("stickler-bench-{}", std::process::id()));
    // The server accepts exports as it accepts notifications.
    let collector = Channel::http(&[this.clone(), "bench-peer".into(), "serve-http".into()], 1)?;
    let programs = Programs {
        this,
        stickler,
        recordings: recordings.clone(),
        collector: format!("OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:{}", collector.port()),
    };
    let mut missed = Vec::new();
    for (transport, cases, mut candidates) in [
        ("stdio", CASES.as_slice(), on_stdio(&programs)?),
        ("HTTP", HTTP_CASES.as_slice(), on_http(&programs)?),
    ] {
        println!("\nthe gateway on {transport}, median ratios to a bare relay, {rounds} rounds\n");
        let heads = ["direct", "relay", "stickler", "+ recording", "+ telemetry"];
        let [direct, relay, gateway, recording, telemetry] = heads;
        println!(
            "{:<22} {direct:>10} {relay:>10} {gateway:>10} {recording:>12} {telemetry:>12}",
            "calls"
        );
        for case in cases {
            let ratios = compare(case, &mut candidates, rounds)?;
            let Ratios { direct, gateway, recording, telemetry } = ratios;
            let (recorded, exported) = (format!("× {recording:.2}"), format!("× {telemetry:.2}"));
            println!(
                "{:<22} {direct:>10.2} {:>10.2} {gateway:>10.2} {recorded:>12} {exported:>12}",
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
    /// The gateway with a recording, and with traces and metrics, relative to the one without.
    recording: f64,
    telemetry: f64,
}

/// What the candidates consist of.
struct Programs {
    this: PathBuf,
    stickler: PathBuf,
    recordings: PathBuf,
    /// The environment variable that turns on telemetry.
    collector: String,
}

impl Case {
    /// Returns the goals that the ratios miss.
    fn missed(&self, ratios: &Ratios) -> Vec<String> {
        let (name, gateway) = (self.name, ratios.gateway);
        let (is_missed, goal) = match self.goal {
            Goal::LatencyAtMost(most) => (gateway > most, format!("{name}: {gateway:.2} > {most}")),
            Goal::RateAtLeast(least) => {
                (gateway < least, format!("{name}: {gateway:.2} < {least}"))
            }
        };
        let observers = [("recorded", ratios.recording), ("exported", ratios.telemetry)];
        let observers = observers.map(|(observer, ratio)| {
            let cost = match self.goal {
                Goal::LatencyAtMost(_) => ratio,
                Goal::RateAtLeast(_) => 1.0 / ratio,
            };
            let goal = format!("{name} {observer}: {cost:.2} > {MAX_OBSERVER_COST}");
            (cost > MAX_OBSERVER_COST, goal)
        });
        let goals = [(is_missed, goal)].into_iter().chain(observers);
        goals.filter(|(is_missed, _)| *is_missed).map(|(_, goal)| goal).collect()
    }
}

/// Starts the server, and the server behind the relay and behind the gateway without and with a recording and
/// telemetry, on stdio.
fn on_stdio(programs: &Programs) -> Result<[Candidate; 5], String> {
    let Programs { this, stickler, recordings, collector } = programs;
    let server: Vec<PathBuf> = vec![this.into(), "bench-peer".into(), "serve".into()];
    let start = |words: &[PathBuf]| Candidate::new(Channel::stdio(&[words, &server].concat())?);
    let run = [stickler.clone(), "run".into()];
    let gateway = |before: &[PathBuf], after: &[PathBuf]| {
        start(&[before, &run[..], after, &["--".into()]].concat())
    };
    Ok([
        start(&[])?,
        start(&[this.into(), "bench-peer".into(), "relay".into(), "--".into()])?,
        gateway(&[], &[])?,
        gateway(&[], &["--record".into(), recordings.into()])?,
        gateway(&["env".into(), collector.into()], &[])?,
    ])
}

/// Starts the server, and a relay and the gateway without and with a recording and telemetry in front of its URL.
fn on_http(programs: &Programs) -> Result<[Candidate; 5], String> {
    let Programs { this, stickler, recordings, collector } = programs;
    let connections = HTTP_CASES.iter().map(|case| case.in_flight).max().unwrap_or(1);
    let peer = |words: &[&str]| -> Vec<PathBuf> {
        [this.into(), "bench-peer".into()].into_iter().chain(words.iter().map(Into::into)).collect()
    };
    let server = Channel::http(&peer(&["serve-http"]), connections)?;
    let port = server.port().to_string();
    let relay = Channel::http(&peer(&["relay-tcp", &port]), connections)?;
    let url = format!("http://127.0.0.1:{port}/mcp");
    let options = ["run", "--log", "info", "--listen", "127.0.0.1:0", "--url", &url];
    let gateway = |before: &[PathBuf], after: &[PathBuf]| {
        let run = [stickler.clone()].into_iter().chain(options.map(PathBuf::from));
        let command = [before, &run.collect::<Vec<_>>(), after].concat();
        Candidate::new(Channel::http(&command, connections)?)
    };
    Ok([
        Candidate::new(server)?,
        Candidate::new(relay)?,
        gateway(&[], &[])?,
        gateway(&[], &["--record".into(), recordings.into()])?,
        gateway(&["env".into(), collector.into()], &[])?,
    ])
}

fn compare(case: &Case, candidates: &mut [Candidate; 5], rounds: usize) -> Result<Ratios, String> {
    let mut ratios: [Vec<f64>; 4] = Default::default();
    for round in 0..rounds {
        let mut figures = [0.0; 5];
        for turn in 0..candidates.len() {
            // The order rotates with every round.
            let index = (turn + round) % candidates.len();
            if let (Some(candidate), Some(figure)) =
                (candidates.get_mut(index), figures.get_mut(index))
            {
                *figure = candidate.turn(case).map_err(|error| error.to_string())?;
            }
        }
        let [direct, relay, gateway, recording, telemetry] = figures;
        let of_round = [direct / relay, gateway / relay, recording / gateway, telemetry / gateway];
        ratios.iter_mut().zip(of_round).for_each(|(all, one)| all.push(one));
    }
    let [direct, gateway, recording, telemetry] = ratios.map(median);
    Ok(Ratios { direct, gateway, recording, telemetry })
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
