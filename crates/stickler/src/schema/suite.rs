//! Runs the official JSON Schema test suite over the tape, with the options used for tool schemas.
//!
//! Requires a copy of the suite next to the repository. `exceptions` lists the expected failures with
//! their reasons. The list is exact: the test fails for an unlisted failure, for a listed test that passes
//! and for an entry without a test.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jsonschema::{Draft, Retrieve, Uri};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Engines, Formats, differential, engine};
use crate::config::Limits;
use crate::tape::{EngineNode, StepBudget, TapeBuffer};

const DRAFTS: [(&str, Draft); 5] = [
    ("draft4", Draft::Draft4),
    ("draft6", Draft::Draft6),
    ("draft7", Draft::Draft7),
    ("draft2019-09", Draft::Draft201909),
    ("draft2020-12", Draft::Draft202012),
];

#[derive(Deserialize)]
struct Group {
    description: String,
    schema: Value,
    tests: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    description: String,
    data: Box<RawValue>,
    valid: bool,
}

/// The documents that the suite serves at `http://localhost:1234/`.
#[derive(Clone)]
struct Remotes(Arc<HashMap<String, Value>>);

impl Retrieve for Remotes {
    fn retrieve(
        &self,
        uri: &Uri<String>,
    ) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        self.0.get(uri.as_str()).cloned().ok_or_else(|| "remote document not found".into())
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn relative_path(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap().to_str().unwrap().replace('\\', "/")
}

fn remotes(folder: &Path) -> Remotes {
    let documents = files(folder).into_iter().map(|path| {
        let document = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        (format!("http://localhost:1234/{}", relative_path(folder, &path)), document)
    });
    Remotes(Arc::new(documents.collect()))
}

/// The path within the suite's `tests`, the description of the group and the description of the test.
type Name = (String, String, String);

/// The expected failures with their reasons.
fn exceptions() -> BTreeMap<Name, &'static str> {
    const FORMATS: [&str; 19] = [
        "date",
        "date-time",
        "duration",
        "email",
        "hostname",
        "idn-email",
        "idn-hostname",
        "ipv4",
        "ipv6",
        "iri",
        "iri-reference",
        "json-pointer",
        "regex",
        "relative-json-pointer",
        "time",
        "uri",
        "uri-reference",
        "uri-template",
        "uuid",
    ];
    let formats = FORMATS.iter().map(|format| {
        let file = "draft2020-12/format.json".to_owned();
        let test = format!("invalid {format} string is only an annotation by default");
        let reason = "Stickler asserts `format` in every draft, because a tool that declares a format \
                      expects it; 2020-12 treats it as an annotation by default";
        ((file, format!("{format} format"), test), reason)
    });
    formats.collect()
}

/// The result of each test; the error describes the failure.
type Outcomes = BTreeMap<Name, Result<(), String>>;

fn run_group(group: &Group, draft: Draft, remotes: &Remotes) -> Vec<Result<(), String>> {
    let limits = Limits::default();
    let over_tape = engine::build_with(
        &group.schema,
        draft,
        Formats::Strict,
        Engines::LinearOrBacktracking,
        &limits,
        |options| options.with_retriever(remotes.clone()),
    );
    let over_tape = match over_tape {
        Ok(validator) => validator,
        Err(rejection) => {
            return group.tests.iter().map(|_| Err(format!("no validator: {rejection}"))).collect();
        }
    };
    let over_values = differential::build_over_values(&group.schema, draft, &limits, |options| {
        options.with_retriever(remotes.clone())
    });
    let over_values = over_values.expect("a schema that compiles for the tape compiles for values");
    let verdict = |case: &Case| {
        let mut buffer = TapeBuffer::new();
        // A text that is not JSON is not a valid instance.
        let Ok(tape) = buffer.read(case.data.get().as_bytes(), limits.message_depth) else {
            return Ok(false);
        };
        let budget = StepBudget::new(limits.verdict_steps);
        let node = EngineNode::new(tape.root(), &budget);
        let valid = over_tape.is_valid(node);
        if over_tape.iter_errors(node).next().is_none() != valid {
            return Err("the verdict and the list of errors disagree".to_owned());
        }
        let value: Value = serde_json::from_str(case.data.get()).unwrap();
        if over_values.is_valid(&value) != valid {
            return Err("the tape and a tree of values disagree".to_owned());
        }
        if budget.is_spent() { Err("the budget is exhausted".to_owned()) } else { Ok(valid) }
    };
    let check = |case: &Case| match verdict(case)? {
        valid if valid == case.valid => Ok(()),
        valid => Err(format!("valid: {valid}")),
    };
    group.tests.iter().map(check).collect()
}

fn run(tests: &Path, remotes: &Remotes) -> Outcomes {
    let mut outcomes = Outcomes::new();
    for (name, draft) in DRAFTS {
        for path in files(&tests.join(name)) {
            let file = relative_path(tests, &path);
            let groups: Vec<Group> =
                serde_json::from_slice(&std::fs::read(&path).unwrap()).expect(&file);
            for group in &groups {
                for (case, outcome) in group.tests.iter().zip(run_group(group, draft, remotes)) {
                    let key = (file.clone(), group.description.clone(), case.description.clone());
                    let earlier = outcomes.insert(key.clone(), outcome);
                    assert!(earlier.is_none(), "two tests have the same name: {key:?}");
                }
            }
        }
    }
    outcomes
}

#[test]
#[ignore = "needs the JSON Schema test suite in ../shared/json-schema-test-suite"]
fn official_suite_passes_over_the_tape_except_listed_tests() {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/json-schema-test-suite");
    assert!(folder.is_dir(), "the suite is in ../shared/json-schema-test-suite");
    let outcomes = run(&folder.join("tests"), &remotes(&folder.join("remotes")));
    let exceptions = exceptions();
    let mut problems = Vec::new();
    for (name, outcome) in &outcomes {
        match (outcome, exceptions.get(name)) {
            (Ok(()), None) | (Err(_), Some(_)) => {}
            (Err(problem), None) => problems.push(format!("{name:?}: {problem}")),
            (Ok(()), Some(reason)) => problems.push(format!("{name:?}: passes, but {reason}")),
        }
    }
    let unmatched = exceptions.keys().filter(|name| !outcomes.contains_key(*name));
    problems.extend(unmatched.map(|name| format!("{name:?}: listed, but there is no test")));
    eprintln!("JSON Schema suite: {} cases, {} excepted", outcomes.len(), exceptions.len());
    assert!(outcomes.len() > 8000, "the suite is incomplete");
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}
