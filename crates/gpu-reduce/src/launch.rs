//! The launches: the crate's only unsafe code.

use gpu_core::{Stream, View, ViewMut};
use gpu_reduce_kernels::several::*;
use gpu_reduce_kernels::{self as kernels, Reduction};
use gpu_reduce_kernels::{reduce_half_instances, reduce_instances};
use gpu_std::half::{bf16, f16};
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};

use crate::operand::Operand;
use crate::plan::Plan;
use crate::scratch::{RESULT, Scratch};
use gpu_core::Error;

/// A reduction that a PTX module has a kernel for.
pub trait Instance: Reduction<Item: Operand, Output: gpu_core::Element> {
    /// Words of 32 bits that the kernel holds a result in: more than the reduction's own where it serves others as
    /// well.
    const WORDS: u32 = kernels::publishes::<Self>();

    /// Enqueues the kernel.
    ///
    /// # Errors
    /// Those of the launch.
    ///
    /// # Safety
    /// Until the kernel has ended, `source` must have `len` elements that nothing writes, `output` room for
    /// [`Reduction::OUTPUTS`] elements, `partials` for the words of the plan and `ticket` for one, which nothing else
    /// reads or writes; `partials` and `ticket` must be zero. `config` and `tiles_per_block` must be those of the plan
    /// for `len`.
    #[expect(clippy::too_many_arguments, reason = "those of the kernel")]
    unsafe fn launch(
        stream: &Stream,
        config: LaunchConfig,
        source: <Self::Item as kernels::Item>::Source,
        len: u64,
        tiles_per_block: u64,
        partials: GlobalMut<u64>,
        ticket: GlobalMut<u32>,
        output: GlobalMut<Self::Output>,
    ) -> Result<(), gpu_core::Error>;
}

/// A map that a PTX module has a kernel for in front of the reduction `R`. With it [`Mapped`](kernels::Mapped) of the
/// two is an [`Instance`]: that one could not be implemented elsewhere, both it and `Mapped` being of other crates.
pub trait MappedInstance<R: Reduction>: kernels::Map<Item: Operand, Output = R::Item> {
    /// As [`Instance::WORDS`].
    const WORDS: u32 = kernels::publishes::<R>();

    /// Enqueues the kernel.
    ///
    /// # Errors
    /// Those of the launch.
    ///
    /// # Safety
    /// As [`Instance::launch`].
    #[expect(clippy::too_many_arguments, reason = "those of the kernel")]
    unsafe fn launch(
        stream: &Stream,
        config: LaunchConfig,
        source: <Self::Item as kernels::Item>::Source,
        len: u64,
        tiles_per_block: u64,
        partials: GlobalMut<u64>,
        ticket: GlobalMut<u32>,
        output: GlobalMut<R::Output>,
    ) -> Result<(), gpu_core::Error>;
}

impl<M: MappedInstance<R>, R: Reduction<Output: gpu_core::Element>> Instance for kernels::Mapped<M, R> {
    const WORDS: u32 = M::WORDS;

    #[inline]
    unsafe fn launch(
        stream: &Stream,
        config: LaunchConfig,
        source: <M::Item as kernels::Item>::Source,
        len: u64,
        tiles_per_block: u64,
        partials: GlobalMut<u64>,
        ticket: GlobalMut<u32>,
        output: GlobalMut<R::Output>,
    ) -> Result<(), gpu_core::Error> {
        // SAFETY: the caller promises what the kernel needs.
        unsafe { M::launch(stream, config, source, len, tiles_per_block, partials, ticket, output) }
    }
}

/// Makes a reduction of yours an [`Instance`], given the kernel that you made of it.
///
/// `unsafe` is your promise that the kernel is [`kernels::whole`](crate::kernels::whole) of this very reduction, with
/// the parameters below in this order, and that gpu-builder compiled it.
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
/// gpu_reduce::instance!(unsafe Mapped<Doubled, Sum<f32>> => doubled);
///
/// let values = gpu_core::Device::simulator().upload(&[1.0f32, 2.5])?;
/// assert_eq!(gpu_reduce::reduce::<Mapped<Doubled, Sum<f32>>, 1>(values.view())?, [7.0]);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
///
/// A reduction that is a type of your own goes without `Mapped`; one of two arrays ([`kernels::Item`] is a pair),
/// whose kernel takes both before `len`, is written `(two) Reduction => kernel`. Its segments and columns have
/// kernels of their own: [`segmented_instance!`](crate::segmented_instance) and
/// [`columns_instance!`](crate::columns_instance).
#[macro_export]
macro_rules! instance {
    (unsafe Mapped<$map:ty, $reduction:ty> => $kernel:ident) => {
        impl $crate::MappedInstance<$reduction> for $map {
            $crate::instance! { @launch $kernel, source => (source), $reduction, <$map as $crate::kernels::Map>::Item }
        }
    };
    (unsafe (two) $reduction:ty => $kernel:ident) => {
        impl $crate::Instance for $reduction {
            $crate::instance! { @launch $kernel, (first, second) => (first, second), $reduction, <$reduction as $crate::kernels::Reduction>::Item }
        }
    };
    (unsafe $reduction:ty => $kernel:ident) => {
        impl $crate::Instance for $reduction {
            $crate::instance! { @launch $kernel, source => (source), $reduction, <$reduction as $crate::kernels::Reduction>::Item }
        }
    };
    (@launch $kernel:ident, $pattern:pat_param => ($($source:ident),*), $reduction:ty, $item:ty) => {
        #[inline]
        unsafe fn launch(
            stream: &$crate::__private::Stream,
            config: $crate::__private::LaunchConfig,
            $pattern: <$item as $crate::kernels::Item>::Source,
            len: u64,
            tiles_per_block: u64,
            partials: $crate::__private::GlobalMut<u64>,
            ticket: $crate::__private::GlobalMut<u32>,
            output: $crate::__private::GlobalMut<<$reduction as $crate::kernels::Reduction>::Output>,
        ) -> ::core::result::Result<(), $crate::__private::Error> {
            // SAFETY: the caller promises what the kernel needs, and whoever wrote `unsafe` that this is the kernel.
            unsafe {
                $kernel::launch(stream, config, $($source,)* len, tiles_per_block, partials, ticket, output)
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
        impl Instance for $reduction {
            const WORDS: u32 = kernels::publishes::<$computed>();

            #[inline]
            unsafe fn launch(
                stream: &Stream,
                config: LaunchConfig,
                source: <Self::Item as kernels::Item>::Source,
                len: u64,
                tiles_per_block: u64,
                partials: GlobalMut<u64>,
                ticket: GlobalMut<u32>,
                output: GlobalMut<Self::Output>,
            ) -> Result<(), gpu_core::Error> {
                let (source, output) = (source.cast(), output.cast());
                // SAFETY: the caller promises what the kernel needs; where it was made for another type, that type's
                // bits mean the same to it, and where it serves several, it writes what its choice says.
                unsafe {
                    kernels::$name::launch(
                        stream,
                        config,
                        source,
                        $($choice,)*
                        len,
                        tiles_per_block,
                        partials,
                        ticket,
                        output,
                    )
                }
            }
        }
    };
    ((two) $name:ident, $reduction:ty) => {
        impl Instance for $reduction {
            #[inline]
            unsafe fn launch(
                stream: &Stream,
                config: LaunchConfig,
                (first, second): <Self::Item as kernels::Item>::Source,
                len: u64,
                tiles_per_block: u64,
                partials: GlobalMut<u64>,
                ticket: GlobalMut<u32>,
                output: GlobalMut<Self::Output>,
            ) -> Result<(), gpu_core::Error> {
                let (first, second, output) = (first.cast(), second.cast(), output.cast());
                // SAFETY: as above.
                unsafe {
                    kernels::$name::launch(
                        stream,
                        config,
                        first,
                        second,
                        len,
                        tiles_per_block,
                        partials,
                        ticket,
                        output,
                    )
                }
            }
        }
    };
}

macro_rules! instances {
    (none $($other_kernels:tt)*) => {};
    ($module:ident $segments:ident $columns:ident, $t:ty, $v:literal, $a:literal, $blocks:literal;
        $($name:ident: $($reduction:ident<$of:ty>),*;)*
        $((several) $several:ident: $computed:ty => $($served:ident<$of_served:ty>),*;)*
        $((two) $dot:ident: $($product:ident<$of_dot:ty>),*;)?) => {
        $( $( of_kernel!($name, kernels::$reduction<$of>, Self); )* )*
        $( $( of_kernel!((several) $several, kernels::$served<$of_served>, $computed); )* )*
        $( $( of_kernel!((two) $dot, kernels::$product<$of_dot>); )* )?
    };
}
reduce_instances!(instances);
reduce_half_instances!(instances);

/// The launch of a kernel that adds the sum of an array to its output: stream, configuration, input, its length,
/// tiles that a block takes, output.
///
/// # Safety
/// As [`Instance::launch`].
pub type SumUnordered<T> =
    unsafe fn(&Stream, LaunchConfig, Global<T>, u64, u64, GlobalMut<T>) -> Result<(), gpu_core::Error>;

/// Enqueues a sum in any order. Everything has been checked: same device, room for the output.
pub(crate) fn sum_unordered<T: gpu_core::Element>(
    stream: &Stream,
    kernel: SumUnordered<T>,
    input: View<'_, T>,
    plan: Plan,
    mut output: ViewMut<'_, T>,
) -> Result<(), Error> {
    stream.memset(output.reborrow(), 0)?;
    if input.is_empty() {
        return Ok(());
    }
    let (source, len) = (input.as_global(), input.len() as u64);
    // SAFETY: the kernel reads `len` elements of the input and adds to one of the output, which the borrows keep
    // valid; buffers are freed only after the work enqueued before.
    unsafe { kernel(stream, plan.launch(), source, len, plan.tiles_per_block, output.as_global_mut()) }?;
    Ok(())
}

/// Enqueues a reduction. Everything has been checked: same device, enough scratch, room for the output.
pub(crate) fn reduce<R: Instance>(
    stream: &Stream,
    input: &<R::Item as Operand>::Views<'_>,
    len: usize,
    plan: Plan,
    mut output: ViewMut<'_, R::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    enqueue::<R>(stream, input, len, plan, output.as_global_mut(), scratch)
}

/// Reduces on the scratch memory's stream, waits, and reads the results back into `outputs`.
pub(crate) fn reduce_to_scratch<R: Instance>(
    input: &<R::Item as Operand>::Views<'_>,
    len: usize,
    plan: Plan,
    scratch: &mut Scratch,
    outputs: &mut [R::Output],
) -> Result<(), Error> {
    // SAFETY: the header has room for two words of results behind the ticket; nothing else uses them.
    let output = unsafe { GlobalMut::from_raw(scratch.result()) };
    let stream = scratch.stream.clone();
    enqueue::<R>(&stream, input, len, plan, output, scratch)?;
    let mut words = [0u64; 2];
    scratch.words.slice(RESULT).copy_to(&mut words)?;
    let bytes: &[u8] = bytemuck::cast_slice(&words);
    let size = size_of::<R::Output>();
    for (index, output) in outputs.iter_mut().enumerate() {
        *output = bytemuck::pod_read_unaligned(&bytes[index * size..][..size]);
    }
    Ok(())
}

fn enqueue<R: Instance>(
    stream: &Stream,
    input: &<R::Item as Operand>::Views<'_>,
    len: usize,
    plan: Plan,
    output: GlobalMut<R::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    scratch.prepare()?;
    // SAFETY: the addresses lie in the scratch memory, which is ours and 8-byte aligned.
    let (partials, ticket) =
        unsafe { (GlobalMut::from_raw(scratch.partials()), GlobalMut::from_raw(scratch.ticket())) };
    // SAFETY: the kernel reads `len` elements of the input, writes the outputs and uses the ticket and the plan's
    // words, for which the scratch memory has room; they are zero (`prepare`, and every launch leaves them so).
    // Buffers are freed only after the work enqueued before, and the scratch memory is used on this stream only.
    unsafe {
        R::launch(
            stream,
            plan.launch(),
            R::Item::source(input),
            len as u64,
            plan.tiles_per_block,
            partials,
            ticket,
            output,
        )
    }?;
    scratch.dirty = false;
    Ok(())
}
