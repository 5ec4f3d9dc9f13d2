//! Bytes and bits of several words: one instruction each on the GPU.

#[cfg(target_arch = "nvptx64")]
use crate::backend::bits as backend;
#[cfg(not(target_arch = "nvptx64"))]
mod backend {
    pub fn byte_permute(low: u32, high: u32, selector: u32) -> u32 {
        let bytes = ((high as u64) << 32 | low as u64).to_le_bytes();
        u32::from_le_bytes(core::array::from_fn(|i| bytes[(selector >> (4 * i) & 7) as usize]))
    }

    pub fn add_if_at_most_u32(sum: u32, addend: u32, a: u32, b: u32) -> u32 {
        add_if_at_most_u64(sum, addend, a as u64, b as u64)
    }

    pub fn add_if_at_most_u64(sum: u32, addend: u32, a: u64, b: u64) -> u32 {
        if a <= b { sum.wrapping_add(addend) } else { sum }
    }
}

/// Four of the eight bytes of `low` (0 to 3) and `high` (4 to 7): hexadecimal digit `i` of `selector`, from the
/// right, says which becomes byte `i`. CUDA's `__byte_perm`; of a digit the lower three bits count.
///
/// ```
/// assert_eq!(gpu_std::bits::byte_permute(0x3322_1100, 0x7766_5544, 0x7041), 0x7700_4411);
/// ```
#[inline(always)]
pub fn byte_permute(low: u32, high: u32, selector: u32) -> u32 {
    backend::byte_permute(low, high, selector & 0x7777)
}

/// The 32 bits of `high` and `low`, side by side, that begin at bit `bits` of `low`. CUDA's `__funnelshift_r`; of
/// `bits` the lower five bits count.
///
/// ```
/// assert_eq!(gpu_std::bits::funnel_shift_right(0x3322_1100, 0x7766_5544, 8), 0x4433_2211);
/// ```
#[inline(always)]
pub fn funnel_shift_right(low: u32, high: u32, bits: u32) -> u32 {
    // ptxas makes one instruction of it.
    (((high as u64) << 32 | low as u64) >> (bits % 32)) as u32
}

/// `sum`, and `addend` more where `a` is at most `b`: by an addition that only those threads execute. Of a condition
/// the compiler makes a choice between two words instead, which is one more instruction for each of many.
///
/// ```
/// use gpu_std::bits::add_if_at_most_u32;
///
/// assert_eq!([2, 3, 4].map(|a| add_if_at_most_u32(10, 5, a, 3)), [15, 15, 10]);
/// ```
#[inline(always)]
pub fn add_if_at_most_u32(sum: u32, addend: u32, a: u32, b: u32) -> u32 {
    backend::add_if_at_most_u32(sum, addend, a, b)
}

/// [`add_if_at_most_u32`] of 64 bits.
///
/// ```
/// use gpu_std::bits::add_if_at_most_u64;
///
/// assert_eq!([2, 3, 4].map(|a| add_if_at_most_u64(10, 5, a << 32, 3 << 32)), [15, 15, 10]);
/// ```
#[inline(always)]
pub fn add_if_at_most_u64(sum: u32, addend: u32, a: u64, b: u64) -> u32 {
    backend::add_if_at_most_u64(sum, addend, a, b)
}
