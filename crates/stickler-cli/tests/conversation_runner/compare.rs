//! Headers and event fields against what a step says of them.

use super::http::{Event, Head};
use super::options::Options;
use super::template::{Bindings, matches};

/// Every header that a step names has its value; `-` means that there is none.
pub(crate) fn headers(
    head: &Head,
    options: &Options,
    bindings: &mut Bindings,
) -> Result<(), String> {
    for (name, expected) in &options.headers {
        let came = head.header(name).unwrap_or("-");
        if !matches(expected, came, bindings) {
            return Err(format!("header `{name}`: expected `{expected}`, came `{came}`"));
        }
    }
    Ok(())
}

/// Every field that a step names (`id`, `event`) has its value; `-` means that there is none.
pub(crate) fn fields(
    event: &Event,
    options: &Options,
    bindings: &mut Bindings,
) -> Result<(), String> {
    if !options.has("event") {
        return Ok(());
    }
    for (name, expected) in &options.headers {
        let came = if name == "id" { &event.id } else { &event.name };
        let came = came.as_deref().unwrap_or("-");
        if !matches(expected, came, bindings) {
            return Err(format!(
                "field `{name}` of the event: expected `{expected}`, came `{came}`"
            ));
        }
    }
    Ok(())
}
