//! What random reads of a vector bring from memory, beside what streams by.
//!
//! A small matrix has its vector in the cache, and sampled blocks find nothing of it there; a device does neither. By
//! Che's approximation of a cache that drops what was used longest ago (Che, Tung and Wang, *Hierarchical web caching
//! systems*, 2002): of a vector of V bytes read at random in granules of g, after u reads of each granule on average
//!
//! ```text
//! filled(u) = V · (1 − e^−u) + u · V / g · streamed          bytes that were touched, streamed: those a read
//! misses    = e^−u  where  filled(u) = cache                 none where all of it and of the stream fits
//! ```
//!
//! Each half of the second-level cache has what its multiprocessors read (NVIDIA, A100 architecture whitepaper, 2020;
//! so have 9.0's), so that what all of them read has half of it. Memory brings pairs of sectors.

/// Bytes that memory brings at a time.
pub const GRANULE: f64 = 64.0;
/// Parts of a vector that becomes known row by row, of which each is taken to be there.
const PARTS: u32 = 16;

/// The part of the reads of a vector of so many bytes that a cache of `l2` bytes does not have, with so many bytes
/// streamed by for each read.
pub fn misses(vector: f64, streamed: f64, l2: f64) -> f64 {
    missed(vector, streamed, l2 / 2.0)
}

/// The same of a vector that becomes known from its first element on, as rows read what is before them.
pub fn misses_before(vector: f64, streamed: f64, l2: f64) -> f64 {
    let of_part = |part: u32| missed(vector * (f64::from(part) + 0.5) / f64::from(PARTS), streamed, l2 / 2.0);
    // As many reads while each part is the last one.
    (0..PARTS).map(of_part).sum::<f64>() / f64::from(PARTS)
}

fn missed(vector: f64, streamed: f64, cache: f64) -> f64 {
    let filled = |reads: f64| vector * (1.0 - (-reads).exp()) + reads * vector / GRANULE * streamed;
    // Beyond 40 reads of each granule nothing is missed that matters.
    let (mut below, mut above) = (0.0, 40.0);
    if filled(above) <= cache {
        return 0.0;
    }
    for _ in 0..50 {
        let middle = (below + above) / 2.0;
        if filled(middle) <= cache { below = middle } else { above = middle }
    }
    (-below).exp()
}

/// Bytes that memory brings for a piece of so many, of words of `unit`, that is anywhere.
pub fn anywhere(bytes: f64, unit: f64) -> f64 {
    GRANULE + bytes - unit
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without a stream a cache of half of the vector has half of it: 1 − e^−u = 1/2.
    #[test]
    fn half_of_a_vector_fits() {
        assert!((missed(100e6, 0.0, 50e6) - 0.5).abs() < 1e-9);
        assert_eq!(missed(10e6, 0.0, 50e6), 0.0);
        // A stream as long as the vector in each turn: u + 1 − e^−u = 1, so that u = e^−u, which is 0.567143.
        assert!((missed(64e6, GRANULE, 64e6) - 0.567_143_290_4).abs() < 1e-9);
    }

    /// 64 bytes of words of 8 begin at one of 8 places of a granule, and are in one only at the first.
    #[test]
    fn pieces_are_in_two_granules() {
        assert_eq!(anywhere(64.0, 8.0), GRANULE * (1.0 + 7.0 * 2.0) / 8.0);
    }

    /// The more streams by and the longer the vector, the more is missed.
    #[test]
    fn more_is_missed_of_more() {
        let all = [[10e6, 8.0], [40e6, 8.0], [40e6, 16.0], [400e6, 16.0]];
        let all = all.map(|[vector, streamed]| misses_before(vector, streamed, 50e6));
        assert!(all.is_sorted() && all[0] < 0.01 && all[3] > 0.8, "{all:?}");
    }
}
