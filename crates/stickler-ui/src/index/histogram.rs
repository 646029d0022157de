//! A histogram of durations with buckets of constant relative width, from which percentiles are read.

/// Buckets per doubling.
const STEPS: u32 = 4;
/// From 0.1 ms to about 27 minutes.
const BUCKETS: usize = 96;
const SMALLEST_US: f64 = 100.0;

/// Counts of durations.
#[derive(Debug, Clone, Default)]
pub(crate) struct Histogram {
    counts: Vec<u32>,
    total: u32,
}

impl Histogram {
    pub(crate) fn add(&mut self, microseconds: u32) {
        let steps = (f64::from(microseconds).max(SMALLEST_US) / SMALLEST_US).log2();
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive and small"
        )]
        let bucket = ((steps * f64::from(STEPS)) as usize).min(BUCKETS - 1);
        if self.counts.len() <= bucket {
            self.counts.resize(bucket + 1, 0);
        }
        if let Some(count) = self.counts.get_mut(bucket) {
            *count = count.saturating_add(1);
        }
        self.total = self.total.saturating_add(1);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count = count.saturating_add(*more);
        }
        self.total = self.total.saturating_add(other.total);
    }

    /// Returns a percentile in milliseconds, the middle of its bucket; `None` without durations.
    pub(crate) fn percentile(&self, percent: u32) -> Option<f64> {
        let rank = u64::from(self.total) * u64::from(percent) / 100;
        let mut seen = 0_u64;
        for (bucket, count) in (0_u32..).zip(&self.counts) {
            seen += u64::from(*count);
            if *count > 0 && seen > rank.min(u64::from(self.total) - 1) {
                return Some(lower_bound_ms(f64::from(bucket) + 0.5));
            }
        }
        None
    }

    /// Returns the filled buckets: lower bound in milliseconds and count.
    pub(crate) fn buckets(&self) -> Vec<(f64, u32)> {
        let first = self.counts.iter().position(|count| *count > 0).unwrap_or(0);
        let all = (0_u32..).zip(&self.counts);
        all.skip(first).map(|(bucket, count)| (lower_bound_ms(f64::from(bucket)), *count)).collect()
    }
}

fn lower_bound_ms(bucket: f64) -> f64 {
    SMALLEST_US / 1000.0 * (bucket / f64::from(STEPS)).exp2()
}

#[cfg(test)]
mod tests {
    use super::Histogram;

    #[test]
    fn percentiles_are_within_a_bucket() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.percentile(50), None);
        for milliseconds in 1..=100 {
            histogram.add(milliseconds * 1000);
        }
        let near =
            |found: Option<f64>, expected: f64| (found.unwrap() / expected - 1.0).abs() < 0.2;
        assert!(near(histogram.percentile(50), 50.0), "{:?}", histogram.percentile(50));
        assert!(near(histogram.percentile(95), 95.0), "{:?}", histogram.percentile(95));
        histogram.add(0);
        histogram.add(u32::MAX);
        assert_eq!(histogram.buckets().iter().map(|(_, count)| count).sum::<u32>(), 102);
    }
}
