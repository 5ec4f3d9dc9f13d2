//! What a scan launches, from its length and operator, on the device's multiprocessors: pure, tested without a GPU.

use gpu_scan_kernels::{self as scan, BLOCKS, HEADER_WORDS, MAX_TILES, Scan, Shape, WideSum, segmented};
use gpu_std::launch::LaunchConfig;

use gpu_core::{Device, Error};

/// The launch for an array of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How the array is cut: it fixes the order of combination.
    pub shape: Shape,
    /// Tiles of [`Shape::tile`] elements; at most 2^31.
    pub tiles: u64,
}

impl Plan {
    /// The plan for `len` elements.
    pub const fn new<S: Scan>(len: usize) -> Self {
        // Words beyond would be dropped on their way between threads.
        const { assert!(Shape::of::<S>().words as usize <= scan::MAX_WORDS, "a register has 2 words at most") };
        Self::cut(Shape::of::<S>(), len)
    }

    /// The plan for segments of `len` elements in all.
    pub(crate) const fn of_segments<S: Scan>(len: usize) -> Self {
        // What is exchanged has a word more, which says whether a segment starts.
        const { assert!(Shape::of::<S>().words as usize <= scan::MAX_WORDS, "a register has 2 words at most") };
        Self::cut(segmented::shape::<S>(), len)
    }

    /// The plan for `len` elements that are cut as `shape` says.
    pub(crate) const fn cut(shape: Shape, len: usize) -> Self {
        let tiles = shape.tiles(len as u64);
        Self { shape, tiles }
    }

    /// As [`Plan::new`], if the length is one that a GPU could take.
    ///
    /// # Errors
    /// [`Error::TooLong`].
    pub(crate) fn checked<S: Scan>(len: usize) -> Result<Self, Error> {
        Self::new::<S>(len).if_countable(len)
    }

    /// This plan, if its tiles can be counted.
    pub(crate) fn if_countable(self, len: usize) -> Result<Self, Error> {
        if self.tiles <= MAX_TILES {
            return Ok(self);
        }
        let most = usize::try_from(MAX_TILES * self.shape.tile() as u64).unwrap_or(usize::MAX);
        Err(Error::TooLong { len, most })
    }

    /// Words of scratch memory that the tiles take.
    pub const fn scratch_words(self) -> usize {
        self.shape.scratch_words(self.tiles) as usize
    }

    /// Blocks of a launch on a device.
    pub(crate) fn blocks(self, device: &Device) -> u32 {
        device.blocks_for(BLOCKS, self.tiles)
    }

    /// Grid, block and shared memory on a device; for at least one element.
    pub fn launch(self, device: &Device) -> LaunchConfig {
        LaunchConfig::linear(self.blocks(device), self.shape.threads()).shared(self.shape.shared_bytes())
    }
}

/// Words before those of the tiles.
pub(crate) const HEADER: usize = HEADER_WORDS as usize;

/// The most words that any scan of up to `len` elements takes: the smallest tile is that of 64-bit elements, and no
/// accumulator is larger than theirs.
pub(crate) const fn most_scratch_words(len: usize) -> usize {
    let shape = Shape::of::<WideSum<f32>>();
    shape.scratch_words(shape.tiles(len as u64)) as usize
}

/// The same for scans of segments, whose accumulators have a word more.
pub(crate) const fn most_segments_scratch_words(len: usize) -> usize {
    let shape = segmented::shape::<WideSum<f32>>();
    shape.scratch_words(shape.tiles(len as u64)) as usize
}

const _: () = {
    const fn smaller<S: Scan>() -> bool {
        let (shape, widest) = (Shape::of::<S>(), Shape::of::<WideSum<f32>>());
        let (segments, most) = (segmented::shape::<S>(), segmented::shape::<WideSum<f32>>());
        shape.tile() >= widest.tile()
            && shape.words <= widest.words
            && segments.tile() >= most.tile()
            && segments.words <= most.words
    }
    assert!(smaller::<scan::Sum<f64>>() && smaller::<scan::Sum<f32>>() && smaller::<scan::Sum<u8>>());
    assert!(smaller::<WideSum<u8>>() && smaller::<WideSum<i32>>() && smaller::<scan::Sum<i16>>());
};

#[cfg(test)]
mod tests {
    use super::*;
    use gpu_scan_kernels::Sum;

    #[test]
    fn tiles_are_16_to_20_kib_of_the_wider_side() {
        assert_eq!(Plan::new::<Sum<u8>>(0).shape.tile(), 16 << 10);
        assert_eq!(Plan::new::<Sum<i16>>(0).shape.tile(), 8 << 10);
        assert_eq!(Plan::new::<Sum<f32>>(0).shape.tile(), 4 << 10);
        assert_eq!(Plan::new::<WideSum<u8>>(0).shape.tile(), 4 << 10);
        assert_eq!(Plan::new::<Sum<f64>>(0).shape.tile(), 5 << 9);
    }

    #[test]
    fn segments_take_48_kib_at_most() {
        for shape in [
            segmented::shape::<Sum<f32>>(),
            segmented::shape::<Sum<u64>>(),
            segmented::shape::<WideSum<u8>>(),
            segmented::shape::<WideSum<i16>>(),
            segmented::shape::<WideSum<f32>>(),
        ] {
            assert!(segmented::shared_bytes(shape) <= 48 << 10, "{shape:?}");
        }
    }

    #[test]
    fn every_block_has_a_tile_and_one_tile_needs_no_scratch() {
        let device = Device::simulator();
        let tile = Plan::new::<Sum<f32>>(0).shape.tile() as usize;
        for (len, tiles, blocks, words) in [
            (0, 0, 0, 0),
            (1, 1, 1, 0),
            (tile, 1, 1, 0),
            (tile + 1, 2, 2, 6),
            (256 * tile, 256, 256, 274),
            (256 * tile + 1, 257, 257, 277),
            (10_000 * tile, 10_000, 5 * 132, 10_646),
        ] {
            let plan = Plan::new::<Sum<f32>>(len);
            assert_eq!(
                (plan.tiles, plan.blocks(&device), plan.scratch_words()),
                (tiles, blocks, words),
                "{len}"
            );
        }
    }

    #[test]
    fn tiles_are_counted_in_32_bits() {
        let most = (MAX_TILES as usize) * Plan::new::<Sum<f32>>(0).shape.tile() as usize;
        let plan = Plan::checked::<Sum<f32>>(most).unwrap();
        assert!(plan.tiles + u64::from(plan.blocks(&Device::simulator())) < 1 << 32);
        let error = Plan::checked::<Sum<f32>>(most + 1).unwrap_err();
        assert!(matches!(error, Error::TooLong { len, most: m } if len == most + 1 && m == most), "{error}");
    }

    #[test]
    fn scratch_for_a_length_is_enough_for_all_operators() {
        for len in [0, 1, 2560, 2561, 100_000, 1 << 24, (1 << 33) + 1] {
            let most = most_scratch_words(len);
            assert!(Plan::new::<Sum<f64>>(len).scratch_words() <= most, "{len}");
            assert!(Plan::new::<Sum<f32>>(len).scratch_words() <= most, "{len}");
            assert!(Plan::new::<Sum<u8>>(len).scratch_words() <= most, "{len}");
            let of_segments = most_segments_scratch_words(len);
            assert!(most <= of_segments, "{len}");
            let plan = Plan::cut(segmented::shape::<Sum<f32>>(), len);
            assert!(plan.scratch_words() <= of_segments, "{len}");
        }
    }
}
