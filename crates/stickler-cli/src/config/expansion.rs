//! Expands `${VAR}` and `${VAR:-default}`, as clients do in their configuration files.

/// Expands the variables in a text. A reference that is not closed or has an invalid name is kept: it may be
/// meant for a shell.
pub(super) fn expand(
    text: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        expanded.push_str(before);
        let Some((reference, remainder)) = after.split_once('}') else {
            expanded.push_str("${");
            rest = after;
            continue;
        };
        let (name, default) = match reference.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (reference, None),
        };
        if let Some(what) = ["input:", "workspaceFolder"].iter().find(|one| name.starts_with(**one))
        {
            let what = what.trim_end_matches(':');
            return Err(format!(
                "`${{{name}}}` can only be resolved by the client (`{what}`); use an environment variable"
            ));
        }
        // VS Code writes `${env:VAR}`.
        let name = name.strip_prefix("env:").unwrap_or(name);
        if is_name(name) {
            let value = variable(name).or_else(|| default.map(str::to_owned));
            expanded.push_str(&value.ok_or_else(|| {
                format!(
                    "the environment variable `{name}` is not set; `${{{name}:-…}}` sets a default"
                )
            })?);
        } else {
            expanded.push_str("${");
            rest = after;
            continue;
        }
        rest = remainder;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

fn is_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|one| one.is_ascii_alphanumeric() || one == '_')
}

#[cfg(test)]
mod tests {
    use super::expand;

    #[test]
    fn variables_are_expanded_and_other_text_is_kept() {
        let variable = |name: &str| (name == "HOME").then(|| "/home/me".to_owned());
        for (text, expanded) in [
            ("plain", "plain"),
            ("${HOME}/data", "/home/me/data"),
            ("a${HOME}b${HOME}", "a/home/meb/home/me"),
            ("${env:HOME}", "/home/me"),
            ("${HOME:-other}", "/home/me"),
            ("${NONE:-other}", "other"),
            ("${NONE:-}", ""),
            ("$HOME ${HOME", "$HOME ${HOME"),
            ("${a b} ${} ${1}", "${a b} ${} ${1}"),
        ] {
            assert_eq!(expand(text, variable).as_deref(), Ok(expanded), "{text}");
        }
        assert!(expand("x ${NONE}", variable).unwrap_err().contains("`NONE` is not set"));
        assert!(expand("${input:key}", variable).unwrap_err().contains("by the client"));
    }
}
