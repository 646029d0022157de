//! The names of a platform.

use std::process::Command;

/// A platform that packages are built for.
pub(super) struct Platform {
    /// The name that Cargo uses.
    pub(super) triple: String,
    /// Whether Cargo must be given the name, which changes its output folder.
    pub(super) is_cross: bool,
}

/// The name of a platform on npm, with the values of `os`, `cpu` and `libc` in its package.
pub(super) struct NpmPlatform {
    pub(super) name: &'static str,
    pub(super) os: &'static str,
    pub(super) cpu: &'static str,
    pub(super) libc: Option<&'static str>,
}

/// The platforms of a release. `bindings/node/package.json` lists them as optional dependencies.
const NPM: [(&str, NpmPlatform); 7] = [
    ("aarch64-apple-darwin", npm("darwin-arm64", "darwin", "arm64", None)),
    ("x86_64-apple-darwin", npm("darwin-x64", "darwin", "x64", None)),
    ("aarch64-unknown-linux-gnu", npm("linux-arm64-gnu", "linux", "arm64", Some("glibc"))),
    ("aarch64-unknown-linux-musl", npm("linux-arm64-musl", "linux", "arm64", Some("musl"))),
    ("x86_64-unknown-linux-gnu", npm("linux-x64-gnu", "linux", "x64", Some("glibc"))),
    ("x86_64-unknown-linux-musl", npm("linux-x64-musl", "linux", "x64", Some("musl"))),
    ("x86_64-pc-windows-msvc", npm("win32-x64-msvc", "win32", "x64", None)),
];

const fn npm(
    name: &'static str,
    os: &'static str,
    cpu: &'static str,
    libc: Option<&'static str>,
) -> NpmPlatform {
    NpmPlatform { name, os, cpu, libc }
}

impl Platform {
    /// Returns the named platform, or that of this machine.
    pub(super) fn new(target: Option<&str>) -> Result<Self, String> {
        if let Some(triple) = target {
            return Ok(Self { triple: triple.to_owned(), is_cross: true });
        }
        let output = Command::new("rustc").arg("-vV").output();
        let output = output.map_err(|error| format!("cannot run rustc: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let host = text.lines().find_map(|line| line.strip_prefix("host: "));
        let triple = host.ok_or("rustc does not name its host")?.to_owned();
        Ok(Self { triple, is_cross: false })
    }

    pub(super) fn npm(&self) -> Result<&'static NpmPlatform, String> {
        let found = NPM.iter().find(|(triple, _)| *triple == self.triple);
        found.map(|(_, npm)| npm).ok_or_else(|| format!("no npm package for `{}`", self.triple))
    }

    /// The file name of the native library that Cargo builds.
    pub(super) fn library(&self, name: &str) -> String {
        if self.is_windows() {
            format!("{name}.dll")
        } else if self.triple.contains("apple") {
            format!("lib{name}.dylib")
        } else {
            format!("lib{name}.so")
        }
    }

    /// The file name of a program.
    pub(super) fn program(&self) -> &'static str {
        if self.is_windows() { "stickler.exe" } else { "stickler" }
    }

    fn is_windows(&self) -> bool {
        self.triple.contains("windows")
    }
}
