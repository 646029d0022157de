//! Compares the parsers and validators on one message; they take turns in every round.

use std::hint::black_box;
use std::time::{Duration, Instant};

use stickler::tape::TapeBuffer;
use stickler::{McpValidator, ToolDefinition, UnknownFields, ValidationConfig};

use super::messages::{Definition, Message, tool_schema};
use super::schemas::Source;

/// The maximum time from bytes to verdict, as a multiple of parsing alone.
pub(super) struct Goal {
    pub(super) case: &'static str,
    pub(super) max_ratio: f64,
}

/// The candidates for one message, with their schemas compiled in advance.
pub(super) struct Comparison<'m> {
    bytes: &'m [u8],
    plain: jsonschema::Validator,
    protocol: McpValidator,
    /// Only for calls.
    tool: Option<McpValidator>,
}

/// Median ratios to the first candidate.
pub(super) struct Ratios {
    pub(super) fixed: [f64; 5],
    pub(super) tool: Option<f64>,
}

/// Long enough for the clock resolution, short enough to average out load changes.
const TURN_DURATION: Duration = Duration::from_millis(4);

const MAX_DEPTH: usize = 128;

impl<'m> Comparison<'m> {
    pub(super) fn new(source: &Source, message: &'m Message) -> Result<Self, String> {
        let schema = source.schema(message.definition);
        let plain = jsonschema::options()
            .should_validate_formats(true)
            .should_ignore_unknown_formats(true)
            .build(&schema)
            .map_err(|error| error.to_string())?;
        let mut config = ValidationConfig::default();
        config.unknown_fields = UnknownFields::FollowSchema;
        // The protocol schema is trusted and larger than the limit for tool schemas.
        config.limits.schema_nodes = 1_000_000;
        let protocol = validator(config, schema)?;
        let tool = match message.definition {
            Definition::Call => Some(validator(ValidationConfig::default(), tool_schema())?),
            _ => None,
        };
        Ok(Self { bytes: &message.bytes, plain, protocol, tool })
    }

    pub(super) fn run(&self, rounds: usize) -> Ratios {
        let mut buffer = TapeBuffer::new();
        let (mut second, mut third) = (TapeBuffer::new(), TapeBuffer::new());
        let mut sonic = || {
            let value: Result<sonic_rs::Value, _> = sonic_rs::from_slice(black_box(self.bytes));
            black_box(value).is_ok()
        };
        let mut serde = || {
            let value: Result<serde_json::Value, _> = serde_json::from_slice(black_box(self.bytes));
            black_box(value).is_ok()
        };
        let mut tape = || black_box(buffer.read(black_box(self.bytes), MAX_DEPTH)).is_ok();
        let mut serde_schema = || {
            serde_json::from_slice(black_box(self.bytes))
                .is_ok_and(|value: serde_json::Value| black_box(self.plain.is_valid(&value)))
        };
        let mut tape_schema = || {
            second.read(black_box(self.bytes), MAX_DEPTH).is_ok_and(|tape| {
                black_box(self.protocol.validate_node("s", "t", tape.root()).is_valid)
            })
        };
        let mut tape_tool = || {
            third.read(black_box(self.bytes), MAX_DEPTH).is_ok_and(|tape| {
                let arguments = tape.root().pointer("/params/arguments");
                self.tool.as_ref().zip(arguments).is_none_or(|(tool, arguments)| {
                    black_box(tool.validate_node("s", "t", arguments).is_valid)
                })
            })
        };
        let mut candidates: Vec<&mut dyn FnMut() -> bool> =
            vec![&mut sonic, &mut serde, &mut tape, &mut serde_schema, &mut tape_schema];
        if self.tool.is_some() {
            candidates.push(&mut tape_tool);
        }
        let ratios = median_ratios(&mut candidates, rounds);
        let at = |index: usize| ratios.get(index).copied().unwrap_or(f64::NAN);
        Ratios { fixed: [at(0), at(1), at(2), at(3), at(4)], tool: ratios.get(5).copied() }
    }
}

fn validator(config: ValidationConfig, schema: serde_json::Value) -> Result<McpValidator, String> {
    let validator = McpValidator::new(config);
    let tool = ToolDefinition::new("t").with_input_schema(schema);
    validator.cache().register("s", &tool).map_err(|error| error.to_string())?;
    Ok(validator)
}

fn median_ratios(candidates: &mut [&mut dyn FnMut() -> bool], rounds: usize) -> Vec<f64> {
    let mut ratios: Vec<Vec<f64>> = vec![Vec::new(); candidates.len()];
    for round in 0..rounds {
        let mut times = vec![0.0; candidates.len()];
        for turn in 0..candidates.len() {
            // The order rotates with every round.
            let index = (turn + round) % candidates.len();
            times[index] = time(candidates[index]);
        }
        for (index, list) in ratios.iter_mut().enumerate() {
            list.push(times[index] / times[0]);
        }
    }
    ratios.into_iter().map(median).collect()
}

/// Seconds per call.
fn time(candidate: &mut dyn FnMut() -> bool) -> f64 {
    let start = Instant::now();
    let mut calls = 0_u32;
    while start.elapsed() < TURN_DURATION {
        for _ in 0..8 {
            assert!(candidate(), "every message is valid");
        }
        calls += 8;
    }
    start.elapsed().as_secs_f64() / f64::from(calls)
}

pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
