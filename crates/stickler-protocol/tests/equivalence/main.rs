//! The built-in definitions accept and reject the same instances as the official schemas.
//!
//! Requires the official schema files next to the project. For every definition of every revision,
//! instances are generated from the official definition and from those of the same name in the
//! previous and next revision, mutated in one place at a time, and validated by both.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests panic on failure, read files and start threads"
)]

mod instances;
mod messages;
mod methods;
mod mutations;
mod official;

use std::collections::{BTreeMap, BTreeSet};

use official::Official;
use serde_json::Value;
use stickler::Revision;
use stickler::tape::TapeBuffer;
use stickler_protocol::SchemaValidator;

/// The maximum number of mutants compared per definition: from its instances, and from those of the neighbouring revisions.
const MAX_MUTANTS: [usize; 2] = [1200, 600];

/// Intended differences: revision, definition, reason. The list is exact: an entry for a definition
/// that no longer differs fails the test.
const INTENDED: &[(Revision, &str, &str)] = &[];

/// The comparison result of one definition.
#[derive(Default)]
struct Tally {
    accepted: usize,
    rejected: usize,
    /// The first instance with different results.
    differs: Option<String>,
}

fn compare(all: &[Official], official: &Official, name: &str, ours: &SchemaValidator) -> Tally {
    let theirs = official.validator(name);
    let mut tally = Tally::default();
    let mut buffer = TapeBuffer::new();
    let mut seen = BTreeSet::new();
    let mut compare_instance = |instance: &Value| {
        let text = instance.to_string();
        if !seen.insert(text.clone()) {
            return;
        }
        let accepted = theirs.is_valid(instance);
        let tape = buffer.read(text.as_bytes(), 128).unwrap();
        if ours.is_valid(name, tape.root()) != accepted && tally.differs.is_none() {
            tally.differs = Some(format!("official: {accepted}, {text}"));
        }
        *(if accepted { &mut tally.accepted } else { &mut tally.rejected }) += 1;
    };
    let mut own = official.examples(name);
    own.extend(instances::of(official, name));
    let foreign = instances::of_neighbours(all, official, name, &own);
    for (instances, limit) in [&own, &foreign].into_iter().zip(MAX_MUTANTS) {
        instances.iter().for_each(&mut compare_instance);
        mutations::sample(instances, limit, name).iter().for_each(&mut compare_instance);
    }
    tally
}

fn compare_revision(all: &[Official], official: &Official) -> BTreeMap<String, Tally> {
    let ours = SchemaValidator::built_in(official.revision);
    let names: BTreeSet<&str> = ours.definition_names().collect();
    let theirs: BTreeSet<&str> = official.names().collect();
    assert_eq!(names, theirs, "{}", official.revision);
    theirs.iter().map(|name| ((*name).to_owned(), compare(all, official, name, &ours))).collect()
}

#[test]
#[ignore = "needs the official MCP schemas in ../shared/mcp-schema"]
fn every_definition_of_every_revision_validates_like_the_official_one() {
    let officials = official::all().expect("the official MCP schemas are in ../shared/mcp-schema");
    let tallies: Vec<(Revision, BTreeMap<String, Tally>)> = std::thread::scope(|scope| {
        let running: Vec<_> = officials
            .iter()
            .map(|official| {
                scope.spawn(|| (official.revision, compare_revision(&officials, official)))
            })
            .collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut wrong = Vec::new();
    let mut intended: BTreeSet<(Revision, &str)> =
        INTENDED.iter().map(|(revision, name, _)| (*revision, *name)).collect();
    for (revision, tallies) in &tallies {
        let (mut accepted, mut rejected) = (0, 0);
        for (name, tally) in tallies {
            accepted += tally.accepted;
            rejected += tally.rejected;
            if tally.accepted == 0 || tally.rejected == 0 {
                wrong.push(format!("{revision} {name}: all instances have the same result"));
            }
            match (&tally.differs, intended.remove(&(*revision, name.as_str()))) {
                (Some(difference), false) => wrong.push(format!("{revision} {name}: {difference}")),
                (None, true) => wrong.push(format!("{revision} {name}: no longer differs")),
                _ => {}
            }
        }
        eprintln!(
            "{revision}: {} definitions, {} instances compared, {accepted} accepted, {rejected} rejected",
            tallies.len(),
            accepted + rejected
        );
    }
    wrong.extend(
        intended.iter().map(|(revision, name)| format!("{revision} {name}: no such definition")),
    );
    let all = tallies.iter().flat_map(|(_, tallies)| tallies.values());
    let compared: usize = all.map(|tally| tally.accepted + tally.rejected).sum();
    eprintln!("{compared} instances compared, {} intended differences", INTENDED.len());
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
#[ignore = "needs the official MCP schemas in ../shared/mcp-schema"]
fn official_examples_are_accepted() {
    let officials = official::all().expect("the official MCP schemas are in ../shared/mcp-schema");
    let mut count = 0;
    for official in &officials {
        let ours = SchemaValidator::built_in(official.revision);
        for name in official.names() {
            for example in official.examples(name) {
                let text = example.to_string();
                let mut buffer = TapeBuffer::new();
                let tape = buffer.read(text.as_bytes(), 128).unwrap();
                assert!(ours.is_valid(name, tape.root()), "{name}: {text}");
                count += 1;
            }
        }
    }
    assert_eq!(count, 129, "the number of official examples has changed");
}

#[test]
#[ignore = "needs the official MCP schemas in ../shared/mcp-schema"]
fn official_schema_file_can_be_loaded() {
    let officials = official::all().expect("the official MCP schemas are in ../shared/mcp-schema");
    for official in &officials {
        let loaded = SchemaValidator::from_schema(official.revision, &official.schema).unwrap();
        assert!(loaded.definition_names().eq(official.names()));
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(br#"{"type": "text", "text": "hi"}"#, 128).unwrap();
        assert!(loaded.is_valid("TextContent", tape.root()));
        let tape = buffer.read(br#"{"type": "text"}"#, 128).unwrap();
        assert!(!loaded.is_valid("TextContent", tape.root()));
    }
}
