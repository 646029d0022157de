//! Soak test: random clients and servers for a bounded time, in all four pairings of stdio and HTTP with a command and
//! a URL, in both eras.
//!
//! Servers are killed, gateways and servers restarted, clients vanish, half-close or read slowly, and tool lists change.
//! No response may be lost, doubled or crossed, and the memory of the gateways that run all the time must stay flat.
//! The last line is the result as JSON.
//!
//! | file | contents |
//! | --- | --- |
//! | `process` | processes that listen on a port |
//! | `calls` | random requests |
//! | `stdio_client`, `http_client` | the clients |
//! | `tally` | counts of the responses |
//! | `memory` | memory over time |

mod calls;
mod http_client;
mod memory;
mod process;
mod stdio_client;
mod tally;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread::Scope;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::Outcome;
use crate::interop::call;
use crate::paths;
use crate::random::Random;
use calls::Served;
use http_client::Client;
use memory::Memory;
use process::Process;
use stdio_client::{Gateway, Plan};
use tally::Tally;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Duration of the test
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// Seed of the random choices [default: from the time]
    #[arg(long)]
    seed: Option<u64>,
    /// Log level of the gateways and servers on HTTP, which log to `target/soak`
    #[arg(long, default_value = "error")]
    log: String,
    /// Use a debug build: faster to build, slower to run
    #[arg(long)]
    debug: bool,
}

/// Clients on each HTTP gateway.
const HTTP_CLIENTS: u64 = 3;

/// Everything that the threads share.
struct Soak {
    stickler: PathBuf,
    scripted: PathBuf,
    folder: PathBuf,
    start: Instant,
    duration: Duration,
    seed: u64,
    log: String,
    tally: Tally,
    /// The gateways that run all the time, by their pairing.
    watched: Mutex<Vec<(&'static str, u32, Memory)>>,
    /// Why the test cannot go on.
    failures: Mutex<Vec<String>>,
}

#[allow(clippy::print_stdout)]
pub(crate) fn run(options: &Options) -> Outcome {
    let soak = Soak::prepare(options)?;
    println!("seed {}, {} minutes", soak.seed, options.minutes);
    let port = process::free_port()?;
    let server = soak.start_server(port)?;
    let to_command = soak.start_gateway("http-command", &soak.behind_command())?;
    let to_url = soak.start_gateway("http-url", &behind_url(port))?;
    soak.watch("http-command", to_command.1.id());
    soak.watch("http-url", to_url.1.id());
    std::thread::scope(|scope| {
        soak.start_clients(scope, &to_command, Served::Scripted);
        soak.start_clients(scope, &to_url, Served::Files);
        for (pairing, command, served) in [
            ("stdio-command", soak.behind_command(), Served::Scripted),
            ("stdio-url", behind_url(port), Served::Files),
        ] {
            let soak = &soak;
            let lasting = command.clone();
            scope.spawn(move || soak.run_lasting_client(pairing, &lasting, served));
            scope.spawn(move || soak.run_short_clients(pairing, &command, served));
        }
        scope.spawn(|| soak.kill_commands(to_command.1.id()));
        scope.spawn(|| soak.restart_server(server, port));
        soak.measure_memory();
    });
    for (pairing, (_, mut gateway)) in [("http-command", to_command), ("http-url", to_url)] {
        if !gateway.is_running() {
            soak.fail(format!("the gateway {pairing} has exited"));
        }
        gateway.terminate();
    }
    soak.result()
}

impl Soak {
    fn prepare(options: &Options) -> Result<Self, String> {
        let profile = if options.debug { "debug" } else { "release" };
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--quiet", "--package", "stickler-cli", "--bin", "stickler"]);
        cargo.args(["--example", "scripted_server"]);
        call(if options.debug { &mut cargo } else { cargo.arg("--release") })?;
        let built = paths::root().join("target").join(profile);
        let folder = paths::root().join("target/soak");
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).map_err(failed)?;
        for number in 0..calls::FILES {
            let file = folder.join(calls::file_name(number));
            std::fs::write(file, calls::file_content(number)).map_err(failed)?;
        }
        let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Ok(Self {
            stickler: built.join("stickler"),
            scripted: built.join("examples/scripted_server"),
            start: Instant::now(),
            duration: Duration::from_secs_f64(options.minutes.max(0.1) * 60.0),
            seed: options.seed.unwrap_or_else(|| since_epoch.map_or(1, |time| time.as_secs())),
            log: options.log.clone(),
            folder,
            tally: Tally::default(),
            watched: Mutex::default(),
            failures: Mutex::default(),
        })
    }

    fn is_over(&self) -> bool {
        self.start.elapsed() >= self.duration || !lock(&self.failures).is_empty()
    }

    fn fail(&self, reason: String) {
        lock(&self.failures).push(reason);
    }

    fn random(&self, name: &str) -> Random {
        Random::new(self.seed, name)
    }

    /// Arguments of a gateway in front of the scripted server.
    fn behind_command(&self) -> Vec<String> {
        let scripted = text(&self.scripted);
        ["--restart", "on-failure", "--", &scripted, "--mode", "mutable-tools"]
            .map(str::to_owned)
            .into()
    }

    fn gateway(&self, listen: Option<u16>, server: &[String]) -> Vec<String> {
        let mut words = vec![text(&self.stickler), "run".to_owned()];
        words.extend(["--grace", "2", "--log", &self.log].map(str::to_owned));
        if let Some(port) = listen {
            words.extend(["--listen".to_owned(), format!("127.0.0.1:{port}")]);
            // Sessions that are not deleted end soon.
            words.extend(["--idle-timeout", "5"].map(str::to_owned));
        }
        words.extend_from_slice(server);
        words
    }

    fn start_gateway(&self, name: &str, server: &[String]) -> Result<(u16, Process), String> {
        let port = process::free_port()?;
        let log = self.folder.join(format!("{name}.log"));
        Ok((port, Process::listening(&self.gateway(Some(port), server), port, &log)?))
    }

    /// Starts a reference server at a port.
    fn start_server(&self, port: u16) -> Result<Process, String> {
        let (stickler, folder) = (text(&self.stickler), text(&self.folder));
        let listen = format!("127.0.0.1:{port}");
        let words =
            [&stickler, "serve", "--suite", "files", "--root", &folder, "--listen", &listen];
        Process::listening(&words.map(str::to_owned), port, &self.folder.join("server.log"))
    }

    fn start_clients<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        (port, _): &(u16, Process),
        served: Served,
    ) {
        let port = *port;
        for number in 0..HTTP_CLIENTS {
            scope.spawn(move || {
                let mut random = self.random(&format!("http-{port}-{number}"));
                while !self.is_over() {
                    let mut client = Client::new(port, served, &self.tally);
                    if random.chance(50) {
                        client.run_session(&mut random, number);
                    } else {
                        client.run_modern(&mut random, number);
                    }
                }
            });
        }
    }

    /// One client on stdio for the whole time, whose gateway is watched.
    fn run_lasting_client(&self, pairing: &'static str, behind: &[String], served: Served) {
        let mut random = self.random(pairing);
        let started = Gateway::start(&self.gateway(None, behind), Duration::ZERO);
        let mut gateway = match started {
            Ok(gateway) => gateway,
            Err(reason) => return self.fail(reason),
        };
        self.watch(pairing, gateway.id());
        let is_over = || self.is_over();
        let plan = Plan { served, is_modern: false, bursts: None, is_over: &is_over };
        stdio_client::run(&mut gateway, &plan, &mut random, &self.tally);
    }

    /// Clients on stdio one after the other, each with a new gateway.
    fn run_short_clients(&self, pairing: &str, behind: &[String], served: Served) {
        let mut random = self.random(&format!("{pairing}-short"));
        while !self.is_over() {
            let pause = if random.chance(20) { Duration::from_millis(15) } else { Duration::ZERO };
            match Gateway::start(&self.gateway(None, behind), pause) {
                Ok(mut gateway) => {
                    let is_over = || self.is_over();
                    let bursts = Some(random.below(12));
                    let is_modern = random.chance(50);
                    let plan = Plan { served, is_modern, bursts, is_over: &is_over };
                    stdio_client::run(&mut gateway, &plan, &mut random, &self.tally);
                }
                Err(reason) => return self.fail(reason),
            }
        }
    }

    /// Kills server processes of the gateways at random.
    fn kill_commands(&self, http_gateway: u32) {
        let mut random = self.random("kills");
        while !self.is_over() {
            std::thread::sleep(Duration::from_millis(200 + random.next() % 1500));
            let watched = lock(&self.watched).iter().map(|(_, pid, _)| *pid).collect::<Vec<_>>();
            let gateway = random.pick(&watched).copied().unwrap_or(http_gateway);
            if let Some(server) = random.pick(&process::children(gateway)) {
                process::kill(*server);
                Tally::count(&self.tally.kills);
            }
        }
    }

    /// Kills the server at the URL from time to time and starts it again.
    fn restart_server(&self, server: Process, port: u16) {
        let mut random = self.random("restarts");
        let mut server = Some(server);
        let mut next = Instant::now() + Duration::from_secs(5);
        while !self.is_over() {
            std::thread::sleep(Duration::from_millis(50));
            if Instant::now() < next {
                continue;
            }
            next = Instant::now() + Duration::from_secs(3 + random.next() % 10);
            match server.take() {
                Some(server) if random.chance(50) => server.terminate(),
                server => drop(server),
            }
            std::thread::sleep(Duration::from_millis(random.next() % 500));
            match self.start_server(port) {
                Ok(started) => server = Some(started),
                Err(reason) => return self.fail(reason),
            }
            Tally::count(&self.tally.restarts);
        }
        // Clients that are still waiting get their responses.
        std::thread::sleep(Duration::from_secs(2));
    }

    fn watch(&self, pairing: &'static str, pid: u32) {
        lock(&self.watched).push((pairing, pid, Memory::default()));
    }

    fn measure_memory(&self) {
        while !self.is_over() {
            std::thread::sleep(Duration::from_millis(500));
            let minutes = self.start.elapsed().as_secs_f64() / 60.0;
            for (_, pid, memory) in lock(&self.watched).iter_mut() {
                memory.sample(minutes, *pid);
            }
        }
    }

    /// Prints the result; the last line is JSON.
    #[allow(clippy::print_stdout)]
    fn result(&self) -> Outcome {
        let watched = lock(&self.watched);
        let mut failures = lock(&self.failures).clone();
        if !self.tally.is_clean() {
            failures.push("responses were lost, doubled or crossed, or none succeeded".to_owned());
        }
        let mut memory = json!({});
        for (pairing, _, samples) in watched.iter() {
            let (slope, peak) = (samples.slope().round(), samples.peak());
            memory[pairing] = json!({ "slope_kib_per_minute": slope, "peak_kib": peak });
            if !samples.is_flat() {
                failures.push(format!("the memory of {pairing} grows by {slope} KiB per minute"));
            }
        }
        let mut result = self.tally.to_json();
        result["seed"] = self.seed.into();
        result["minutes"] = (self.start.elapsed().as_secs() / 60).into();
        result["memory"] = memory;
        result["failures"] = json!(failures);
        println!("{result}");
        if failures.is_empty() { Ok(()) } else { Err(failures.join("; ")) }
    }
}

/// Arguments of a gateway in front of the server at a port.
fn behind_url(port: u16) -> Vec<String> {
    vec!["--url".to_owned(), format!("http://127.0.0.1:{port}/mcp")]
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
