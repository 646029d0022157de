//! Validation of server URLs. Error messages never contain parts of a URL that may be secret:
//! credentials, paths and queries.

use hyper::Uri;

/// Parses the URL of a server. Requires `http` or `https`, a host and no credentials.
pub(crate) fn parse(url: &str) -> Result<Uri, String> {
    let unusable = |reason: &str| match start(url) {
        Some(start) => format!("the URL starting with `{start}` is invalid: {reason}"),
        None => format!("the URL is invalid: {reason}"),
    };
    if !url.contains("://") {
        return Err(unusable("it must start with `http://` or `https://`"));
    }
    let uri: Uri = url.parse().map_err(|_| {
        unusable("it cannot be parsed; spaces and other special characters must be percent-encoded")
    })?;
    match uri.scheme_str() {
        Some("http" | "https") if uri.authority().is_some_and(|one| one.as_str().contains('@')) => {
            Err(unusable(
                "it contains a user name or password, which is not sent; use a header instead",
            ))
        }
        Some("http" | "https") if uri.authority().is_some() => Ok(uri),
        _ => Err(unusable("it must start with `http://` or `https://`")),
    }
}

/// Returns the scheme and host for an error message. The host is omitted if an `@` follows anywhere: the text
/// before it may be a password.
fn start(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_plain = |text: &str, also: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || also.contains(c))
    };
    if !is_plain(scheme, "+-.") {
        return None;
    }
    let is_host = is_plain(host, "-._:[]") && !rest.contains('@');
    Some(format!("{scheme}://{}", if is_host { host } else { "" }))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn error_message_contains_no_secret_parts_of_the_url() {
        for (url, start) in [
            ("https://api.example:8443/s3cret path", "`https://api.example:8443`"),
            ("https://api.example?key=s3cret path", "`https://api.example`"),
            ("https://user:s3cret@api.example/a b", "`https://`"),
            ("https://user:s3cret/x@api.example/a b", "`https://`"),
            ("https://s3cret s3cret/", "`https://`"),
            ("https://user:s3cret@api.example/mcp?key=1", "name or password"),
            ("ftp://user:s3cret@api.example/x", "`ftp://`"),
            ("ftp://api.example/s3cret", "`ftp://api.example`"),
            ("s3cret", "the URL is invalid"),
            ("s3cret key://x", "the URL is invalid"),
            ("api.example/s3cret", "it must start with `http://` or `https://`"),
            ("", "the URL is invalid"),
        ] {
            let message = parse(url).unwrap_err();
            assert!(message.contains(start) && !message.contains("s3cret"), "{url}: {message}");
        }
        assert!(parse("https://api.example/mcp?key=1").is_ok());
    }
}
