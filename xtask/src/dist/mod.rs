//! `cargo xtask dist`: builds everything that a release publishes, for one platform, into `dist/`.
//!
//! | file | contents |
//! | --- | --- |
//! | `platform` | the names that Cargo, npm and archives give to a platform |
//! | `binary` | the program, its completions and man page, and their archive |
//! | `python`, `node` | the wheel; the npm tarballs |
//! | `checksums` | SHA-256 sums of all files |

mod binary;
mod checksums;
mod node;
mod platform;
mod python;

use std::path::{Path, PathBuf};

use crate::{Outcome, paths};
use platform::Platform;

/// The largest binary that a release may have.
const MAX_BINARY_BYTES: u64 = 16_000_000;

/// What to build.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Build without link-time optimization: a fraction of the time, larger and slower programs
    #[arg(long)]
    fast: bool,
    /// Package this program instead of building one
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Build the packages without the program, for platforms that it does not support
    #[arg(long, conflicts_with = "binary")]
    without_binary: bool,
    /// The platform to build for, as Cargo names it [default: this one]
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// The folder for the results; its contents are replaced
    #[arg(long, value_name = "DIR", default_value = "dist")]
    out: PathBuf,
}

/// A build with resolved options.
struct Build {
    fast: bool,
    platform: Platform,
    out: PathBuf,
    /// Folder for intermediate files.
    work: PathBuf,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let out = paths::root().join(&options.out);
    let build = Build {
        fast: options.fast,
        platform: Platform::new(options.target.as_deref())?,
        work: paths::root().join("target/dist"),
        out,
    };
    for folder in [&build.out, &build.work] {
        empty(folder)?;
    }
    let program = match (&options.binary, options.without_binary) {
        (_, true) => None,
        (Some(path), false) => Some(paths::root().join(path)),
        (None, false) => Some(binary::build(&build)?),
    };
    if let Some(program) = &program {
        let size = std::fs::metadata(program).map_err(|error| unreadable(program, &error))?.len();
        if !build.fast && size > MAX_BINARY_BYTES {
            return Err(format!(
                "the program has {size} bytes; at most {MAX_BINARY_BYTES} are allowed"
            ));
        }
        binary::archive(&build, program)?;
    }
    python::wheel(&build, program.as_deref())?;
    node::tarballs(&build, program.as_deref())?;
    checksums::write(&build.out)
}

/// The version of all packages.
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Creates a folder, or empties it.
pub(crate) fn empty(folder: &Path) -> Outcome {
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(|error| unreadable(folder, &error))?;
    }
    std::fs::create_dir_all(folder).map_err(|error| unreadable(folder, &error))
}

/// Copies a file with its permissions, creating the folder.
fn copy(from: &Path, to: &Path) -> Outcome {
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder).map_err(|error| unreadable(folder, &error))?;
    }
    std::fs::copy(from, to).map(|_| ()).map_err(|error| unreadable(from, &error))
}

fn unreadable(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
