//! The launches of a transposition by tiles.

use gpu_core::{Buffer, Stream};
use gpu_sparse_kernels::THREADS;
use gpu_sparse_kernels::tiles::{
    COUNT_BYTES, FOUND, GATHERERS, Tiles, sparse_count_tiles, sparse_from_tiles,
};
use gpu_std::launch::LaunchConfig;

use crate::error::Error;
use crate::launch::Element;
use crate::matrix::CsrView;

/// What is known of tiles and buckets.
pub(crate) struct Counted {
    tiles: Tiles,
    /// The entries of each bucket, then their exclusive sums, and one more.
    pub(crate) totals: Buffer<u32>,
    masks: Buffer<u32>,
    found: Buffer<u32>,
}

impl Counted {
    /// Enqueues which tiles have entries of each bucket, and how many.
    pub(crate) fn new<T: Element>(stream: &Stream, tiles: Tiles, a: &CsrView<'_, T>) -> Result<Self, Error> {
        let (device, buckets) = (stream.device(), tiles.buckets() as usize);
        let mut counted = Self {
            tiles,
            totals: device.zeroed(buckets + 1)?,
            masks: device.zeroed(buckets * tiles.mask_words() as usize)?,
            found: device.zeroed(FOUND as usize)?,
        };
        counted.count(stream, a, 1)?;
        Ok(counted)
    }

    /// The pairs of tiles and buckets of every `stride`-th tile, of more than one, if none of them has too long a row.
    /// Waits for it.
    pub(crate) fn sample<T: Element>(
        stream: &Stream,
        tiles: Tiles,
        a: &CsrView<'_, T>,
        stride: u32,
    ) -> Result<Option<u32>, Error> {
        assert!(stride > 1);
        let device = stream.device();
        let (totals, masks, found) = (device.alloc(0)?, device.alloc(0)?, device.zeroed(FOUND as usize)?);
        let mut counted = Self { tiles, totals, masks, found };
        counted.count(stream, a, stride)?;
        counted.found()
    }

    /// Enqueues the count of every `stride`-th tile, of more than one the sample, which has no totals nor masks.
    fn count<T: Element>(
        &mut self,
        stream: &Stream,
        a: &CsrView<'_, T>,
        stride: u32,
    ) -> gpu_core::Result<()> {
        self.expect(a);
        let Self { tiles, totals, masks, found } = self;
        let launch = LaunchConfig::linear(tiles.tiles().div_ceil(stride), THREADS).shared(COUNT_BYTES);
        // SAFETY: the matrix has the rows, columns and entries of the cut. There is a total for each bucket, and a bit
        // for each tile of each bucket, but of a sample, which does not write them.
        unsafe {
            stream.launch::<sparse_count_tiles>(
                launch,
                (a.offsets, a.indices, totals, masks, found, *tiles, stride),
            )
        }
    }

    /// The pairs of tiles and buckets of a sample, if the matrix can be transposed so. Waits for it.
    pub(crate) fn found(&self) -> Result<Option<u32>, Error> {
        let [pairs, is_uneven] = self.found.view().to_array()?;
        Ok((is_uneven == 0).then_some(pairs))
    }

    /// Enqueues where columns start, and the rows and values of their entries. The totals are their exclusive sums.
    pub(crate) fn transpose<T: Element>(
        &mut self,
        stream: &Stream,
        a: &CsrView<'_, T>,
        (offsets, rows, values): (&mut Buffer<u32>, &mut Buffer<u32>, &mut Buffer<T>),
    ) -> gpu_core::Result<()> {
        self.expect(a);
        let Self { tiles, totals, masks, found } = self;
        let len = tiles.entries as usize;
        assert_eq!((offsets.len(), rows.len(), values.len()), (tiles.columns as usize + 1, len, len));
        let launch = LaunchConfig::linear(tiles.buckets(), GATHERERS).shared(tiles.from_bytes());
        let (given, values) = (a.values.untyped(), values.view_mut().untyped());
        // SAFETY: as above; there is an offset more than columns, and room for as many rows and values as there are
        // entries, beyond which the kernel does not write. Of values it reads as many words as they have.
        unsafe {
            stream.launch::<sparse_from_tiles>(
                launch,
                (a.offsets, a.indices, given, &*totals, &*masks, found, offsets, rows, values, *tiles),
            )
        }
    }

    /// That the matrix is cut so.
    fn expect<T: Element>(&self, a: &CsrView<'_, T>) {
        let Tiles { rows, columns, entries, words, .. } = self.tiles;
        let cut = (rows as usize, columns as usize, entries as usize, 4 * words as usize);
        assert_eq!(cut, (a.rows, a.columns, a.entries(), size_of::<T>()));
        assert!(entries > 0);
    }
}
