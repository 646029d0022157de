//! Measures the memory of a tool list and of its compiled schemas with a counting allocator.
//!
//! The only test of its binary, because other tests would allocate at the same time.
//! `cargo test -p stickler --test learning_memory -- --nocapture` prints the figures.
#![allow(
    unsafe_code,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    clippy::print_stderr,
    reason = "an allocator requires unsafe code; the test prints figures and reads files"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use stickler::{Limits, ToolList, ToolSchemaCache};

struct Counting;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every request is passed to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The maximum memory of a list before any call, as a multiple of its text size.
const MAX_LIST_MEMORY_RATIO: f64 = 3.0;

struct Figures {
    bytes: usize,
    listed: usize,
    compiled: usize,
    estimated: usize,
}

fn measure(list: &[u8]) -> Figures {
    let mut limits = Limits::default();
    limits.compiled_bytes_per_server = usize::MAX;
    limits.compiled_bytes = usize::MAX;
    let cache = ToolSchemaCache::with_limits(limits);
    let before = ALLOCATED.load(Ordering::Relaxed);
    cache.populate("s", &ToolList::read(list, &limits).unwrap().tools);
    let listed = ALLOCATED.load(Ordering::Relaxed) - before;
    cache.compile_all("s");
    let compiled = ALLOCATED.load(Ordering::Relaxed) - before - listed;
    Figures { bytes: list.len(), listed, compiled, estimated: cache.stats().compiled_bytes }
}

/// Distinct tools with descriptions, nested objects and a pattern each.
fn generated(tools: usize) -> String {
    let mut list = String::from("[");
    for index in 0..tools {
        let comma = if index > 0 { "," } else { "" };
        let _ = write!(
            list,
            r#"{comma}{{"name":"tool_{index}","description":"Does thing {index}, and says so in a sentence of usual length.","inputSchema":{{"type":"object","properties":{{"id":{{"type":"string","pattern":"^[a-z]{{3}}-{index}$","description":"The id of the thing"}},"count":{{"type":"integer","minimum":{index},"description":"How many of them are wanted"}},"options":{{"type":"object","properties":{{"deep":{{"type":"boolean"}},"tags":{{"type":"array","items":{{"type":"string"}}}}}}}}}},"required":["id"]}}}}"#
        );
    }
    list.push(']');
    list
}

fn corpus() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/tools");
    let files = std::fs::read_dir(folder).into_iter().flatten();
    let read = |entry: std::fs::DirEntry| {
        let bytes = std::fs::read(entry.path()).ok()?;
        // Servers send compact JSON.
        let value: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
        let name = entry.file_name().to_string_lossy().into_owned();
        Some((name, value.get("tools")?.to_string().into_bytes()))
    };
    files.filter_map(|entry| read(entry.ok()?)).collect()
}

#[test]
fn learned_list_uses_at_most_three_times_its_text_size() {
    let mut lists = corpus();
    lists.push(("generated".to_owned(), generated(1_000).into_bytes()));
    // Warm-up: the schema engine allocates global tables with the first schemas.
    measure(generated(50).as_bytes());
    let mut total = Figures { bytes: 0, listed: 0, compiled: 0, estimated: 0 };
    let mut report = String::new();
    for (name, list) in &lists {
        let figures = measure(list);
        let ratio = figures.listed as f64 / figures.bytes as f64;
        let _ = writeln!(
            report,
            "{name:50} {:>9} bytes, listed {ratio:>5.2} x, compiled {:>10}, estimated {:>10}",
            figures.bytes, figures.compiled, figures.estimated
        );
        total.bytes += figures.bytes;
        total.listed += figures.listed;
        total.compiled += figures.compiled;
        total.estimated += figures.estimated;
    }
    let ratio = total.listed as f64 / total.bytes as f64;
    let accuracy = total.estimated as f64 / total.compiled as f64;
    eprintln!("{report}all lists: listed {ratio:.2} x, estimate {accuracy:.2} of compiled");
    assert!(ratio <= MAX_LIST_MEMORY_RATIO, "{ratio:.2} x the bytes of the lists\n{report}");
    assert!((0.67..=2.0).contains(&accuracy), "inaccurate estimate: {accuracy:.2}\n{report}");
}
