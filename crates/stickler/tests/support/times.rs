//! The number of random cases per property test.

use proptest::prelude::ProptestConfig;

/// A multiple of the default number of cases, which `PROPTEST_CASES` sets.
pub(crate) fn times(many: u32) -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: many * usual.cases, failure_persistence: None, ..usual }
}
