//! Breaks valid calls the way language models do: one mistake at a time, and two at once.

use serde_json::{Value, json};

use super::locations::{Location, ToolUnderTest, escape};
use super::tools::Server;
use super::typo;
use crate::random::Random;

/// A broken call, the original, and the expected errors.
pub(super) struct Broken {
    /// The name of the mistake, or of both.
    pub(super) label: String,
    pub(super) name: String,
    pub(super) arguments: Value,
    pub(super) original_name: String,
    pub(super) original: Value,
    pub(super) expected: Vec<Expected>,
    pub(super) repairable: bool,
}

/// An error that the rejection must contain.
#[derive(Debug, Clone)]
pub(super) struct Expected {
    pub(super) path: String,
    pub(super) kind: &'static str,
    /// The name or value that must be the first suggestion.
    pub(super) suggestion: Option<String>,
}

/// One change to the arguments.
#[derive(Debug, Clone)]
struct Mistake {
    label: &'static str,
    change: Change,
    expected: Expected,
    repairable: bool,
}

#[derive(Debug, Clone)]
enum Change {
    Rename { path: String, to: String },
    Remove { path: String },
    Set { path: String, value: Value },
}

pub(super) fn all(
    subject: &ToolUnderTest,
    server: &Server,
    call: &Value,
    random: &mut Random,
) -> Vec<Broken> {
    let mistakes = mistakes(subject, call, random);
    let mut broken: Vec<Broken> =
        mistakes.iter().filter_map(|one| with(subject, call, &[one])).collect();
    for _ in 0..mistakes.len().min(8) {
        if let (Some(a), Some(b)) = (random.pick(&mistakes), random.pick(&mistakes))
            && !overlap(a.change.path(), b.change.path())
        {
            broken.extend(with(subject, call, &[a, b]));
        }
    }
    broken.extend(wrapped_or_stringified(subject, call, random));
    broken.extend(misnamed(subject, server, call, random));
    broken
}

fn with(subject: &ToolUnderTest, call: &Value, mistakes: &[&Mistake]) -> Option<Broken> {
    let mut arguments = call.clone();
    for mistake in mistakes {
        mistake.change.apply(&mut arguments)?;
    }
    let labels: Vec<&str> = mistakes.iter().map(|mistake| mistake.label).collect();
    Some(Broken {
        label: labels.join(" + "),
        name: subject.tool.clone(),
        arguments,
        original_name: subject.tool.clone(),
        original: call.clone(),
        expected: mistakes.iter().map(|mistake| mistake.expected.clone()).collect(),
        repairable: mistakes.iter().all(|mistake| mistake.repairable),
    })
}

fn mistakes(subject: &ToolUnderTest, call: &Value, random: &mut Random) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    for location in subject.locations(call) {
        mistakes.extend(misspelt(&location, random));
        mistakes.extend(missing(&location));
        mistakes.extend(mistyped(&location));
        mistakes.extend(wrong_enum_value(&location, random));
    }
    for object in subject.objects(call) {
        if object.closed {
            let name = "zzz_unexpected_extra_9";
            let path = format!("{}/{name}", object.path);
            mistakes.push(Mistake {
                label: "extra field",
                change: Change::Set { path: path.clone(), value: json!("surprise") },
                expected: Expected { path, kind: "unknown_field", suggestion: None },
                repairable: false,
            });
        }
        for (name, schema) in &object.absent {
            let path = format!("{}/{}", object.path, escape(name));
            let kind = expected_error_kind(subject.resolve(schema, &Value::Null), schema);
            mistakes.push(Mistake {
                label: "null for optional",
                change: Change::Set { path: path.clone(), value: Value::Null },
                expected: Expected { path, kind, suggestion: None },
                repairable: true,
            });
        }
        debug_assert!(!object.closed || object.names.len() < 10_000);
    }
    // Only changes that the schema rejects are mistakes.
    mistakes.retain(|mistake| {
        let mut arguments = call.clone();
        let by_name = mistake.expected.kind == "unknown_field";
        mistake.change.apply(&mut arguments).is_some() && (by_name || !subject.accepts(&arguments))
    });
    mistakes
}

fn misspelt(location: &Location<'_>, random: &mut Random) -> Vec<Mistake> {
    if !location.in_closed_object {
        return Vec::new();
    }
    let (object, name) = split(&location.path);
    let wrong = [
        ("misspelt field", typo::misspell(&name, random)),
        ("field in other case", typo::recase(&name, random)),
    ];
    wrong
        .into_iter()
        .filter_map(|(label, wrong)| {
            let wrong = wrong.filter(|wrong| !location.siblings.contains(wrong))?;
            Some(Mistake {
                label,
                change: Change::Rename { path: location.path.clone(), to: wrong.clone() },
                expected: Expected {
                    path: format!("{object}/{}", escape(&wrong)),
                    kind: "unknown_field",
                    suggestion: Some(name.clone()),
                },
                repairable: true,
            })
        })
        .collect()
}

fn missing(location: &Location<'_>) -> Option<Mistake> {
    let is_member = !location.siblings.is_empty();
    (is_member && !location.optional).then(|| Mistake {
        label: "missing required",
        change: Change::Remove { path: location.path.clone() },
        expected: Expected {
            path: location.path.clone(),
            kind: "missing_required",
            suggestion: None,
        },
        repairable: false,
    })
}

fn mistyped(location: &Location<'_>) -> Vec<Mistake> {
    let kind = expected_error_kind(location.schema, location.schema);
    let mistake = |label, value, repairable| Mistake {
        label,
        change: Change::Set { path: location.path.clone(), value },
        expected: Expected { path: location.path.clone(), kind, suggestion: None },
        repairable,
    };
    match &location.value {
        Value::Number(number) if number.is_f64() => Vec::new(),
        Value::Number(number) => {
            vec![mistake("stringified number", json!(number.to_string()), true)]
        }
        Value::Bool(value) => vec![mistake("stringified boolean", json!(value.to_string()), true)],
        Value::Object(_) => {
            vec![mistake("stringified object", json!(location.value.to_string()), true)]
        }
        Value::Array(items) => {
            let mut mistakes =
                vec![mistake("stringified array", json!(location.value.to_string()), true)];
            if let [only] = items.as_slice()
                && (only.is_number() || only.is_boolean() || is_plain_text(only))
            {
                mistakes.push(mistake("scalar for array", only.clone(), true));
            }
            mistakes
        }
        Value::String(text) => vec![mistake("object for string", json!({ "value": text }), false)],
        Value::Null => Vec::new(),
    }
}

/// Returns whether a string is not valid JSON; otherwise the repair would parse it, correctly.
fn is_plain_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| serde_json::from_str::<Value>(text).is_err())
}

fn wrong_enum_value(location: &Location<'_>, random: &mut Random) -> Vec<Mistake> {
    let (Some(options), Some(value)) =
        (location.schema.get("enum").and_then(Value::as_array), location.value.as_str())
    else {
        return Vec::new();
    };
    let wrong = [
        ("enum in other case", typo::recase(value, random)),
        ("misspelt enum", typo::misspell(value, random)),
    ];
    wrong
        .into_iter()
        .filter_map(|(label, wrong)| {
            let wrong = wrong.filter(|wrong| !options.iter().any(|one| one == wrong))?;
            Some(Mistake {
                label,
                change: Change::Set { path: location.path.clone(), value: json!(wrong) },
                expected: Expected {
                    path: location.path.clone(),
                    kind: "invalid_enum",
                    suggestion: Some(value.to_owned()),
                },
                repairable: true,
            })
        })
        .collect()
}

/// Returns calls with all arguments in a string or inside another object.
fn wrapped_or_stringified(
    subject: &ToolUnderTest,
    call: &Value,
    random: &mut Random,
) -> Vec<Broken> {
    let key = *random.pick(&["arguments", "input", "params"]).unwrap_or(&"arguments");
    let has_key = subject.schema.get("properties").is_some_and(|all| all.get(key).is_some());
    let open = subject.objects(call).first().is_none_or(|root| !root.closed);
    let broken = |label: &str, arguments: Value, path: &str, kind| Broken {
        label: label.to_owned(),
        name: subject.tool.clone(),
        arguments,
        original_name: subject.tool.clone(),
        original: call.clone(),
        expected: vec![Expected { path: path.to_owned(), kind, suggestion: None }],
        repairable: true,
    };
    let mut all =
        vec![broken("arguments as a string", json!(call.to_string()), "", "type_mismatch")];
    if !has_key && !open {
        let path = format!("/{key}");
        all.push(broken("wrapped arguments", json!({ key: call }), &path, "unknown_field"));
    }
    all
}

fn misnamed(
    subject: &ToolUnderTest,
    server: &Server,
    call: &Value,
    random: &mut Random,
) -> Vec<Broken> {
    let wrong = [
        ("misspelt tool", typo::misspell(&subject.tool, random)),
        ("tool in other case", typo::recase(&subject.tool, random)),
    ];
    wrong
        .into_iter()
        .filter_map(|(label, wrong)| {
            let name =
                wrong.filter(|wrong| !server.tools.iter().any(|tool| tool.name == *wrong))?;
            Some(Broken {
                label: label.to_owned(),
                name,
                arguments: call.clone(),
                original_name: subject.tool.clone(),
                original: call.clone(),
                expected: vec![Expected {
                    path: String::new(),
                    kind: "unknown_tool",
                    suggestion: Some(subject.tool.clone()),
                }],
                repairable: true,
            })
        })
        .collect()
}

/// Returns `invalid_enum` for a schema that lists values without types, otherwise `type_mismatch`.
fn expected_error_kind(resolved: &Value, schema: &Value) -> &'static str {
    let typed = [resolved, schema].iter().any(|schema| {
        schema.get("type").is_some()
            || schema.get("anyOf").is_some()
            || schema.get("oneOf").is_some()
    });
    let listed = resolved.get("enum").is_some() || resolved.get("const").is_some();
    if listed && !typed { "invalid_enum" } else { "type_mismatch" }
}

/// Returns whether one path is equal to or inside the other; such changes are not independent.
fn overlap(a: &str, b: &str) -> bool {
    let inside = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    inside(a, b) || inside(b, a)
}

fn split(path: &str) -> (String, String) {
    let (object, name) = path.rsplit_once('/').unwrap_or(("", path));
    (object.to_owned(), name.replace("~1", "/").replace("~0", "~"))
}

impl Change {
    fn path(&self) -> &str {
        match self {
            Self::Rename { path, .. } | Self::Remove { path } | Self::Set { path, .. } => path,
        }
    }

    fn apply(&self, arguments: &mut Value) -> Option<()> {
        let (object, name) = split(self.path());
        let parent = arguments.pointer_mut(&object)?;
        match (self, parent) {
            (Self::Rename { to, .. }, Value::Object(members)) => {
                let value = members.shift_remove(&name)?;
                members.insert(to.clone(), value);
            }
            (Self::Remove { .. }, Value::Object(members)) => {
                members.shift_remove(&name)?;
            }
            (Self::Set { value, .. }, Value::Object(members)) => {
                members.insert(name, value.clone());
            }
            (Self::Set { value, .. }, Value::Array(items)) => {
                *items.get_mut(name.parse::<usize>().ok()?)? = value.clone();
            }
            _ => return None,
        }
        Some(())
    }
}
