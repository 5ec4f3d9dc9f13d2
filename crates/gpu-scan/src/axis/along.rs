//! An axis of an array.

use gpu_scan_kernels::columns::{Lines, Shape};
use gpu_scan_kernels::{BLOCKS, MAX_TILES, MAX_WORDS, Scan};
use gpu_std::launch::LaunchConfig;

use gpu_core::{Device, Error};

/// A row-major array as `outer × len × inner`, scanned along the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Along {
    pub(crate) outer: usize,
    pub(crate) len: usize,
    pub(crate) inner: usize,
}

impl Along {
    /// `axis` of an array of `shape` with `elements` elements.
    pub(crate) fn new(shape: &[usize], axis: usize, elements: usize) -> Result<Self, Error> {
        if axis >= shape.len() {
            return Err(Error::Axis { axis, axes: shape.len() });
        }
        // Where another extent is 0, even a product that overflows is no element.
        let expected = if shape.contains(&0) {
            0
        } else {
            let most = isize::MAX as usize;
            let product = shape.iter().try_fold(1usize, |all, &extent| all.checked_mul(extent));
            product.filter(|&product| product <= most).ok_or(Error::TooLong { len: usize::MAX, most })?
        };
        if expected != elements {
            return Err(Error::ShapeLength { what: "scan along an axis", expected, actual: elements });
        }
        if elements == 0 {
            return Ok(Self { outer: 0, len: 0, inner: 0 });
        }
        let of = |extents: &[usize]| extents.iter().product();
        Ok(Self { outer: of(&shape[..axis]), len: shape[axis], inner: of(&shape[axis + 1..]) })
    }

    /// What the kernel for columns takes, if it can count them.
    pub(crate) fn lines<S: Scan>(self) -> Result<Lines, Error> {
        const { assert!(Shape::of::<S>().words as usize <= MAX_WORDS, "a register has 2 words at most") };
        let columns = self.outer * self.inner;
        let slabs = self.len.div_ceil((Shape::of::<S>().warps * Shape::of::<S>().rows) as usize);
        let slots = slabs.saturating_mul(columns);
        if self.len > u32::MAX as usize / 2 || slots as u64 > MAX_TILES {
            return Err(Error::TooLong { len: slots.max(self.len), most: MAX_TILES as usize });
        }
        Ok(Lines { rows: self.len as u32, inner: self.inner as u32, columns: columns as u32 })
    }
}

/// Words of scratch memory that columns take.
pub(crate) fn scratch_words<S: Scan>(lines: Lines) -> usize {
    Shape::of::<S>().scratch_words(lines) as usize
}

/// Grid, block and shared memory; for at least one element.
pub(crate) fn launch_config<S: Scan>(device: &Device, lines: Lines) -> LaunchConfig {
    let shape = Shape::of::<S>();
    let blocks = device.blocks_for(BLOCKS, shape.tiles(lines));
    LaunchConfig::linear(blocks, 32 * shape.warps).shared(shape.shared_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu_scan_kernels::{Sum, WideSum};

    #[test]
    fn extents_before_and_behind_the_axis_are_multiplied() {
        let along = Along::new(&[2, 3, 4, 5], 1, 120).unwrap();
        assert_eq!(along, Along { outer: 2, len: 3, inner: 20 });
        let lines = along.lines::<Sum<f32>>().unwrap();
        assert_eq!((lines.rows, lines.inner, lines.columns), (3, 20, 40));
        // One slab: two groups of columns, a word for each.
        assert_eq!(
            (
                launch_config::<Sum<f32>>(&Device::simulator(), lines).grid[0],
                scratch_words::<Sum<f32>>(lines)
            ),
            (2, 40)
        );
        // Two words each, and slabs of half as many rows, where results have 8 bytes.
        let lines = Lines { rows: 65, ..lines };
        assert_eq!(scratch_words::<Sum<f32>>(lines), 40);
        assert_eq!(scratch_words::<WideSum<f32>>(lines), 2 * 2 * 40);
        assert_eq!(scratch_words::<WideSum<u8>>(lines), 40);
    }

    #[test]
    fn what_is_no_axis_and_what_cannot_be_counted() {
        assert!(matches!(Along::new(&[2, 3], 2, 6), Err(Error::Axis { axis: 2, axes: 2 })));
        assert!(matches!(Along::new(&[2, 3], 0, 7), Err(Error::ShapeLength { expected: 6, actual: 7, .. })));
        assert!(Along::new(&[usize::MAX, 2, 0], 0, 0).is_ok());
        assert!(matches!(Along::new(&[usize::MAX, 2], 0, usize::MAX), Err(Error::TooLong { .. })));
        let long = Along { outer: 1, len: 1 << 33, inner: 2 };
        assert!(matches!(long.lines::<Sum<f32>>(), Err(Error::TooLong { .. })));
    }
}
