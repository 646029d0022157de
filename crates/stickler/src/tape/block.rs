//! Classification of string bytes in blocks: finds the first byte that is not plain ASCII.

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

/// SSE2 version; the portable version takes twice as long.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[allow(unsafe_code, reason = "measured: reading a list takes about 15 % less time")]
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

/// Version that compilers vectorize: it compares all bytes, keeps for each byte the bit of its
/// position within a group of eight, and adds the bits of each group up to one byte.
#[cfg(any(test, not(all(target_arch = "x86_64", target_feature = "sse2"))))]
fn portable(block: &[u8; 16]) -> u16 {
    let bits: [u8; 16] =
        std::array::from_fn(|i| if is_plain_ascii(block[i]) { 0 } else { 1 << (i % 8) });
    let (eights, _) = bits.as_chunks::<8>();
    eights.iter().enumerate().fold(0, |mask, (i, eight)| {
        let byte = eight.iter().fold(0_u8, |sum, &bit| sum.wrapping_add(bit));
        mask | u16::from(byte) << (8 * i)
    })
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
}
