//! Any arrangement, one element a thread at a time: thin matrices, and permutations that keep the fastest axis.
//!
//! Threads count through the axes in an order that the host chooses: that of the output, so that writes are whole
//! rows; or that of the input where its rows are the short ones. Permutations that keep the fastest axis take rows in
//! elements of 16 bytes where alignment allows.

use super::grid::{Grid, MAX_AXES};
use super::tile::THREADS;
use gpu_std::memory::{Element, Global, GlobalMut};
use gpu_std::parameter::Parameter;
use gpu_std::thread::{block_idx_x, grid_dependency_synchronize, thread_idx_x, trigger_launch_completion};
use gpu_std::{device, kernel};

/// Elements a thread moves.
pub const ITEMS: u32 = 4;
/// Elements a block moves.
pub const PER_BLOCK: u32 = ITEMS * THREADS;
/// The most elements that the axes of a [`Walk`] have together: what [`divisor`] divides exactly.
pub const MAX_ELEMENTS: u64 = 1 << 31;

/// The axes that the threads of a launch count through, fastest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Walk {
    /// Elements from one index to the next in the input.
    pub input: [u64; MAX_AXES],
    /// Elements from one index to the next in the output.
    pub output: [u64; MAX_AXES],
    /// Elements along each axis but the last.
    pub extents: [u32; MAX_AXES],
    /// [`divisor`] of each extent.
    pub multipliers: [u32; MAX_AXES],
    /// The shift that belongs to it.
    pub shifts: [u32; MAX_AXES],
    /// How many axes there are, at least one.
    pub axes: u32,
    /// Elements of all of them.
    pub elements: u32,
    /// Indices of the last axis in one piece.
    pub piece: u32,
}

/// The multiplier and the shift with which `n / d == n * multiplier >> shift` for all `n` below [`MAX_ELEMENTS`].
///
/// With `s = ⌈log₂ d⌉` and `m = ⌈2^(31 + s) / d⌉` the error of `n * m / 2^(31 + s)` is less than `n / 2^31 / d`,
/// hence less than the distance of `n / d` to the next whole number (Granlund and Montgomery, PLDI 1994, theorem
/// 4.2).
pub const fn divisor(d: u32) -> (u32, u32) {
    // Mutants: of 1 both say 0.
    let log = if d <= 1 { 0 } else { 32 - (d - 1).leading_zeros() };
    ((1u64 << (31 + log)).div_ceil(if d == 0 { 1 } else { d as u64 }) as u32, 31 + log)
}

/// Moves [`ITEMS`] elements. The blocks of `grid` are, along axis 0, those of one piece; along axis 1, the pieces of
/// the walk's last axis, which has `last` indices in all; then all other axes.
#[device]
#[inline(always)]
fn move_elements<U: Element>(input: Global<U>, output: GlobalMut<U>, grid: &Grid, walk: &Walk, last: u64) {
    let place = grid.place(block_idx_x());
    let begin = place.down * PER_BLOCK + thread_idx_x();
    // How many indices of the last axis this piece has.
    let limit = (last - place.across as u64 * walk.piece as u64).min(walk.piece as u64) as u32;
    let mut valid = [false; ITEMS as usize];
    let mut from = [0; ITEMS as usize];
    let mut to = [0; ITEMS as usize];
    gpu_std::unroll::<{ ITEMS as usize }>(|item| {
        let number = begin + item as u32 * THREADS;
        // Mutants: what is one too large ends in the last axis, whose index is kept within the piece.
        let mut rest = number.min(walk.elements - 1);
        let (mut source, mut target) = (place.source, place.target);
        gpu_std::unroll::<MAX_AXES>(|axis| {
            if axis as u32 + 1 < walk.axes {
                let quotient =
                    ((rest as u64 * walk.multipliers[axis] as u64) >> (walk.shifts[axis] & 63)) as u32;
                let index = rest - quotient * walk.extents[axis];
                rest = quotient;
                source += index as u64 * walk.input[axis];
                target += index as u64 * walk.output[axis];
            } else if axis as u32 + 1 == walk.axes {
                // Mutants: right behind the limit an item copies what the last one does.
                valid[item] = number < walk.elements && rest < limit;
                let index = rest.min(limit - 1) as u64;
                source += index * walk.input[axis];
                target += index * walk.output[axis];
            }
        });
        (from[item], to[item]) = (source, target);
    });
    grid_dependency_synchronize();
    trigger_launch_completion();
    let values: [U; ITEMS as usize] = core::array::from_fn(|item| input.offset(from[item]).read_only(0));
    gpu_std::unroll::<{ ITEMS as usize }>(|item| {
        if valid[item] {
            output.offset(to[item]).write(0, values[item]);
        }
    });
}

macro_rules! elements {
    ($($name:ident, $images:ident: $U:ty;)*) => { $(
        #[doc = concat!("Moves elements as wide as a `", stringify!($U), "` one by one.")]
        ///
        /// Launch a block of [`THREADS`] threads for each of `grid`; `last` is the extent of the walk's last axis.
        #[kernel(images = $images, launch_bounds(256), programmatic)]
        pub fn $name(input: Global<$U>, output: GlobalMut<$U>, grid: Grid, walk: Walk, last: u64) {
            move_elements(input, output, &grid, &walk, last);
        }
    )* };
}

elements! {
    transpose_elements_b8, sm_75_90: u8;
    transpose_elements_b16, sm_75_90: u16;
    transpose_elements_b32, sm_75_90: u32;
    transpose_elements_b64, sm_75_90: u64;
    transpose_elements_b128, sm_75_90: u128;
}
