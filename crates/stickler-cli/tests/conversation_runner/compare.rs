//! Compares headers and event fields with the options of a step.

use super::http::{Event, Head};
use super::options::Options;
use super::template::{Bindings, matches};

/// Checks the headers that a step names; the value `-` means that the header must be absent.
pub(crate) fn headers(
    head: &Head,
    options: &Options,
    bindings: &mut Bindings,
) -> Result<(), String> {
    for (name, expected) in &options.headers {
        let actual = head.header(name).unwrap_or("-");
        if !matches(expected, actual, bindings) {
            return Err(format!("header `{name}`: expected `{expected}`, received `{actual}`"));
        }
    }
    Ok(())
}

/// Checks the fields (`id`, `event`) that a step names; the value `-` means that the field must be absent.
pub(crate) fn fields(
    event: &Event,
    options: &Options,
    bindings: &mut Bindings,
) -> Result<(), String> {
    if !options.has("event") {
        return Ok(());
    }
    for (name, expected) in &options.headers {
        let actual = if name == "id" { &event.id } else { &event.name };
        let actual = actual.as_deref().unwrap_or("-");
        if !matches(expected, actual, bindings) {
            return Err(format!(
                "event field `{name}`: expected `{expected}`, received `{actual}`"
            ));
        }
    }
    Ok(())
}
