//! Known findings: a file that says which of them are not news.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::report::{Found, Report};
use crate::exit::Failure;

/// The form of the file, to be told from later ones.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Baseline {
    stickler_baseline: u32,
    findings: BTreeSet<Known>,
}

/// What makes two findings the same. Not the message, whose wording may improve.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    tool: Option<String>,
    rule: String,
    path: String,
}

impl From<&Found> for Known {
    fn from(found: &Found) -> Self {
        Self { tool: found.tool.clone(), rule: found.rule.id.to_owned(), path: found.path.clone() }
    }
}

/// Takes out of a report what the file knows; gives the number of entries that were not found.
pub(super) fn apply(path: &Path, report: &mut Report) -> Result<usize, Failure> {
    let unusable = |reason: String| {
        Failure::Usage(format!("cannot use the baseline `{}`: {reason}", path.display()))
    };
    let text = std::fs::read(path).map_err(|error| {
        let hint = "\n\nhint: `--write-baseline` makes one of what is found now";
        unusable(format!("{error}{hint}"))
    })?;
    let baseline: Baseline =
        serde_json::from_slice(&text).map_err(|error| unusable(error.to_string()))?;
    if baseline.stickler_baseline != VERSION {
        return Err(unusable(format!("its version is not {VERSION}")));
    }
    let mut seen = BTreeSet::new();
    report.findings.retain(|found| {
        let known = Known::from(found);
        let is_known = baseline.findings.contains(&known);
        if is_known {
            seen.insert(known);
            report.known += 1;
        }
        !is_known
    });
    Ok(baseline.findings.len() - seen.len())
}

/// Writes everything in a report as known.
pub(super) fn write(path: &Path, report: &Report) -> Result<usize, Failure> {
    let findings: BTreeSet<Known> = report.findings.iter().map(Known::from).collect();
    let count = findings.len();
    let baseline = Baseline { stickler_baseline: VERSION, findings };
    let text = serde_json::to_string_pretty(&baseline).unwrap_or_default();
    std::fs::write(path, text + "\n").map_err(|error| {
        Failure::Usage(format!("cannot write the baseline `{}`: {error}", path.display()))
    })?;
    Ok(count)
}
