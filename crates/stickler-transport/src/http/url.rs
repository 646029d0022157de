//! URLs as they are written. They may hold secrets, most of all after variables were filled in.

use hyper::Uri;

/// A URL that a server can be at.
pub(crate) fn parse(url: &str) -> Result<Uri, String> {
    let unusable = |reason: &str| match start(url) {
        Some(start) => format!("the URL that begins with `{start}` is not usable: {reason}"),
        None => format!("the URL is not usable: {reason}"),
    };
    let uri: Uri = url.parse().map_err(|_| {
        unusable("it cannot be read; blanks and other special characters in it must be encoded")
    })?;
    match uri.scheme_str() {
        Some("http" | "https") if uri.authority().is_some_and(|one| one.as_str().contains('@')) => {
            Err(unusable(
                "it has a name or password in it, which is not sent; give them in a header instead",
            ))
        }
        Some("http" | "https") if uri.authority().is_some() => Ok(uri),
        _ => Err(unusable("it must begin with `http://` or `https://`")),
    }
}

/// Scheme and host, where it is clear that they are nothing else: an `@` further on would make a
/// password of what looks like a host.
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
    fn what_is_wrong_is_told_without_what_may_be_secret() {
        for (url, start) in [
            ("https://api.example:8443/s3cret path", "`https://api.example:8443`"),
            ("https://api.example?key=s3cret path", "`https://api.example`"),
            ("https://user:s3cret@api.example/a b", "`https://`"),
            ("https://user:s3cret/x@api.example/a b", "`https://`"),
            ("https://s3cret s3cret/", "`https://`"),
            ("https://user:s3cret@api.example/mcp?key=1", "name or password"),
            ("ftp://user:s3cret@api.example/x", "`ftp://`"),
            ("ftp://api.example/s3cret", "`ftp://api.example`"),
            ("s3cret", "the URL is not usable"),
            ("s3cret key://x", "the URL is not usable"),
            ("api.example/s3cret", "the URL is not usable"),
            ("", "the URL is not usable"),
        ] {
            let told = parse(url).unwrap_err();
            assert!(told.contains(start) && !told.contains("s3cret"), "{url}: {told}");
        }
        assert!(parse("https://api.example/mcp?key=1").is_ok());
    }
}
