//! Scratch memory of a reduction.

use gpu_core::{Buffer, Stream};

use crate::error::Error;
use crate::plan::Plan;

/// Words before the partial sums: the ticket, and a place for the result of [`sum`](crate::sum()).
const HEADER: usize = 2;

/// The partial sums of the blocks and the ticket that tells which block finishes.
///
/// It belongs to the stream that it was made for: reductions that share it must run one after the other. It is zero
/// between launches, and every launch leaves it so.
#[derive(Debug)]
pub struct Scratch {
    /// One allocation of 64-bit words: header, then a word for each block.
    pub(crate) words: Buffer<u64>,
    pub(crate) stream: Stream,
    /// Set while a launch is being enqueued. It stays set if that fails: then the words must be cleared again.
    pub(crate) dirty: bool,
}

impl Scratch {
    /// Bytes of device memory that reductions of up to `len` elements take: 32 KiB at most.
    ///
    /// ```
    /// assert_eq!(gpu_reduce::Scratch::bytes(1), 24);
    /// assert_eq!(gpu_reduce::Scratch::bytes(usize::MAX), 8 * (2 + 4096));
    /// ```
    pub const fn bytes(len: usize) -> usize {
        Self::words(len) * size_of::<u64>()
    }

    /// Scratch memory for reductions of up to `len` elements on `stream`.
    ///
    /// # Errors
    /// Where the device's memory does not suffice.
    pub fn for_len(stream: &Stream, len: usize) -> Result<Self, Error> {
        let words = stream.device().zeroed(Self::words(len))?;
        Ok(Self { words, stream: stream.clone(), dirty: false })
    }

    /// Blocks that it has room for.
    pub fn blocks(&self) -> u32 {
        (self.words.len() - HEADER) as u32
    }

    const fn words(len: usize) -> usize {
        // The number of blocks is not monotonic in the length: it drops where each block takes one tile more.
        HEADER + if len > MOST { gpu_kernels::reduce::MAX_BLOCKS } else { Plan::new(len).blocks } as usize
    }

    /// Clears what a failed launch may have left.
    pub(crate) fn prepare(&mut self) -> Result<(), Error> {
        if self.dirty {
            self.stream.memset(&mut self.words, 0)?;
        }
        self.dirty = true;
        Ok(())
    }

    /// The address of the ticket.
    pub(crate) fn ticket(&self) -> u64 {
        self.words.view().as_global().address()
    }

    /// The address of the result.
    pub(crate) fn result(&self) -> u64 {
        self.ticket() + size_of::<u64>() as u64
    }

    /// The address of the partial sums.
    pub(crate) fn partials(&self) -> u64 {
        self.ticket() + (HEADER * size_of::<u64>()) as u64
    }
}

/// The longest input with one tile a block.
const MOST: usize = gpu_kernels::reduce::MAX_BLOCKS as usize * gpu_kernels::reduce::TILE as usize;
