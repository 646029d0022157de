//! Classification of string bytes in blocks: finds the first byte that is not plain ASCII.
//!
//! Vector instructions are worth their code. Measured with the scanner alone, outside of the project's benchmark
//! (`cargo xtask bench --only messages` measures parsing as a whole): without SSE2, with the portable version below, a list of 64 KB takes 26 µs instead of
//! 17 µs and a call of 500 B 174 ns instead of 113 ns; without AVX2, a text of 1 MB takes 31 µs instead of 20 µs and a
//! call of 4 KB 185 ns instead of 150 ns.

#![allow(clippy::inline_always, reason = "measured: a call for every token costs a third")]

/// Number of bytes classified together: one bit of a `u64` for each.
pub(super) const STRIDE: usize = 64;

/// Whether a byte of a string needs no further check: it is not a quote, backslash, control
/// character or non-ASCII byte.
#[allow(clippy::needless_bitwise_bool, reason = "without branches it becomes vector instructions")]
#[inline(always)]
pub(super) fn is_plain_ascii(byte: u8) -> bool {
    // Non-ASCII bytes are negative as signed numbers.
    (byte.cast_signed() > 0x1F) & (byte != b'"') & (byte != b'\\')
}

/// Returns one bit for each byte that is not plain ASCII; the lowest bit belongs to the first byte.
/// `N` must be a multiple of 16 and at most 64.
#[inline(always)]
pub(super) fn special_bits<const N: usize>(block: &[u8; N]) -> u64 {
    let (sixteens, _) = block.as_chunks::<16>();
    sixteens
        .iter()
        .enumerate()
        .fold(0, |bits, (i, sixteen)| bits | u64::from(special_bits_of_16(sixteen)) << (16 * i))
}

/// SSE2 version; the portable version takes half as long again.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[allow(unsafe_code, reason = "measured: reading a list takes a third less time")]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "16 bits are set")]
#[inline(always)]
fn special_bits_of_16(block: &[u8; 16]) -> u16 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_cmplt_epi8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x,
        _mm_set1_epi8,
    };
    let words = u128::from_le_bytes(*block);
    let (low, high) = (words as i64, (words >> 64) as i64);
    // SAFETY: these intrinsics compute on values and require only SSE2. This function is compiled
    // only for targets that have it.
    let mask = unsafe {
        let bytes = _mm_set_epi64x(high, low);
        let quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x22));
        let backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x5C));
        // As signed numbers: control characters and non-ASCII bytes.
        let low = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
        _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), low))
    };
    mask as u16
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
#[inline(always)]
fn special_bits_of_16(block: &[u8; 16]) -> u16 {
    portable(block)
}

/// Version for other targets: eight bytes at a time in a register. Unlike the test in `string`, which stops at the
/// first special byte, no sum carries from one byte into the next, so every bit is exact.
#[cfg(any(test, not(all(target_arch = "x86_64", target_feature = "sse2"))))]
fn portable(block: &[u8; 16]) -> u16 {
    const ONES: u64 = u64::MAX / 255;
    const LOW_BITS: u64 = ONES * 0x7F;
    /// Moves the lowest bit of each byte to the highest byte, in order.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let special_bits_of_8 = |eight: &[u8; 8]| {
        let word = u64::from_le_bytes(*eight);
        // The high bit of each byte: whether it is not zero, and whether its low seven bits are at least 0x20.
        let not_zero = |word: u64| ((word & LOW_BITS) + LOW_BITS) | word;
        let not_control = (word & LOW_BITS) + ONES * 0x60;
        let quote = not_zero(word ^ (ONES * 0x22));
        let backslash = not_zero(word ^ (ONES * 0x5C));
        let special = !(quote & backslash & not_control) | word;
        ((special >> 7) & ONES).wrapping_mul(GATHER).to_le_bytes()[7]
    };
    let (eights, _) = block.as_chunks::<8>();
    u16::from_le_bytes(std::array::from_fn(|index| special_bits_of_8(&eights[index])))
}

/// Returns the length of the plain ASCII prefix, rounded down to whole strides.
///
/// Uses a copy of the function compiled for AVX2 if the processor supports it.
#[allow(unsafe_code, reason = "measured: reading long text takes half the time")]
pub(super) fn plain_strides(bytes: &[u8]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the only requirement of the function is AVX2, which was detected above.
        return unsafe { plain_strides_avx2(bytes) };
    }
    plain_strides_portable(bytes)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn plain_strides_avx2(bytes: &[u8]) -> usize {
    plain_strides_portable(bytes)
}

/// Compares bytes without branches, which compilers turn into vector instructions.
#[inline(always)]
fn plain_strides_portable(bytes: &[u8]) -> usize {
    let (strides, _) = bytes.as_chunks::<STRIDE>();
    let is_plain = |stride: &&[u8; STRIDE]| {
        stride.iter().fold(true, |plain, &byte| plain & is_plain_ascii(byte))
    };
    strides.iter().take_while(is_plain).count() * STRIDE
}

#[cfg(test)]
mod tests {
    use super::{
        STRIDE, is_plain_ascii, plain_strides, plain_strides_portable, portable, special_bits,
    };

    #[test]
    fn plain_strides_stop_before_the_first_special_byte() {
        for byte in [b'"', b'\\', 0x1F, 0x80, 0xFF, b'a'] {
            for position in 0..4 * STRIDE {
                let mut bytes = [b'a'; 4 * STRIDE + 5];
                bytes[position] = byte;
                let plain = if is_plain_ascii(byte) { 4 } else { position / STRIDE };
                assert_eq!(plain_strides(&bytes), plain * STRIDE, "{byte:#x} at {position}");
                assert_eq!(plain_strides_portable(&bytes), plain * STRIDE);
            }
        }
    }

    #[test]
    fn special_bits_classify_every_byte_at_every_position() {
        for byte in 0..=u8::MAX {
            for position in 0..32 {
                let mut block = [b'a'; 32];
                block[position] = byte;
                let expected = u64::from(!is_plain_ascii(byte)) << position;
                assert_eq!(special_bits(&block), expected, "{byte:#x} at {position}");
                let half = *block[position & 16..].first_chunk().unwrap();
                assert_eq!(u64::from(portable(&half)) << (position & 16), expected);
            }
        }
    }

    #[test]
    fn portable_version_classifies_each_byte_independently_of_its_neighbour() {
        for first in 0..=u8::MAX {
            for second in 0..=u8::MAX {
                let mut block = [b'a'; 16];
                (block[3], block[4]) = (first, second);
                let bit = |byte, position| u16::from(!is_plain_ascii(byte)) << position;
                assert_eq!(
                    portable(&block),
                    bit(first, 3) | bit(second, 4),
                    "{first:#x} {second:#x}"
                );
            }
        }
    }
}
