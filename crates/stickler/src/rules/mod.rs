//! The table of everything Stickler can say about a call or a message: what it means, why it
//! matters, how to mend it. `stickler explain` and `docs/rules.md` are made from it.

mod calls;
mod messages;
pub mod probes;
pub mod tools;

use std::fmt;

pub(crate) use calls::UNUSABLE_SCHEMA;
pub use messages::MessageRule;

/// The codes that errors carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Code {
    /// Not connected to a server.
    NotConnected,
    /// The server cannot be started or reached.
    CannotStart,
    /// The server answered a call with an error.
    ToolFailed,
    /// A message broke the protocol.
    Protocol,
    /// The server did not answer in time.
    Timeout,
    /// The server went away.
    ServerGone,
    /// The server has no such tool.
    UnknownTool,
    /// The arguments do not satisfy the tool's schema.
    InvalidArguments,
    /// The tool's schema cannot be used.
    UnusableSchema,
    /// The result does not satisfy the tool's output schema.
    InvalidResult,
}

impl Code {
    /// As it is written: `STK-107`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotConnected => "STK-100",
            Self::CannotStart => "STK-101",
            Self::ToolFailed => "STK-102",
            Self::Protocol => "STK-103",
            Self::Timeout => "STK-104",
            Self::ServerGone => "STK-105",
            Self::UnknownTool => "STK-106",
            Self::InvalidArguments => "STK-107",
            Self::UnusableSchema => "STK-108",
            Self::InvalidResult => "STK-109",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Probably a mistake.
    Warning,
    /// Forbidden.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// One thing that can be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// The code or slug that it is known by.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What it is, in a line.
    pub summary: &'static str,
    /// Why it matters.
    pub why: &'static str,
    /// How to mend it.
    pub mend: &'static str,
    /// The JSON-RPC error code it is answered with, where it is.
    pub json_rpc: Option<i32>,
}

/// The codes of JSON-RPC and of MCP, all in one place.
pub mod json_rpc {
    /// The bytes are not JSON.
    pub const PARSE_ERROR: i32 = -32700;
    /// The JSON is no message.
    pub const INVALID_REQUEST: i32 = -32600;
    /// Nobody knows the method.
    pub const METHOD_NOT_FOUND: i32 = -32601;
    /// The parameters have the wrong shape.
    pub const INVALID_PARAMS: i32 = -32602;
    /// The other side failed.
    pub const INTERNAL_ERROR: i32 = -32603;
    /// A header and the body do not agree (2026-07-28).
    pub const HEADER_MISMATCH: i32 = -32020;
    /// The client did not announce a capability that the request needs (2026-07-28).
    pub const MISSING_CLIENT_CAPABILITY: i32 = -32021;
    /// A protocol version that is not spoken here (2026-07-28).
    pub const UNSUPPORTED_VERSION: i32 = -32022;
    /// A page must be visited first (2025-11-25).
    pub const URL_ELICITATION_REQUIRED: i32 = -32042;
}

/// The rule with that code or slug, whatever its case; `[STK-107]` is found too.
pub fn find(id: &str) -> Option<&'static Rule> {
    let id = id.trim().trim_start_matches('[').trim_end_matches(']').replace('-', "_");
    all().find(|rule| rule.id.replace('-', "_").eq_ignore_ascii_case(&id))
}

/// All rules: codes first, then what is said about arguments, about messages, about tool
/// definitions, and about servers that are tried.
pub fn all() -> impl Iterator<Item = &'static Rule> + Clone {
    let defined = tools::TOOLS.iter().chain(probes::PROBES).copied();
    calls::CALLS.iter().chain(messages::MESSAGES).chain(defined)
}

/// Each rule by a name of its own, and the list of them all.
macro_rules! rules {
    ($list:ident: $($name:ident = $id:literal, $severity:ident, $summary:literal, $why:literal, $mend:literal;)*) => {
        $(
            #[doc = $summary]
            pub static $name: Rule = Rule {
                id: $id,
                severity: Severity::$severity,
                summary: $summary,
                why: $why,
                mend: $mend,
                json_rpc: None,
            };
        )*
        pub(super) static $list: &[&Rule] = &[$(&$name),*];
    };
}
use rules;

#[cfg(test)]
mod tests {
    use super::{Code, MessageRule, all, find};
    use crate::arguments::ValidationErrorKind;

    #[test]
    fn every_code_and_every_kind_has_a_rule() {
        let codes = [
            Code::NotConnected,
            Code::CannotStart,
            Code::ToolFailed,
            Code::Protocol,
            Code::Timeout,
            Code::ServerGone,
            Code::UnknownTool,
            Code::InvalidArguments,
            Code::UnusableSchema,
            Code::InvalidResult,
        ];
        assert!(codes.iter().all(|code| find(code.as_str()).is_some()));
        let kinds = [
            ValidationErrorKind::MissingRequired { field: String::new() },
            ValidationErrorKind::TypeMismatch { expected: String::new(), actual: String::new() },
            ValidationErrorKind::UnknownField { field: String::new(), suggestions: vec![] },
            ValidationErrorKind::InvalidValue { reason: String::new() },
            ValidationErrorKind::InvalidEnum { value: String::new(), allowed: vec![] },
            ValidationErrorKind::UnknownTool { name: String::new(), suggestions: vec![] },
        ];
        assert!(MessageRule::ALL.iter().all(|rule| find(rule.as_str()).is_some()));
        assert!(kinds.iter().all(|kind| find(kind.name()).is_some()));
    }

    #[test]
    fn rules_are_found_as_people_write_them() {
        for written in ["STK-107", "stk-107", "[STK-107]", " stk_107 "] {
            assert_eq!(find(written).map(|rule| rule.id), Some("STK-107"), "{written}");
        }
        assert_eq!(find("missing-required").map(|rule| rule.id), Some("missing_required"));
        assert_eq!(find("STK-999"), None);
    }

    #[test]
    fn no_two_rules_share_a_name() {
        let mut ids: Vec<&str> = all().map(|rule| rule.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all().count());
    }
}
