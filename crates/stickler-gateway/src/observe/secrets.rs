//! Credentials in names, command lines, URLs and messages, and their removal.
//!
//! A value is a credential if its name says so: `apiKey`, `access_token`, `--password`. Names that only mention tokens
//! in another sense (`max_tokens`, `progressToken`, `nextPageToken`) are not credentials.

/// What replaces a credential.
pub(crate) const REDACTED: &str = "[redacted]";

/// Words that make a name a credential.
const WORDS: [&str; 15] = [
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "secrets",
    "token",
    "credential",
    "credentials",
    "authorization",
    "bearer",
    "cookie",
    "apikey",
    "accesskey",
    "privatekey",
];

/// Words that make a following `key` a credential.
const KEYS: [&str; 8] =
    ["api", "access", "private", "auth", "secret", "signing", "encryption", "account"];

/// Words that give `token` another meaning.
const OTHER_TOKENS: [&str; 11] = [
    "progress",
    "page",
    "next",
    "continuation",
    "max",
    "count",
    "limit",
    "budget",
    "per",
    "cursor",
    "sync",
];

/// Beginnings of values that are credentials whatever their name.
const PREFIXES: [&str; 9] =
    ["sk-", "ghp_", "gho_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "AKIA", "eyJ"];

/// Returns whether a name is that of a credential.
pub(crate) fn is_credential_name(name: &str) -> bool {
    let words = words(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let is_key = words
        .windows(2)
        .any(|pair| matches!(pair, [first, key] if key == "key" && KEYS.contains(&first.as_str())));
    if is_key {
        return true;
    }
    let is_token_only = !words.iter().any(|word| word != "token" && WORDS.contains(&word.as_str()));
    has(&WORDS) && !(is_token_only && has(&OTHER_TOKENS))
}

/// Splits a name at separators and at the beginning of capitalised words.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars().take(128) {
        let starts_word = !letter.is_alphanumeric() || (letter.is_uppercase() && was_lower);
        if starts_word {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase() || letter.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Replaces the credentials in the arguments of a command.
pub(crate) fn redacted_arguments(arguments: &[String]) -> Vec<String> {
    let mut is_value = false;
    let redact = |argument: &String| {
        let was_value = std::mem::take(&mut is_value);
        let is_option = argument.starts_with('-');
        if let Some((name, value)) = argument.split_once('=')
            && !value.is_empty()
        {
            let has_secret = is_credential_name(name) || is_credential(value);
            return if has_secret { format!("{name}={REDACTED}") } else { redacted_url(argument) };
        }
        if let Some((name, _)) = argument.split_once(": ")
            && is_credential_name(name)
        {
            return format!("{name}: {REDACTED}");
        }
        if is_option {
            is_value = is_credential_name(argument);
            return argument.clone();
        }
        if was_value || is_credential(argument) {
            REDACTED.to_owned()
        } else {
            redacted_url(argument)
        }
    };
    arguments.iter().map(redact).collect()
}

/// Removes user, password, query values and parts of the path that look like credentials from a URL. Other text is
/// returned unchanged.
pub(crate) fn redacted_url(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, q)| (rest, Some(q)));
    let mut segments = rest.split('/');
    let authority = segments.next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let mut url = format!("{scheme}://{host}");
    for segment in segments {
        url.push('/');
        url.push_str(if is_credential(segment) { REDACTED } else { segment });
    }
    if let Some(query) = query {
        let names = query.split('&').map(|pair| match pair.split_once('=') {
            Some((name, _)) => format!("{name}={REDACTED}"),
            None => pair.to_owned(),
        });
        url.push('?');
        url.push_str(&names.collect::<Vec<_>>().join("&"));
    }
    url
}

/// Returns whether a value looks like a credential: a known beginning, or a long mixture of letters and digits.
fn is_credential(value: &str) -> bool {
    let is_plain = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    PREFIXES.iter().any(|prefix| value.starts_with(prefix) && value.len() > prefix.len() + 8)
        || (value.len() >= 24 && is_plain && letters >= 6 && digits >= 6)
}

#[cfg(test)]
mod tests {
    use super::{is_credential_name, redacted_arguments, redacted_url};

    #[test]
    fn names_of_credentials_are_recognised() {
        for name in [
            "password",
            "apiKey",
            "api_key",
            "API-KEY",
            "accessToken",
            "x-auth-token",
            "--token",
            "client_secret",
            "GITHUB_TOKEN",
            "Authorization",
            "privateKey",
            "dbPwd",
        ] {
            assert!(is_credential_name(name), "{name}");
        }
        for name in [
            "progressToken",
            "max_tokens",
            "nextPageToken",
            "tokens",
            "key",
            "path",
            "primary_key",
            "secretary",
            "author",
            "token_count",
            "sort_key",
        ] {
            assert!(!is_credential_name(name), "{name}");
        }
    }

    #[test]
    fn command_lines_and_urls_lose_their_credentials() {
        let arguments = [
            "-y",
            "server",
            "--api-key",
            "hunter2",
            "--token=abc",
            "GH_TOKEN=x",
            "ghp_0123456789abcdef",
            "--verbose",
            "/data",
            "Authorization: Bearer x",
            "https://u:p@host/mcp?key=v",
        ];
        let redacted = redacted_arguments(&arguments.map(str::to_owned));
        assert_eq!(
            redacted,
            [
                "-y",
                "server",
                "--api-key",
                "[redacted]",
                "--token=[redacted]",
                "GH_TOKEN=[redacted]",
                "[redacted]",
                "--verbose",
                "/data",
                "Authorization: [redacted]",
                "https://host/mcp?key=[redacted]"
            ]
        );
        assert_eq!(
            redacted_url("https://host:1/s/0a1b2c3d4e5f6a7b8c9d0e1f/mcp"),
            "https://host:1/s/[redacted]/mcp"
        );
    }
}
