//! Baseline files: known findings that are not reported again.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::report::{CheckFinding, Report};
use crate::exit::Failure;

/// Version of the file format.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Baseline {
    stickler_baseline: u32,
    findings: BTreeSet<BaselineEntry>,
}

/// Identity of a finding. The message is not part of it, because its wording may change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BaselineEntry {
    tool: Option<String>,
    rule: String,
    path: String,
}

impl From<&CheckFinding> for BaselineEntry {
    fn from(found: &CheckFinding) -> Self {
        Self { tool: found.tool.clone(), rule: found.rule.id.to_owned(), path: found.path.clone() }
    }
}

/// Removes the findings in the baseline from a report and returns how many of its entries were not found.
pub(super) fn apply(path: &Path, report: &mut Report) -> Result<usize, Failure> {
    let unusable = |reason: String| {
        Failure::Usage(format!("cannot use the baseline `{}`: {reason}", path.display()))
    };
    let text = std::fs::read(path).map_err(|error| {
        let hint = "\n\nhint: `--write-baseline` creates one from the current findings";
        unusable(format!("{error}{hint}"))
    })?;
    let baseline: Baseline =
        serde_json::from_slice(&text).map_err(|error| unusable(error.to_string()))?;
    if baseline.stickler_baseline != VERSION {
        return Err(unusable(format!("unsupported version, expected {VERSION}")));
    }
    let mut seen = BTreeSet::new();
    report.findings.retain(|found| {
        let known = BaselineEntry::from(found);
        let is_known = baseline.findings.contains(&known);
        if is_known {
            seen.insert(known);
            report.known += 1;
        }
        !is_known
    });
    Ok(baseline.findings.len() - seen.len())
}

/// Writes all findings of a report to the baseline and returns their number.
pub(super) fn write(path: &Path, report: &Report) -> Result<usize, Failure> {
    let findings: BTreeSet<BaselineEntry> =
        report.findings.iter().map(BaselineEntry::from).collect();
    let count = findings.len();
    let baseline = Baseline { stickler_baseline: VERSION, findings };
    let text = serde_json::to_string_pretty(&baseline).unwrap_or_default();
    std::fs::write(path, text + "\n").map_err(|error| {
        Failure::Usage(format!("cannot write the baseline `{}`: {error}", path.display()))
    })?;
    Ok(count)
}
