//! Recognises hand-written sentences that name a parameter.
//!
//! `missing required parameter: x`, `Missing required argument 'x'`, `required argument "x" not
//! found`, `Parameter 'x' is required`, `"x" is required`, `unknown parameter: x`,
//! `parameter x is not of type string`.

use super::prefix::ErrorMessage;
use super::tokens::{ends_sentence, is_type_name, strip_prefix_ignore_case, take_name, take_names};
use super::{ArgumentError, ErrorKind, field_path};

pub(super) fn recognise(message: &ErrorMessage<'_>) -> Vec<ArgumentError> {
    // Command-line programs that a tool runs print the same sentences, followed by their usage.
    if !message.is_one_line() && !message.is_about_the_call() {
        return Vec::new();
    }
    let sentence = message.body.lines().next().unwrap_or_default();
    let found = missing_list(sentence)
        .or_else(|| unknown_list(sentence))
        .or_else(|| about_one_parameter(sentence));
    let Some((fields, kind)) = found else {
        return Vec::new();
    };
    let at = |field: &String| {
        field_path::error_at(&field_path::segments(field), message.scope, kind.clone())
    };
    fields.iter().filter_map(at).collect()
}

type Fault = (Vec<String>, ErrorKind);

/// Longer words come first, so that `parameters` is not parsed as `parameter`.
const NOUNS: &str = "parameters parameter params param arguments argument args arg fields field \
                     properties property";

fn missing_list(sentence: &str) -> Option<Fault> {
    let openings = ["missing required ", "missing a value for the required "];
    let sentence =
        strip_prefix_ignore_case(sentence, "the arguments dictionary is ").unwrap_or(sentence);
    let rest = openings.iter().find_map(|opening| strip_prefix_ignore_case(sentence, opening))?;
    Some((listed_after_noun(rest)?, ErrorKind::MissingField))
}

fn unknown_list(sentence: &str) -> Option<Fault> {
    let openings = ["unknown ", "unexpected ", "unrecognized ", "unrecognised "];
    let rest = openings.iter().find_map(|opening| strip_prefix_ignore_case(sentence, opening))?;
    Some((listed_after_noun(rest)?, ErrorKind::UnknownField))
}

/// Returns the names of `parameters: a, b` if the sentence ends after them.
fn listed_after_noun(text: &str) -> Option<Vec<String>> {
    let rest = NOUNS.split(' ').find_map(|noun| strip_prefix_ignore_case(text, noun))?;
    let rest = rest.strip_prefix("(s)").unwrap_or(rest);
    let list = rest.strip_prefix(':').unwrap_or(rest).strip_prefix(' ')?;
    let (fields, rest) = take_names(list.trim_start());
    (!fields.is_empty() && ends_sentence(rest)).then_some(fields)
}

/// Parses a sentence with a parameter as its subject, which is marked by a noun or by double quotes
/// (as in Joi).
fn about_one_parameter(sentence: &str) -> Option<Fault> {
    let noun = ["required parameter ", "required argument ", "parameter ", "argument "]
        .iter()
        .find_map(|noun| strip_prefix_ignore_case(sentence, noun));
    let subject = noun.or_else(|| sentence.starts_with('"').then_some(sentence))?;
    let (field, predicate) = take_name(subject)?;
    let kind = predicate_kind(predicate)?;
    Some((vec![field.to_owned()], kind))
}

fn predicate_kind(predicate: &str) -> Option<ErrorKind> {
    let missing =
        [" is required", " is missing", " not found", " was not provided", " must be provided"];
    if missing
        .iter()
        .any(|words| strip_prefix_ignore_case(predicate, words).is_some_and(ends_sentence))
    {
        return Some(ErrorKind::MissingField);
    }
    if strip_prefix_ignore_case(predicate, " is not allowed").is_some_and(ends_sentence) {
        return Some(ErrorKind::UnknownField);
    }
    let openings = [
        " is not of type ",
        " is not a ",
        " is not an ",
        " must be a ",
        " must be an ",
        " must be of type ",
    ];
    let (expected, _) = openings
        .iter()
        .find_map(|words| strip_prefix_ignore_case(predicate, words))
        .and_then(take_name)?;
    is_type_name(expected)
        .then(|| ErrorKind::WrongType { expected: Some(expected.to_owned()), received: None })
}

#[cfg(test)]
mod tests {
    use crate::enhance::argument_errors::{ArgumentError, ErrorKind, recognise};

    fn at(path: &str, kind: ErrorKind) -> ArgumentError {
        ArgumentError { kind, path: path.into() }
    }

    #[test]
    fn missing_parameter_is_recognised_in_all_wordings() {
        for text in [
            "missing required parameter: q",
            "Missing required argument 'q'",
            "Error: Missing required field `q`.",
            "required argument \"q\" not found",
            "Parameter 'q' is required",
            "\"q\" is required",
            "The arguments dictionary is missing a value for the required parameter 'q'. (Parameter 'arguments')",
        ] {
            assert_eq!(recognise(text), [at("/q", ErrorKind::MissingField)], "{text}");
        }
    }

    #[test]
    fn several_missing_parameters_are_all_recognised() {
        let found = recognise("Missing required parameters: a, b and c");
        let paths: Vec<String> = found.into_iter().map(|c| c.path).collect();
        assert_eq!(paths, ["/a", "/b", "/c"]);
    }

    #[test]
    fn unknown_parameter_is_recognised() {
        for text in ["unknown parameter: x", "Unexpected argument 'x'.", "\"x\" is not allowed"] {
            assert_eq!(recognise(text), [at("/x", ErrorKind::UnknownField)], "{text}");
        }
    }

    #[test]
    fn parameter_of_the_wrong_type_is_recognised() {
        let kind = ErrorKind::WrongType { expected: Some("string".into()), received: None };
        for text in [
            "parameter q is not of type string",
            "argument \"q\" is not a string",
            "\"q\" must be a string",
        ] {
            assert_eq!(recognise(text), [at("/q", kind.clone())], "{text}");
        }
    }

    #[test]
    fn sentences_about_other_subjects_are_ignored() {
        for text in [
            "Missing required environment variable: KEY",
            "missing required field name in settings.yaml",
            "'docker' is required to run this",
            "\"docker\" is required to run this",
            "login is required",
            "error: missing required argument 'file'\nUsage: pack <file>",
            "Unexpected token '<' in JSON",
            "unknown field force near the pole",
            "Parameter tuning is not a science",
            "argument list too long",
        ] {
            assert_eq!(recognise(text), [], "{text}");
        }
    }
}
