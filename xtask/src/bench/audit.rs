//! The cost of an audit relative to tokenizing and to parsing the same bytes.
//!
//! The audit is the release binary, startup included. Tokenizing and parsing run in this process, on
//! one core, over the same files line by line.

use std::fs::File;
use std::hint::black_box;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use stickler::tape::TapeBuffer;
use stickler_protocol::frame::{Frame, LineFramer};

use super::comparison::median;
use super::program;
use super::recordings::{self, Recording};
use crate::Outcome;
use crate::interop::call;

/// The maximum cost of an audit, as a multiple of tokenizing alone.
const MAX_RATIO: f64 = 1.3;

const CHUNK_BYTES: usize = 256 << 10;
const MAX_LINE_BYTES: usize = 64 << 20;
const MAX_DEPTH: usize = 128;

#[allow(clippy::print_stdout)]
pub(super) fn run(rounds: usize) -> Outcome {
    let program = program::build()?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("\nmedian ratios to tokenizing alone on one core, {rounds} rounds, {cores} cores\n");
    println!(
        "{:<32} {:>9} {:>9} {:>9} {:>9} {:>12}",
        "recording", "bytes", "tape", "serde", "audit", "audit MB/s"
    );
    let mut missed = Vec::new();
    for recording in recordings::all(cores) {
        let recording = recording?;
        let ratios = measure(&program, &recording, rounds)?;
        let Recording { name, bytes, .. } = &recording;
        println!(
            "{name:<32} {bytes:>9} {:>9.2} {:>9.2} {:>9.2} {:>12.0}",
            1.0, ratios.serde, ratios.audit, ratios.megabytes_per_second
        );
        if ratios.audit > MAX_RATIO {
            missed.push(format!("{name}: {:.2} > {MAX_RATIO}", ratios.audit));
        }
    }
    if missed.is_empty() { Ok(()) } else { Err(format!("goals missed: {}", missed.join("; "))) }
}

struct Ratios {
    serde: f64,
    audit: f64,
    megabytes_per_second: f64,
}

fn measure(program: &Path, recording: &Recording, rounds: usize) -> Result<Ratios, String> {
    let (mut serde, mut audits, mut seconds) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let mut buffer = TapeBuffer::new();
        let tape = time(|| {
            each_line(&recording.files, |line| black_box(buffer.read(line, MAX_DEPTH)).is_ok())
        })?;
        let parse = |line: &[u8]| {
            let value: Result<serde_json::Value, _> = serde_json::from_slice(line);
            black_box(value).is_ok()
        };
        serde.push(time(|| each_line(&recording.files, parse))? / tape);
        let one = time(|| audit(program, &recording.files))?;
        audits.push(one / tape);
        seconds.push(one);
    }
    #[allow(clippy::cast_precision_loss, reason = "no recording is that large")]
    let megabytes = recording.bytes as f64 / 1e6;
    Ok(Ratios {
        serde: median(serde),
        audit: median(audits),
        megabytes_per_second: megabytes / median(seconds),
    })
}

fn time(run: impl FnOnce() -> Outcome) -> Result<f64, String> {
    let start = Instant::now();
    run()?;
    Ok(start.elapsed().as_secs_f64())
}

fn audit(program: &Path, files: &[PathBuf]) -> Outcome {
    call(Command::new(program).arg("audit").args(files).stdout(std::process::Stdio::null()))
}

fn each_line(files: &[PathBuf], mut parse: impl FnMut(&[u8]) -> bool) -> Outcome {
    files.iter().try_for_each(|path| {
        each_line_of(path, &mut parse).map_err(|error| format!("{}: {error}", path.display()))
    })
}

fn each_line_of(path: &Path, parse: &mut impl FnMut(&[u8]) -> bool) -> std::io::Result<()> {
    let mut file = File::open(path)?;
    let mut framer = LineFramer::new(MAX_LINE_BYTES);
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let read = file.read(&mut chunk)?;
        if read == 0 {
            return Ok(());
        }
        framer.push(chunk.get(..read).unwrap_or_default());
        while let Some(frame) = framer.next_frame() {
            let is_valid = matches!(frame, Frame::Line(line) if parse(line));
            assert!(is_valid, "every line is valid");
        }
    }
}
