//! Hand-written sentences that name a parameter.
//!
//! `missing required parameter: x`, `Missing required argument 'x'`, `required argument "x" not
//! found`, `Parameter 'x' is required`, `"x" is required`, `unknown parameter: x`,
//! `parameter x is not of type string`.

use super::lead_in::Message;
use super::tokens::{after, ends_sentence, is_type_name, name, names};
use super::{About, Complaint, place};

pub(super) fn recognise(message: &Message<'_>) -> Vec<Complaint> {
    // A command line program that a tool runs complains in the same words, and adds its usage.
    if !message.is_one_line() && !message.blames_the_call() {
        return Vec::new();
    }
    let sentence = message.body.lines().next().unwrap_or_default();
    let found = missing_list(sentence)
        .or_else(|| unknown_list(sentence))
        .or_else(|| about_one_parameter(sentence));
    let Some((fields, about)) = found else {
        return Vec::new();
    };
    let at =
        |field: &String| place::complaint(&place::segments(field), message.scope, about.clone());
    fields.iter().filter_map(at).collect()
}

type Fault = (Vec<String>, About);

/// Longer words first: `parameters` is no `parameter` followed by an `s`.
const NOUNS: &str = "parameters parameter params param arguments argument args arg fields field \
                     properties property";

fn missing_list(sentence: &str) -> Option<Fault> {
    let openings = ["missing required ", "missing a value for the required "];
    let sentence = after(sentence, "the arguments dictionary is ").unwrap_or(sentence);
    let rest = openings.iter().find_map(|opening| after(sentence, opening))?;
    Some((listed_after_noun(rest)?, About::MissingField))
}

fn unknown_list(sentence: &str) -> Option<Fault> {
    let openings = ["unknown ", "unexpected ", "unrecognized ", "unrecognised "];
    let rest = openings.iter().find_map(|opening| after(sentence, opening))?;
    Some((listed_after_noun(rest)?, About::UnknownField))
}

/// The names of `parameters: a, b` where nothing but the end of the sentence follows them.
fn listed_after_noun(text: &str) -> Option<Vec<String>> {
    let rest = NOUNS.split(' ').find_map(|noun| after(text, noun))?;
    let rest = rest.strip_prefix("(s)").unwrap_or(rest);
    let list = rest.strip_prefix(':').unwrap_or(rest).strip_prefix(' ')?;
    let (fields, rest) = names(list.trim_start());
    (!fields.is_empty() && ends_sentence(rest)).then_some(fields)
}

/// Sentences whose subject is a parameter, told by its noun or by double quotes (as Joi writes).
fn about_one_parameter(sentence: &str) -> Option<Fault> {
    let noun = ["required parameter ", "required argument ", "parameter ", "argument "]
        .iter()
        .find_map(|noun| after(sentence, noun));
    let subject = noun.or_else(|| sentence.starts_with('"').then_some(sentence))?;
    let (field, predicate) = name(subject)?;
    let about = predicate_about(predicate)?;
    Some((vec![field.to_owned()], about))
}

fn predicate_about(predicate: &str) -> Option<About> {
    let missing =
        [" is required", " is missing", " not found", " was not provided", " must be provided"];
    if missing.iter().any(|words| after(predicate, words).is_some_and(ends_sentence)) {
        return Some(About::MissingField);
    }
    if after(predicate, " is not allowed").is_some_and(ends_sentence) {
        return Some(About::UnknownField);
    }
    let openings = [
        " is not of type ",
        " is not a ",
        " is not an ",
        " must be a ",
        " must be an ",
        " must be of type ",
    ];
    let (expected, _) = openings.iter().find_map(|words| after(predicate, words)).and_then(name)?;
    is_type_name(expected)
        .then(|| About::WrongType { expected: Some(expected.to_owned()), received: None })
}

#[cfg(test)]
mod tests {
    use crate::enhance::complaint::{About, Complaint, recognise};

    fn at(path: &str, about: About) -> Complaint {
        Complaint { about, path: path.into() }
    }

    #[test]
    fn a_missing_parameter_is_named_in_many_ways() {
        for text in [
            "missing required parameter: q",
            "Missing required argument 'q'",
            "Error: Missing required field `q`.",
            "required argument \"q\" not found",
            "Parameter 'q' is required",
            "\"q\" is required",
            "The arguments dictionary is missing a value for the required parameter 'q'. (Parameter 'arguments')",
        ] {
            assert_eq!(recognise(text), [at("/q", About::MissingField)], "{text}");
        }
    }

    #[test]
    fn several_missing_parameters_are_all_named() {
        let found = recognise("Missing required parameters: a, b and c");
        let paths: Vec<String> = found.into_iter().map(|c| c.path).collect();
        assert_eq!(paths, ["/a", "/b", "/c"]);
    }

    #[test]
    fn an_unknown_parameter_is_named() {
        for text in ["unknown parameter: x", "Unexpected argument 'x'.", "\"x\" is not allowed"] {
            assert_eq!(recognise(text), [at("/x", About::UnknownField)], "{text}");
        }
    }

    #[test]
    fn a_parameter_of_the_wrong_type_is_named() {
        let about = About::WrongType { expected: Some("string".into()), received: None };
        for text in [
            "parameter q is not of type string",
            "argument \"q\" is not a string",
            "\"q\" must be a string",
        ] {
            assert_eq!(recognise(text), [at("/q", about.clone())], "{text}");
        }
    }

    #[test]
    fn sentences_about_other_things_are_left() {
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
