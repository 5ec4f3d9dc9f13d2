//! The launches: the crate's only unsafe code.

use gpu_collective::Accumulator;
use gpu_core::{Stream, View, ViewMut};
use gpu_scan_kernels::scan_instances;
use gpu_scan_kernels::{self as kernels, And, Max, Min, Or, Product, Scan, Sum, WideSum, Xor, flip, flipped};
use gpu_std::half::{bf16, f16};
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};

use crate::options::Options;
use crate::plan::Plan;
use crate::scratch::Scratch;
use gpu_core::Error;

/// A scan that a PTX module has a kernel for.
pub trait Instance: Scan<Item: gpu_core::Element, Output: gpu_core::Element> {
    /// Enqueues the kernel.
    ///
    /// # Errors
    /// Those of the launch.
    ///
    /// # Safety
    /// Until the kernel has ended, `input` must have `len` elements and `output` room for as many, either the same
    /// memory or apart, which nothing else writes; `words` must be the `capacity` words of scratch memory that
    /// [`kernels::whole`] asks for. `config` must be that of the plan for `len`, which is not zero.
    #[expect(clippy::too_many_arguments, reason = "those of the kernel")]
    unsafe fn launch(
        stream: &Stream,
        config: LaunchConfig,
        input: Global<Self::Item>,
        output: GlobalMut<Self::Output>,
        len: u64,
        initial: Self::Register,
        mode: u32,
        words: GlobalMut<u64>,
        capacity: u64,
    ) -> Result<(), gpu_core::Error>;
}

/// Makes a scan of yours an [`Instance`], given the kernel that you made of it.
///
/// `unsafe` is your promise that the kernel is [`kernels::whole`](crate::kernels::whole) of this very operator, with
/// the parameters below in this order, and that gpu-builder compiled it.
///
/// ```
/// use gpu_scan::{Options, kernels::{Scan, WARPS, whole}};
/// # use gpu_std::{kernel, memory::{Global, GlobalMut}};
/// /// The last element that is not zero.
/// pub struct Last;
///
/// impl Scan for Last {
///     type Item = u32;
///     type Register = u32;
///     type Output = u32;
///     const NAME: &'static str = "last that is not zero";
///     const IDENTITY: u32 = 0;
///     const EMPTY: u32 = 0;
///     fn extend(item: u32) -> u32 {
///         item
///     }
///     fn combine(before: u32, after: u32) -> u32 {
///         if after == 0 { before } else { after }
///     }
///     fn output(result: u32) -> u32 {
///         result
///     }
///     fn resume(output: u32) -> u32 {
///         output
///     }
/// }
///
/// // In your kernel crate: `#[kernel(images = sm_75, launch_bounds(256, 4), programmatic)]`.
/// #[kernel(launch_bounds(256, 4), programmatic)]
/// pub fn last(
///     input: Global<u32>,
///     output: GlobalMut<u32>,
///     len: u64,
///     initial: u32,
///     mode: u32,
///     words: GlobalMut<u64>,
///     capacity: u64,
/// ) {
///     // Elements of a vector, words of one of the input and of the output; `Shape::of::<Last>().rows`, warps.
///     whole::<Last, 4, 4, 4, 4, WARPS>(input, output, len, initial, mode, words, capacity);
/// }
///
/// // SAFETY: the kernel is `whole` of this operator, with the rows of its shape.
/// gpu_scan::instance!(unsafe Last => last, 4 by 4);
///
/// let values = gpu_core::Device::simulator().upload(&[0, 5, 0, 0, 7u32])?;
/// assert_eq!(gpu_scan::scan::<Last>(&values, Options::inclusive())?.to_vec()?, [0, 5, 5, 5, 7]);
/// # Ok::<(), gpu_scan::Error>(())
/// ```
///
/// The numbers are the elements of a vector and the vectors of a thread that the kernel was made with: those that
/// [`kernels::Shape::of`] does not give do not compile. Segments and columns have kernels of their own:
/// [`segmented_instance!`](crate::segmented_instance) and [`columns_instance!`](crate::columns_instance).
#[macro_export]
macro_rules! instance {
    (unsafe $scan:ty => $kernel:ident, $vector:literal by $rows:literal) => {
        const _: () = {
            let shape = $crate::kernels::Shape::of::<$scan>();
            assert!(shape.vector == $vector && shape.rows == $rows, "a kernel of another shape");
        };

        impl $crate::Instance for $scan {
            #[inline]
            unsafe fn launch(
                stream: &$crate::__private::Stream,
                config: $crate::__private::LaunchConfig,
                input: $crate::__private::Global<<$scan as $crate::kernels::Scan>::Item>,
                output: $crate::__private::GlobalMut<<$scan as $crate::kernels::Scan>::Output>,
                len: u64,
                initial: <$scan as $crate::kernels::Scan>::Register,
                mode: u32,
                words: $crate::__private::GlobalMut<u64>,
                capacity: u64,
            ) -> ::core::result::Result<(), $crate::__private::Error> {
                // SAFETY: the caller promises what the kernel needs, and whoever wrote `unsafe` that this is the
                // kernel.
                unsafe { $kernel::launch(stream, config, input, output, len, initial, mode, words, capacity) }
            }
        }
    };
}

/// The accumulator with the same bits.
pub(crate) fn same_bits<A: Accumulator, B: Accumulator>(value: A) -> B {
    B::from_words(&mut |word| value.word(word))
}

macro_rules! of_kernel {
    ($name:ident, $scan:ty, |$initial:ident| $of_kernel:expr $(, $flip:expr)?) => {
        impl Instance for $scan {
            #[inline]
            unsafe fn launch(
                stream: &Stream,
                config: LaunchConfig,
                input: Global<Self::Item>,
                output: GlobalMut<Self::Output>,
                len: u64,
                $initial: Self::Register,
                mode: u32,
                words: GlobalMut<u64>,
                capacity: u64,
            ) -> Result<(), gpu_core::Error> {
                let (input, output, initial) = (input.cast(), output.cast(), $of_kernel);
                // SAFETY: the caller promises what the kernel needs; where it was made for another type, that type's
                // bits, flipped if it flips some, mean the same to it.
                unsafe {
                    kernels::$name::launch(
                        stream, config, input, output, len, initial, mode, words, capacity $(, $flip)?
                    )
                }
            }
        }
    };
}

macro_rules! instance_of {
    ($name:ident: $scan:ty $(, $same:ty)*) => {
        of_kernel!($name, $scan, |initial| initial);
        $( of_kernel!($name, $same, |initial| same_bits(initial)); )*
    };
    ($name:ident: $scan:ty | $($flipped:ty),+) => {
        of_kernel!($name, $scan, |initial| initial, 0);
        $( of_kernel!($name, $flipped, |initial| flipped::<Self, $scan>(initial), flip::<Self, $scan>()); )+
    };
}

macro_rules! instances {
    ($module:ident, $blocks:literal; $(
        $name:ident: $scan:ty, $v:literal, $n:literal, $m:literal, $l:literal $(, $same:ty)* $(| $($flipped:ty),+)?;
    )*) => { $(
        instance_of!($name: $scan $(, $same)* $(| $($flipped),+)?);
        const _: () = {
            let shape = kernels::Shape::of::<$scan>();
            assert!(shape.vector == $v && shape.rows == $l);
        };
    )* };
}
scan_instances!(instances);

/// Enqueues a scan from one array to another. Everything has been checked: same device, same length, enough scratch.
pub(crate) fn scan<S: Instance>(
    stream: &Stream,
    input: View<'_, S::Item>,
    options: &Options<S::Output>,
    mut output: ViewMut<'_, S::Output>,
    plan: Plan,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    enqueue::<S>(stream, input.as_global(), output.as_global_mut(), input.len(), options, plan, scratch)
}

/// Enqueues a scan in place. Everything has been checked, as for [`scan`].
pub(crate) fn scan_in_place<S: Instance<Output = <S as Scan>::Item>>(
    stream: &Stream,
    mut data: ViewMut<'_, S::Output>,
    options: &Options<S::Output>,
    plan: Plan,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (len, memory) = (data.len(), data.as_global_mut());
    enqueue::<S>(stream, memory.as_global(), memory, len, options, plan, scratch)
}

/// Input and output are the same memory or, one of them being borrowed exclusively, apart.
fn enqueue<S: Instance>(
    stream: &Stream,
    input: Global<S::Item>,
    output: GlobalMut<S::Output>,
    len: usize,
    options: &Options<S::Output>,
    plan: Plan,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    scratch.prepare()?;
    let words = scratch.words.view_mut().as_global_mut();
    let capacity = scratch.words.len() as u64;
    let initial = options.initial::<S>();
    // SAFETY: the kernel reads `len` elements of the input, writes as many of the output and uses the scratch memory,
    // which has room for the plan's words, was zero when it was made or is again (`prepare`), and is used on this
    // stream only. Buffers are freed only after the work enqueued before.
    unsafe {
        S::launch(stream, plan.launch(), input, output, len as u64, initial, options.mode(), words, capacity)
    }?;
    scratch.dirty = false;
    Ok(())
}
