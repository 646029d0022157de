//! Wraps a server at a URL: the client starts `stickler run --name NAME OPTIONS --url URL` instead, with the
//! headers in the environment. Only in JSON files; the other clients have credentials of their own kinds.

use super::Wrapping;
use super::document::{Document, quoted};
use super::entry::{Member, Members, SkipReason, elements, text};
use super::servers::{self, Client};
use super::splice::Change;
use crate::config::{Data, Format};
use stickler_transport::Server;

/// Default `type` of Streamable HTTP servers in client configurations.
const DEFAULT_TYPE: &str = "\"http\"";

/// Why a server of the old transport is not wrapped, even if it is named: it would stop working.
const SSE_REASON: &str = "it uses the HTTP+SSE transport of 2024-11-05, which the gateway does not support; if the \
                          server has a Streamable HTTP endpoint, often `/mcp`, set `type` to `http` and `url` to it";

/// Default member with the URL.
const DEFAULT_KEY: &str = "url";

pub(super) fn wrap(
    document: &Document<'_>,
    server: &servers::Server<'_>,
    url: &Member<'_>,
    members: &Members<'_>,
    wrapping: &Wrapping,
) -> Result<Vec<Change>, SkipReason> {
    let key = url.key;
    let Some(address) = text(url.value) else {
        return Err(format!("its `{key}` is {}, not a string", url.value.kind()));
    };
    if members.args.is_some() || members.env.is_some() {
        return Err(format!("it has a `{key}` and also `args` or `env`"));
    }
    check_transport(document, server, address, url, members)?;
    // The client replaces variables, which the gateway cannot judge.
    if !address.contains('$') {
        Server::parse_url(address).map_err(|_| {
            format!("its `{key}` is not a URL that starts with `http://` or `https://`")
        })?;
    }
    if !server.is_named {
        check_sign_in(server, address, members)?;
    }
    let raw = |member: &Member<'_>| document.raw(&member.key_span);
    if raw(url) != quoted(key) {
        return Err(format!("its `{key}` is written with escapes"));
    }
    let mut words = vec![quoted("run"), quoted("--name"), quoted(&server.name)];
    words.extend(wrapping.options.iter().map(|option| quoted(option)));
    words.extend([quoted("--url"), document.raw(&url.value.span).to_owned()]);
    let mut changes = Vec::new();
    if let Some(headers) = &members.headers {
        for header in header_names(document, headers)? {
            words.extend([quoted("--header-env"), header]);
        }
        changes.push(Change::replace(headers.key_span.clone(), quoted("env")));
    }
    if let Some(kind) = &members.kind {
        let kind_raw = document.raw(&kind.value.span);
        if kind_raw != DEFAULT_TYPE {
            words.extend([quoted("--wrapped-type"), kind_raw.to_owned()]);
        }
        changes.push(Change::replace(kind.value.span.clone(), quoted("stdio")));
    }
    if key != DEFAULT_KEY {
        words.extend([quoted("--wrapped-key"), quoted(key)]);
    }
    let separator = document.separator(server.entry, url, "args");
    let (colon, program) = (url.colon(document), quoted(&wrapping.program));
    let member = format!("\"command\"{colon}{program}{separator}[{}]", words.join(", "));
    changes.push(Change::replace(url.key_span.start..url.value.span.end, member));
    Ok(changes)
}

/// Rejects transports that the gateway does not support.
fn check_transport(
    document: &Document<'_>,
    server: &servers::Server<'_>,
    address: &str,
    url: &Member<'_>,
    members: &Members<'_>,
) -> Result<(), SkipReason> {
    if document.format != Format::Json {
        return Err("it is a remote server; in this file only commands are wrapped".to_owned());
    }
    let kind = match &members.kind {
        None => None,
        Some(kind) => {
            let text = text(kind.value);
            Some(text.ok_or_else(|| format!("its `{}` is not a string", kind.key))?)
        }
    };
    let is_gemini_sse = server.client == Some(Client::Gemini) && url.key == "url" && kind.is_none();
    match kind {
        Some("sse") => Err(SSE_REASON.to_owned()),
        _ if is_gemini_sse => {
            Err("Gemini CLI uses the HTTP+SSE transport of 2024-11-05 for `url`, which the gateway does \
                 not support; if the server has a Streamable HTTP endpoint, set `httpUrl` instead"
                .to_owned())
        }
        Some(kind @ ("stdio" | "ws" | "websocket")) => Err(format!("its type is `{kind}`")),
        _ if !server.is_named && is_sse_path(address) => Err(format!(
            "its URL ends in `/sse`, which the HTTP+SSE transport uses; `--only {}` wraps it anyway",
            server.name
        )),
        _ => Ok(()),
    }
}

/// Rejects servers that may depend on a sign-in of the client, unless they are named.
fn check_sign_in(
    server: &servers::Server<'_>,
    address: &str,
    members: &Members<'_>,
) -> Result<(), SkipReason> {
    let name = &server.name;
    if let Some(member) = members.sign_in {
        return Err(format!(
            "the client signs in to it (`{member}`); `--only {name}` wraps it anyway"
        ));
    }
    if members.headers.is_none() && !is_loopback(address) {
        return Err(format!(
            "the client may sign in to it by OAuth, which a wrapped server cannot; \
             `--only {name}` wraps it anyway"
        ));
    }
    Ok(())
}

fn is_sse_path(address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    path.trim_end_matches('/').ends_with("/sse")
}

fn is_loopback(address: &str) -> bool {
    let Ok(uri) = address.parse::<hyper::Uri>() else { return false };
    let host = uri.host().unwrap_or_default();
    host == "localhost" || host == "[::1]" || host.starts_with("127.")
}

/// Returns the header names as written. Each becomes an environment variable.
fn header_names(document: &Document<'_>, headers: &Member<'_>) -> Result<Vec<String>, SkipReason> {
    let Data::Table(all) = &headers.value.data else {
        return Err("its `headers` are not an object".to_owned());
    };
    if document.raw(&headers.key_span) != "\"headers\"" {
        return Err("its `headers` are written with escapes".to_owned());
    }
    let mut names = Vec::new();
    for header in all {
        let raw = document.raw(&header.key_span).to_owned();
        let is_header = header.key.parse::<hyper::header::HeaderName>().is_ok();
        if !is_header || text(&header.value).is_none() || names.contains(&raw) {
            return Err(format!("its header `{}` is invalid", header.key));
        }
        names.push(raw);
    }
    Ok(names)
}

pub(super) fn unwrap(
    document: &Document<'_>,
    (command, args): (&Member<'_>, &Member<'_>),
    members: &Members<'_>,
) -> Result<Vec<Change>, SkipReason> {
    let all = elements(args.value);
    let (mut url, mut kind, mut key) = (None, DEFAULT_TYPE, DEFAULT_KEY);
    let mut headers = Vec::new();
    for pair in all.get(3..).unwrap_or_default().windows(2) {
        let [option, value] = pair else { continue };
        match text(option) {
            Some("--url") => url = Some(value),
            Some("--header-env") => headers.push(text(value).ok_or_else(changed_since)?),
            Some("--wrapped-type") => kind = document.raw(&value.span),
            Some("--wrapped-key") => key = text(value).ok_or_else(changed_since)?,
            _ => {}
        }
    }
    let url = url.ok_or_else(changed_since)?;
    // Variables that were added after wrapping must not become headers of the remote server.
    let mut variables = variable_names(members.env.as_ref())?;
    variables.sort_unstable();
    headers.sort_unstable();
    if variables != headers || document.format != Format::Json {
        return Err(changed_since());
    }
    let member = format!("{}{}{}", quoted(key), command.colon(document), document.raw(&url.span));
    let mut changes = vec![
        Change::replace(command.key_span.start..command.value.span.end, member),
        args.remove(document),
    ];
    let env = members.env.as_ref();
    changes.extend(env.map(|env| Change::replace(env.key_span.clone(), quoted("headers"))));
    let old_kind = members.kind.as_ref();
    changes.extend(old_kind.map(|one| Change::replace(one.value.span.clone(), kind)));
    Ok(changes)
}

fn variable_names<'d>(env: Option<&Member<'d>>) -> Result<Vec<&'d str>, SkipReason> {
    let Some(env) = env else { return Ok(Vec::new()) };
    match &env.value.data {
        Data::Table(all) => Ok(all.iter().map(|member| member.key.as_str()).collect()),
        _ => Err(changed_since()),
    }
}

fn changed_since() -> SkipReason {
    "its options have changed since it was wrapped".to_owned()
}
