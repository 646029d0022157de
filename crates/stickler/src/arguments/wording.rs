//! The sentences. One place, so that they stay of one mind.

use serde_json::Value;

use super::error::{ValidationError, ValidationErrorKind};
use super::place::join;
use crate::embedded::parse_as;
use crate::tape::{Kind, Node, unescape_segment};

/// Values longer than this are cut in messages.
const LONGEST_VALUE: usize = 60;

/// More values than this are a list nobody reads.
const MOST_VALUES: usize = 20;

/// Makes errors, with or without the values that the caller sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wording {
    pub(crate) mask_values: bool,
    about: About,
}

/// What the paths start from, and what it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About {
    /// The arguments of a call.
    Arguments,
    /// A part of a message, by its place in the message.
    Part(&'static str),
}

impl Wording {
    /// How many allowed values a sentence lists.
    pub(super) const FEW_VALUES: usize = MOST_VALUES;

    pub(crate) fn new(mask_values: bool, about: About) -> Self {
        Self { mask_values, about }
    }

    pub(crate) fn missing(
        self,
        object_path: &str,
        field: &str,
        schema_path: String,
        wanted: &str,
    ) -> ValidationError {
        let path = join(object_path, field);
        let name = self.about.subject(&path);
        ValidationError {
            message: format!("{name} is required but missing; add it as {}.", with_article(wanted)),
            path,
            schema_path,
            kind: ValidationErrorKind::MissingRequired { field: field.to_owned() },
            expected: wanted.to_owned(),
            received: "nothing".to_owned(),
            meant_values: Vec::new(),
        }
    }

    pub(crate) fn wrong_type(
        self,
        path: &str,
        schema_path: String,
        expected: &str,
        value: Option<Node<'_>>,
    ) -> ValidationError {
        let actual = value.map_or("nothing", Node::type_name);
        let shown = value.and_then(|value| self.shown(value));
        let what = shown.map_or_else(String::new, |shown| format!(" ({shown})"));
        let hint = value
            .and_then(|value| type_hint(self.about, path, expected, value))
            .unwrap_or_default();
        ValidationError {
            message: format!(
                "{} must be {}, but {} {}{what}{hint}.",
                self.about.subject(path),
                with_article(expected),
                self.about.verb(path),
                with_article(actual)
            ),
            path: path.to_owned(),
            schema_path,
            kind: ValidationErrorKind::TypeMismatch {
                expected: expected.to_owned(),
                actual: actual.to_owned(),
            },
            expected: expected.to_owned(),
            received: value.map_or_else(|| "nothing".to_owned(), |value| self.received(value)),
            meant_values: Vec::new(),
        }
    }

    pub(crate) fn unknown_field(
        self,
        object_path: &str,
        field: &str,
        schema_path: String,
        suggestions: Vec<String>,
        valid: &[&str],
    ) -> ValidationError {
        let advice = advice(&suggestions, valid, "leave it out: there are no fields here.");
        let says = (format!("is not a known field; {advice}"), one_of(valid, "no fields"));
        self.unwanted(object_path, field, schema_path, suggestions, says)
    }

    /// A field that the schema rules out by its name. The names beside it may not be all there are:
    /// the keyword can stand in a part of the schema that lists no others.
    pub(crate) fn forbidden_field(
        self,
        object_path: &str,
        field: &str,
        schema_path: String,
        suggestions: Vec<String>,
        valid: &[&str],
    ) -> ValidationError {
        let advice = advice(&suggestions, valid, "leave it out.");
        let says = (format!("is not allowed here; {advice}"), one_of(valid, "no such field"));
        self.unwanted(object_path, field, schema_path, suggestions, says)
    }

    /// A field whose name is not of the form that names have here; the demand follows "must".
    pub(crate) fn misnamed_field(
        self,
        object_path: &str,
        field: &str,
        schema_path: String,
        suggestions: Vec<String>,
        demand: &str,
    ) -> ValidationError {
        let advice = suggestions.first().map_or_else(
            || "rename it or leave it out.".to_owned(),
            |best| format!("did you mean `{best}`?"),
        );
        let says = (
            format!("is not a known field: a name here must {demand}; {advice}"),
            format!("a field whose name must {demand}"),
        );
        self.unwanted(object_path, field, schema_path, suggestions, says)
    }

    /// A field that is not to be there: what is said of it, and what is expected instead.
    fn unwanted(
        self,
        object_path: &str,
        field: &str,
        schema_path: String,
        suggestions: Vec<String>,
        (says, expected): (String, String),
    ) -> ValidationError {
        let path = join(object_path, field);
        ValidationError {
            message: format!("{} {says}", self.about.subject(&path)),
            path,
            schema_path,
            expected,
            received: format!("`{}`", cut(field, LONGEST_VALUE)),
            kind: ValidationErrorKind::UnknownField { field: field.to_owned(), suggestions },
            meant_values: Vec::new(),
        }
    }

    /// A value that is not among those allowed, of which the error lists the first `listed`.
    pub(crate) fn not_allowed(
        self,
        path: &str,
        schema_path: String,
        (allowed, listed): (&[&Value], usize),
        value: Node<'_>,
        meant: Vec<String>,
    ) -> ValidationError {
        let few: Vec<String> =
            allowed.iter().take(MOST_VALUES).map(|value| literal(value)).collect();
        let mut expected = match few.as_slice() {
            [] => "no value at all".to_owned(),
            [only] => only.clone(),
            several => format!("one of {}", several.join(", ")),
        };
        if allowed.len() > MOST_VALUES {
            expected.push_str(", …");
        }
        let but = self
            .shown(value)
            .map_or_else(String::new, |it| format!(", but {} {it}", self.about.verb(path)));
        // Where only one value is right, that one is said already.
        let advice = meant
            .first()
            .filter(|_| allowed.len() > 1)
            .map_or_else(|| ".".to_owned(), |best| format!("; did you mean {best:?}?"));
        ValidationError {
            message: format!("{} must be {expected}{but}{advice}", self.about.subject(path)),
            path: path.to_owned(),
            schema_path,
            kind: ValidationErrorKind::InvalidEnum {
                value: if self.mask_values { "…".to_owned() } else { plain(value) },
                allowed: allowed.iter().take(listed).map(|value| text_of(value)).collect(),
            },
            expected,
            received: self.received(value),
            meant_values: meant,
        }
    }

    /// A value that is not as it must be; the demand follows "must".
    pub(crate) fn invalid(
        self,
        path: &str,
        schema_path: String,
        demand: &str,
        value: Option<Node<'_>>,
    ) -> ValidationError {
        let shown = value.and_then(|value| self.shown(value));
        let but =
            shown.map_or_else(String::new, |it| format!(", but {} {it}", self.about.verb(path)));
        ValidationError {
            message: format!("{} must {demand}{but}.", self.about.subject(path)),
            path: path.to_owned(),
            schema_path,
            kind: ValidationErrorKind::InvalidValue { reason: format!("must {demand}") },
            expected: wanted_by(demand),
            received: value.map_or_else(|| "nothing".to_owned(), |value| self.received(value)),
            meant_values: Vec::new(),
        }
    }

    /// A key that its object has more than once.
    pub(crate) fn repeated(self, path: &str) -> ValidationError {
        let name = self.about.subject(path);
        let reason = "must be given only once".to_owned();
        ValidationError {
            message: format!("{name} is given twice or more in the same object; give it once."),
            path: path.to_owned(),
            schema_path: String::new(),
            kind: ValidationErrorKind::InvalidValue { reason },
            expected: "once".to_owned(),
            received: "twice or more".to_owned(),
            meant_values: Vec::new(),
        }
    }

    pub(crate) fn unknown_tool(name: &str, suggestions: Vec<String>) -> ValidationError {
        let advice = suggestions
            .first()
            .map_or_else(String::new, |best| format!(". Did you mean `{best}`?"));
        let short = cut(name, LONGEST_VALUE);
        ValidationError {
            path: String::new(),
            schema_path: String::new(),
            message: format!("Unknown tool: {short}{advice}"),
            expected: "the name of a tool that the server has".to_owned(),
            received: format!("`{short}`"),
            kind: ValidationErrorKind::UnknownTool { name: name.to_owned(), suggestions },
            meant_values: Vec::new(),
        }
    }

    /// The value itself, where it is short enough to tell more than its type.
    fn shown(self, value: Node<'_>) -> Option<String> {
        let scalar = matches!(value.kind(), Kind::String | Kind::Number | Kind::Boolean);
        (!self.mask_values && scalar).then(|| cut(value.raw(), LONGEST_VALUE))
    }

    fn received(self, value: Node<'_>) -> String {
        match self.shown(value) {
            Some(shown) => format!("{} {shown}", value.type_name()),
            None => value.type_name().to_owned(),
        }
    }
}

impl About {
    /// What a sentence is about: a top-level argument by its name, anything else by its pointer.
    fn subject(self, path: &str) -> String {
        match (self, path.strip_prefix('/')) {
            (Self::Arguments, None) => "the arguments".to_owned(),
            (Self::Arguments, Some(field)) if !field.contains('/') => {
                format!("`{}`", cut(&unescape_segment(field), 120))
            }
            (Self::Arguments, Some(_)) => format!("`{}`", cut(path, 240)),
            (Self::Part(""), None) => "the message".to_owned(),
            (Self::Part(place), _) => format!("`{place}{}`", cut(path, 240)),
        }
    }

    fn verb(self, path: &str) -> &'static str {
        if path.is_empty() && self == Self::Arguments { "are" } else { "is" }
    }
}

/// A word on the mistakes that a type alone does not explain.
fn type_hint(about: About, path: &str, expected: &str, value: Node<'_>) -> Option<&'static str> {
    let wanted: Vec<&str> = expected.split(" or ").collect();
    let are_arguments = path.is_empty() && about == About::Arguments;
    match value.kind() {
        Kind::String if are_arguments => Some("; pass the object itself, not its JSON text"),
        Kind::Null if are_arguments => Some("; pass `{}` when there is nothing to say"),
        Kind::String if parse_as(&value.as_str()?, &wanted).is_some() => {
            Some("; pass the value itself, not its text")
        }
        Kind::String | Kind::Number | Kind::Boolean if wanted == ["array"] => {
            Some("; put it in a list")
        }
        Kind::Null if path.is_empty() => None,
        Kind::Null if about != About::Arguments => Some("; leave it out unless it is required"),
        Kind::Null => Some("; leave it out if there is nothing to say"),
        _ => None,
    }
}

/// `a string`, `an integer or null`.
fn with_article(noun: &str) -> String {
    let article = match noun {
        "nothing" | "null" | "any value" | "a value" => "",
        _ if noun.starts_with("one of ") || noun.starts_with(['"', '`', '{', '[', '-']) => "",
        _ if noun.starts_with(|first: char| first.is_ascii_digit()) => "",
        _ if noun.starts_with(['a', 'i', 'o']) => "an ",
        _ => "a ",
    };
    format!("{article}{noun}")
}

/// How demands begin, and how the same begins after the word "expected".
const DEMANDS: [(&str, &str); 10] = [
    ("be left out", "nothing"),
    ("be simpler", "something simpler"),
    ("be encoded ", "text encoded "),
    ("be ", ""),
    ("have ", ""),
    ("match ", ""),
    ("contain ", ""),
    ("decode to ", ""),
    ("not match ", "no match for "),
    ("satisfy ", "something that satisfies "),
];

/// What follows "must", as it is said after "expected": `be at least 3` is `at least 3`.
fn wanted_by(demand: &str) -> String {
    let known = DEMANDS
        .iter()
        .find_map(|(verb, noun)| Some(format!("{noun}{}", demand.strip_prefix(verb)?)));
    known.unwrap_or_else(|| format!("it to {demand}"))
}

fn one_of(names: &[&str], none: &str) -> String {
    match names {
        [] => none.to_owned(),
        names => format!("one of {}", listed(names)),
    }
}

/// What to do about a field that is not wanted.
fn advice(suggestions: &[String], valid: &[&str], without_others: &str) -> String {
    match (suggestions.first(), valid) {
        (Some(best), _) => format!("did you mean `{best}`?"),
        (None, []) => without_others.to_owned(),
        (None, valid) => format!("leave it out; valid fields: {}.", listed(valid)),
    }
}

fn listed(names: &[&str]) -> String {
    let few: Vec<String> = names
        .iter()
        .take(MOST_VALUES)
        .map(|name| format!("`{}`", cut(name, LONGEST_VALUE)))
        .collect();
    let more = if names.len() > MOST_VALUES { ", …" } else { "" };
    format!("{}{more}", few.join(", "))
}

/// A value as it would be written in a call.
pub(crate) fn literal(value: &Value) -> String {
    cut(&value.to_string(), LONGEST_VALUE)
}

/// A string without its quotes, anything else as JSON.
pub(crate) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn plain(value: Node<'_>) -> String {
    value.as_str().map_or_else(|| value.raw().to_owned(), std::borrow::Cow::into_owned)
}

pub(crate) fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
