//! Tiles in the order in which blocks start.
//!
//! Blocks take tiles in turn, by a ticket: all tiles before a block's own have been taken by blocks that run, so
//! whatever it waits for will come, in whichever order the blocks start and however many of them find a place.
//!
//! The ticket's upper half counts launches. With it a block draws the mark by which it tells this launch's words from
//! those of others; nothing has to be cleared between launches, and a captured launch can be replayed. Only after
//! 2^32 - 1 launches, when a mark would come back, the last block to end clears all words.
//!
//! Where a launch's words are cleared before it anyway, a plain counter does: [`draw`], or [`draw_for_block`].

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::thread::{block_dim_x, sync_threads, thread_idx_x};
use gpu_std::{device, keep_rolled, opaque, warp};

/// No tile.
pub const NONE: u32 = u32::MAX;

/// The counter that blocks draw tickets from: how many were drawn below, how many launches there were above.
///
/// ```
/// use gpu_collective::grid::Tickets;
/// use gpu_std::prelude::*;
///
/// /// The squares of tiles of 64 elements, by as many blocks as one likes, launch after launch.
/// #[kernel]
/// pub fn squares(values: GlobalMut<u32>, tiles: u32, words: GlobalMut<u64>, capacity: u64) {
///     let room = shared::dynamic().array::<u64>(1);
///     let tickets = Tickets { words, tiles, capacity };
///     let thread = thread::thread_idx_x();
///     loop {
///         if thread == 0 {
///             room.write(0, tickets.draw());
///         }
///         thread::sync_threads();
///         let ticket = room.read(0);
///         let tile = gpu_collective::grid::tickets::tile(ticket);
///         if tile >= tiles {
///             tickets.finish(tile, gpu_collective::grid::tickets::mark(ticket), room, thread::grid_dim_x());
///             break;
///         }
///         let at = tile * 64 + thread;
///         values.write(at, values.read(at) * values.read(at));
///         thread::sync_threads();
///     }
/// }
/// # use gpu_std::launch::LaunchConfig;
/// # let device = gpu_core::Device::simulator();
/// # let (mut values, mut scratch) = (device.upload(&[3u32; 320])?, device.zeroed::<u64>(2)?);
/// # for _ in 0..2 {
/// #     let (values, words) = (values.view_mut().as_global_mut(), scratch.view_mut().as_global_mut());
/// #     let config = LaunchConfig::linear(3, 64).shared(16);
/// #     unsafe { squares::launch(&device.default_stream(), config, values, 5, words, 2)? };
/// # }
/// assert_eq!(values.to_vec()?, [81; 320]);
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Tickets {
    /// The counter, that of blocks that have ended, and all other words that the launch publishes; zero before the first
    /// launch.
    pub words: GlobalMut<u64>,
    /// How many tiles there are.
    pub tiles: u32,
    /// How many words there are.
    pub capacity: u64,
}

/// The tile of a ticket; there is none where it is not below the number of tiles.
#[inline(always)]
pub const fn tile(ticket: u64) -> u32 {
    ticket as u32
}

/// What tells the words of a ticket's launch from all others that may still be there; never zero.
#[inline(always)]
pub const fn mark(ticket: u64) -> u32 {
    (ticket >> 32) as u32 + 1
}

/// The next of a counter's numbers, the first of which is what it held before the launch. For one thread of a block.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn draw(counter: GlobalMut<u32>) -> u32 {
    counter.atomic(0).fetch_add(1, Ordering::Relaxed, Scope::Device)
}

/// The next of a counter's numbers, the same for the whole block.
///
/// `room` is one word of shared memory, read until the next barrier. One barrier.
///
/// ```
/// use gpu_collective::grid::tickets::draw_for_block;
/// use gpu_std::prelude::*;
///
/// /// The order in which blocks came, for them to wait for those before.
/// #[kernel]
/// pub fn turns(counter: GlobalMut<u32>, blocks: GlobalMut<u32>) {
///     let turn = draw_for_block(counter, shared::dynamic().array(1));
///     if thread::thread_idx_x() == 0 {
///         blocks.write(turn, thread::block_idx_x());
///     }
/// }
/// # use gpu_std::launch::LaunchConfig;
/// # let device = gpu_core::Device::simulator();
/// # let (mut counter, mut blocks) = (device.zeroed(1)?, device.zeroed(5)?);
/// # let (a, b) = (counter.view_mut().as_global_mut(), blocks.view_mut().as_global_mut());
/// # unsafe { turns::launch(&device.default_stream(), LaunchConfig::linear(5, 64).shared(4), a, b)? };
/// let mut blocks = blocks.to_vec()?;
/// blocks.sort();
/// assert_eq!((counter.to_vec()?, blocks), (vec![5], vec![0, 1, 2, 3, 4]));
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[device]
#[inline(always)]
pub fn draw_for_block(counter: GlobalMut<u32>, room: Shared<u32>) -> u32 {
    if thread_idx_x() == 0 {
        room.write(0, draw(counter));
    }
    sync_threads();
    room.read(0)
}

impl Tickets {
    /// The next ticket. For thread 0 of the block.
    #[inline(always)]
    pub fn draw(&self) -> u64 {
        // By one, as one thread draws, which the assembler shall not see: it would let all lanes draw at once, in 20
        // instructions.
        let one = 1 + opaque(warp::lane_id()) as u64;
        self.words.atomic(0).fetch_add(one, Ordering::Relaxed, Scope::Device)
    }

    /// Prepares the next launch. For the whole block, once, when it has drawn a ticket beyond the tiles.
    ///
    /// `last` is that ticket's tile, `mark` its mark, `shared` room for a word, and `blocks` how many blocks there are.
    #[device]
    #[inline(always)]
    pub fn finish(&self, last: u32, mark: u32, shared: Shared<u64>, blocks: u32) {
        let thread = thread_idx_x();
        let is_last = last == self.tiles + blocks - 1;
        if mark != u32::MAX {
            if thread == 0 && is_last {
                self.words.atomic(0).store((mark as u64) << 32, Ordering::Relaxed, Scope::Device);
            }
            return;
        }
        // No mark is left: once every block has seen what it waited for, all words are cleared.
        sync_threads();
        if thread == 0 {
            // Mutants: only a load that reads what is stored later would tell; the simulator makes none.
            shared.write(0, self.words.atomic(1).fetch_add(1, Ordering::AcqRel, Scope::Device));
        }
        sync_threads();
        if shared.read(0) == blocks as u64 - 1 {
            let mut word = thread as u64;
            while word < self.capacity {
                keep_rolled();
                // Mutants: the next launch reads it, and comes after this one's end whatever the scope.
                self.words.offset(word).atomic(0).store(0, Ordering::Relaxed, Scope::Device);
                word += block_dim_x() as u64;
            }
        }
    }
}
