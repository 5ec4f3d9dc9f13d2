//! The launches of scans along columns.

use gpu_core::{Stream, View, ViewMut};
use gpu_kernels::column_scan_instances;
use gpu_kernels::scan::columns::{self as kernels, Lines, Shape};
use gpu_kernels::scan::{And, Max, Min, Or, Product, Scan, Sum, Xor};
use gpu_std::half::{bf16, f16};
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};

use super::along::launch_config;
use crate::error::Error;
use crate::launch::same_bits;
use crate::options::Options;
use crate::scratch::Scratch;

/// A scan that a PTX module has a kernel for that goes along columns: all those whose results have their elements' type.
pub trait AlongColumns: Scan<Item: gpu_core::Element, Output: gpu_core::Element> {
    /// Enqueues the kernel.
    ///
    /// # Errors
    /// Those of the launch.
    ///
    /// # Safety
    /// Until the kernel has ended, `input` must have the elements of `lines` and `output` room for as many, which nothing else writes;
    /// `words` must be the `capacity` words of scratch memory that [`kernels::columns`] asks for. There is an element.
    #[expect(clippy::too_many_arguments, reason = "those of the kernel")]
    unsafe fn launch(
        stream: &Stream,
        config: LaunchConfig,
        input: Global<Self::Item>,
        output: GlobalMut<Self::Output>,
        lines: Lines,
        initial: Self::Register,
        mode: u32,
        words: GlobalMut<u64>,
        capacity: u64,
    ) -> Result<(), gpu_core::Error>;
}

macro_rules! of_kernel {
    ($name:ident, $scan:ty) => {
        impl AlongColumns for $scan {
            unsafe fn launch(
                stream: &Stream,
                config: LaunchConfig,
                input: Global<Self::Item>,
                output: GlobalMut<Self::Output>,
                Lines { rows, inner, columns }: Lines,
                initial: Self::Register,
                mode: u32,
                words: GlobalMut<u64>,
                capacity: u64,
            ) -> Result<(), gpu_core::Error> {
                let (input, output, initial) = (input.cast(), output.cast(), same_bits(initial));
                // SAFETY: the caller promises what the kernel needs; where it was made for another type, that type's bits
                // mean the same to it.
                unsafe {
                    kernels::$name::launch(
                        stream, config, input, output, rows, inner, columns, initial, mode, words, capacity,
                    )
                }
            }
        }
    };
}

macro_rules! instances {
    ($module:ident, $blocks:literal, $k:literal; $($name:ident: $scan:ty $(, $same:ty)*;)*) => { $(
        of_kernel!($name, $scan);
        $( of_kernel!($name, $same); )*
        const _: () = assert!(Shape::of::<$scan>().rows == $k);
    )* };
}
column_scan_instances!(instances);

/// Enqueues a scan along columns. Everything has been checked: same device, same lengths, enough scratch; there is an element.
pub(super) fn scan<S: AlongColumns>(
    stream: &Stream,
    input: View<'_, S::Item>,
    lines: Lines,
    options: &Options<S::Output>,
    mut output: ViewMut<'_, S::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    enqueue::<S>(stream, (input.as_global(), output.as_global_mut()), lines, options, scratch)
}

/// Enqueues a scan along columns in place. Everything has been checked, as for [`scan`].
pub(super) fn scan_in_place<S: AlongColumns<Output = <S as Scan>::Item>>(
    stream: &Stream,
    mut data: ViewMut<'_, S::Output>,
    lines: Lines,
    options: &Options<S::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let memory = data.as_global_mut();
    enqueue::<S>(stream, (memory.as_global(), memory), lines, options, scratch)
}

/// Input and output are the same memory or, one of them being borrowed exclusively, apart.
fn enqueue<S: AlongColumns>(
    stream: &Stream,
    (input, output): (Global<S::Item>, GlobalMut<S::Output>),
    lines: Lines,
    options: &Options<S::Output>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    scratch.prepare()?;
    let words = scratch.words.view_mut().as_global_mut();
    let capacity = scratch.words.len() as u64;
    let (config, mode, initial) = (launch_config::<S>(lines), options.mode(), options.initial::<S>());
    // SAFETY: the kernel reads the elements of the input, writes as many of the output and uses the scratch memory, which has room for
    // the columns' words, was zero when it was made or is again (`prepare`), and is used on this stream only. Buffers are freed only
    // after the work enqueued before.
    unsafe { S::launch(stream, config, input, output, lines, initial, mode, words, capacity) }?;
    scratch.dirty = false;
    Ok(())
}
