//! Pydantic's dump of a failed argument model.
//!
//! ```text
//! Error executing tool f: 1 validation error for fArguments
//! name
//!   Field required [type=missing, input_value={}, input_type=dict]
//! ```

use super::lead_in::Message;
use super::tokens::quoted;
use super::{About, Complaint, place};

pub(super) fn recognise(message: &Message<'_>) -> Vec<Complaint> {
    let mut lines = message.body.lines();
    let Some(model) = lines.next().and_then(model_name) else {
        return Vec::new();
    };
    if !message.blames_the_call() && !models_arguments(model) {
        return Vec::new();
    }
    let mut field = "";
    let mut complaints = Vec::new();
    for line in lines {
        if let Some(about) = error_line(line) {
            complaints.extend(place::complaint(&location(field), message.scope, about));
        } else if !line.starts_with(' ') {
            field = line.trim_end();
        }
    }
    complaints
}

/// The `X` of `2 validation errors for X`.
fn model_name(line: &str) -> Option<&str> {
    let (count, rest) = line.split_once(' ')?;
    count.parse::<u32>().ok()?;
    let rest = rest.strip_prefix("validation error")?;
    let model = rest.strip_prefix('s').unwrap_or(rest).strip_prefix(" for ")?;
    Some(model.trim())
}

/// Pydantic reads upstream answers and settings too; only the names of argument models count.
fn models_arguments(model: &str) -> bool {
    let endings = ["Arguments", "Args", "Params", "Parameters", "ToolInput"];
    endings.iter().any(|ending| model.ends_with(ending))
        || model.starts_with("call[")
        || model == "CallToolRequest"
}

/// What a line such as `  Field required [type=missing, …]` complains about.
fn error_line(line: &str) -> Option<About> {
    let (words, details) = line.strip_prefix("  ")?.split_once(" [type=")?;
    let kind = details.split([',', ']']).next()?;
    // The value comes before its type and may hold any text, hence the last one.
    let received = details
        .rsplit_once(", input_type=")
        .and_then(|(_, rest)| rest.split([']', ',']).next())
        .map(str::to_owned);
    Some(match kind {
        "missing" | "missing_argument" | "missing_keyword_only_argument" => About::MissingField,
        "extra_forbidden" | "unexpected_keyword_argument" => About::UnknownField,
        "literal_error" | "enum" => About::NotInEnum { allowed: quoted(words) },
        _ if is_type_error(kind) => About::WrongType { expected: expected(words), received },
        _ => About::InvalidArguments,
    })
}

fn is_type_error(kind: &str) -> bool {
    let endings = ["_type", "_parsing", "_attributes_type", "_instance_of"];
    endings.iter().any(|ending| kind.ends_with(ending)) || kind == "int_from_float"
}

/// The `string` of `Input should be a valid string, unable to …`.
fn expected(words: &str) -> Option<String> {
    let rest = words.strip_prefix("Input should be ")?;
    let rest = ["a valid ", "an ", "a "].iter().find_map(|s| rest.strip_prefix(s)).unwrap_or(rest);
    rest.split([',', ' ']).next().filter(|word| !word.is_empty()).map(str::to_owned)
}

/// The segments of a dotted location, without the branch of a union that pydantic appends.
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
    use crate::enhance::complaint::{About, Complaint, recognise};

    fn dump(field: &str, error: &str) -> Vec<Complaint> {
        recognise(&format!(
            "Error executing tool f: 1 validation error for fArguments\n{field}\n  {error}\n    \
             For further information visit https://errors.example/v"
        ))
    }

    #[test]
    fn a_missing_field_is_found_at_its_nested_path() {
        let found =
            dump("items.0.name", "Field required [type=missing, input_value={}, input_type=dict]");
        assert_eq!(found, [Complaint { about: About::MissingField, path: "/items/0/name".into() }]);
    }

    #[test]
    fn each_error_has_its_own_field() {
        let text = "2 validation errors for call[f]\na\n  Missing required argument \
                    [type=missing_argument, input_value=ArgsKwargs(()), input_type=ArgsKwargs]\nb\n  \
                    Unexpected keyword argument [type=unexpected_keyword_argument, input_value=1, \
                    input_type=int]";
        let missing = Complaint { about: About::MissingField, path: "/a".into() };
        let unknown = Complaint { about: About::UnknownField, path: "/b".into() };
        assert_eq!(recognise(text), [missing, unknown]);
    }

    #[test]
    fn a_wrong_type_is_told_whatever_the_value_holds() {
        let found = dump(
            "n",
            "Input should be a valid integer, unable to parse string as an integer \
             [type=int_parsing, input_value='x, input_type=y]', input_type=str]",
        );
        let about =
            About::WrongType { expected: Some("integer".into()), received: Some("str".into()) };
        assert_eq!(found, [Complaint { about, path: "/n".into() }]);
    }

    #[test]
    fn the_allowed_values_are_listed() {
        let found = dump(
            "mode",
            "Input should be 'r' or 'w' [type=literal_error, input_value='q', input_type=str]",
        );
        let about = About::NotInEnum { allowed: vec!["r".into(), "w".into()] };
        assert_eq!(found, [Complaint { about, path: "/mode".into() }]);
    }

    #[test]
    fn the_branch_of_a_union_is_no_part_of_the_path() {
        let found = dump(
            "n.int",
            "Input should be a valid integer [type=int_type, input_value=[], input_type=list]",
        );
        assert_eq!(found.first().map(|c| c.path.as_str()), Some("/n"));
        let named_so =
            dump("int", "Field required [type=missing, input_value={}, input_type=dict]");
        assert_eq!(named_so.first().map(|c| c.path.as_str()), Some("/int"));
    }

    #[test]
    fn other_constraints_keep_their_path() {
        let found = dump(
            "n",
            "Input should be greater than 0 [type=greater_than, input_value=-1, input_type=int]",
        );
        assert_eq!(found, [Complaint { about: About::InvalidArguments, path: "/n".into() }]);
    }

    #[test]
    fn a_dump_about_an_upstream_answer_is_left() {
        let text = "1 validation error for WeatherReply\nt\n  Field required [type=missing, input_value={}, input_type=dict]";
        assert_eq!(recognise(text), []);
        assert_eq!(recognise("some validation errors for fArguments\nx\n  y"), []);
    }
}
