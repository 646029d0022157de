//! Finding what ends plain ASCII in a block of bytes at once.

#![allow(clippy::inline_always, reason = "measured: a call for every token costs a third")]

/// Bytes looked at together: as many as there are bits in a number.
pub(super) const STRIDE: usize = 64;

/// A byte of a string that needs no second look: not a quote, backslash or control character, and
/// not beyond ASCII.
#[allow(clippy::needless_bitwise_bool, reason = "without branches it becomes vector instructions")]
#[inline(always)]
pub(super) fn is_plain_ascii(byte: u8) -> bool {
    // As a signed number, everything beyond ASCII is negative.
    (byte.cast_signed() > 0x1F) & (byte != b'"') & (byte != b'\\')
}

/// One bit for each byte that is not plain ASCII, the first byte lowest. For up to 64 bytes, in
/// whole sixteens.
#[inline(always)]
pub(super) fn special_bits<const N: usize>(block: &[u8; N]) -> u64 {
    let (sixteens, _) = block.as_chunks::<16>();
    sixteens
        .iter()
        .enumerate()
        .fold(0, |bits, (i, sixteen)| bits | u64::from(special_bits_of_16(sixteen)) << (16 * i))
}

/// The portable way takes twice as long.
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
    // SAFETY: these are computations on values, unsafe only where the processor lacks SSE2; this
    // function exists only where the target has it.
    let mask = unsafe {
        let bytes = _mm_set_epi64x(high, low);
        let quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x22));
        let backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x5C));
        // As signed numbers: control characters, and all that is beyond ASCII.
        let low = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
        _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), low))
    };
    mask as u16
}

/// Written so that compilers find the vector instructions for it: compare all bytes at once, leave
/// in each the bit of its place among eight, then sum up every eight of them to one byte.
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
#[inline(always)]
fn special_bits_of_16(block: &[u8; 16]) -> u16 {
    portable(block)
}

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

/// The number of bytes in whole strides of plain ASCII at the beginning.
///
/// For processors that have AVX2, which is not every x86-64, the same is compiled once more.
#[allow(unsafe_code, reason = "measured: reading long text takes half the time")]
pub(super) fn plain_strides(bytes: &[u8]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the function is safe but for needing AVX2, and the processor has just said that
        // it has it.
        return unsafe { plain_strides_avx2(bytes) };
    }
    plain_strides_anywhere(bytes)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn plain_strides_avx2(bytes: &[u8]) -> usize {
    plain_strides_anywhere(bytes)
}

/// Compares byte by byte without a branch, which compilers turn into vector instructions.
#[inline(always)]
fn plain_strides_anywhere(bytes: &[u8]) -> usize {
    let (strides, _) = bytes.as_chunks::<STRIDE>();
    let is_plain = |stride: &&[u8; STRIDE]| {
        stride.iter().fold(true, |plain, &byte| plain & is_plain_ascii(byte))
    };
    strides.iter().take_while(is_plain).count() * STRIDE
}

#[cfg(test)]
mod tests {
    use super::{
        STRIDE, is_plain_ascii, plain_strides, plain_strides_anywhere, portable, special_bits,
    };

    #[test]
    fn strides_are_plain_up_to_the_first_byte_that_is_not() {
        for byte in [b'"', b'\\', 0x1F, 0x80, 0xFF, b'a'] {
            for place in 0..4 * STRIDE {
                let mut bytes = [b'a'; 4 * STRIDE + 5];
                bytes[place] = byte;
                let plain = if is_plain_ascii(byte) { 4 } else { place / STRIDE };
                assert_eq!(plain_strides(&bytes), plain * STRIDE, "{byte:#x} at {place}");
                assert_eq!(plain_strides_anywhere(&bytes), plain * STRIDE);
            }
        }
    }

    #[test]
    fn every_byte_in_every_place_is_told_right() {
        for byte in 0..=u8::MAX {
            for place in 0..32 {
                let mut block = [b'a'; 32];
                block[place] = byte;
                let expected = u64::from(!is_plain_ascii(byte)) << place;
                assert_eq!(special_bits(&block), expected, "{byte:#x} at {place}");
                let half = *block[place & 16..].first_chunk().unwrap();
                assert_eq!(u64::from(portable(&half)) << (place & 16), expected);
            }
        }
    }
}
