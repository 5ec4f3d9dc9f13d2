//! Input that is the same on every machine.

/// 64 random bits: number `index` of the sequence that `seed` starts (SplitMix64: Steele, Lea, Flood, OOPSLA 2014).
pub fn random(seed: u64, index: usize) -> u64 {
    let mut bits = seed.wrapping_add((index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// `len` floats of mixed sign and magnitude from a fixed seed ([`random`]): rounding shows in any sum of them, so a
/// different order of combination gives different bits.
pub fn floats(seed: u64, len: usize) -> Vec<f32> {
    let float = |index| {
        let bits = random(seed, index);
        // 24 random bits in [-1, 1), scaled by 2^-8 … 2^7.
        let unit = (bits >> 40) as f32 / (1 << 23) as f32 - 1.0;
        unit * f32::from_bits((127 - 8 + (bits & 15) as u32) << 23)
    };
    (0..len).map(float).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn data_is_reproducible_and_order_shows_in_its_sum() {
        let values = super::floats(1, 10_000);
        assert_eq!(values, super::floats(1, 10_000));
        assert_ne!(values, super::floats(2, 10_000));
        let (forward, backward): (f32, f32) = (values.iter().sum(), values.iter().rev().sum());
        assert_ne!(forward, backward);
    }
}
