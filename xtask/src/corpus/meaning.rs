//! Mistakes about meaning: what models write that remember another interface.
//!
//! The generators share nothing with the matcher that they measure. Synonyms come from the corpus: names
//! that fields of different tools have whose descriptions begin with the same words.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::break_call::{Broken, Expected};
use super::locations::{Location, ToolUnderTest, escape};
use super::tools::Server;
use crate::random::Random;

/// Number of words at the beginning of a description that make two fields the same.
const SAME_WORDS: usize = 4;

/// The names that tools use for fields with the same description.
#[derive(Debug, Default)]
pub(super) struct Thesaurus(BTreeMap<String, BTreeSet<String>>);

impl Thesaurus {
    pub(super) fn of(servers: &[Server]) -> Self {
        let mut thesaurus = Self::default();
        for tool in servers.iter().flat_map(|server| &server.tools) {
            if let Some(schema) = &tool.input_schema {
                thesaurus.add(&schema.to_value());
            }
        }
        thesaurus.0.retain(|_, names| names.len() > 1);
        thesaurus
    }

    fn add(&mut self, schema: &Value) {
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            for (name, field) in properties {
                if let Some(key) = beginning(field) {
                    self.0.entry(key).or_default().insert(name.clone());
                }
            }
        }
        match schema {
            Value::Object(members) => members.values().for_each(|inner| self.add(inner)),
            Value::Array(items) => items.iter().for_each(|inner| self.add(inner)),
            _ => {}
        }
    }

    /// Another name for a field.
    fn synonym(&self, location: &Location<'_>, name: &str, random: &mut Random) -> Option<String> {
        let names = self.0.get(&beginning(location.schema)?)?;
        let others: Vec<&String> = names
            .iter()
            .filter(|other| *other != name && !location.siblings.contains(other))
            .collect();
        random.pick(&others).map(|other| (*other).clone())
    }
}

fn beginning(field: &Value) -> Option<String> {
    let description = field.get("description")?.as_str()?.to_lowercase();
    let words: Vec<&str> = description.split_whitespace().take(SAME_WORDS).collect();
    (words.len() == SAME_WORDS).then(|| words.join(" "))
}

/// Every mistake about meaning that the call allows.
pub(super) fn all(
    subject: &ToolUnderTest,
    server: &Server,
    call: &Value,
    thesaurus: &Thesaurus,
    random: &mut Random,
) -> Vec<Broken> {
    let mut broken = Vec::new();
    for location in subject.locations(call) {
        let Some((object, name)) = location.path.rsplit_once('/') else { continue };
        if location.in_closed_object {
            let synonym = thesaurus.synonym(&location, name, random);
            let longer =
                format!("{}_{name}", random.pick(&["the", "my", "given"]).unwrap_or(&"the"));
            let shorter = name.split_once('_').map(|(_, rest)| rest.to_owned());
            for (label, wrong) in [
                ("meaning: synonym", synonym),
                ("meaning: added word", Some(longer)),
                ("meaning: dropped word", shorter.filter(|rest| rest.len() > 2)),
            ] {
                let wrong = wrong.filter(|wrong| !location.siblings.contains(wrong));
                broken.extend(
                    wrong.and_then(|wrong| renamed(subject, call, label, (object, name), &wrong)),
                );
            }
            broken.extend(moved_out(subject, call, &location, object, name));
        }
        broken.extend(other_form(subject, call, &location));
    }
    broken.extend(prefixed(subject, server, call, random));
    broken
}

fn result(
    subject: &ToolUnderTest,
    label: &str,
    call: &Value,
    arguments: Value,
    expected: Expected,
) -> Broken {
    Broken {
        label: label.to_owned(),
        name: subject.tool.clone(),
        arguments,
        original_name: subject.tool.clone(),
        original: call.clone(),
        expected: vec![expected],
        repairable: true,
    }
}

fn renamed(
    subject: &ToolUnderTest,
    call: &Value,
    label: &str,
    (object, name): (&str, &str),
    wrong: &str,
) -> Option<Broken> {
    let plain = name.replace("~1", "/").replace("~0", "~");
    let mut arguments = call.clone();
    let members = arguments.pointer_mut(object)?.as_object_mut()?;
    let value = members.shift_remove(&plain)?;
    members.insert(wrong.to_owned(), value);
    let path = format!("{object}/{}", escape(wrong));
    let expected = Expected { path, kind: "unknown_field", suggestion: Some(plain) };
    Some(result(subject, label, call, arguments, expected))
}

/// A field of a nested object beside the object.
fn moved_out(
    subject: &ToolUnderTest,
    call: &Value,
    location: &Location<'_>,
    object: &str,
    name: &str,
) -> Option<Broken> {
    let (outer, _) = object.rsplit_once('/').filter(|(outer, _)| outer.is_empty())?;
    let mut arguments = call.clone();
    let members = arguments.pointer_mut(object)?.as_object_mut()?;
    members.shift_remove(name)?;
    let around = arguments.pointer_mut(outer)?.as_object_mut()?;
    let known = subject.schema.get("properties").is_some_and(|all| all.get(name).is_some());
    if known || around.insert(name.to_owned(), location.value.clone()).is_some() {
        return None;
    }
    let closed = subject.objects(call).first().is_some_and(|root| root.closed);
    let path = format!("/{name}");
    let expected = Expected { path, kind: "unknown_field", suggestion: None };
    closed.then(|| result(subject, "meaning: outside its object", call, arguments, expected))
}

/// A value in a form that means the same.
fn other_form(subject: &ToolUnderTest, call: &Value, location: &Location<'_>) -> Option<Broken> {
    let (label, value) = match &location.value {
        Value::Array(items) => {
            let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            let words = words.filter(|words| {
                words.len() > 1
                    && words.iter().all(|word| {
                        !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_')
                    })
            })?;
            ("meaning: comma-separated", json!(words.join(",")))
        }
        scalar @ (Value::String(_) | Value::Bool(_)) => ("meaning: list of one", json!([scalar])),
        _ => return None,
    };
    let mut arguments = call.clone();
    *arguments.pointer_mut(&location.path)? = value;
    let kind = if location.schema.get("type").is_some() { "type_mismatch" } else { "invalid_enum" };
    let expected = Expected { path: location.path.clone(), kind, suggestion: None };
    (!subject.accepts(&arguments)).then(|| result(subject, label, call, arguments, expected))
}

/// The tool under the prefix that clients put before it.
fn prefixed(
    subject: &ToolUnderTest,
    server: &Server,
    call: &Value,
    random: &mut Random,
) -> Option<Broken> {
    let forms = [
        format!("mcp__{}__{}", server.name, subject.tool),
        format!("{}:{}", server.name, subject.tool),
        format!("{}.{}", server.name, subject.tool),
    ];
    let name = random.pick(&forms)?.clone();
    let tool = subject.tool.clone();
    let expected = Expected { path: String::new(), kind: "unknown_tool", suggestion: Some(tool) };
    let broken = result(subject, "meaning: prefixed tool", call, call.clone(), expected);
    Some(Broken { name, ..broken })
}
