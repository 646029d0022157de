//! Table of all error codes and rules, with the meaning, the reason and the fix of each.
//!
//! Findings about calls, messages, tool definitions and servers refer to these entries. The output
//! of `stickler explain` and the page `docs/rules.md` are generated from the table. Ids are stable
//! and unique.

mod calls;
mod messages;
pub mod probes;
pub mod tools;

use std::fmt;

pub(crate) use calls::UNUSABLE_SCHEMA;
pub use messages::MessageRule;

/// Error codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Code {
    /// Not connected to a server.
    NotConnected,
    /// The server cannot be started or reached.
    CannotStart,
    /// The server responded to a call with an error.
    ToolFailed,
    /// A message violated the protocol.
    Protocol,
    /// The server did not respond in time.
    Timeout,
    /// The server disconnected.
    ServerGone,
    /// The server does not have the tool.
    UnknownTool,
    /// The arguments do not satisfy the tool's schema.
    InvalidArguments,
    /// The tool's schema cannot be used.
    UnusableSchema,
    /// The result does not satisfy the tool's output schema.
    InvalidResult,
}

impl Code {
    /// Returns the code as text, for example `STK-107`.
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

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Probably a mistake.
    Warning,
    /// Forbidden, or makes a message or tool unusable.
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

/// An error code or rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// The code or slug.
    pub id: &'static str,
    /// The default severity.
    pub severity: Severity,
    /// One-line description.
    pub summary: &'static str,
    /// Why it matters.
    pub why: &'static str,
    /// How to fix it.
    pub fix: &'static str,
    /// The JSON-RPC error code of the response, if the rule leads to one.
    pub json_rpc: Option<i32>,
}

/// Error codes of JSON-RPC and MCP.
pub mod json_rpc {
    /// The bytes are not JSON.
    pub const PARSE_ERROR: i32 = -32700;
    /// The JSON is not a JSON-RPC message.
    pub const INVALID_REQUEST: i32 = -32600;
    /// The method is unknown.
    pub const METHOD_NOT_FOUND: i32 = -32601;
    /// The parameters are invalid.
    pub const INVALID_PARAMS: i32 = -32602;
    /// The peer failed.
    pub const INTERNAL_ERROR: i32 = -32603;
    /// A header does not match the body (2026-07-28).
    pub const HEADER_MISMATCH: i32 = -32020;
    /// The client did not announce a capability that the request needs (2026-07-28).
    pub const MISSING_CLIENT_CAPABILITY: i32 = -32021;
    /// The protocol version is not supported (2026-07-28).
    pub const UNSUPPORTED_VERSION: i32 = -32022;
    /// The user must visit a URL first (2025-11-25).
    pub const URL_ELICITATION_REQUIRED: i32 = -32042;
}

/// Returns the rule with a code or slug.
///
/// The case, surrounding brackets (`[STK-107]`) and the choice of `-` or `_` do not matter.
pub fn find(id: &str) -> Option<&'static Rule> {
    let id = id.trim().trim_start_matches('[').trim_end_matches(']').replace('-', "_");
    all().find(|rule| rule.id.replace('-', "_").eq_ignore_ascii_case(&id))
}

/// Returns all rules: codes first, then the rules for arguments, messages, tool definitions and
/// probed servers.
pub fn all() -> impl Iterator<Item = &'static Rule> + Clone {
    let defined = tools::TOOLS.iter().chain(probes::PROBES).copied();
    calls::CALLS.iter().chain(messages::MESSAGES).chain(defined)
}

/// Defines a static for each rule and a list of all of them.
macro_rules! rules {
    ($list:ident: $($name:ident = $id:literal, $severity:ident, $summary:literal, $why:literal, $fix:literal;)*) => {
        $(
            #[doc = $summary]
            pub static $name: Rule = Rule {
                id: $id,
                severity: Severity::$severity,
                summary: $summary,
                why: $why,
                fix: $fix,
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
        for (number, code) in (100..).zip(codes) {
            assert_eq!(code.as_str(), format!("STK-{number}"));
            let rule = find(code.as_str()).unwrap();
            assert!(!rule.why.is_empty() && !rule.fix.is_empty(), "{code}");
        }
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
    fn rules_are_found_regardless_of_case_brackets_and_separator() {
        for spelling in ["STK-107", "stk-107", "[STK-107]", " stk_107 "] {
            assert_eq!(find(spelling).map(|rule| rule.id), Some("STK-107"), "{spelling}");
        }
        assert_eq!(find("missing-required").map(|rule| rule.id), Some("missing_required"));
        assert_eq!(find("STK-999"), None);
    }

    #[test]
    fn rule_ids_are_unique() {
        let mut ids: Vec<&str> = all().map(|rule| rule.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all().count());
    }
}
