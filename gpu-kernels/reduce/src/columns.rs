//! The reduction along any axis but the last: of each column of a matrix, in one launch.
//!
//! The array is `outer × rows × inner`; element `(o, r, i)` belongs to line `o · inner + i`.
//!
//! # Order
//! A function of the number of rows alone. They are cut into slabs of [`slab`], and a slab's elements are taken one
//! after the other. Of the slabs' results [`GROUP`] at a time are combined one after the other, of what comes out
//! again as many, until there is one.
//!
//! # Who takes what
//! A thread takes 16 bytes of adjacent lines down a slab, [`IN_FLIGHT`] rows at a time or [`FEW_IN_FLIGHT`]; where
//! rows do not start at multiples of 16 bytes it takes one line. A block has 256 threads' lines, or more slabs of
//! fewer lines. Slabs' results go to scratch memory, and the block that completes a group of them combines it, and
//! goes on with the group of groups that it may have completed by that. Nobody waits. Groups are small, as what the
//! last block combines alone comes on top.

use gpu_collective::grid::last_block::completes;
use gpu_std::memory::GlobalMut;
use gpu_std::thread::{
    block_idx_x, grid_dependency_synchronize, sync_threads, thread_idx_x, trigger_launch_completion,
};
use gpu_std::{device, keep_rolled, opaque, shared, unroll};

use super::computed::{Computed, SourceOf};
use super::item::{Item, Source};
use super::number::Accumulator;
use super::quad::Quads;
use super::whole::publishes;
use super::{MAX_WORDS, THREADS, per_load};

/// Rows of a slab, of so many rows: a power of two, from 32 to 512, and some 32 slabs where that allows it. Long
/// slabs keep a block on its way (H200, 16384² `f32`: 512 rows 251 µs, 128 rows 339), short ones keep all
/// multiprocessors at work.
pub const fn slab(rows: u64) -> u32 {
    1 << slab_log2(rows)
}

/// Its binary logarithm. All that follows from it is a power of two as well, or counted by shifts: divisions would
/// take a block longer than its first loads.
const fn slab_log2(rows: u64) -> u32 {
    let aimed = rows / 32;
    // Mutants: of two equal numbers either is the smaller.
    ceil_log2(if aimed > 512 { 512 } else { clamped(aimed as u32, 32, 512) })
}

/// The binary logarithm of the next power of two.
const fn ceil_log2(value: u32) -> u32 {
    32 - value.saturating_sub(1).leading_zeros()
}

const fn clamped(value: u32, low: u32, high: u32) -> u32 {
    // Mutants: of two equal numbers either is the larger.
    let value = if value < low { low } else { value };
    // Mutants: of two equal numbers either is the smaller.
    if value > high { high } else { value }
}

/// `value` divided by `1 << log2`, rounded up.
const fn shifted_up(value: u64, log2: u32) -> u64 {
    (value >> log2) + (value & ((1 << log2) - 1) != 0) as u64
}

/// Partial results that are combined at a time.
pub const GROUP: u32 = 16;
/// Rows that a thread asks for before it uses the first (H200, 16384² `f32`: 250 µs with eight, 298 with four).
const IN_FLIGHT: usize = 8;
/// The same of short elements, which are a load's 8 or 16, and of single lines: each row is more code there.
const FEW_IN_FLIGHT: usize = 4;

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

/// How lines are cut: binary logarithms of what are powers of two.
#[derive(Clone, Copy)]
struct Shape {
    /// Slabs of a line.
    slabs: u32,
    /// Adjacent lines of a thread.
    width_log2: u32,
    /// Threads side by side.
    side_log2: u32,
    /// Blocks side by side.
    tiles: u32,
}

impl Lines {
    /// Threads side by side are at least two. A warp for each of eight slabs, where there are so many: each then goes
    /// its own way (H200, 16384² `f32`: 251 µs, and 266 where a slab is the block's).
    #[inline(always)]
    const fn shape<I: Item>(self) -> Shape {
        let slabs = shifted_up(self.rows, slab_log2(self.rows)) as u32;
        let slabs = if slabs == 0 { 1 } else { slabs };
        let width_log2 = if self.is_vector == 0 { 0 } else { per_load::<I>().ilog2() };
        let needed = shifted_up(self.lines as u64, width_log2) as u32;
        let most_log2 = THREADS.ilog2() - clamped(ceil_log2(slabs), 0, 3);
        let side_log2 = clamped(ceil_log2(needed), 1, most_log2);
        Shape { slabs, width_log2, side_log2, tiles: shifted_up(needed as u64, side_log2) as u32 }
    }

    /// Slabs of a line.
    pub const fn slabs(self) -> u32 {
        self.shape::<u32>().slabs
    }

    /// Adjacent lines of a thread.
    pub const fn width<I: Item>(self) -> u32 {
        1 << self.shape::<I>().width_log2
    }

    /// Threads side by side: a power of two, at least two.
    pub const fn side_by_side<I: Item>(self) -> u32 {
        1 << self.shape::<I>().side_log2
    }

    /// Blocks side by side.
    pub const fn tiles<I: Item>(self) -> u32 {
        self.shape::<I>().tiles
    }

    /// Slabs of a block: a power of two, at most 128.
    pub const fn slabs_of_block<I: Item>(self) -> u32 {
        THREADS >> self.shape::<I>().side_log2
    }

    /// Blocks of a launch.
    pub const fn blocks<I: Item>(self) -> u64 {
        self.tiles::<I>() as u64 * self.slabs().div_ceil(self.slabs_of_block::<I>()) as u64
    }

    /// Words of scratch memory for results of so many words ([`publishes`]): for each level the partial results, and
    /// a count for each group of them and tile.
    pub const fn scratch_words<I: Item>(self, words_each: u32) -> u64 {
        let (mut words, mut slabs) = (0, self.slabs());
        while slabs > 1 {
            words += slabs as u64 * self.lines as u64 * words_each as u64;
            slabs = slabs.div_ceil(GROUP);
            words += slabs as u64 * self.tiles::<I>() as u64;
        }
        words
    }
}

/// Bytes of dynamic shared memory.
pub const COLUMNS_SHARED_BYTES: u32 = 4;

/// The blocks that shall fit on a multiprocessor.
pub const fn columns_blocks<R: Computed>() -> u32 {
    match <R::Item as Item>::BYTES {
        1 => 2,
        4 if publishes::<R>() == 1 => 4,
        _ => 3,
    }
}

/// Reduces each line of `source` into [`Computed::OUTPUTS`] elements of `output`.
///
/// `V` is [`per_load`]. Launch [`Lines::blocks`] blocks of [`THREADS`] threads with [`COLUMNS_SHARED_BYTES`]; the
/// kernel's launch bounds are those threads and [`columns_blocks`], or fewer blocks where that spares it a stack.
/// `scratch` has [`Lines::scratch_words`], zero before and after.
#[device]
#[inline(always)]
pub fn columns<R: Computed, const V: usize>(
    source: SourceOf<R>,
    lines: Lines,
    scratch: GlobalMut<u32>,
    output: GlobalMut<R::Output>,
) {
    const { assert!(V as u32 == per_load::<R::Item>()) };
    let room = shared::dynamic().array::<u32>(1);
    grid_dependency_synchronize();
    trigger_launch_completion();
    let Shape { mut slabs, width_log2, side_log2, tiles } = lines.shape::<R::Item>();
    let (row_of_blocks, tile) = divided(block_idx_x(), tiles);
    let slabs_of_block = THREADS >> side_log2;
    let first_slab = row_of_blocks * slabs_of_block;

    // ---- Slabs ---------------------------------------------------------------------------------------------------
    let in_tile = thread_idx_x() & ((1 << side_log2) - 1);
    let slab = first_slab + (thread_idx_x() >> side_log2);
    let line = ((tile << side_log2) + in_tile) << width_log2;
    if slab < slabs && line < lines.lines {
        let most = self::slab(lines.rows);
        let begin = (slab as u64) << slab_log2(lines.rows);
        // Mutants: of two equal numbers either is the smaller.
        let rows = if lines.rows - begin < most as u64 { (lines.rows - begin) as u32 } else { most };
        let (outer, inner) = divided(line, lines.inner);
        let first = (outer as u64 * lines.rows + begin) * lines.inner as u64 + inner as u64;
        let mut locals = [R::start(0); V];
        let source = source.offset(first);
        // Mutants: how many loads are under way changes no sum.
        if lines.is_vector != 0 && V <= 4 {
            take_rows::<R, V, IN_FLIGHT>(&mut locals, source, lines.inner, rows, |source| source.streamed());
        } else if lines.is_vector != 0 {
            take_rows::<R, V, FEW_IN_FLIGHT>(&mut locals, source, lines.inner, rows, |source| {
                source.streamed()
            });
        } else {
            // Matrices of odd widths, where a line's neighbours find its sectors in the cache.
            let mut one = [locals[0]];
            take_rows::<R, 1, FEW_IN_FLIGHT>(&mut one, source, lines.inner, rows, |source| {
                source.one_by_one(1)
            });
            locals[0] = one[0];
        }
        let results: [R::Accumulator; V] = core::array::from_fn(|lane| R::widen(source, locals[lane], begin));
        if slabs > 1 {
            let place = Place { partials: scratch, lines: lines.lines };
            place.store_adjacent::<R::Accumulator, V>(slab, line, &results, lines.is_vector != 0);
        } else {
            unroll::<V>(|lane| {
                if lane == 0 || lines.is_vector != 0 {
                    let total = (lines.rows > 0).then_some(results[lane]);
                    R::write(source, output, line as u64 + lane as u64, total);
                }
            });
        }
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
        if whole_groups == 1 {
            let members = (slabs - group * GROUP).min(GROUP);
            let count = counts.offset(group as u64 * tiles as u64 + tile as u64);
            if !completes(count, done, members, room) {
                return;
            }
        } else {
            sync_threads();
        }
        let width_log2 = side_log2 + width_log2;
        let (begin, end) = (tile << width_log2, lines.lines.min((tile + 1) << width_log2));
        let mut group_of_block = group;
        while group_of_block < group + whole_groups {
            keep_rolled();
            let members = (slabs - group_of_block * GROUP).min(GROUP);
            let mut line = begin + thread_idx_x();
            while line < end {
                keep_rolled();
                let place = Place { partials, lines: lines.lines };
                let mut total = R::IDENTITY;
                let mut member = 0;
                while member < members {
                    keep_rolled();
                    total = place.take::<R>(
                        source,
                        total,
                        group_of_block * GROUP + member,
                        members - member,
                        line,
                    );
                    member += at_once::<R>() as u32;
                }
                place.clear::<R::Accumulator>(group_of_block * GROUP, members, line);
                if groups == 1 {
                    R::write(source, output, line as u64, Some(total));
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

/// The quotient and the rest; the divisor is never zero, and a division that says so has no panic.
#[inline(always)]
fn divided(value: u32, by: u32) -> (u32, u32) {
    let quotient = value / by.max(1);
    (quotient, value - quotient * by)
}

/// Takes `rows` elements of `W` adjacent lines, `N` rows at a time.
#[device]
#[inline(always)]
fn take_rows<R: Computed, const W: usize, const N: usize>(
    locals: &mut [R::Local; W],
    source: SourceOf<R>,
    stride: u32,
    rows: u32,
    read: impl Fn(SourceOf<R>) -> <SourceOf<R> as Quads>::Quad,
) {
    let mut row = 0;
    while row < rows {
        keep_rolled();
        // Behind the last row the last one again, so that no load has a question before it.
        let quads: [_; N] = core::array::from_fn(|ahead| {
            let row = (row + ahead as u32).min(rows - 1);
            read(source.offset(row as u64 * stride as u64))
        });
        unroll::<N>(|ahead| {
            let row = row + ahead as u32;
            unroll::<W>(|lane| {
                if row < rows {
                    let item = SourceOf::<R>::item(quads[ahead], lane as u32);
                    locals[lane] = R::take(source, locals[lane], item, row);
                }
            });
        });
        row += N as u32;
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

    /// Stores the results of `V` adjacent lines, from a multiple of `V` on, or of one.
    #[device]
    #[inline(always)]
    fn store_adjacent<A: Accumulator, const V: usize>(
        self,
        slab: u32,
        line: u32,
        values: &[A; V],
        is_vector: bool,
    ) {
        if !is_vector {
            self.store(slab, line, values[0]);
            return;
        }
        unroll::<{ MAX_WORDS as usize }>(|word| {
            if (word as u32) < A::WORDS {
                let place = self.word::<A>(slab, word as u32, line);
                unroll::<V>(|lane| {
                    let of = |on: usize| values[(lane + on) % V].word(word as u32);
                    if V == 2 && lane == 0 {
                        place.write_vec::<2>(0, [of(0), of(1)]);
                    }
                    if V > 2 && lane % 4 == 0 {
                        place.write_vec::<4>(lane as u32, [of(0), of(1), of(2), of(3)]);
                    }
                });
            }
        });
    }

    /// Takes the results of [`at_once`] slabs, of which `left` are there.
    #[device]
    #[inline(always)]
    fn take<R: Computed>(
        self,
        source: SourceOf<R>,
        mut total: R::Accumulator,
        slab: u32,
        left: u32,
        line: u32,
    ) -> R::Accumulator {
        // All are asked for before the first is used; where there are no more, the last one again, so that no load
        // has a question before it.
        let mut words = [[0; MAX_WORDS as usize]; AT_ONCE];
        let mut place = self.word::<R::Accumulator>(slab, 0, line);
        unroll::<AT_ONCE>(|i| {
            // Mutants: one more is of this group as well, or the last one again, and nobody uses it.
            if i < at_once::<R>() {
                unroll::<{ MAX_WORDS as usize }>(|word| {
                    if (word as u32) < publishes::<R>() {
                        words[i][word] = place.offset(word as u64 * self.lines as u64).read(0);
                    }
                });
                let step = if (i as u32) + 1 < left { self.lines } else { 0 };
                place = place.offset(publishes::<R>() as u64 * step as u64);
            }
        });
        unroll::<AT_ONCE>(|i| {
            if i < at_once::<R>() && (i as u32) < left {
                let partial = Accumulator::from_words(&mut |word| words[i][word as usize]);
                total = R::combine(source, total, partial);
            }
        });
        total
    }

    /// Leaves zeros of the results of so many slabs.
    #[device]
    #[inline(always)]
    fn clear<A: Accumulator>(self, slab: u32, count: u32, line: u32) {
        let mut word = self.word::<A>(slab, 0, line);
        let mut left = count * A::WORDS;
        while left > 0 {
            keep_rolled();
            word.write(0, 0);
            word = word.offset(self.lines as u64);
            left -= opaque(1);
        }
    }
}

/// The most partial results that a thread asks for at once.
const AT_ONCE: usize = 6;

/// Partial results that a thread asks for at once: 0.7 µs is the way to memory and back (H200).
const fn at_once<R: Computed>() -> usize {
    AT_ONCE / publishes::<R>() as usize
}
