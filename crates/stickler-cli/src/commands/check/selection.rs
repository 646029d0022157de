//! Selection of rules with `--rule` and `--ignore`.

use super::options::CheckOptions;
use super::report::Report;
use crate::config::did_you_mean;
use crate::exit::Failure;

/// Rejects names that are not rules, before the server is started.
pub(super) fn check(options: &CheckOptions) -> Result<(), Failure> {
    let ids: Vec<&str> = stickler::rules::all().map(|rule| rule.id).collect();
    for name in options.rule.iter().chain(&options.ignore) {
        if !ids.iter().any(|id| id.eq_ignore_ascii_case(name)) {
            let meant = did_you_mean(name, ids.iter().copied());
            return Err(Failure::Usage(format!(
                "unknown rule `{name}`{meant}\n\nhint: `stickler explain` lists the rules"
            )));
        }
    }
    Ok(())
}

/// Removes the findings of rules that are not selected.
pub(super) fn apply(options: &CheckOptions, report: &mut Report) {
    let is_in = |names: &[String], id: &str| names.iter().any(|name| name.eq_ignore_ascii_case(id));
    report.findings.retain(|found| {
        let id = found.rule.id;
        (options.rule.is_empty() || is_in(&options.rule, id)) && !is_in(&options.ignore, id)
    });
}
