//! The launches of reductions of segments.

use gpu_core::{Stream, ViewMut};
use gpu_reduce_kernels::computed::Computed;
use gpu_reduce_kernels::several::*;
use gpu_reduce_kernels::{self as kernels, Reduction, Starts};
use gpu_reduce_kernels::{reduce_half_instances, reduce_instances};
use gpu_std::half::{bf16, f16};
use gpu_std::launch::{KernelMeta, LaunchConfig};
use gpu_std::memory::{Global, GlobalMut};

use super::Segments;
use crate::operand::Operand;
use crate::plan::SegmentsPlan;
use crate::scratch::Scratch;
use gpu_core::Error;

/// The blocks of a kernel that was compiled for older GPUs: an H200's multiprocessor has room for three with the 72
/// to 80 registers that ptxas gives most of them.
const OLDER: u32 = 3;

/// The blocks that a multiprocessor of an H200 has room for, of the kernel of a reduction.
pub const fn blocks_of<R: Computed>(kernel: &KernelMeta) -> u32 {
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

/// A reduction that a PTX module has a kernel for that takes segments: all those of one array, and yours with
/// [`segmented_instance!`](crate::segmented_instance).
pub trait Segmented: Reduction<Item: Operand, Output: gpu_core::Element> {
    /// Words of 32 bits that the kernel holds a result in: more than the reduction's own where it serves others as
    /// well.
    const WORDS: u32 = kernels::publishes::<Self>();

    /// How many of the kernel's blocks a multiprocessor of an H200 has room for: what a long array is cut for. The
    /// results do not depend on it.
    const BLOCKS: u32 = OLDER;

    /// Enqueues the kernel that reduces segments.
    ///
    /// # Errors
    /// Those of the launch.
    ///
    /// # Safety
    /// Until the kernel has ended, `source` must have `len` elements and `starts` its offsets, which do not decrease
    /// and do not exceed `len`, and nothing may write them; `output` must have room for [`Reduction::OUTPUTS`]
    /// elements a segment and `scratch` for [`kernels::scratch_words`] of [`Self::WORDS`], which nothing else reads
    /// or writes; those words must be zero. `config` and `share` must be those of the plan.
    #[expect(clippy::too_many_arguments, reason = "those of the kernel")]
    unsafe fn launch_segments(
        stream: &Stream,
        config: LaunchConfig,
        source: <Self::Item as kernels::Item>::Source,
        len: u64,
        starts: Starts,
        share: u64,
        scratch: GlobalMut<u64>,
        output: GlobalMut<Self::Output>,
    ) -> Result<(), gpu_core::Error>;
}

/// A map that a PTX module has a kernel for in front of the reduction `R` of segments. With it
/// [`Mapped`](kernels::Mapped) of the two is [`Segmented`]; why it is a trait of its own is said at
/// [`MappedInstance`](crate::MappedInstance).
pub trait MappedSegmented<R: Reduction>: kernels::Map<Item: Operand, Output = R::Item> {
    /// As [`Segmented::WORDS`].
    const WORDS: u32 = kernels::publishes::<R>();

    /// As [`Segmented::BLOCKS`].
    const BLOCKS: u32 = OLDER;

    /// Enqueues the kernel.
    ///
    /// # Errors
    /// Those of the launch.
    ///
    /// # Safety
    /// As [`Segmented::launch_segments`].
    #[expect(clippy::too_many_arguments, reason = "those of the kernel")]
    unsafe fn launch_segments(
        stream: &Stream,
        config: LaunchConfig,
        source: <Self::Item as kernels::Item>::Source,
        len: u64,
        starts: Starts,
        share: u64,
        scratch: GlobalMut<u64>,
        output: GlobalMut<R::Output>,
    ) -> Result<(), gpu_core::Error>;
}

impl<M: MappedSegmented<R>, R: Reduction<Output: gpu_core::Element>> Segmented for kernels::Mapped<M, R> {
    const WORDS: u32 = M::WORDS;
    const BLOCKS: u32 = M::BLOCKS;

    #[inline]
    unsafe fn launch_segments(
        stream: &Stream,
        config: LaunchConfig,
        source: <M::Item as kernels::Item>::Source,
        len: u64,
        starts: Starts,
        share: u64,
        scratch: GlobalMut<u64>,
        output: GlobalMut<R::Output>,
    ) -> Result<(), gpu_core::Error> {
        // SAFETY: the caller promises what the kernel needs.
        unsafe { M::launch_segments(stream, config, source, len, starts, share, scratch, output) }
    }
}

/// Makes a reduction of yours one of segments ([`Segmented`]), given the kernel that you made of it: for
/// [`reduce_segments`](crate::reduce_segments), [`reduce_by_key`](crate::reduce_by_key) and, along the last axis,
/// [`reduce_axis`](crate::reduce_axis).
///
/// `unsafe` is your promise that the kernel is [`kernels::segments`](crate::kernels::segments) of this very
/// reduction, with the parameters below in this order, the four of [`kernels::Starts`](crate::kernels::Starts) among
/// them, and that gpu-builder compiled it.
///
/// ```
/// use gpu_reduce::kernels::{Mapped, Starts, Sum, segments, segments_blocks};
/// use gpu_reduce::{Segments, reduce_by_key, reduce_segments};
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
/// /// `Doubled` is the map of [`instance!`](gpu_reduce::instance).
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
/// gpu_reduce::segmented_instance!(unsafe Mapped<Doubled, Sum<f32>> => doubled_segments);
///
/// let device = gpu_core::Device::simulator();
/// let values = device.upload(&[1.0f32, 2.5, 4.0])?;
/// let segments = Segments::from_offsets(&device, &[0, 2, 2, 3])?;
/// assert_eq!(reduce_segments::<Doubles>(values.view(), &segments)?, [7.0, 0.0, 8.0]);
/// let keys = device.upload(&[6u8, 9, 9])?;
/// assert_eq!(reduce_by_key::<Doubles, u8>(&keys, values.view())?, (vec![6, 9], vec![2.0, 13.0]));
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
///
/// A reduction that is a type of your own goes without `Mapped`; one of two arrays, whose kernel takes both before
/// `len`, is written `(two) Reduction => kernel`.
#[macro_export]
macro_rules! segmented_instance {
    (unsafe Mapped<$map:ty, $reduction:ty> => $kernel:ident) => {
        impl $crate::MappedSegmented<$reduction> for $map {
            $crate::segmented_instance! { @launch $kernel, source => (source), $reduction, <$map as $crate::kernels::Map>::Item }
        }
    };
    (unsafe (two) $reduction:ty => $kernel:ident) => {
        impl $crate::Segmented for $reduction {
            $crate::segmented_instance! { @launch $kernel, (first, second) => (first, second), $reduction, <$reduction as $crate::kernels::Reduction>::Item }
        }
    };
    (unsafe $reduction:ty => $kernel:ident) => {
        impl $crate::Segmented for $reduction {
            $crate::segmented_instance! { @launch $kernel, source => (source), $reduction, <$reduction as $crate::kernels::Reduction>::Item }
        }
    };
    (@launch $kernel:ident, $pattern:pat_param => ($($source:ident),*), $reduction:ty, $item:ty) => {
        const BLOCKS: u32 = $crate::__private::blocks_of::<$reduction>(&$kernel::META);

        #[inline]
        unsafe fn launch_segments(
            stream: &$crate::__private::Stream,
            config: $crate::__private::LaunchConfig,
            $pattern: <$item as $crate::kernels::Item>::Source,
            len: u64,
            starts: $crate::kernels::Starts,
            share: u64,
            scratch: $crate::__private::GlobalMut<u64>,
            output: $crate::__private::GlobalMut<<$reduction as $crate::kernels::Reduction>::Output>,
        ) -> ::core::result::Result<(), $crate::__private::Error> {
            let $crate::kernels::Starts { offsets, form, length, count } = starts;
            // SAFETY: the caller promises what the kernel needs, and whoever wrote `unsafe` that this is the kernel.
            unsafe {
                $kernel::launch(
                    stream, config, $($source,)* len, offsets, form, length, count, share, scratch, output,
                )
            }
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
        impl Segmented for $reduction {
            const WORDS: u32 = kernels::publishes::<$computed>();
            const BLOCKS: u32 = blocks_of::<$computed>(&kernels::segment_kernels::$name::META);

            #[inline]
            unsafe fn launch_segments(
                stream: &Stream,
                config: LaunchConfig,
                source: <Self::Item as kernels::Item>::Source,
                len: u64,
                starts: Starts,
                share: u64,
                scratch: GlobalMut<u64>,
                output: GlobalMut<Self::Output>,
            ) -> Result<(), gpu_core::Error> {
                let Starts { offsets, form, length, count } = starts;
                let (source, output) = (source.cast(), output.cast());
                // SAFETY: the caller promises what the kernel needs; where it was made for another type, that type's
                // bits mean the same to it, and where it serves several, it writes what its choice says.
                unsafe {
                    kernels::segment_kernels::$name::launch(
                        stream, config, source, $($choice,)* len, offsets, form, length, count, share, scratch, output,
                    )
                }
            }
        }
    };
}

macro_rules! instances {
    ($module:ident none $($other_kernels:tt)*) => {};
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

/// Enqueues a reduction of segments. Everything has been checked: offsets, devices, scratch, room for the output.
pub(crate) fn reduce_segments<R: Segmented>(
    stream: &Stream,
    input: &<R::Item as Operand>::Views<'_>,
    len: usize,
    segments: &Segments,
    mut output: ViewMut<'_, R::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let plan =
        SegmentsPlan::new::<R>(segments.end(), segments.len(), stream.device().planned_multiprocessors());
    // SAFETY: no offset is read of segments of one length.
    let none = unsafe { Global::from_raw(0) };
    let starts = match (segments.offsets(), segments.length()) {
        (Some(offsets), _) => {
            Starts { offsets: offsets.as_global(), form: kernels::OFFSETS, length: 0, count: plan.segments }
        }
        (None, length) => {
            Starts { offsets: none, form: kernels::ONE_LENGTH, length: length as u64, count: plan.segments }
        }
    };
    scratch.prepare()?;
    // SAFETY: the address lies in the scratch memory, which is ours and 8-byte aligned.
    let places = unsafe { GlobalMut::from_raw(scratch.partials()) };
    // SAFETY: the kernel reads the segments of the input, which end within it, writes their outputs and uses the
    // words of their parts, for which the scratch memory has room; they are zero (`prepare`, and every launch leaves
    // them so). Buffers are freed only after the work enqueued before, and the scratch memory is used on this stream
    // only.
    unsafe {
        R::launch_segments(
            stream,
            plan.launch(),
            R::Item::source(input),
            len as u64,
            starts,
            plan.share,
            places,
            output.as_global_mut(),
        )
    }?;
    scratch.dirty = false;
    Ok(())
}
