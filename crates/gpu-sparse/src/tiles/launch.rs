//! The launches of a transposition by tiles.

use gpu_core::{Buffer, Scratch, ScratchSize, Stream};
use gpu_sparse_kernels::THREADS;
use gpu_sparse_kernels::from_tiles::{self, bytes};
use gpu_sparse_kernels::tiles::{FOUND, GROUP, IS_FAR, IS_UNEVEN, LIST_BYTES, Tiles, sparse_list_tiles};
use gpu_std::launch::LaunchConfig;

use crate::error::Error;
use crate::launch::Element;
use crate::matrix::CsrView;

/// The tiles that have entries of each bucket, and what is found out meanwhile.
pub(crate) struct Listed {
    tiles: Tiles,
    lists: Buffer<u32>,
    /// [`FOUND`] words, and the length of each list.
    found: Buffer<u32>,
}

impl Listed {
    /// Lists that are empty.
    pub(crate) fn new(stream: &Stream, tiles: Tiles) -> gpu_core::Result<Self> {
        let (device, buckets) = (stream.device(), tiles.buckets() as usize);
        let lists = device.alloc(buckets * tiles.list() as usize)?;
        Ok(Self { tiles, lists, found: device.zeroed(FOUND as usize + buckets)? })
    }

    /// Enqueues a sample of every `stride`-th group of tiles, of more than one: how many pairs of tiles and buckets it
    /// has is known to the launches behind it.
    pub(crate) fn sample<T: Element>(
        &mut self,
        stream: &Stream,
        a: &CsrView<'_, T>,
        stride: u32,
    ) -> gpu_core::Result<()> {
        assert!(stride > 1);
        self.list_every(stream, a, (stride, u32::MAX))
    }

    /// Enqueues the lists of a matrix whose sample has no more than so many pairs.
    pub(crate) fn list<T: Element>(
        &mut self,
        stream: &Stream,
        a: &CsrView<'_, T>,
        most_pairs: u32,
    ) -> gpu_core::Result<()> {
        self.list_every(stream, a, (1, most_pairs))
    }

    fn list_every<T: Element>(
        &mut self,
        stream: &Stream,
        a: &CsrView<'_, T>,
        (stride, most_pairs): (u32, u32),
    ) -> gpu_core::Result<()> {
        self.expect(a);
        let Self { tiles, lists, found } = self;
        let launch =
            LaunchConfig::linear(tiles.tiles().div_ceil(GROUP).div_ceil(stride), THREADS).shared(LIST_BYTES);
        // SAFETY: the matrix has the rows, columns and entries of the cut. There is a list for each bucket, and its
        // length.
        unsafe {
            stream.launch::<sparse_list_tiles>(
                launch,
                (a.offsets, a.indices, lists, found, *tiles, stride, most_pairs),
            )
        }
    }

    /// Enqueues where columns start, and the rows and values of their entries.
    pub(crate) fn transpose<T: Element>(
        &mut self,
        stream: &Stream,
        a: &CsrView<'_, T>,
        (offsets, rows, values): (&mut Buffer<u32>, &mut Buffer<u32>, &mut Buffer<T>),
    ) -> gpu_core::Result<()> {
        self.expect(a);
        let Self { tiles, lists, found } = self;
        let len = tiles.entries as usize;
        assert_eq!((offsets.len(), rows.len(), values.len()), (tiles.columns as usize + 1, len, len));
        let launch = LaunchConfig::linear(tiles.buckets(), from_tiles::THREADS).shared(bytes::<T>(tiles));
        let size = ScratchSize::new().own_tickets(tiles.words() as usize);
        Scratch::kept(stream, |scratch| {
            scratch.lend("transpose", size, |parts| {
                let arguments = (
                    a.offsets,
                    a.indices,
                    a.values,
                    &*lists,
                    found,
                    offsets,
                    rows,
                    values,
                    parts.tickets,
                    *tiles,
                );
                // SAFETY: as above; there is an offset more than columns, and room for as many rows and values as there
                // are entries, beyond which the kernel does not write. The scratch memory was zero before its first
                // launch.
                unsafe { stream.launch::<T::FromTiles>(launch, arguments) }
            })
        })
    }

    /// Whether the matrix can be transposed so. Waits for it.
    pub(crate) fn is_even(&self) -> Result<bool, Error> {
        let found: [u32; FOUND as usize] = self.found.slice(..FOUND as usize).to_array()?;
        Ok(found[IS_FAR as usize] == 0 && found[IS_UNEVEN as usize] == 0)
    }

    /// That the matrix is cut so.
    fn expect<T: Element>(&self, a: &CsrView<'_, T>) {
        let Tiles { rows, columns, entries, .. } = self.tiles;
        let cut = (rows as usize, columns as usize, entries as usize);
        assert_eq!(cut, (a.rows, a.columns, a.entries()));
        assert!(entries > 0 && self.tiles.buckets() < 1 << 24);
    }
}
