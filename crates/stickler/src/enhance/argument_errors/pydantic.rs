//! Recognises the validation errors that pydantic prints for an argument model.
//!
//! ```text
//! Error executing tool f: 1 validation error for fArguments
//! name
//!   Field required [type=missing, input_value={}, input_type=dict]
//! ```

use super::prefix::ErrorMessage;
use super::tokens::quoted_words;
use super::{ArgumentError, ErrorKind, field_path};

pub(super) fn recognise(message: &ErrorMessage<'_>) -> Vec<ArgumentError> {
    let mut lines = message.body.lines();
    let Some(model) = lines.next().and_then(model_name) else {
        return Vec::new();
    };
    if !message.is_about_the_call() && !models_arguments(model) {
        return Vec::new();
    }
    let mut field = "";
    let mut errors = Vec::new();
    for line in lines {
        if let Some(kind) = error_line(line) {
            errors.extend(field_path::error_at(&location(field), message.scope, kind));
        } else if !line.starts_with(' ') {
            field = line.trim_end();
        }
    }
    errors
}

/// Returns `X` from `2 validation errors for X`.
fn model_name(line: &str) -> Option<&str> {
    let (count, rest) = line.split_once(' ')?;
    count.parse::<u32>().ok()?;
    let rest = rest.strip_prefix("validation error")?;
    let model = rest.strip_prefix('s').unwrap_or(rest).strip_prefix(" for ")?;
    Some(model.trim())
}

/// Servers also validate the responses of other services and their settings with pydantic, so the
/// model must be named after arguments.
fn models_arguments(model: &str) -> bool {
    let endings = ["Arguments", "Args", "Params", "Parameters", "ToolInput"];
    endings.iter().any(|ending| model.ends_with(ending))
        || model.starts_with("call[")
        || model == "CallToolRequest"
}

/// Classifies a line such as `  Field required [type=missing, …]`.
fn error_line(line: &str) -> Option<ErrorKind> {
    let (words, details) = line.strip_prefix("  ")?.split_once(" [type=")?;
    let error_type = details.split([',', ']']).next()?;
    // The value precedes its type and may contain any text, so the last match is used.
    let received = details
        .rsplit_once(", input_type=")
        .and_then(|(_, rest)| rest.split([']', ',']).next())
        .map(str::to_owned);
    Some(match error_type {
        "missing" | "missing_argument" | "missing_keyword_only_argument" => ErrorKind::MissingField,
        "extra_forbidden" | "unexpected_keyword_argument" => ErrorKind::UnknownField,
        "literal_error" | "enum" => ErrorKind::NotInEnum { allowed: quoted_words(words) },
        _ if is_type_error(error_type) => {
            ErrorKind::WrongType { expected: expected(words), received }
        }
        _ => ErrorKind::InvalidArguments,
    })
}

fn is_type_error(error_type: &str) -> bool {
    let endings = ["_type", "_parsing", "_attributes_type", "_instance_of"];
    endings.iter().any(|ending| error_type.ends_with(ending)) || error_type == "int_from_float"
}

/// Returns `string` from `Input should be a valid string, unable to …`.
fn expected(words: &str) -> Option<String> {
    let rest = words.strip_prefix("Input should be ")?;
    let rest = ["a valid ", "an ", "a "].iter().find_map(|s| rest.strip_prefix(s)).unwrap_or(rest);
    rest.split([',', ' ']).next().filter(|word| !word.is_empty()).map(str::to_owned)
}

/// Returns the segments of a dotted location, without the union branch that pydantic appends.
fn location(field: &str) -> Vec<String> {
    let is_branch = |segment: &str| {
        matches!(segment, "str" | "int" | "float" | "bool" | "none")
            || ["list[", "dict[", "literal[", "function-", "constrained-", "json-or-python["]
                .iter()
                .any(|opening| segment.starts_with(opening))
    };
    let mut segments: Vec<String> = Vec::new();
    for segment in field.split('.').filter(|segment| !segment.is_empty()) {
        if !segments.is_empty() && is_branch(segment) {
            break;
        }
        segments.push(segment.to_owned());
    }
    segments
}

#[cfg(test)]
mod tests {
    use crate::enhance::argument_errors::{ArgumentError, ErrorKind, recognise};

    fn dump(field: &str, error: &str) -> Vec<ArgumentError> {
        recognise(&format!(
            "Error executing tool f: 1 validation error for fArguments\n{field}\n  {error}\n    \
             For further information visit https://errors.example/v"
        ))
    }

    #[test]
    fn missing_field_is_reported_at_its_nested_path() {
        let found =
            dump("items.0.name", "Field required [type=missing, input_value={}, input_type=dict]");
        assert_eq!(
            found,
            [ArgumentError { kind: ErrorKind::MissingField, path: "/items/0/name".into() }]
        );
    }

    #[test]
    fn each_error_is_reported_at_its_field() {
        let text = "2 validation errors for call[f]\na\n  Missing required argument \
                    [type=missing_argument, input_value=ArgsKwargs(()), input_type=ArgsKwargs]\nb\n  \
                    Unexpected keyword argument [type=unexpected_keyword_argument, input_value=1, \
                    input_type=int]";
        let missing = ArgumentError { kind: ErrorKind::MissingField, path: "/a".into() };
        let unknown = ArgumentError { kind: ErrorKind::UnknownField, path: "/b".into() };
        assert_eq!(recognise(text), [missing, unknown]);
    }

    #[test]
    fn wrong_type_is_recognised_regardless_of_the_value() {
        let found = dump(
            "n",
            "Input should be a valid integer, unable to parse string as an integer \
             [type=int_parsing, input_value='x, input_type=y]', input_type=str]",
        );
        let kind =
            ErrorKind::WrongType { expected: Some("integer".into()), received: Some("str".into()) };
        assert_eq!(found, [ArgumentError { kind, path: "/n".into() }]);
    }

    #[test]
    fn allowed_values_are_listed() {
        let found = dump(
            "mode",
            "Input should be 'r' or 'w' [type=literal_error, input_value='q', input_type=str]",
        );
        let kind = ErrorKind::NotInEnum { allowed: vec!["r".into(), "w".into()] };
        assert_eq!(found, [ArgumentError { kind, path: "/mode".into() }]);
    }

    #[test]
    fn union_branch_is_not_part_of_the_path() {
        let found = dump(
            "n.int",
            "Input should be a valid integer [type=int_type, input_value=[], input_type=list]",
        );
        assert_eq!(found.first().map(|c| c.path.as_str()), Some("/n"));
        let field_named_int =
            dump("int", "Field required [type=missing, input_value={}, input_type=dict]");
        assert_eq!(field_named_int.first().map(|c| c.path.as_str()), Some("/int"));
    }

    #[test]
    fn other_constraints_keep_their_path() {
        let found = dump(
            "n",
            "Input should be greater than 0 [type=greater_than, input_value=-1, input_type=int]",
        );
        assert_eq!(found, [ArgumentError { kind: ErrorKind::InvalidArguments, path: "/n".into() }]);
    }

    #[test]
    fn errors_of_other_models_are_ignored() {
        let text = "1 validation error for WeatherReply\nt\n  Field required [type=missing, input_value={}, input_type=dict]";
        assert_eq!(recognise(text), []);
        assert_eq!(recognise("some validation errors for fArguments\nx\n  y"), []);
    }
}
