//! The launches: the crate's only unsafe code.

use std::any::TypeId;

use gpu_collective::Accumulator;
use gpu_core::{Element, IntoArgument, IntoArguments, Stream, View, ViewMut};
use gpu_scan_kernels::scan_instances;
use gpu_scan_kernels::{self as kernels, And, Max, Min, Or, Product, Scan, Sum, WideSum, Xor, flip, flipped};
use gpu_std::half::{bf16, f16};
use gpu_std::launch::{Kernel, LaunchConfig};
use gpu_std::memory::{Global, GlobalMut};

use crate::error::Error;
use crate::options::Options;
use crate::plan::Plan;
use crate::scratch::Scratch;

/// The parameters of a kernel that scans arrays ([`kernels::whole`]): input, output, length, where to start, mode, scratch
/// memory and the words of it.
pub type Whole<S> = (
    Global<<S as Scan>::Item>,
    GlobalMut<<S as Scan>::Output>,
    u64,
    <S as Scan>::Register,
    u32,
    GlobalMut<u64>,
    u64,
);

/// A scan that a PTX module has a kernel for: all of this crate, and yours with [`instance!`](crate::instance).
///
/// # Safety
/// The kernel is [`kernels::whole`] of the operator `Of`, with the vectors and rows of its shape; bits of `Of`'s elements
/// mean the same to it as to this operator, once those of [`kernels::flip`] are flipped if the kernel takes them.
pub unsafe trait Instance: Scan<Item: Element, Output: Element> {
    /// The operator that the kernel was made of: this one or another one on elements as wide.
    type Of: Scan<Item: Element, Output: Element>;
    /// The kernel.
    type Kernel: Kernel<Arguments: Arguments<Whole<Self::Of>>>;
}

/// The parameters of a kernel of a family: `Family`, which are those that all of it take, or behind them the bits to flip.
pub trait Arguments<Family> {
    /// The arguments of which `flip` is left out where the kernel does not take it.
    fn new(family: Family, flip: u64) -> Self;
}

macro_rules! arguments {
    ($($of_family:ident)*) => {
        impl<$($of_family),*> Arguments<($($of_family,)*)> for ($($of_family,)*) {
            fn new(family: Self, _: u64) -> Self {
                family
            }
        }

        #[expect(non_snake_case, reason = "named as their types")]
        impl<$($of_family),*> Arguments<($($of_family,)*)> for ($($of_family,)* u64) {
            fn new(($($of_family,)*): ($($of_family,)*), flip: u64) -> Self {
                ($($of_family,)* flip)
            }
        }
    };
}
arguments!(A B C D E F G);
arguments!(A B C D E F G H I);
arguments!(A B C D E F G H I J);

/// Enqueues a kernel made of `K` to scan by `S`, where `arguments` are those of its family, given where to start.
///
/// # Safety
/// As [`Stream::launch`]; the scratch memory is zero or as the launch before left it, and used on this stream only.
pub(crate) unsafe fn launch<
    S: Scan,
    K: Scan,
    Family,
    A: IntoArguments<Family>,
    F: Kernel<Arguments: Arguments<Family>>,
>(
    stream: &Stream,
    config: LaunchConfig,
    initial: S::Register,
    arguments: impl FnOnce(K::Register) -> A,
) -> Result<(), gpu_core::Error> {
    let flip = flip::<S, K>();
    let initial = if TypeId::of::<S>() == TypeId::of::<K>() {
        // The same type, which the compiler does not know.
        K::Register::from_words(&mut |word| initial.word(word))
    } else {
        flipped::<S, K>(initial)
    };
    let arguments = arguments(initial).map(|family| Arguments::new(family, flip));
    // SAFETY: the caller's promise.
    unsafe { stream.launch::<F>(config, arguments) }
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

        // SAFETY: whoever wrote `unsafe` promises that this is the kernel.
        unsafe impl $crate::Instance for $scan {
            type Of = Self;
            type Kernel = $kernel;
        }
    };
}

/// Makes operators instances, by the trait `$instance`, of a kernel that was made of one of them.
macro_rules! served {
    ($instance:ident, $kernel:path, $of:ty $(, $same:ty)*) => {
        served!(@ $instance, $kernel, $of, $of);
        $( served!(@ $instance, $kernel, $of, $same); )*
    };
    (@ $instance:ident, $kernel:path, $of:ty, $scan:ty) => {
        // SAFETY: the kernel is that of `Of` in the table of kernels, which has the operators with the same bits.
        unsafe impl $instance for $scan {
            type Of = $of;
            type Kernel = $kernel;
        }
    };
}
pub(crate) use served;

macro_rules! instances {
    ($module:ident, $blocks:literal; $(
        $name:ident: $scan:ty, $v:literal, $n:literal, $m:literal, $l:literal $(, $same:ty)* $(| $($flipped:ty),+)?;
    )*) => { $(
        served!(Instance, kernels::$name, $scan $(, $same)* $($(, $flipped)+)?);
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
    output: ViewMut<'_, S::Output>,
    plan: Plan,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    enqueue::<S>(stream, input.cast(), output, options, plan, scratch)
}

/// Enqueues a scan in place. Everything has been checked, as for [`scan`].
pub(crate) fn scan_in_place<S: Instance<Output = <S as Scan>::Item>>(
    stream: &Stream,
    mut data: ViewMut<'_, S::Output>,
    options: &Options<S::Output>,
    plan: Plan,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let input = data.as_global_mut().as_global().cast();
    enqueue::<S>(stream, input, data, options, plan, scratch)
}

/// Input and output are the same memory or, one of them being borrowed exclusively, apart.
fn enqueue<S: Instance>(
    stream: &Stream,
    input: impl IntoArgument<Global<<S::Of as Scan>::Item>>,
    output: ViewMut<'_, S::Output>,
    options: &Options<S::Output>,
    plan: Plan,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    scratch.prepare()?;
    let (len, capacity, mode) = (output.len() as u64, scratch.words.len() as u64, options.mode());
    let words = scratch.words.view_mut();
    let arguments = |initial| (input, output.cast(), len, initial, mode, words, capacity);
    // SAFETY: the kernel reads `len` elements of the input, writes as many of the output and uses the scratch memory,
    // which has room for the plan's words, was zero when it was made or is again (`prepare`), and is used on this
    // stream only. Buffers are freed only after the work enqueued before.
    unsafe {
        launch::<S, S::Of, Whole<S::Of>, _, S::Kernel>(
            stream,
            plan.launch(),
            options.initial::<S>(),
            arguments,
        )
    }?;
    scratch.dirty = false;
    Ok(())
}
