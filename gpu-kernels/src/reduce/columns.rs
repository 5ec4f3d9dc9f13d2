//! The reduction along any axis but the last: of each column of a matrix, in one launch.
//!
//! The array is `outer × rows × inner`; element `(o, r, i)` belongs to line `o · inner + i`.
//!
//! # Order
//! A function of the number of rows alone. They are cut into slabs of [`slab`], and a slab's elements are taken one after the
//! other. Of the slabs' results [`GROUP`] at a time are combined one after the other, of what comes out again as many, until
//! there is one.
//!
//! # Who takes what
//! A thread takes 16 bytes of adjacent lines down a slab, [`IN_FLIGHT`] rows at a time; where rows do not start at multiples of
//! 16 bytes it takes one line. A block has 256 threads' lines, or more slabs of fewer lines. Slabs' results go to
//! scratch memory, and the block that completes a group of them combines it, and goes on with the group of groups that it may
//! have completed by that. Nobody waits. Groups are small, as what the last block combines alone comes on top.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::GlobalMut;
use gpu_std::thread::{
    block_idx_x, grid_dependency_synchronize, sync_threads, thread_idx_x, trigger_launch_completion,
};
use gpu_std::{device, shared, unroll};

use super::item::{Item, Source};
use super::number::Accumulator;
use super::operator::Reduction;
use super::quad::Quads;
use super::whole::{publishes, write};
use super::{MAX_WORDS, THREADS, per_load};

/// Rows of a slab, of so many rows: a power of two, from 32 to 512, and some 32 slabs where that allows it. Long slabs keep a block on
/// its way (H200, 16384² `f32`: 512 rows 251 µs, 128 rows 339), short ones keep all multiprocessors at work.
pub const fn slab(rows: u64) -> u32 {
    let aimed = rows / 32;
    if aimed <= 32 {
        32
    } else if aimed >= 512 {
        512
    } else {
        (aimed as u32).next_power_of_two()
    }
}

/// Partial results that are combined at a time.
pub const GROUP: u32 = 16;
/// Rows that a thread asks for before it uses the first.
const IN_FLIGHT: usize = 4;

/// What there is to reduce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// Elements of each line.
    pub rows: u64,
    /// Adjacent lines; those after them are `rows · inner` elements on.
    pub inner: u32,
    /// How many lines there are: a multiple of `inner`.
    pub lines: u32,
    /// 1 where every row starts at a multiple of 16 bytes, otherwise 0.
    pub is_vector: u32,
}

impl Lines {
    /// Slabs of a line.
    pub const fn slabs(self) -> u32 {
        let slabs = self.rows.div_ceil(slab(self.rows) as u64) as u32;
        if slabs == 0 { 1 } else { slabs }
    }

    /// Adjacent lines of a thread.
    pub const fn width<I: Item>(self) -> u32 {
        if self.is_vector == 0 { 1 } else { per_load::<I>() }
    }

    /// Threads side by side: a power of two, at least two. A warp for each of eight slabs, where there are so many: each then goes
    /// its own way (H200, 16384² `f32`: 251 µs, and 266 where a slab is the block's).
    pub const fn side_by_side<I: Item>(self) -> u32 {
        let needed = self.lines.div_ceil(self.width::<I>());
        let slabs = self.slabs();
        let most = if slabs >= THREADS / 32 { 32 } else { THREADS / slabs.next_power_of_two() };
        if needed > most / 2 {
            most
        } else if needed < 2 {
            2
        } else {
            needed.next_power_of_two()
        }
    }

    /// Blocks side by side.
    pub const fn tiles<I: Item>(self) -> u32 {
        self.lines.div_ceil(self.width::<I>()).div_ceil(self.side_by_side::<I>())
    }

    /// Slabs of a block: a power of two, at most 128.
    pub const fn slabs_of_block<I: Item>(self) -> u32 {
        THREADS / self.side_by_side::<I>()
    }

    /// Blocks of a launch.
    pub const fn blocks<I: Item>(self) -> u64 {
        self.tiles::<I>() as u64 * self.slabs().div_ceil(self.slabs_of_block::<I>()) as u64
    }

    /// Words of scratch memory: for each level the partial results, and a count for each group of them and tile.
    pub const fn scratch_words<R: Reduction>(self) -> u64 {
        let (mut words, mut slabs) = (0, self.slabs());
        while slabs > 1 {
            words += slabs as u64 * self.lines as u64 * publishes::<R>() as u64;
            slabs = slabs.div_ceil(GROUP);
            words += slabs as u64 * self.tiles::<R::Item>() as u64;
        }
        words
    }
}

/// Bytes of dynamic shared memory.
pub const COLUMNS_SHARED_BYTES: u32 = 4;

/// The blocks that shall fit on a multiprocessor.
pub const fn columns_blocks<R: Reduction>() -> u32 {
    match <R::Item as Item>::BYTES {
        1 => 2,
        // Five leave 48 registers, of which sm_80 would spill one.
        4 if publishes::<R>() == 1 => 4 + cfg!(target_feature = "sm_90") as u32,
        _ => 3,
    }
}

/// Reduces each line of `source` into [`Reduction::OUTPUTS`] elements of `output`.
///
/// `V` is [`per_load`]. Launch [`Lines::blocks`] blocks of [`THREADS`] threads with [`COLUMNS_SHARED_BYTES`]; the kernel's launch bounds
/// are those threads and [`columns_blocks`], or fewer blocks where that spares it a stack. `scratch` has [`Lines::scratch_words`], zero
/// before and after.
#[device]
#[inline(always)]
pub fn columns<R: Reduction, const V: usize>(
    source: <R::Item as Item>::Source,
    lines: Lines,
    scratch: GlobalMut<u32>,
    output: GlobalMut<R::Output>,
) {
    const { assert!(V as u32 == per_load::<R::Item>()) };
    let is_last = shared::dynamic().array::<u32>(1);
    grid_dependency_synchronize();
    trigger_launch_completion();
    let (side_by_side, tiles) = (lines.side_by_side::<R::Item>(), lines.tiles::<R::Item>());
    let (tile, row_of_blocks) = (block_idx_x() % tiles, block_idx_x() / tiles);
    let slabs_of_block = lines.slabs_of_block::<R::Item>();
    let first_slab = row_of_blocks * slabs_of_block;
    let mut slabs = lines.slabs();

    // ---- Slabs ---------------------------------------------------------------------------------------------------
    let in_tile = thread_idx_x() % side_by_side;
    let slab = first_slab + thread_idx_x() / side_by_side;
    let line = (tile * side_by_side + in_tile) * lines.width::<R::Item>();
    if slab < slabs && line < lines.lines {
        let most = self::slab(lines.rows);
        let begin = slab as u64 * most as u64;
        let rows = if lines.rows - begin < most as u64 { (lines.rows - begin) as u32 } else { most };
        let (outer, inner) = (line / lines.inner, line % lines.inner);
        let first = (outer as u64 * lines.rows + begin) * lines.inner as u64 + inner as u64;
        let mut locals = [R::start(0); V];
        take_rows::<R, V>(&mut locals, source.offset(first), lines.inner, rows, lines.is_vector != 0);
        unroll::<V>(|lane| {
            if (lane as u32) < lines.width::<R::Item>() {
                let line = line + lane as u32;
                let result = R::widen(locals[lane], begin);
                if slabs == 1 {
                    write::<R>(source, output.offset(line as u64 * R::OUTPUTS as u64), result, lines.rows);
                } else {
                    let place = Place { partials: scratch, lines: lines.lines };
                    place.store(slab, line, result);
                }
            }
        });
    }

    // ---- Groups of them, groups of groups, … ----------------------------------------------------------------------
    let mut partials = scratch;
    let (mut first, mut done) = (first_slab, (slabs - first_slab).min(slabs_of_block));
    while slabs > 1 {
        let counts = partials.offset(slabs as u64 * lines.lines as u64 * publishes::<R>() as u64);
        let groups = slabs.div_ceil(GROUP);
        let next = counts.offset(groups as u64 * tiles as u64);
        let group = first / GROUP;
        // A block has a part of a group, or several whole ones: they begin where its slabs do.
        let whole_groups = done.div_ceil(GROUP);
        sync_threads();
        if whole_groups == 1 {
            let members = (slabs - group * GROUP).min(GROUP);
            if thread_idx_x() == 0 {
                let count = counts.offset(group as u64 * tiles as u64 + tile as u64).atomic(0);
                let before = count.fetch_add(done, Ordering::AcqRel, Scope::Device);
                if before + done == members {
                    count.store(0, Ordering::Relaxed, Scope::Device);
                }
                is_last.write(0, (before + done == members) as u32);
            }
            sync_threads();
            if is_last.read(0) == 0 {
                return;
            }
        }
        let width = side_by_side * lines.width::<R::Item>();
        let (begin, end) = (tile * width, lines.lines.min((tile + 1) * width));
        let mut group_of_block = group;
        while group_of_block < group + whole_groups {
            let members = (slabs - group_of_block * GROUP).min(GROUP);
            let mut line = begin + thread_idx_x();
            while line < end {
                let place = Place { partials, lines: lines.lines };
                let mut total = R::IDENTITY;
                let mut member = 0;
                while member < members {
                    total = place.take::<R>(total, group_of_block * GROUP + member, members - member, line);
                    member += at_once::<R>() as u32;
                }
                if groups == 1 {
                    write::<R>(source, output.offset(line as u64 * R::OUTPUTS as u64), total, lines.rows);
                } else {
                    Place { partials: next, lines: lines.lines }.store(group_of_block, line, total);
                }
                line += THREADS;
            }
            group_of_block += 1;
        }
        (first, done) = (group, whole_groups);
        partials = next;
        slabs = groups;
    }
}

/// Takes `rows` elements of `V` adjacent lines, or of one, [`IN_FLIGHT`] rows at a time.
#[device]
#[inline(always)]
fn take_rows<R: Reduction, const V: usize>(
    locals: &mut [R::Local; V],
    source: <R::Item as Item>::Source,
    stride: u32,
    rows: u32,
    is_vector: bool,
) {
    let mut source = source;
    let mut row = 0;
    while row < rows {
        let mut quads = [<<R::Item as Item>::Source as Quads>::NOTHING; IN_FLIGHT];
        unroll::<IN_FLIGHT>(|ahead| {
            if row + (ahead as u32) < rows {
                let source = source.offset(ahead as u64 * stride as u64);
                quads[ahead] = if is_vector { source.streamed() } else { source.one_by_one(1) };
            }
        });
        let mut take = |lane: usize| {
            unroll::<IN_FLIGHT>(|ahead| {
                if row + (ahead as u32) < rows {
                    let item = <R::Item as Item>::Source::item(quads[ahead], lane as u32);
                    locals[lane] = R::take(locals[lane], item, row + ahead as u32);
                }
            });
        };
        take(0);
        if is_vector {
            unroll::<V>(|lane| {
                if lane > 0 {
                    take(lane);
                }
            });
        }
        source = source.offset(IN_FLIGHT as u64 * stride as u64);
        row += IN_FLIGHT as u32;
    }
}

/// Where partial results of a level are: those of adjacent lines side by side.
#[derive(Clone, Copy)]
struct Place {
    partials: GlobalMut<u32>,
    lines: u32,
}

impl Place {
    #[inline(always)]
    fn word<A: Accumulator>(self, slab: u32, word: u32, line: u32) -> GlobalMut<u32> {
        let row = slab as u64 * A::WORDS as u64 + word as u64;
        self.partials.offset(row * self.lines as u64 + line as u64)
    }

    #[device]
    #[inline(always)]
    fn store<A: Accumulator>(self, slab: u32, line: u32, value: A) {
        unroll::<{ MAX_WORDS as usize }>(|word| {
            if (word as u32) < A::WORDS {
                self.word::<A>(slab, word as u32, line).write(0, value.word(word as u32));
            }
        });
    }

    /// Takes the results of [`at_once`] slabs, of which `left` are there, and leaves zeros.
    #[device]
    #[inline(always)]
    fn take<R: Reduction>(
        self,
        mut total: R::Accumulator,
        slab: u32,
        left: u32,
        line: u32,
    ) -> R::Accumulator {
        // All are asked for before the first is used.
        let mut words = [[0; MAX_WORDS as usize]; AT_ONCE];
        unroll::<AT_ONCE>(|i| {
            if i < at_once::<R>() && (i as u32) < left {
                unroll::<{ MAX_WORDS as usize }>(|word| {
                    if (word as u32) < publishes::<R>() {
                        let place = self.word::<R::Accumulator>(slab + i as u32, word as u32, line);
                        words[i][word] = place.read(0);
                    }
                });
            }
        });
        unroll::<AT_ONCE>(|i| {
            if i < at_once::<R>() && (i as u32) < left {
                unroll::<{ MAX_WORDS as usize }>(|word| {
                    if (word as u32) < publishes::<R>() {
                        self.word::<R::Accumulator>(slab + i as u32, word as u32, line).write(0, 0);
                    }
                });
                total = R::combine(total, Accumulator::from_words(&mut |word| words[i][word as usize]));
            }
        });
        total
    }
}

/// The most partial results that a thread asks for at once.
const AT_ONCE: usize = 6;

/// Partial results that a thread asks for at once: 0.7 µs is the way to memory and back (H200).
const fn at_once<R: Reduction>() -> usize {
    AT_ONCE / publishes::<R>() as usize
}
