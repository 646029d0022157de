//! SHA-256 sums, in the format of `sha256sum --check`.

use std::path::Path;
use std::process::Command;

use super::unreadable;
use crate::Outcome;

/// Writes `SHA256SUMS` with the sums of all files in a folder.
pub(super) fn write(folder: &Path) -> Outcome {
    let entries = std::fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
    let mut names: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.file_name())).collect();
    names.sort();
    // Linux and Git for Windows have the first program, macOS has the second.
    let output = [("sha256sum", &[][..]), ("shasum", &["-a", "256"])].into_iter().find_map(
        |(program, args)| {
            let output = Command::new(program).current_dir(folder).args(args).args(&names).output();
            output.ok().filter(|output| output.status.success())
        },
    );
    let output = output.ok_or("cannot run `sha256sum` or `shasum`")?;
    let path = folder.join("SHA256SUMS");
    std::fs::write(&path, output.stdout).map_err(|error| unreadable(&path, &error))
}
