//! The launches of reductions along axes.

use gpu_core::{Stream, ViewMut};
use gpu_reduce_kernels::several::*;
use gpu_reduce_kernels::{self as kernels, Lines, Reduction, Source};
use gpu_reduce_kernels::{reduce_half_instances, reduce_instances};
use gpu_std::half::{bf16, f16};
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::GlobalMut;

use crate::operand::Operand;
use crate::plan::columns_launch;
use crate::scratch::Scratch;
use gpu_core::Error;

/// A reduction that a PTX module has a kernel for that goes along columns: all those of one array, and yours with
/// [`columns_instance!`](crate::columns_instance).
pub trait AlongColumns: Reduction<Item: Operand, Output: gpu_core::Element> {
    /// Words of 32 bits that the kernel holds a result in: more than the reduction's own where it serves others as
    /// well.
    const WORDS: u32 = kernels::publishes::<Self>();

    /// Enqueues the kernel that reduces columns.
    ///
    /// # Errors
    /// Those of the launch.
    ///
    /// # Safety
    /// Until the kernel has ended, `source` must have the elements of `lines`, which nothing may write, from
    /// multiples of 16 bytes on where `lines` says so; `output` must have room for [`Reduction::OUTPUTS`] elements a
    /// line and `scratch` for [`Lines::scratch_words`] of [`Self::WORDS`], which nothing else reads or writes; those
    /// words must be zero. `config` must have the blocks of `lines`.
    unsafe fn launch_columns(
        stream: &Stream,
        config: LaunchConfig,
        source: <Self::Item as kernels::Item>::Source,
        lines: Lines,
        scratch: GlobalMut<u32>,
        output: GlobalMut<Self::Output>,
    ) -> Result<(), gpu_core::Error>;
}

/// A map that a PTX module has a kernel for in front of the reduction `R` of columns. With it
/// [`Mapped`](kernels::Mapped) of the two goes [`AlongColumns`]; why it is a trait of its own is said at
/// [`MappedInstance`](crate::MappedInstance).
pub trait MappedAlongColumns<R: Reduction>: kernels::Map<Item: Operand, Output = R::Item> {
    /// As [`AlongColumns::WORDS`].
    const WORDS: u32 = kernels::publishes::<R>();

    /// Enqueues the kernel.
    ///
    /// # Errors
    /// Those of the launch.
    ///
    /// # Safety
    /// As [`AlongColumns::launch_columns`].
    unsafe fn launch_columns(
        stream: &Stream,
        config: LaunchConfig,
        source: <Self::Item as kernels::Item>::Source,
        lines: Lines,
        scratch: GlobalMut<u32>,
        output: GlobalMut<R::Output>,
    ) -> Result<(), gpu_core::Error>;
}

impl<M: MappedAlongColumns<R>, R: Reduction<Output: gpu_core::Element>> AlongColumns
    for kernels::Mapped<M, R>
{
    const WORDS: u32 = M::WORDS;

    #[inline]
    unsafe fn launch_columns(
        stream: &Stream,
        config: LaunchConfig,
        source: <M::Item as kernels::Item>::Source,
        lines: Lines,
        scratch: GlobalMut<u32>,
        output: GlobalMut<R::Output>,
    ) -> Result<(), gpu_core::Error> {
        // SAFETY: the caller promises what the kernel needs.
        unsafe { M::launch_columns(stream, config, source, lines, scratch, output) }
    }
}

/// Makes a reduction of yours one along columns ([`AlongColumns`]), given the kernel that you made of it: for
/// [`reduce_axis`](crate::reduce_axis), which takes rows, along the last axis, as segments
/// ([`segmented_instance!`](crate::segmented_instance)).
///
/// `unsafe` is your promise that the kernel is [`kernels::columns`](crate::kernels::columns) of this very reduction,
/// with the parameters below in this order, the four of [`kernels::Lines`](crate::kernels::Lines) among them, and
/// that gpu-builder compiled it.
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
/// # gpu_reduce::segmented_instance!(unsafe Mapped<Doubled, Sum<f32>> => doubled_segments);
/// /// `Doubled` is the map of [`instance!`](gpu_reduce::instance).
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
/// gpu_reduce::columns_instance!(unsafe Mapped<Doubled, Sum<f32>> => doubled_columns);
///
/// let matrix = gpu_core::Device::simulator().upload(&[1.0f32, 2.5, 4.0, 0.5, 1.5, 8.0])?;
/// assert_eq!(gpu_reduce::reduce_axis::<Doubles>(matrix.view(), &[2, 3], 0)?, [3.0, 8.0, 24.0]);
/// assert_eq!(gpu_reduce::reduce_axis::<Doubles>(matrix.view(), &[2, 3], 1)?, [15.0, 20.0]);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
///
/// A reduction that is a type of your own goes without `Mapped`; one of two arrays, whose kernel takes both before
/// `rows`, is written `(two) Reduction => kernel`.
#[macro_export]
macro_rules! columns_instance {
    (unsafe Mapped<$map:ty, $reduction:ty> => $kernel:ident) => {
        impl $crate::MappedAlongColumns<$reduction> for $map {
            $crate::columns_instance! { @launch $kernel, source => (source), $reduction, <$map as $crate::kernels::Map>::Item }
        }
    };
    (unsafe (two) $reduction:ty => $kernel:ident) => {
        impl $crate::AlongColumns for $reduction {
            $crate::columns_instance! { @launch $kernel, (first, second) => (first, second), $reduction, <$reduction as $crate::kernels::Reduction>::Item }
        }
    };
    (unsafe $reduction:ty => $kernel:ident) => {
        impl $crate::AlongColumns for $reduction {
            $crate::columns_instance! { @launch $kernel, source => (source), $reduction, <$reduction as $crate::kernels::Reduction>::Item }
        }
    };
    (@launch $kernel:ident, $pattern:pat_param => ($($source:ident),*), $reduction:ty, $item:ty) => {
        #[inline]
        unsafe fn launch_columns(
            stream: &$crate::__private::Stream,
            config: $crate::__private::LaunchConfig,
            $pattern: <$item as $crate::kernels::Item>::Source,
            lines: $crate::kernels::Lines,
            scratch: $crate::__private::GlobalMut<u32>,
            output: $crate::__private::GlobalMut<<$reduction as $crate::kernels::Reduction>::Output>,
        ) -> ::core::result::Result<(), $crate::__private::Error> {
            let $crate::kernels::Lines { rows, inner, lines, is_vector } = lines;
            // SAFETY: the caller promises what the kernel needs, and whoever wrote `unsafe` that this is the kernel.
            unsafe { $kernel::launch(stream, config, $($source,)* rows, inner, lines, is_vector, scratch, output) }
        }
    };
}

// A kernel that serves several reductions takes its choice behind the array, and computes something else than one of
// them would.
macro_rules! of_kernel {
    ((several) $name:ident, $reduction:ty, $computed:ty) => {
        of_kernel!(
            $name,
            $reduction,
            $computed,
            <$reduction as ByChoice>::CHOICE.keep,
            <$reduction as ByChoice>::CHOICE.turn,
            <$reduction as ByChoice>::CHOICE.which
        );
    };
    ($name:ident, $reduction:ty, $computed:ty $(, $choice:expr)*) => {
        impl AlongColumns for $reduction {
            const WORDS: u32 = kernels::publishes::<$computed>();

            #[inline]
            unsafe fn launch_columns(
                stream: &Stream,
                config: LaunchConfig,
                source: <Self::Item as kernels::Item>::Source,
                Lines { rows, inner, lines, is_vector }: Lines,
                scratch: GlobalMut<u32>,
                output: GlobalMut<Self::Output>,
            ) -> Result<(), gpu_core::Error> {
                let (source, output) = (source.cast(), output.cast());
                // SAFETY: the caller promises what the kernel needs; where it was made for another type, that type's
                // bits mean the same to it, and where it serves several, it writes what its choice says.
                unsafe {
                    kernels::column_kernels::$name::launch(
                        stream, config, source, $($choice,)* rows, inner, lines, is_vector, scratch, output,
                    )
                }
            }
        }
    };
}

macro_rules! instances {
    ($module:ident $segments:ident none $($other_kernels:tt)*) => {};
    ($module:ident $segments:ident $columns:ident, $t:ty, $v:literal, $a:literal, $blocks:literal;
        $($name:ident: $($reduction:ident<$of:ty>),*;)*
        $((several) $several:ident: $computed:ty => $($served:ident<$of_served:ty>),*;)*
        $((two) $($of_two:tt)*)?) => {
        $( $( of_kernel!($name, kernels::$reduction<$of>, Self); )* )*
        $( $( of_kernel!((several) $several, kernels::$served<$of_served>, $computed); )* )*
    };
}
reduce_instances!(instances);
reduce_half_instances!(instances);

/// Enqueues a reduction along an axis. Everything has been checked: shape, devices, scratch, room for the output.
/// `lines` is as if every row started anywhere.
pub(crate) fn reduce_columns<R: AlongColumns>(
    stream: &Stream,
    input: &<R::Item as Operand>::Views<'_>,
    lines: Lines,
    mut output: ViewMut<'_, R::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let source = R::Item::source(input);
    let is_vector = source.is_aligned() && lines.inner.is_multiple_of(kernels::per_load::<R::Item>());
    let lines = Lines { is_vector: u32::from(is_vector), ..lines };
    scratch.prepare()?;
    // SAFETY: the address lies in the scratch memory, which is ours and 8-byte aligned.
    let words = unsafe { GlobalMut::from_raw(scratch.partials()) };
    // SAFETY: the kernel reads the lines of the input, all rows of which are aligned if the first one is and they are
    // whole loads, writes their outputs and uses the words of their slabs, for which the scratch memory has room
    // whatever the alignment; they are zero (`prepare`, and every launch leaves them so). Buffers are freed only
    // after the work enqueued before, and the scratch memory is used on this stream only.
    unsafe {
        R::launch_columns(stream, columns_launch::<R>(lines), source, lines, words, output.as_global_mut())
    }?;
    scratch.dirty = false;
    Ok(())
}
