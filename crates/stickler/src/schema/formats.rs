//! Registers the checks of the `format` keyword with the engine.
//!
//! Contract: with [`Formats::Lenient`] a string that pydantic, zod or ajv accept for a format of the table in
//! [`Formats`] is accepted, with the exceptions that `tests/formats.rs` lists. Servers declare the format that
//! their library generates and accept more than the specification defines, so a strict check would reject
//! calls that work.

mod date_time;

use std::net::{Ipv4Addr, Ipv6Addr};

use super::engine::Options;
use crate::config::Formats;

/// Formats that the engine knows and that pass with [`Formats::Lenient`].
const UNCHECKED: [&str; 11] = [
    "duration",
    "hostname",
    "idn-email",
    "idn-hostname",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "uri-reference",
    "uri-template",
];

/// Returns whether a lenient check of the format accepts more than a strict one.
pub(super) fn is_widened(format: &str) -> bool {
    UNCHECKED.contains(&format) || matches!(format, "date-time" | "time" | "uri" | "email" | "uuid")
}

/// Registers the checks.
pub(super) fn register(options: Options<'_>, formats: Formats) -> Options<'_> {
    match formats {
        Formats::Ignore => options.should_validate_formats(false),
        // JSON Schema does not define `url`.
        Formats::Strict => options.should_validate_formats(true).with_format("url", is_url),
        Formats::Lenient => {
            let options = options
                .should_validate_formats(true)
                .with_format("date-time", date_time::is_date_time)
                .with_format("date", date_time::is_date)
                .with_format("time", date_time::is_time)
                .with_format("uri", is_url)
                .with_format("url", is_url)
                .with_format("email", is_email)
                .with_format("uuid", is_uuid)
                .with_format("ipv4", |text: &str| text.parse::<Ipv4Addr>().is_ok())
                .with_format("ipv6", |text: &str| text.parse::<Ipv6Addr>().is_ok());
            UNCHECKED
                .iter()
                .fold(options, |options, format| options.with_format(*format, |_: &str| true))
        }
    }
}

/// Returns whether a WHATWG URL parser accepts an absolute URL.
fn is_url(text: &str) -> bool {
    url::Url::parse(text).is_ok()
}

fn is_email(text: &str) -> bool {
    let has_both_sides =
        text.rsplit_once('@').is_some_and(|(local, host)| !local.is_empty() && !host.is_empty());
    has_both_sides && !text.contains(char::is_whitespace)
}

/// Returns whether a text is 32 hexadecimal digits, apart from hyphens.
fn is_uuid(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_hexdigit).count();
    digits == 32 && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}
