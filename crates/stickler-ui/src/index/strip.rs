//! Calls and rejections over time, in buckets that widen as the session gets longer.

/// Maximum number of buckets; twice as wide buckets are used beyond it.
const MAX_BUCKETS: usize = 240;

/// Counts over the time of a session.
#[derive(Debug, Clone)]
pub(crate) struct Strip {
    /// Width of a bucket in seconds.
    pub(crate) width: u32,
    /// Calls, and those of them that were or would be rejected.
    pub(crate) buckets: Vec<(u32, u32)>,
}

impl Default for Strip {
    fn default() -> Self {
        Self { width: 1, buckets: Vec::new() }
    }
}

impl Strip {
    pub(crate) fn add_call(&mut self, seconds: u32) {
        if let Some(bucket) = self.bucket(seconds) {
            bucket.0 += 1;
        }
    }

    pub(crate) fn add_rejection(&mut self, seconds: u32) {
        if let Some(bucket) = self.bucket(seconds) {
            bucket.1 += 1;
        }
    }

    fn bucket(&mut self, seconds: u32) -> Option<&mut (u32, u32)> {
        let mut index = usize::try_from(seconds / self.width).ok()?;
        while index >= MAX_BUCKETS {
            self.width = self.width.saturating_mul(2);
            self.buckets = self.buckets.chunks(2).map(sum).collect();
            index = usize::try_from(seconds / self.width).ok()?;
        }
        if self.buckets.len() <= index {
            self.buckets.resize(index + 1, (0, 0));
        }
        self.buckets.get_mut(index)
    }
}

fn sum(buckets: &[(u32, u32)]) -> (u32, u32) {
    buckets.iter().fold((0, 0), |total, one| (total.0 + one.0, total.1 + one.1))
}

#[cfg(test)]
mod tests {
    use super::Strip;

    #[test]
    fn buckets_widen_and_keep_their_counts() {
        let mut strip = Strip::default();
        for seconds in 0..1000 {
            strip.add_call(seconds);
        }
        strip.add_rejection(999);
        assert_eq!(strip.width, 8);
        assert_eq!(strip.buckets.iter().map(|bucket| bucket.0).sum::<u32>(), 1000);
        assert_eq!(strip.buckets.last().unwrap().1, 1);
        strip.add_call(u32::MAX);
        assert!(strip.buckets.len() <= 240);
    }
}
