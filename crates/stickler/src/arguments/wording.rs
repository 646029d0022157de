//! Builds [`ValidationError`]s and their messages.
//!
//! All sentences are in this module so that their wording stays consistent. With `mask_values` they
//! contain no value that the caller sent.

use serde_json::Value;

use super::error::{ValidationError, ValidationErrorKind};
use super::field_matches::FieldMatch;
use super::location::join;
use super::phrases::{
    MAX_LISTED_VALUES, MAX_VALUE_CHARS, advice, cut, expected_by, literal, one_of, plain, text_of,
    with_article,
};
use crate::embedded::parse_as;
use crate::tape::{Kind, Node, unescape_segment};

/// Builds errors, with or without the values that the caller sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wording {
    pub(crate) mask_values: bool,
    subject: Subject,
}

/// The root that paths are relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The arguments of a call.
    Arguments,
    /// A part of a message, identified by its JSON Pointer within the message.
    Part(&'static str),
}

impl Wording {
    pub(crate) fn new(mask_values: bool, subject: Subject) -> Self {
        Self { mask_values, subject }
    }

    /// Returns whether the errors are about the arguments of a call.
    pub(crate) fn is_about_arguments(self) -> bool {
        self.subject == Subject::Arguments
    }

    pub(crate) fn missing(
        self,
        object_path: &str,
        field: &str,
        schema_path: String,
        expected: &str,
    ) -> ValidationError {
        let path = join(object_path, field);
        let name = self.subject.name(&path);
        ValidationError {
            message: format!(
                "{name} is required but missing; add it as {}.",
                with_article(expected)
            ),
            path,
            schema_path,
            kind: ValidationErrorKind::MissingRequired { field: field.to_owned() },
            expected: expected.to_owned(),
            received: "nothing".to_owned(),
            suggested_values: Vec::new(),
            fills: None,
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
        let detail = shown.map_or_else(String::new, |shown| format!(" ({shown})"));
        let hint = value
            .and_then(|value| type_hint(self.subject, path, expected, value))
            .unwrap_or_default();
        ValidationError {
            message: format!(
                "{} must be {}, but {} {}{detail}{hint}.",
                self.subject.name(path),
                with_article(expected),
                self.subject.verb(path),
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
            suggested_values: Vec::new(),
            fills: None,
        }
    }

    pub(crate) fn unknown_field(
        self,
        object_path: &str,
        field: &str,
        schema_path: String,
        found: &FieldMatch,
        valid: &[&str],
    ) -> ValidationError {
        let advice = advice(found, valid, "leave it out: this object has no fields.");
        let texts = (format!("is not a known field; {advice}"), one_of(valid, "no fields"));
        self.unexpected_field(object_path, field, schema_path, found, texts)
    }

    /// Builds the error for a field that the schema forbids by name. The names beside it may be
    /// incomplete: the keyword can be in a subschema that lists no other fields.
    pub(crate) fn forbidden_field(
        self,
        object_path: &str,
        field: &str,
        schema_path: String,
        found: &FieldMatch,
        valid: &[&str],
    ) -> ValidationError {
        let advice = advice(found, valid, "leave it out.");
        let texts = (format!("is not allowed here; {advice}"), one_of(valid, "no such field"));
        self.unexpected_field(object_path, field, schema_path, found, texts)
    }

    /// Builds the error for a field with a name that `propertyNames` rejects; the requirement follows
    /// "must".
    pub(crate) fn misnamed_field(
        self,
        object_path: &str,
        field: &str,
        schema_path: String,
        found: &FieldMatch,
        requirement: &str,
    ) -> ValidationError {
        let advice = found.suggestions.first().map_or_else(
            || "rename it or leave it out.".to_owned(),
            |best| format!("did you mean `{best}`?"),
        );
        let texts = (
            format!("is not a known field: names here must {requirement}; {advice}"),
            format!("a field whose name must {requirement}"),
        );
        self.unexpected_field(object_path, field, schema_path, found, texts)
    }

    /// Builds the error for an unexpected field from its predicate and what was expected instead.
    fn unexpected_field(
        self,
        object_path: &str,
        field: &str,
        schema_path: String,
        found: &FieldMatch,
        (predicate, expected): (String, String),
    ) -> ValidationError {
        let path = join(object_path, field);
        ValidationError {
            message: format!("{} {predicate}", self.subject.name(&path)),
            path,
            schema_path,
            expected,
            received: format!("`{}`", cut(field, MAX_VALUE_CHARS)),
            kind: ValidationErrorKind::UnknownField {
                field: field.to_owned(),
                suggestions: found.suggestions.clone(),
            },
            suggested_values: Vec::new(),
            fills: found
                .target
                .as_ref()
                .filter(|target| target.missing.is_some())
                .map(|target| target.name.clone()),
        }
    }

    /// Builds the error for a value that is not allowed; the error lists the first `listed` allowed ones.
    pub(crate) fn not_allowed(
        self,
        path: &str,
        schema_path: String,
        (allowed, listed): (&[&Value], usize),
        value: Node<'_>,
        suggestions: Vec<String>,
    ) -> ValidationError {
        let few: Vec<String> =
            allowed.iter().take(MAX_LISTED_VALUES).map(|value| literal(value)).collect();
        let mut expected = match few.as_slice() {
            [] => "no value at all".to_owned(),
            [only] => only.clone(),
            several => format!("one of {}", several.join(", ")),
        };
        if allowed.len() > MAX_LISTED_VALUES {
            expected.push_str(", …");
        }
        let but = self
            .shown(value)
            .map_or_else(String::new, |shown| format!(", but {} {shown}", self.subject.verb(path)));
        // With a single allowed value the message already names it.
        let advice = suggestions
            .first()
            .filter(|_| allowed.len() > 1)
            .map_or_else(|| ".".to_owned(), |best| format!("; did you mean {best:?}?"));
        ValidationError {
            message: format!("{} must be {expected}{but}{advice}", self.subject.name(path)),
            path: path.to_owned(),
            schema_path,
            kind: ValidationErrorKind::InvalidEnum {
                value: if self.mask_values { "…".to_owned() } else { plain(value) },
                allowed: allowed.iter().take(listed).map(|value| text_of(value)).collect(),
            },
            expected,
            received: self.received(value),
            suggested_values: suggestions,
            fills: None,
        }
    }

    /// Builds the error for a value that violates a constraint; the requirement follows "must".
    pub(crate) fn invalid(
        self,
        path: &str,
        schema_path: String,
        requirement: &str,
        value: Option<Node<'_>>,
    ) -> ValidationError {
        let shown = value.and_then(|value| self.shown(value));
        let but = shown
            .map_or_else(String::new, |shown| format!(", but {} {shown}", self.subject.verb(path)));
        ValidationError {
            message: format!("{} must {requirement}{but}.", self.subject.name(path)),
            path: path.to_owned(),
            schema_path,
            kind: ValidationErrorKind::InvalidValue { reason: format!("must {requirement}") },
            expected: expected_by(requirement),
            received: value.map_or_else(|| "nothing".to_owned(), |value| self.received(value)),
            suggested_values: Vec::new(),
            fills: None,
        }
    }

    /// Builds the error for a duplicate key.
    pub(crate) fn repeated(self, path: &str) -> ValidationError {
        let name = self.subject.name(path);
        let reason = "must be given only once".to_owned();
        ValidationError {
            message: format!(
                "{name} appears more than once in the same object; give it only once."
            ),
            path: path.to_owned(),
            schema_path: String::new(),
            kind: ValidationErrorKind::InvalidValue { reason },
            expected: "once".to_owned(),
            received: "twice or more".to_owned(),
            suggested_values: Vec::new(),
            fills: None,
        }
    }

    pub(crate) fn unknown_tool(name: &str, suggestions: Vec<String>) -> ValidationError {
        let advice = suggestions.first().map_or_else(String::new, |best| {
            format!(". Did you mean `{}`?", cut(best, MAX_VALUE_CHARS))
        });
        let short = cut(name, MAX_VALUE_CHARS);
        ValidationError {
            path: String::new(),
            schema_path: String::new(),
            message: format!("Unknown tool: {short}{advice}"),
            expected: "the name of a tool that the server has".to_owned(),
            received: format!("`{short}`"),
            kind: ValidationErrorKind::UnknownTool { name: name.to_owned(), suggestions },
            suggested_values: Vec::new(),
            fills: None,
        }
    }

    /// Returns a scalar value, cut to a length that fits into a message; `None` if values are masked.
    fn shown(self, value: Node<'_>) -> Option<String> {
        let scalar = matches!(value.kind(), Kind::String | Kind::Number | Kind::Boolean);
        (!self.mask_values && scalar).then(|| cut(value.raw(), MAX_VALUE_CHARS))
    }

    fn received(self, value: Node<'_>) -> String {
        match self.shown(value) {
            Some(shown) => format!("{} {shown}", value.type_name()),
            None => value.type_name().to_owned(),
        }
    }
}

impl Subject {
    /// Returns the subject of a sentence: the name of a top-level argument, otherwise the JSON Pointer.
    fn name(self, path: &str) -> String {
        match (self, path.strip_prefix('/')) {
            (Self::Arguments, None) => "the arguments".to_owned(),
            (Self::Arguments, Some(field)) if !field.contains('/') => {
                format!("`{}`", cut(&unescape_segment(field), 120))
            }
            (Self::Arguments, Some(_)) => format!("`{}`", cut(path, 240)),
            (Self::Part(""), None) => "the message".to_owned(),
            (Self::Part(location), _) => format!("`{location}{}`", cut(path, 240)),
        }
    }

    fn verb(self, path: &str) -> &'static str {
        if path.is_empty() && self == Self::Arguments { "are" } else { "is" }
    }
}

/// Returns advice for mistakes that the types alone do not explain.
fn type_hint(
    subject: Subject,
    path: &str,
    expected: &str,
    value: Node<'_>,
) -> Option<&'static str> {
    let types: Vec<&str> = expected.split(" or ").collect();
    let are_arguments = path.is_empty() && subject == Subject::Arguments;
    match value.kind() {
        Kind::String if are_arguments && value.as_str()?.contains('{') => {
            Some("; pass the object itself, not its JSON text")
        }
        // `null` counts as `{}` where nothing is required.
        Kind::String | Kind::Null if are_arguments => {
            Some("; pass an object with the required fields")
        }
        Kind::String if parse_as(&value.as_str()?, &types).is_some() => {
            Some("; pass the value itself, not its text")
        }
        Kind::String | Kind::Number | Kind::Boolean if types == ["array"] => {
            Some("; put it in a list")
        }
        Kind::Null if path.is_empty() => None,
        Kind::Null if subject != Subject::Arguments => Some("; leave it out unless it is required"),
        Kind::Null => Some("; leave it out if it has no value"),
        _ => None,
    }
}
