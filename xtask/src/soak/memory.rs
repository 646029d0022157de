//! The memory of a process over time, and its slope after the warm-up.

use std::fs;

/// The share of the run that counts as warm-up: caches and allocator arenas fill.
const WARM_UP: f64 = 0.4;

/// The slope that counts as 0, in KiB per minute. It is about a hundredth of the memory of a gateway under load;
/// one byte kept per request would exceed it after a minute.
const MAX_SLOPE: f64 = 256.0;

/// Samples of one process.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Minutes since the start, and resident KiB.
    samples: Vec<(f64, f64)>,
}

impl Memory {
    pub(super) fn sample(&mut self, minutes: f64, pid: u32) {
        if let Some(resident) = resident(pid) {
            self.samples.push((minutes, resident));
        }
    }

    /// The largest value, in KiB.
    pub(super) fn peak(&self) -> f64 {
        self.samples.iter().map(|(_, kib)| *kib).fold(0.0, f64::max)
    }

    pub(super) fn is_flat(&self) -> bool {
        self.samples.len() > 4 && self.slope() <= MAX_SLOPE
    }

    /// Returns the slope after the warm-up in KiB per minute, by Theil and Sen: the median of the slopes between samples
    /// that are half of the time apart. Peaks do not distort it.
    pub(super) fn slope(&self) -> f64 {
        let end = self.samples.last().map_or(0.0, |(minutes, _)| *minutes);
        let warm: Vec<_> =
            self.samples.iter().filter(|(minutes, _)| *minutes >= end * WARM_UP).collect();
        let (early, late) = warm.split_at(warm.len() / 2);
        let mut slopes: Vec<f64> = early
            .iter()
            .zip(late)
            .map(|((start, before), (end, after))| (after - before) / (end - start))
            .collect();
        slopes.sort_by(f64::total_cmp);
        slopes.get(slopes.len() / 2).copied().unwrap_or_default()
    }
}

/// Reads the resident memory of a process in KiB.
fn resident(pid: u32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::Memory;

    fn memory(kib: impl Fn(f64) -> f64) -> Memory {
        let samples = (0..100).map(|second| f64::from(second) / 10.0);
        Memory { samples: samples.map(|minutes| (minutes, kib(minutes))).collect() }
    }

    #[test]
    fn growth_is_told_from_warm_up_and_peaks() {
        assert!(memory(|minutes| (minutes * 5000.0).min(15_000.0)).is_flat(), "warm-up");
        assert!(memory(|minutes| if minutes.fract() > 0.8 { 40_000.0 } else { 9000.0 }).is_flat());
        assert!(!memory(|minutes| 9000.0 + minutes * 400.0).is_flat(), "leak");
        assert!(!Memory::default().is_flat(), "not measured");
    }
}
