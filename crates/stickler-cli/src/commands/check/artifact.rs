//! The file of a repository that SARIF results about a running server refer to.

use std::path::Path;

use super::options::{CheckFormat, CheckOptions};
use crate::exit::Failure;

/// Manifests of packages, in the order of preference.
const MANIFESTS: [&str; 14] = [
    "server.json",
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "go.mod",
    "setup.py",
    "pom.xml",
    "build.gradle.kts",
    "build.gradle",
    "Gemfile",
    "composer.json",
    "deno.json",
    "mix.exs",
    "requirements.txt",
];

/// Returns the file, or `None` if the report needs none. Fails before the server is started.
pub(super) fn find(options: &CheckOptions) -> Result<Option<String>, Failure> {
    if options.format != CheckFormat::Sarif || options.tools.is_some() {
        return Ok(None);
    }
    if let Some(path) = &options.artifact {
        if path.is_file() {
            return Ok(Some(path.display().to_string()));
        }
        let message = format!("cannot find the artifact `{}`", path.display());
        return Err(Failure::Usage(message));
    }
    match MANIFESTS.iter().find(|name| Path::new(name).is_file()) {
        Some(manifest) => Ok(Some((*manifest).to_owned())),
        None => Err(Failure::Usage(
            "code scanning needs a file that the results refer to, and the current folder has no \
             manifest such as `package.json`\n\nhint: name a file of the server with `--artifact FILE`"
                .to_owned(),
        )),
    }
}
