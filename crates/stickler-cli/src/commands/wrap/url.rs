//! Wraps a server at a URL: the client starts `stickler run --name NAME --url URL` instead, with the headers in
//! the environment.

use std::borrow::Cow;

use stickler::tape::{Kind, Node};

use super::entry::{Member, Members, SkipReason};
use super::program::quoted;
use super::splice::Change;

/// Default `type` of Streamable HTTP servers in client configurations.
const DEFAULT_TYPE: &str = "\"http\"";

pub(super) fn wrap(
    text: &str,
    (name, program): (Node<'_>, &str),
    url: Member<'_>,
    members: &Members<'_>,
) -> Result<Vec<Change>, SkipReason> {
    if url.value.kind() != Kind::String || url.key.raw() != "\"url\"" {
        return Err("its `url` is not a string".to_owned());
    }
    if members.args.is_some() || members.env.is_some() {
        return Err("it has a `url` and also `args` or `env`".to_owned());
    }
    let mut words = vec!["\"run\"", "\"--name\"", name.raw(), "\"--url\"", url.value.raw()];
    let mut changes = Vec::new();
    if let Some(headers) = members.headers {
        for header in header_names(headers)? {
            words.extend(["\"--header-env\"", header]);
        }
        changes.push(Change::replace(headers.key.span(), "\"env\""));
    }
    if let Some(kind) = members.kind {
        match kind.value.as_str().as_deref() {
            None => return Err("its `type` is not a string".to_owned()),
            Some("sse") => {
                return Err("the HTTP+SSE transport of 2024-11-05 is not supported".to_owned());
            }
            Some("stdio" | "ws" | "websocket") => {
                return Err(format!("its `type` is {}", kind.value.raw()));
            }
            Some(_) if kind.value.raw() == DEFAULT_TYPE => {}
            Some(_) => words.extend(["\"--wrapped-type\"", kind.value.raw()]),
        }
        changes.push(Change::replace(kind.value.span(), "\"stdio\""));
    }
    let (colon, indent) = (url.colon(text), url.indent(text));
    let words = words.join(", ");
    let program = quoted(program);
    let member = format!("\"command\"{colon}{program},{indent}\"args\": [{words}]");
    changes.push(Change::replace(url.key.span().start..url.value.span().end, member));
    Ok(changes)
}

/// Returns the header names as written. Each becomes an environment variable.
fn header_names(headers: Member<'_>) -> Result<Vec<&str>, SkipReason> {
    if headers.value.kind() != Kind::Object || headers.key.raw() != "\"headers\"" {
        return Err("its `headers` are not an object".to_owned());
    }
    let mut names = Vec::new();
    for (key, value) in headers.value.members().with_key_nodes() {
        let name = key.as_str().unwrap_or_default();
        let is_header = name.parse::<hyper::header::HeaderName>().is_ok();
        if !is_header || value.kind() != Kind::String || names.contains(&key.raw()) {
            return Err(format!("its header `{name}` is invalid"));
        }
        names.push(key.raw());
    }
    Ok(names)
}

pub(super) fn unwrap(
    text: &str,
    (command, args): (Member<'_>, Member<'_>),
    elements: &[Node<'_>],
    members: &Members<'_>,
) -> Result<Vec<Change>, SkipReason> {
    let Some(url) = elements.get(4) else { return Err("its URL is missing".to_owned()) };
    let mut kind = DEFAULT_TYPE;
    let mut headers = Vec::new();
    let options = elements.get(5..).unwrap_or_default();
    for pair in options.chunks(2) {
        let [option, value] = pair else { return Err(changed_since()) };
        match option.as_str().as_deref() {
            Some("--header-env") => headers.push(value.as_str().ok_or_else(changed_since)?),
            Some("--wrapped-type") => kind = value.raw(),
            _ => return Err(changed_since()),
        }
    }
    // Variables that were added after wrapping must not become headers of the remote server.
    let mut variables = variable_names(members.env)?;
    variables.sort_unstable();
    headers.sort_unstable();
    if variables != headers {
        return Err(changed_since());
    }
    let member = format!("\"url\"{}{}", command.colon(text), url.raw());
    let mut changes = vec![
        Change::replace(command.key.span().start..command.value.span().end, member),
        args.remove(text),
    ];
    changes.extend(members.env.map(|env| Change::replace(env.key.span(), "\"headers\"")));
    changes.extend(members.kind.map(|one| Change::replace(one.value.span(), kind)));
    Ok(changes)
}

fn variable_names(env: Option<Member<'_>>) -> Result<Vec<Cow<'_, str>>, SkipReason> {
    let Some(env) = env else { return Ok(Vec::new()) };
    if env.value.kind() != Kind::Object {
        return Err(changed_since());
    }
    let keys = env.value.members().with_key_nodes();
    Ok(keys.map(|(key, _)| key.as_str().unwrap_or_default()).collect())
}

fn changed_since() -> SkipReason {
    "its options have changed since it was wrapped".to_owned()
}
