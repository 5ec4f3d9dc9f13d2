//! Kernels that move elements, whatever they mean: those of their width.

use gpu_core::Element;
use gpu_sort_kernels::select;
use gpu_std::launch::Kernel;
use gpu_std::memory::{Global, GlobalMut};

/// An unsigned integer, for all elements as wide.
///
/// # Safety
/// Each kernel is that of its name, of this type.
pub(crate) unsafe trait Width: Element {
    /// Items, their number, flags, what is selected, what is rejected, whether that is written, how many are selected,
    /// scratch memory.
    type Flagged: Kernel<
        Arguments = (
            Global<Self>,
            u64,
            Global<u8>,
            GlobalMut<Self>,
            GlobalMut<Self>,
            u32,
            GlobalMut<u64>,
            GlobalMut<u64>,
        ),
    >;
    /// Items, their number, what is selected, how many that is, scratch memory.
    type Unique: Kernel<Arguments = (Global<Self>, u64, GlobalMut<Self>, GlobalMut<u64>, GlobalMut<u64>)>;
    /// Items, their number, the runs' items, where runs start, how many there are, scratch memory.
    type Starts: Kernel<
        Arguments = (Global<Self>, u64, GlobalMut<Self>, GlobalMut<u64>, GlobalMut<u64>, GlobalMut<u64>),
    >;
    /// Values, places, values at these places, their number.
    type Gather: Kernel<Arguments = (Global<Self>, Global<u32>, GlobalMut<Self>, u64)>;
}

macro_rules! widths {
    ($($t:ty, $l:literal, $blocks:literal: $flagged:ident, $unique:ident, $starts:ident, $gather:ident;)*) => { $(
        // SAFETY: the table names the kernels of the type.
        unsafe impl Width for $t {
            type Flagged = select::$flagged;
            type Unique = select::$unique;
            type Starts = select::$starts;
            type Gather = select::$gather;
        }
    )* };
}
gpu_sort_kernels::width_instances!(widths);

/// An expression in which `$W` is the [`Width`] of elements `$T`.
macro_rules! by_width {
    ($T:ty as $W:ident => $launch:expr) => {
        match size_of::<$T>() {
            1 => by_width!(@ u8 as $W => $launch),
            2 => by_width!(@ u16 as $W => $launch),
            4 => by_width!(@ u32 as $W => $launch),
            8 => by_width!(@ u64 as $W => $launch),
            16 => by_width!(@ u128 as $W => $launch),
            bytes => unreachable!("no element has {bytes} bytes"),
        }
    };
    (@ $bits:ty as $W:ident => $launch:expr) => {{
        type $W = $bits;
        $launch
    }};
}
pub(crate) use by_width;
