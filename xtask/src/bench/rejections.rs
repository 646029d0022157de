//! The cost of a rejected call, as a multiple of parsing it.
//!
//! The time is measured from the bytes to the rendered response: verdict, explanation, suggestions,
//! repair and rendering. Contract: a slow case is measured once, and larger cases of its family are
//! skipped, so that a run ends even if the cost is quadratic.

use std::hint::black_box;
use std::time::{Duration, Instant};

use stickler::tape::TapeBuffer;
use stickler::{AnswerForm, CallRejection, McpValidator, ToolDefinition, ValidationConfig};

use super::rejected_calls::{Call, families};
use crate::Outcome;

const MAX_DEPTH: usize = 128;

/// A case is repeated for at least this long.
const MIN_MEASURE_TIME: Duration = Duration::from_millis(200);

/// After a case that takes longer than this, the larger cases of its family are skipped.
const MAX_CASE_TIME: Duration = Duration::from_secs(2);

#[allow(clippy::print_stdout)]
pub(super) fn run() -> Outcome {
    println!("rejected calls, from bytes to help; best times\n");
    println!(
        "{:<38} {:>9} {:>10} {:>11} {:>11} {:>9} {:>9}",
        "case", "size", "bytes", "parse (ms)", "help (ms)", "× tape", "× serde"
    );
    for family in families() {
        let validator = McpValidator::new(ValidationConfig::default());
        let tool = ToolDefinition::new("tool").with_input_schema(family.schema);
        validator.register_tool_schema("bench", &tool).map_err(|error| error.to_string())?;
        for call in &family.calls {
            let times = Times::of(&validator, call)?;
            println!(
                "{:<38} {:>9} {:>10} {:>11.3} {:>11.3} {:>9.1} {:>9.1}",
                family.name,
                call.size,
                call.text.len(),
                times.tape.as_secs_f64() * 1e3,
                times.help.as_secs_f64() * 1e3,
                times.help.as_secs_f64() / times.tape.as_secs_f64(),
                times.help.as_secs_f64() / times.serde.as_secs_f64(),
            );
            if times.help > MAX_CASE_TIME {
                println!("{:<38} larger cases skipped", family.name);
                break;
            }
        }
    }
    Ok(())
}

struct Times {
    tape: Duration,
    serde: Duration,
    help: Duration,
}

impl Times {
    fn of(validator: &McpValidator, call: &Call) -> Result<Self, String> {
        let bytes = call.text.as_bytes();
        let mut buffer = TapeBuffer::new();
        let tape = best(|| black_box(buffer.read(black_box(bytes), MAX_DEPTH)).is_ok());
        let serde = best(|| {
            let value: Result<serde_json::Value, _> = serde_json::from_slice(black_box(bytes));
            black_box(value).is_ok()
        });
        let start = Instant::now();
        if validate_and_render(validator, bytes)? {
            return Err(format!("a call of size {} is accepted", call.size));
        }
        let first = start.elapsed();
        let again = || validate_and_render(validator, black_box(bytes)).is_ok();
        let help = if first > MAX_CASE_TIME { first } else { best(again).min(first) };
        Ok(Self { tape, serde, help })
    }
}

/// Validates a call and renders the rejection; returns whether the call is valid.
fn validate_and_render(validator: &McpValidator, bytes: &[u8]) -> Result<bool, String> {
    let result =
        validator.validate_text("bench", "tool", Some(bytes)).map_err(|error| error.to_string())?;
    let rejection = CallRejection::new(validator, "bench", "tool", &result);
    black_box(rejection.answer(AnswerForm::ToolResult));
    Ok(result.is_valid)
}

fn best(mut run: impl FnMut() -> bool) -> Duration {
    let begin = Instant::now();
    let mut best = Duration::MAX;
    while begin.elapsed() < MIN_MEASURE_TIME {
        let start = Instant::now();
        black_box(run());
        best = best.min(start.elapsed());
    }
    best
}
