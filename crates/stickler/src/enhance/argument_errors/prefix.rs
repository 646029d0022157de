//! Strips the prefixes that servers and SDKs add to an error text, and derives from them whether
//! the text is about the arguments or about the whole request.
//!
//! `MCP error -32602: Input validation error: Invalid arguments for tool f: path: Required`
//! becomes `path: Required` with the scope `Arguments`.

use self::Prefix::{AroundToolName, BeforeToolName, Fixed};
use super::tokens::{is_path, strip_prefix_ignore_case};

/// An error text without its prefixes.
pub(super) struct ErrorMessage<'t> {
    pub(super) body: &'t str,
    pub(super) scope: Scope,
}

/// The subject of the text according to its prefixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Unknown. Only texts in an unambiguous format are recognised.
    Unstated,
    /// The whole `tools/call` request. Paths start at `params`.
    Request,
    /// The arguments. Paths are relative to them.
    Arguments,
}

impl<'t> ErrorMessage<'t> {
    pub(super) fn read(text: &'t str) -> Self {
        let mut message = Self { body: text.trim(), scope: Scope::Unstated };
        // Known servers add at most four prefixes; the bound limits the work for other texts.
        for _ in 0..8 {
            let Some((body, scope)) = strip_one(message.body) else {
                break;
            };
            message.body = body;
            if scope != Scope::Unstated {
                message.scope = scope;
            }
        }
        message
    }

    /// Whether a prefix states that the call is invalid.
    pub(super) fn is_about_the_call(&self) -> bool {
        self.scope != Scope::Unstated
    }

    /// Whether the text is a single line, like the message of a library.
    pub(super) fn is_one_line(&self) -> bool {
        !self.body.contains('\n')
    }
}

enum Prefix {
    /// A fixed text that includes the colon.
    Fixed(&'static str),
    /// A text that is followed by the name of the tool and a colon.
    BeforeToolName(&'static str),
    /// A text before and a text after the name of the tool.
    AroundToolName(&'static str, &'static str),
}

/// Prefixes of all kinds of failures.
const NEUTRAL_PREFIXES: [Prefix; 10] = [
    Fixed("error:"),
    Fixed("mcperror:"),
    Fixed("zoderror:"),
    Fixed("toolerror:"),
    Fixed("validationerror:"),
    Fixed("validation error:"),
    Fixed("invalid request:"),
    BeforeToolName("mcp error "),
    BeforeToolName("error executing tool "),
    BeforeToolName("error calling tool "),
];

const ARGUMENT_PREFIXES: [Prefix; 12] = [
    Fixed("input validation error:"),
    Fixed("invalid arguments:"),
    Fixed("invalid params:"),
    Fixed("invalid parameters:"),
    Fixed("failed to deserialize parameters:"),
    Fixed("argument validation failed:"),
    Fixed("validating \"arguments\":"),
    BeforeToolName("invalid arguments for tool "),
    BeforeToolName("invalid arguments for "),
    BeforeToolName("invalid parameters for tool "),
    BeforeToolName("invalid params for tool "),
    AroundToolName("tool ", " parameter validation failed:"),
];

const REQUEST_PREFIXES: [Prefix; 3] = [
    Fixed("invalid request parameters:"),
    Fixed("invalid tools/call request:"),
    Fixed("unparsable tools/call request:"),
];

fn strip_one(text: &str) -> Option<(&str, Scope)> {
    if let Some(rest) = invalid_argument_line(text) {
        return Some((rest, Scope::Arguments));
    }
    let tables: [(&[Prefix], Scope); 3] = [
        (&NEUTRAL_PREFIXES, Scope::Unstated),
        (&ARGUMENT_PREFIXES, Scope::Arguments),
        (&REQUEST_PREFIXES, Scope::Request),
    ];
    tables.iter().find_map(|(prefixes, scope)| {
        let rest = prefixes.iter().find_map(|prefix| prefix.strip(text))?;
        Some((rest.trim_start(), *scope))
    })
}

impl Prefix {
    fn strip<'t>(&self, text: &'t str) -> Option<&'t str> {
        match self {
            Fixed(words) => strip_prefix_ignore_case(text, words),
            BeforeToolName(words) => after_name(strip_prefix_ignore_case(text, words)?, ":"),
            AroundToolName(words, tail) => after_name(strip_prefix_ignore_case(text, words)?, tail),
        }
    }
}

/// `Invalid argument: path: is required`. Errors of the operating system also start with
/// `Invalid argument: …`, so a field must follow.
fn invalid_argument_line(text: &str) -> Option<&str> {
    let rest = strip_prefix_ignore_case(text, "invalid argument: ")?;
    let (field, _) = rest.split_once(": ")?;
    is_path(field).then_some(rest)
}

/// Maximum length of a tool name in a prefix, in characters.
const MAX_TOOL_NAME_CHARS: usize = 200;

/// Returns the text after a name without spaces and `tail`.
fn after_name<'t>(text: &'t str, tail: &str) -> Option<&'t str> {
    let end = text
        .char_indices()
        .take(MAX_TOOL_NAME_CHARS)
        .find_map(|(at, _)| text.get(at..).filter(|rest| rest.starts_with(tail)).map(|_| at))?;
    let name = text.get(..end)?;
    let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
    is_name.then(|| text.get(end + tail.len()..)).flatten()
}

#[cfg(test)]
mod tests {
    use super::{ErrorMessage, Scope};

    fn read(text: &str) -> (&str, Scope) {
        let message = ErrorMessage::read(text);
        (message.body, message.scope)
    }

    #[test]
    fn stacked_prefixes_are_all_stripped() {
        let text = "MCP error -32602: Input validation error: Invalid arguments for tool f: rest";
        assert_eq!(read(text), ("rest", Scope::Arguments));
        let text = "Error executing tool f: Invalid arguments for f:\n- a: required";
        assert_eq!(read(text), ("- a: required", Scope::Arguments));
        let text = "Tool 'f' parameter validation failed: a: Required";
        assert_eq!(read(text), ("a: Required", Scope::Arguments));
    }

    #[test]
    fn request_prefixes_set_the_request_scope() {
        assert_eq!(read("Invalid tools/call request: [1]"), ("[1]", Scope::Request));
    }

    #[test]
    fn error_code_or_tool_name_alone_does_not_set_a_scope() {
        assert_eq!(read("MCP error -32602: no such place"), ("no such place", Scope::Unstated));
        assert_eq!(read("Error executing tool f: boom"), ("boom", Scope::Unstated));
    }

    #[test]
    fn invalid_argument_of_the_operating_system_is_kept() {
        let text = "Invalid argument: '/dev/zero'";
        assert_eq!(read(text), (text, Scope::Unstated));
        assert_eq!(read("Invalid argument: a: is required").1, Scope::Arguments);
    }

    #[test]
    fn text_that_only_starts_like_a_prefix_is_kept() {
        let text = "Invalid arguments for the second time of asking: none";
        assert_eq!(read(text), (text, Scope::Unstated));
    }
}
