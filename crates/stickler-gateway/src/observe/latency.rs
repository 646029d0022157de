//! Distribution of durations in buckets of constant relative width.

use std::time::Duration;

/// Buckets per doubling of the duration: a quantile is off by at most 9 %.
const BUCKETS_PER_DOUBLING: f64 = 4.0;

/// A histogram of durations from one microsecond on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Latency {
    /// Grows up to the largest duration seen; at most 200 buckets, which is about 30 years.
    buckets: Vec<u32>,
    count: u64,
}

impl Latency {
    pub(crate) fn add(&mut self, duration: Duration) {
        let micros = duration.as_secs_f64() * 1e6;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0..200")]
        let index = (micros.max(1.0).log2() * BUCKETS_PER_DOUBLING).min(199.0) as usize;
        if self.buckets.len() <= index {
            self.buckets.resize(index + 1, 0);
        }
        if let Some(bucket) = self.buckets.get_mut(index) {
            *bucket = bucket.saturating_add(1);
        }
        self.count += 1;
    }

    pub(crate) fn add_all(&mut self, other: &Self) {
        if self.buckets.len() < other.buckets.len() {
            self.buckets.resize(other.buckets.len(), 0);
        }
        for (bucket, more) in self.buckets.iter_mut().zip(&other.buckets) {
            *bucket = bucket.saturating_add(*more);
        }
        self.count += other.count;
    }

    /// Returns the duration below which this part of the durations is, in milliseconds.
    pub(crate) fn quantile(&self, part: f64) -> Option<f64> {
        #[allow(clippy::cast_precision_loss, reason = "a count of calls")]
        let rank = self.count as f64 * part;
        let mut below = 0.0;
        for (index, count) in self.buckets.iter().enumerate() {
            below += f64::from(*count);
            if below >= rank && *count > 0 {
                #[allow(clippy::cast_precision_loss, reason = "within 0..200")]
                let middle = index as f64 + 0.5;
                return Some((middle / BUCKETS_PER_DOUBLING).exp2() / 1e3);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Latency;
    use std::time::Duration;

    #[test]
    fn quantiles_are_within_ten_percent() {
        let mut latency = Latency::default();
        assert_eq!(latency.quantile(0.5), None);
        for milliseconds in 1..=1000 {
            latency.add(Duration::from_millis(milliseconds));
        }
        for (part, expected) in [(0.5, 500.0), (0.95, 950.0)] {
            let found = latency.quantile(part).unwrap();
            assert!((found / expected - 1.0).abs() < 0.1, "{part}: {found}");
        }
        latency.add(Duration::MAX);
        assert!(latency.quantile(1.0).unwrap() > 1e9);
    }
}
