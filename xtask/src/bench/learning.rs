//! The cost of learning a tool list relative to parsing it with `serde_json`.
//!
//! Learning covers everything from the bytes of a list until its tools can be called. Its memory use is
//! asserted by the core's test `learning_memory`, which has a counting allocator.

use std::hint::black_box;
use std::time::Instant;

use serde_json::{Value, json};
use stickler::{Limits, ToolList, ToolSchemaCache};

use super::comparison::median;
use crate::{Outcome, paths};

/// The maximum ratio of learning time to parsing time.
const MAX_RATIO: f64 = 2.0;

#[allow(clippy::print_stdout)]
pub(super) fn run(rounds: usize) -> Outcome {
    let mut lists = Vec::new();
    if let Some(list) = corpus() {
        lists.push(("corpus, one list", list));
    }
    lists.push(("1,000 with \\p{L}{1,300}", patterns(r"\p{L}{1,300}")));
    lists.push(("1,000 with ^[a-z]+$", patterns("^[a-z]+$")));
    println!("time of learning ÷ time of parsing by serde_json, {rounds} rounds\n");
    println!("{:<26} {:>9} {:>9} {:>9} {:>7}", "list", "bytes", "parse ms", "learn ms", "ratio");
    let mut missed = Vec::new();
    for (name, list) in &lists {
        let (mut parsing, mut learning, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rounds {
            let parse = time(|| drop(black_box(serde_json::from_slice::<Value>(list))));
            let learn = time(|| drop(black_box(learn(list))));
            parsing.push(parse);
            learning.push(learn);
            ratios.push(learn / parse);
        }
        let ratio = median(ratios);
        let (parse, learn) = (median(parsing) * 1e3, median(learning) * 1e3);
        println!("{name:<26} {:>9} {parse:>9.2} {learn:>9.2} {ratio:>7.2}", list.len());
        if ratio > MAX_RATIO {
            missed.push(format!("{name}: {ratio:.2} > {MAX_RATIO}"));
        }
    }
    if missed.is_empty() { Ok(()) } else { Err(format!("goals missed: {}", missed.join("; "))) }
}

fn learn(list: &[u8]) -> ToolSchemaCache {
    let cache = ToolSchemaCache::new();
    if let Ok(list) = ToolList::read(list, &Limits::default()) {
        cache.populate("server", &list.tools);
    }
    cache
}

fn time(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// The tools of all captured server lists next to the checkout, as one list.
fn corpus() -> Option<Vec<u8>> {
    let files = std::fs::read_dir(paths::shared("corpus/tools")).ok()?;
    let mut tools = Vec::new();
    for path in files.filter_map(|entry| Some(entry.ok()?.path())) {
        let server = path.file_stem()?.to_string_lossy().into_owned();
        let list: Option<Value> =
            std::fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        for tool in list.iter().filter_map(|list| list.get("tools")?.as_array()).flatten() {
            let mut tool = tool.clone();
            if let Some(name) = tool.get("name").and_then(Value::as_str) {
                tool["name"] = json!(format!("{server}_{name}"));
            }
            tools.push(tool);
        }
    }
    Some(Value::Array(tools).to_string().into_bytes())
}

/// Distinct tools, each with a property of the given pattern.
fn patterns(pattern: &str) -> Vec<u8> {
    let tool = |index: usize| {
        let property = json!({ "type": "string", "pattern": pattern });
        let properties = json!({ format!("field_{index}"): property });
        let schema = json!({ "type": "object", "properties": properties });
        json!({ "name": format!("tool_{index}"), "description": "Does it.", "inputSchema": schema })
    };
    Value::Array((0..1_000).map(tool).collect()).to_string().into_bytes()
}
