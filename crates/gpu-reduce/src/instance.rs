//! Which kernel computes which reduction.
//!
//! A kernel computes the reduction that it was compiled for, others of the same width whose results have the same bits,
//! or [several](kernels::several), of which it is told one.

use gpu_core::Element;
use gpu_reduce_kernels::computed::{Computed, SourceOf};
use gpu_reduce_kernels::several::{Maskable, ToldSource};
use gpu_reduce_kernels::{self as kernels, Item, Lines, Reduction, Starts};
use gpu_std::launch::{Kernel, KernelMeta};
use gpu_std::memory::{Global, GlobalMut};

use crate::operand::Operand;

/// A whole array for a kernel: all but the array and the output.
#[derive(Clone, Copy)]
pub struct Whole {
    pub(crate) len: u64,
    pub(crate) tiles_per_block: u64,
    pub(crate) partials: GlobalMut<u64>,
    pub(crate) ticket: GlobalMut<u32>,
}

/// The segments of an array for a kernel.
#[derive(Clone, Copy)]
pub struct OfSegments {
    pub(crate) len: u64,
    pub(crate) starts: Starts,
    pub(crate) share: u64,
    pub(crate) scratch: GlobalMut<u64>,
}

/// The columns of a matrix for a kernel.
#[derive(Clone, Copy)]
pub struct OfColumns {
    pub(crate) lines: Lines,
    pub(crate) scratch: GlobalMut<u32>,
}

/// What a kernel computes that serves the reduction `R` of what `Extent` describes. Every reduction serves itself.
pub trait Serves<R: Reduction, Extent>: Computed {
    /// What it reads: the arrays, and which of several reductions is wanted.
    fn source(source: <R::Item as Item>::Source) -> SourceOf<Self>;
}

impl<R: Reduction, Extent> Serves<R, Extent> for R {
    fn source(source: <R::Item as Item>::Source) -> SourceOf<R> {
        source
    }
}

/// The arguments of a kernel that reads a `Source`, of what `Extent` describes, and writes `Output`s.
pub trait Arguments<Source, Extent, Output: gpu_std::memory::Element> {
    /// Those.
    fn new(source: Source, extent: Extent, output: GlobalMut<Output>) -> Self;
}

macro_rules! arguments {
    ($extent:ident { $pattern:pat }: $($value:ident: $ty:ty),*) => {
        arguments!(@ [T: gpu_std::memory::Element] Global<T>, array => (array: Global<T>);
            $pattern, $extent, $($value: $ty),*);
        arguments!(@ [T: gpu_std::memory::Element] (Global<T>, Global<T>), (first, second) => (first: Global<T>, second: Global<T>);
            $pattern, $extent, $($value: $ty),*);
        arguments!(@ [T: Maskable, const MASKED: bool] ToldSource<T, MASKED>, told
            => ({told.array}: Global<T>, {told.choice.keep}: u64, {told.choice.turn}: u64, {told.choice.which}: u64);
            $pattern, $extent, $($value: $ty),*);
    };
    (@ [$($generics:tt)*] $source:ty, $of_source:pat => ($($word:tt: $word_ty:ty),*); $pattern:pat, $extent:ident, $($value:ident: $ty:ty),*) => {
        impl<$($generics)*, Output: gpu_std::memory::Element> Arguments<$source, $extent, Output>
            for ($($word_ty,)* $($ty,)* GlobalMut<Output>,)
        {
            fn new($of_source: $source, $pattern: $extent, output: GlobalMut<Output>) -> Self {
                ($($word,)* $($value,)* output,)
            }
        }
    };
}
arguments!(Whole { Whole { len, tiles_per_block, partials, ticket } }:
    len: u64, tiles_per_block: u64, partials: GlobalMut<u64>, ticket: GlobalMut<u32>);
arguments!(OfSegments { OfSegments { len, starts: Starts { offsets, form, length, count }, share, scratch } }:
    len: u64, offsets: Global<u32>, form: u32, length: u64, count: u32, share: u64, scratch: GlobalMut<u64>);
arguments!(OfColumns { OfColumns { lines: Lines { rows, inner, lines, is_vector }, scratch } }:
    rows: u64, inner: u32, lines: u32, is_vector: u32, scratch: GlobalMut<u32>);

/// A reduction of whole arrays that there is a kernel for: all of this crate, and yours.
///
/// # Safety
/// [`Kernel`](Self::Kernel) is [`kernels::whole`](crate::kernels::whole) of [`Of`](Self::Of), with these parameters in
/// this order, and gpu-builder compiled it; what it computes for this reduction is this reduction.
pub unsafe trait Instance: Reduction<Item: Operand, Output: Element> {
    /// What the kernel was compiled for.
    type Of: Serves<Self, Whole>;
    /// The kernel.
    type Kernel: Kernel<Arguments: Arguments<SourceOf<Self::Of>, Whole, <Self::Of as Computed>::Output>>;
    /// Words of 32 bits that it holds a result in: more than the reduction's own where it serves others as well.
    const WORDS: u32 = kernels::publishes::<Self::Of>();
}

/// A reduction of segments that there is a kernel for: all those of one array, and yours; for
/// [`reduce_segments`](crate::reduce_segments), [`reduce_by_key`](crate::reduce_by_key) and, along the last axis,
/// [`reduce_axis`](crate::reduce_axis).
///
/// # Safety
/// As [`Instance`], the kernel being [`kernels::segments`](crate::kernels::segments).
pub unsafe trait Segmented: Reduction<Item: Operand, Output: Element> {
    /// What the kernel was compiled for.
    type Of: Serves<Self, OfSegments>;
    /// The kernel.
    type Kernel: Kernel<Arguments: Arguments<SourceOf<Self::Of>, OfSegments, <Self::Of as Computed>::Output>>;
    /// Words of 32 bits that it holds a result in.
    const WORDS: u32 = kernels::publishes::<Self::Of>();
    /// How many of its blocks a multiprocessor of an H200 has room for: what a long array is cut for. The results do
    /// not depend on it.
    const BLOCKS: u32 = blocks_of::<Self::Of>(&<Self::Kernel as Kernel>::META);
}

/// A reduction along columns that there is a kernel for: all those of one array, and yours; for
/// [`reduce_axis`](crate::reduce_axis), which takes rows, along the last axis, as segments ([`Segmented`]).
///
/// # Safety
/// As [`Instance`], the kernel being [`kernels::columns`](crate::kernels::columns).
pub unsafe trait AlongColumns: Reduction<Item: Operand, Output: Element> {
    /// What the kernel was compiled for.
    type Of: Serves<Self, OfColumns>;
    /// The kernel.
    type Kernel: Kernel<Arguments: Arguments<SourceOf<Self::Of>, OfColumns, <Self::Of as Computed>::Output>>;
    /// Words of 32 bits that it holds a result in.
    const WORDS: u32 = kernels::publishes::<Self::Of>();
}

/// The blocks of a kernel that was compiled for older GPUs: an H200's multiprocessor has room for three with the 72
/// to 80 registers that ptxas gives most of them.
const OLDER: u32 = 3;

/// The blocks that a multiprocessor of an H200 has room for, of the kernel of a reduction.
const fn blocks_of<R: Computed>(kernel: &KernelMeta) -> u32 {
    let images = kernel.images;
    let mut image = 0;
    while image < images.len() {
        if images[image].arch >= 90 {
            return kernels::segments_blocks_of::<R>(true);
        }
        image += 1;
    }
    OLDER
}

/// A map that there is a kernel for in front of the reduction `R`. With it [`Mapped`](kernels::Mapped) of the two is an
/// [`Instance`]: that one could not be implemented elsewhere, both it and `Mapped` being of other crates.
///
/// ```
/// use gpu_reduce::kernels::{Mapped, Reduction, Sum};
/// # use gpu_reduce_kernels::{Map, whole};
/// # use gpu_std::{kernel, memory::{Global, GlobalMut}};
/// pub struct Doubled;
///
/// impl Map for Doubled {
///     type Item = f32;
///     type Output = f32;
///     fn map(item: f32) -> f32 {
///         2.0 * item
///     }
/// }
///
/// // In your kernel crate: `#[kernel(images = sm_75, launch_bounds(256, 4), programmatic)]`.
/// #[kernel(launch_bounds(256, 4), programmatic)]
/// pub fn doubled(
///     input: Global<f32>,
///     len: u64,
///     tiles_per_block: u64,
///     partials: GlobalMut<u64>,
///     ticket: GlobalMut<u32>,
///     output: GlobalMut<f32>,
/// ) {
///     // Elements of a load, accumulators of a thread, loads of a tile: wrong ones do not compile.
///     whole::<Mapped<Doubled, Sum<f32>>, 4, 4, 4>(input, len, tiles_per_block, partials, ticket, output);
/// }
///
/// // SAFETY: the kernel is `whole` of this reduction.
/// unsafe impl gpu_reduce::MappedInstance<Sum<f32>> for Doubled {
///     type Kernel = doubled;
/// }
///
/// let values = gpu_core::Device::simulator().upload(&[1.0f32, 2.5])?;
/// assert_eq!(gpu_reduce::reduce::<Mapped<Doubled, Sum<f32>>, 1>(values.view())?, [7.0]);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
///
/// A reduction that is a type of your own goes without `Mapped`: it is an [`Instance`], `type Of = Self`; where it is of
/// two arrays ([`kernels::Item`] is a pair), its kernel takes both before `len`. Segments and columns have kernels of
/// their own: [`MappedSegmented`], [`MappedAlongColumns`].
///
/// # Safety
/// As [`Instance`], for [`Mapped`](kernels::Mapped).
pub unsafe trait MappedInstance<R: Reduction>: kernels::Map<Item: Operand, Output = R::Item> {
    /// The kernel.
    type Kernel: Kernel<Arguments: Arguments<<Self::Item as Item>::Source, Whole, R::Output>>;
}

/// A map that there is a kernel for in front of the reduction `R` of segments. With it [`Mapped`](kernels::Mapped) of the
/// two is [`Segmented`].
///
/// ```
/// use gpu_reduce::kernels::{Mapped, Starts, Sum, segments, segments_blocks};
/// use gpu_reduce::{Offsets, reduce_by_key, reduce_segments};
/// # use gpu_reduce_kernels::Map;
/// # use gpu_std::{kernel, memory::{Global, GlobalMut}};
/// # pub struct Doubled;
/// # impl Map for Doubled {
/// #     type Item = f32;
/// #     type Output = f32;
/// #     fn map(item: f32) -> f32 {
/// #         2.0 * item
/// #     }
/// # }
/// /// `Doubled` is the map of `MappedInstance`.
/// type Doubles = Mapped<Doubled, Sum<f32>>;
///
/// // In your kernel crate: `#[kernel(images = sm_75, launch_bounds(256, segments_blocks::<Doubles>()), programmatic)]`.
/// #[kernel(launch_bounds(256, segments_blocks::<Doubles>()), programmatic)]
/// pub fn doubled_segments(
///     input: Global<f32>,
///     len: u64,
///     offsets: Global<u32>,
///     form: u32,
///     length: u64,
///     count: u32,
///     share: u64,
///     scratch: GlobalMut<u64>,
///     output: GlobalMut<f32>,
/// ) {
///     let starts = Starts { offsets, form, length, count };
///     // Elements of a load, accumulators of a thread: wrong ones do not compile.
///     segments::<Doubles, 4, 4>(input, len, starts, share, scratch, output);
/// }
///
/// // SAFETY: the kernel is `segments` of this reduction.
/// unsafe impl gpu_reduce::MappedSegmented<Sum<f32>> for Doubled {
///     type Kernel = doubled_segments;
/// }
///
/// let device = gpu_core::Device::simulator();
/// let values = device.upload(&[1.0f32, 2.5, 4.0])?;
/// let offsets = Offsets::new(&device, &[0, 2, 2, 3])?;
/// assert_eq!(reduce_segments::<Doubles>(values.view(), &offsets)?.to_vec()?, [7.0, 0.0, 8.0]);
/// let keys = device.upload(&[6u8, 9, 9])?;
/// let (unique, sums) = reduce_by_key::<Doubles, u8>(&keys, values.view())?;
/// assert_eq!((unique.to_vec()?, sums.to_vec()?), (vec![6, 9], vec![2.0, 13.0]));
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
///
/// # Safety
/// As [`Segmented`], for [`Mapped`](kernels::Mapped).
pub unsafe trait MappedSegmented<R: Reduction>: kernels::Map<Item: Operand, Output = R::Item> {
    /// The kernel.
    type Kernel: Kernel<Arguments: Arguments<<Self::Item as Item>::Source, OfSegments, R::Output>>;
}

/// A map that there is a kernel for in front of the reduction `R` of columns. With it [`Mapped`](kernels::Mapped) of the
/// two goes [`AlongColumns`].
///
/// ```
/// use gpu_reduce::kernels::{Lines, Mapped, Sum, columns, columns_blocks};
/// # use gpu_reduce::kernels::{Map, Starts, segments, segments_blocks};
/// # use gpu_std::{kernel, memory::{Global, GlobalMut}};
/// # pub struct Doubled;
/// # impl Map for Doubled {
/// #     type Item = f32;
/// #     type Output = f32;
/// #     fn map(item: f32) -> f32 {
/// #         2.0 * item
/// #     }
/// # }
/// # #[kernel(launch_bounds(256, segments_blocks::<Doubles>()), programmatic)]
/// # pub fn doubled_segments(
/// #     input: Global<f32>, len: u64, offsets: Global<u32>, form: u32, length: u64, count: u32, share: u64,
/// #     scratch: GlobalMut<u64>, output: GlobalMut<f32>,
/// # ) {
/// #     segments::<Doubles, 4, 4>(input, len, Starts { offsets, form, length, count }, share, scratch, output);
/// # }
/// # // SAFETY: the kernel is `segments` of this reduction.
/// # unsafe impl gpu_reduce::MappedSegmented<Sum<f32>> for Doubled {
/// #     type Kernel = doubled_segments;
/// # }
/// /// `Doubled` is the map of `MappedInstance`.
/// type Doubles = Mapped<Doubled, Sum<f32>>;
///
/// // In your kernel crate: `#[kernel(images = sm_75, launch_bounds(256, columns_blocks::<Doubles>()), programmatic)]`.
/// #[kernel(launch_bounds(256, columns_blocks::<Doubles>()), programmatic)]
/// pub fn doubled_columns(
///     input: Global<f32>,
///     rows: u64,
///     inner: u32,
///     lines: u32,
///     is_vector: u32,
///     scratch: GlobalMut<u32>,
///     output: GlobalMut<f32>,
/// ) {
///     // Elements of a load: wrong ones do not compile.
///     columns::<Doubles, 4>(input, Lines { rows, inner, lines, is_vector }, scratch, output);
/// }
///
/// // SAFETY: the kernel is `columns` of this reduction.
/// unsafe impl gpu_reduce::MappedAlongColumns<Sum<f32>> for Doubled {
///     type Kernel = doubled_columns;
/// }
///
/// let matrix = gpu_core::Device::simulator().upload(&[1.0f32, 2.5, 4.0, 0.5, 1.5, 8.0])?;
/// assert_eq!(gpu_reduce::reduce_axis::<Doubles>(matrix.view(), &[2, 3], 0)?.to_vec()?, [3.0, 8.0, 24.0]);
/// assert_eq!(gpu_reduce::reduce_axis::<Doubles>(matrix.view(), &[2, 3], 1)?.to_vec()?, [15.0, 20.0]);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
///
/// # Safety
/// As [`AlongColumns`], for [`Mapped`](kernels::Mapped).
pub unsafe trait MappedAlongColumns<R: Reduction>:
    kernels::Map<Item: Operand, Output = R::Item>
{
    /// The kernel.
    type Kernel: Kernel<Arguments: Arguments<<Self::Item as Item>::Source, OfColumns, R::Output>>;
}
