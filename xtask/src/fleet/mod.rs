//! Runs a fleet: Envoy in front of a server, with two processors that are killed while clients call.
//!
//! Contract: every call is answered, none reaches the server twice, none gets the answer of another, and no valid call
//! is rejected. A call on whose processor the signal fell may get HTTP 5xx from Envoy, whose policy is to fail closed;
//! such calls are counted. The last line of the output is JSON.

mod http;
mod load;
mod processes;
mod upstream;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use clap::Args;
use serde_json::json;

use self::load::Tally;
use self::processes::{Ports, Process, free_port};
use self::upstream::Upstream;
use crate::{Outcome, interop, paths};

/// Clients that call at the same time.
const CLIENTS: u64 = 8;

/// Interval at which a processor is killed.
const KILL_INTERVAL: Duration = Duration::from_secs(1);

/// Exit code if Envoy is required and cannot be installed.
const NO_ENVOY: i32 = 3;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Fail with exit code 3 if Envoy cannot be installed, instead of skipping the check
    #[arg(long)]
    require_envoy: bool,

    /// Number of calls
    #[arg(long, default_value_t = 10_000)]
    calls: u64,

    /// Program under test, with the feature `extproc`; by default a debug build
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

#[allow(clippy::print_stdout, clippy::print_stderr)]
pub(crate) fn run(options: &Options) -> Outcome {
    let folder = paths::root().join("target/fleet");
    std::fs::create_dir_all(&folder).map_err(http::text_of)?;
    let envoy = match processes::install_envoy(&folder) {
        Ok(envoy) => envoy,
        Err(reason) => {
            eprintln!("Envoy cannot be installed: {reason}");
            println!(
                "{}",
                json!({ "envoy": null, "calls": 0, "lost": 0, "doubled": 0, "crossed": 0 })
            );
            if options.require_envoy {
                std::process::exit(NO_ENVOY);
            }
            return Ok(());
        }
    };
    let program = match &options.program {
        Some(program) => program.clone(),
        None => build(&folder)?,
    };
    let version = processes::version(&envoy)?;
    let upstream = Upstream::start()?;
    let processors = [free_port()?, free_port()?];
    let ports =
        Ports { envoy: free_port()?, admin: free_port()?, upstream: upstream.port, processors };
    let tally = Tally::default();
    let kills = {
        let mut running =
            [0, 1].map(|index| processes::start_processor(&program, &ports, index).map(Some));
        let _envoy = processes::start_envoy(&envoy, &folder, &ports)?;
        for one in &running {
            one.as_ref().map_err(Clone::clone)?;
        }
        let mut running = running.each_mut().map(|one| one.as_mut().ok().and_then(Option::take));
        drive(options.calls, &program, (&ports, &mut running), &tally)?
    };
    report(&version, kills, &upstream, &tally)
}

/// Runs the clients and kills processors in turn, by SIGKILL and SIGTERM. Returns the number of kills.
fn drive(
    calls: u64,
    program: &Path,
    (ports, running): (&Ports, &mut [Option<Process>; 2]),
    tally: &Tally,
) -> Result<u64, String> {
    let next = AtomicU64::new(0);
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let next = &next;
                scope.spawn(move || load::run(client, ports.envoy, (next, calls), tally))
            })
            .collect();
        let mut kills = 0;
        while !clients.iter().all(thread::ScopedJoinHandle::is_finished) {
            thread::sleep(KILL_INTERVAL);
            let index = usize::from(kills % 2 == 1);
            if let Some(process) = running[index].take() {
                process.end(if kills % 4 < 2 { "-KILL" } else { "-TERM" });
            }
            running[index] = Some(processes::start_processor(program, ports, index)?);
            kills += 1;
        }
        Ok(kills)
    })
}

#[allow(clippy::print_stdout)]
fn report(version: &str, kills: u64, upstream: &Upstream, tally: &Tally) -> Outcome {
    let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let (lost, crossed, wrong) = (of(&tally.lost), of(&tally.crossed), of(&tally.wrong));
    let doubled = upstream.doubled();
    println!(
        "{}",
        json!({
            "envoy": version, "calls": of(&tally.answered) + lost, "lost": lost, "doubled": doubled,
            "crossed": crossed, "wrong": wrong, "rejected": of(&tally.rejected),
            "unchecked": of(&tally.unchecked), "failed": of(&tally.failed), "kills": kills,
        })
    );
    let is_right =
        lost == 0 && doubled == 0 && crossed == 0 && wrong == 0 && of(&tally.rejected) > 0;
    if is_right {
        Ok(())
    } else {
        Err("the fleet lost, doubled, crossed or misjudged calls".to_owned())
    }
}

/// Builds the program with the feature and keeps it apart from the one of other tests.
fn build(folder: &Path) -> Result<PathBuf, String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--locked", "-p", "stickler-cli", "--features", "extproc"]);
    interop::call(cargo.current_dir(paths::root()))?;
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| paths::root().join("target"), PathBuf::from);
    let program = folder.join("stickler");
    std::fs::copy(target.join("debug/stickler"), &program).map_err(http::text_of)?;
    Ok(program)
}
