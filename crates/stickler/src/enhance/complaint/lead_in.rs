//! Peels off what servers and SDKs put before the complaint itself, and notes whether it says
//! that the arguments, or the whole request, are at fault.
//!
//! `MCP error -32602: Input validation error: Invalid arguments for tool f: path: Required`
//! leaves `path: Required`, said to be about the arguments.

use self::Opening::{Around, Fixed, Named};
use super::tokens::{after, is_path};

/// A server's text without its lead-ins.
pub(super) struct Message<'t> {
    pub(super) body: &'t str,
    pub(super) scope: Scope,
}

/// What the lead-ins say the rest of the text is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Nothing was said: only a body of unmistakable shape may be believed.
    Unstated,
    /// The whole `tools/call` request: paths begin at `params`.
    Request,
    /// The arguments: paths begin inside them.
    Arguments,
}

impl<'t> Message<'t> {
    pub(super) fn read(text: &'t str) -> Self {
        let mut message = Self { body: text.trim(), scope: Scope::Unstated };
        // Real texts stack at most four; the bound keeps a text of nothing but lead-ins cheap.
        for _ in 0..8 {
            let Some((body, scope)) = peel(message.body) else {
                break;
            };
            message.body = body;
            if scope != Scope::Unstated {
                message.scope = scope;
            }
        }
        message
    }

    /// Whether the server itself says that the call was at fault.
    pub(super) fn blames_the_call(&self) -> bool {
        self.scope != Scope::Unstated
    }

    /// Whether there is nothing but one line, as when a text is one library's message.
    pub(super) fn is_one_line(&self) -> bool {
        !self.body.contains('\n')
    }
}

enum Opening {
    /// The words up to and with their colon.
    Fixed(&'static str),
    /// Words that a tool's name and a colon follow.
    Named(&'static str),
    /// Words, a tool's name, more words.
    Around(&'static str, &'static str),
}

/// Words that every kind of failure begins with.
const NEUTRAL: [Opening; 10] = [
    Fixed("error:"),
    Fixed("mcperror:"),
    Fixed("zoderror:"),
    Fixed("toolerror:"),
    Fixed("validationerror:"),
    Fixed("validation error:"),
    Fixed("invalid request:"),
    Named("mcp error "),
    Named("error executing tool "),
    Named("error calling tool "),
];

const ABOUT_ARGUMENTS: [Opening; 12] = [
    Fixed("input validation error:"),
    Fixed("invalid arguments:"),
    Fixed("invalid params:"),
    Fixed("invalid parameters:"),
    Fixed("failed to deserialize parameters:"),
    Fixed("argument validation failed:"),
    Fixed("validating \"arguments\":"),
    Named("invalid arguments for tool "),
    Named("invalid arguments for "),
    Named("invalid parameters for tool "),
    Named("invalid params for tool "),
    Around("tool ", " parameter validation failed:"),
];

const ABOUT_THE_REQUEST: [Opening; 3] = [
    Fixed("invalid request parameters:"),
    Fixed("invalid tools/call request:"),
    Fixed("unparsable tools/call request:"),
];

fn peel(text: &str) -> Option<(&str, Scope)> {
    if let Some(rest) = invalid_argument_line(text) {
        return Some((rest, Scope::Arguments));
    }
    let tables: [(&[Opening], Scope); 3] = [
        (&NEUTRAL, Scope::Unstated),
        (&ABOUT_ARGUMENTS, Scope::Arguments),
        (&ABOUT_THE_REQUEST, Scope::Request),
    ];
    tables.iter().find_map(|(openings, scope)| {
        let rest = openings.iter().find_map(|opening| opening.peeled(text))?;
        Some((rest.trim_start(), *scope))
    })
}

impl Opening {
    fn peeled<'t>(&self, text: &'t str) -> Option<&'t str> {
        match self {
            Fixed(words) => after(text, words),
            Named(words) => after_name(after(text, words)?, ":"),
            Around(words, tail) => after_name(after(text, words)?, tail),
        }
    }
}

/// `Invalid argument: path: is required`. The operating system says `Invalid argument: …` too, so
/// a field has to follow.
fn invalid_argument_line(text: &str) -> Option<&str> {
    let rest = after(text, "invalid argument: ")?;
    let (field, _) = rest.split_once(": ")?;
    is_path(field).then_some(rest)
}

const LONGEST_NAME: usize = 200;

/// What follows a name without spaces and then `tail`.
fn after_name<'t>(text: &'t str, tail: &str) -> Option<&'t str> {
    let end = text
        .char_indices()
        .take(LONGEST_NAME)
        .find_map(|(at, _)| text.get(at..).filter(|rest| rest.starts_with(tail)).map(|_| at))?;
    let name = text.get(..end)?;
    let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
    is_name.then(|| text.get(end + tail.len()..)).flatten()
}

#[cfg(test)]
mod tests {
    use super::{Message, Scope};

    fn read(text: &str) -> (&str, Scope) {
        let message = Message::read(text);
        (message.body, message.scope)
    }

    #[test]
    fn stacked_lead_ins_are_all_peeled() {
        let text = "MCP error -32602: Input validation error: Invalid arguments for tool f: rest";
        assert_eq!(read(text), ("rest", Scope::Arguments));
        let text = "Error executing tool f: Invalid arguments for f:\n- a: required";
        assert_eq!(read(text), ("- a: required", Scope::Arguments));
        let text = "Tool 'f' parameter validation failed: a: Required";
        assert_eq!(read(text), ("a: Required", Scope::Arguments));
    }

    #[test]
    fn a_request_lead_in_is_told_from_an_arguments_one() {
        assert_eq!(read("Invalid tools/call request: [1]"), ("[1]", Scope::Request));
    }

    #[test]
    fn an_error_code_or_tool_name_alone_blames_nobody() {
        assert_eq!(read("MCP error -32602: no such place"), ("no such place", Scope::Unstated));
        assert_eq!(read("Error executing tool f: boom"), ("boom", Scope::Unstated));
    }

    #[test]
    fn the_operating_systems_invalid_argument_stays() {
        let text = "Invalid argument: '/dev/zero'";
        assert_eq!(read(text), (text, Scope::Unstated));
        assert_eq!(read("Invalid argument: a: is required").1, Scope::Arguments);
    }

    #[test]
    fn words_that_only_begin_like_a_lead_in_stay() {
        let text = "Invalid arguments for the second time of asking: none";
        assert_eq!(read(text), (text, Scope::Unstated));
    }
}
