//! The launches of sorts.

use gpu_core::{Element, Stream, View, ViewMut};
use gpu_sort_kernels::{self as kernels, GATHER_THREADS, HEADER_WORDS, Order, Pass};
use gpu_std::half::{bf16, f16};
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};

use crate::key::{SortKey, Sorting};
use crate::plan::SortPlan;
use crate::scratch::SortScratch;
use gpu_core::Error;

/// What the kernels of a pass need beside keys and values.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Words {
    starts: Global<u64>,
    next_starts: GlobalMut<u64>,
    counts: GlobalMut<u32>,
    header: GlobalMut<u32>,
}

/// What moves with the keys: words of so many bytes, or nothing.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Moved {
    bytes: usize,
    from: Global<u64>,
    to: GlobalMut<u64>,
}

/// A type whose bits there are kernels for.
#[doc(hidden)]
pub trait Launch: Element {
    /// # Safety
    /// Until the kernel has ended, `keys` must have `len` elements, which nothing writes; `starts` and `header` must
    /// be zero, have the words that [`kernels::count`] writes, and be used by nothing else. `config` must be that of
    /// the plan.
    #[expect(clippy::too_many_arguments, reason = "those of the kernel")]
    unsafe fn launch_count(
        stream: &Stream,
        config: LaunchConfig,
        keys: Global<Self>,
        len: u64,
        order: Order,
        first_bit: u32,
        bits: u32,
        starts: GlobalMut<u64>,
        header: GlobalMut<u32>,
    ) -> Result<(), gpu_core::Error>;

    /// # Safety
    /// Until the kernel has ended, `input` and what `moved` reads must have `pass.len` elements, which nothing
    /// writes, `output` and what `moved` writes room for as many, apart from those, which nothing else reads or
    /// writes; `words` must be what [`kernels::sweep`] asks for. `config` and `pass` must be of the plan.
    unsafe fn launch_sweep(
        stream: &Stream,
        config: LaunchConfig,
        input: Global<Self>,
        output: GlobalMut<Self>,
        moved: Moved,
        pass: Pass,
        words: Words,
    ) -> Result<(), gpu_core::Error>;
}

macro_rules! launches {
    ($($t:ty as $bits:ty: $count:ident, $keys:ident, $four:ident, $eight:ident;)*) => { $(
        impl Launch for $t {
            #[inline]
            unsafe fn launch_count(
                stream: &Stream,
                config: LaunchConfig,
                keys: Global<$t>,
                len: u64,
                order: Order,
                first_bit: u32,
                bits: u32,
                starts: GlobalMut<u64>,
                header: GlobalMut<u32>,
            ) -> Result<(), gpu_core::Error> {
                let keys = keys.cast::<$bits>();
                // SAFETY: the caller promises what the kernel needs.
                unsafe {
                    kernels::$count::launch(stream, config, keys, len, order, first_bit, bits, starts, header)
                }
            }

            #[inline]
            unsafe fn launch_sweep(
                stream: &Stream,
                config: LaunchConfig,
                input: Global<$t>,
                output: GlobalMut<$t>,
                moved: Moved,
                pass: Pass,
                words: Words,
            ) -> Result<(), gpu_core::Error> {
                let (input, output) = (input.cast::<$bits>(), output.cast::<$bits>());
                let Words { starts, next_starts, counts, header } = words;
                // SAFETY: the caller promises what the kernels need.
                unsafe {
                    match moved.bytes {
                        0 => kernels::$keys::launch(
                            stream, config, input, output, pass, starts, next_starts, counts, header,
                        ),
                        4 => {
                            let (from, to) = (moved.from.cast(), moved.to.cast());
                            kernels::$four::launch(
                                stream, config, input, output, from, to, pass, starts, next_starts, counts, header,
                            )
                        }
                        8 => {
                            let (from, to) = (moved.from, moved.to);
                            kernels::$eight::launch(
                                stream, config, input, output, from, to, pass, starts, next_starts, counts, header,
                            )
                        }
                        bytes => unreachable!("values of {bytes} bytes are gathered"),
                    }
                }
            }
        }
    )* };
}
macro_rules! of_bits {
    ($($t:ty)*: $bits:ty, $($kernels:ident)*) => {
        of_bits!(@ $($t)*; $bits; ($($kernels),*));
    };
    (@ $($t:ty)*; $bits:ty; $kernels:tt) => { $( of_bits!(# $t; $bits; $kernels); )* };
    (# $t:ty; $bits:ty; ($count:ident, $keys:ident, $four:ident, $eight:ident)) => {
        launches! { $t as $bits: $count, $keys, $four, $eight; }
    };
}
of_bits!(u8 i8: u8, sort_count_b8 sort_keys_b8 sort_pairs_b8_b32 sort_pairs_b8_b64);
of_bits!(u16 i16 f16 bf16: u16, sort_count_b16 sort_keys_b16 sort_pairs_b16_b32 sort_pairs_b16_b64);
of_bits!(u32 i32 f32: u32, sort_count_b32 sort_keys_b32 sort_pairs_b32_b32 sort_pairs_b32_b64);
of_bits!(u64 i64 f64: u64, sort_count_b64 sort_keys_b64 sort_pairs_b64_b32 sort_pairs_b64_b64);

/// Where values come from, and where they go.
pub(crate) enum Values<'a, 'b, V: Element> {
    /// There are none.
    None,
    /// One a key.
    Of(View<'a, V>, ViewMut<'b, V>),
    /// The keys' indices.
    Indices(ViewMut<'b, u32>),
}

/// Enqueues a sort of at least one key. Everything has been checked: same device, same lengths, enough scratch.
pub(crate) fn sort<K: SortKey, V: Element>(
    stream: &Stream,
    keys: View<'_, K>,
    mut output: ViewMut<'_, K>,
    mut values: Values<'_, '_, V>,
    sorting: Sorting,
    plan: SortPlan,
    scratch: &mut SortScratch,
) -> Result<(), Error> {
    let len = keys.len() as u64;
    let passes = sorting.passes();
    stream.memset(scratch.words.slice_mut(..plan.words(passes)), 0)?;
    let header = scratch.words.view_mut().as_global_mut();
    let starts = header.offset(HEADER_WORDS as u64 / 2);
    let counts = starts.offset(plan.start_words(passes) as u64).cast::<u32>();
    let header = header.cast::<u32>();
    let (temporary, output) = (scratch.keys.view_mut().as_global_mut().cast::<K>(), output.as_global_mut());
    let moved_temporary = scratch.values.view_mut().as_global_mut();
    let index = scratch.index.view_mut().as_global_mut();

    // SAFETY: the kernel reads `len` keys, and writes to words that were just cleared, of which there are enough, and
    // which are used on this stream only. Buffers are freed only after the work enqueued before.
    unsafe {
        let config = plan.count(passes);
        let (first_bit, bits) = (sorting.first_bit, sorting.bits);
        K::launch_count(
            stream,
            config,
            keys.as_global(),
            len,
            sorting.order,
            first_bit,
            bits,
            starts,
            header,
        )?;
    }
    // What moves with the keys, from where in the first pass, and to where in the last one.
    let index_words = index.cast::<u64>();
    let (bytes, mut from, last, are_indices) = match &mut values {
        Values::None => (0, moved_temporary.as_global(), moved_temporary, false),
        Values::Indices(output) => (4, index_words.as_global(), output.as_global_mut().cast(), true),
        Values::Of(input, output) => match size_of::<V>() {
            bytes @ (4 | 8) => (bytes, input.as_global().cast(), output.as_global_mut().cast(), false),
            _ => (4, index_words.as_global(), index_words, true),
        },
    };
    let mut input = keys.as_global();
    for pass in 0..passes {
        // The last pass writes to the output, the one before to the temporary memory, and so on in turn.
        let (to, moved_to) =
            if (passes - 1 - pass).is_multiple_of(2) { (output, last) } else { (temporary, moved_temporary) };
        let moved = Moved { bytes, from, to: moved_to };
        let rows = starts.offset(2 * u64::from(pass) * u64::from(plan.shape.digits()));
        let launches = plan.sweeps(sorting, pass, are_indices && pass == 0);
        for (number, (config, pass)) in launches.enumerate() {
            let row = |number: usize| rows.offset(number as u64 % 2 * u64::from(plan.shape.digits()));
            let words =
                Words { starts: row(number).as_global(), next_starts: row(number + 1), counts, header };
            // SAFETY: input, output and temporary memory are apart, and each has room for `len` elements; the words
            // are those that the launches before left.
            unsafe { K::launch_sweep(stream, config, input, to, moved, pass, words)? };
        }
        (input, from) = (to.as_global(), moved_to.as_global());
    }
    if let (Values::Of(input, output), true) = (&mut values, are_indices) {
        gather(stream, *input, index.as_global(), output.reborrow())?;
    }
    Ok(())
}

/// Writes the values at the places that an index says, as many as the output has room for. Everything has been checked: the index
/// has as many places, all of them in the values, and is on the stream's device.
pub(crate) fn gather<V: Element>(
    stream: &Stream,
    input: View<'_, V>,
    index: Global<u32>,
    mut output: ViewMut<'_, V>,
) -> Result<(), Error> {
    let len = output.len() as u64;
    let config =
        LaunchConfig::linear(len.div_ceil(GATHER_THREADS as u64).min(1 << 20) as u32, GATHER_THREADS);
    let (input, output) = (input.as_global(), output.as_global_mut());
    // SAFETY: the output has `len` elements, and so has the index, whose places are in the input.
    unsafe {
        match size_of::<V>() {
            1 => kernels::sort_gather_b8::launch(stream, config, input.cast(), index, output.cast(), len),
            2 => kernels::sort_gather_b16::launch(stream, config, input.cast(), index, output.cast(), len),
            4 => kernels::sort_gather_b32::launch(stream, config, input.cast(), index, output.cast(), len),
            8 => kernels::sort_gather_b64::launch(stream, config, input.cast(), index, output.cast(), len),
            _ => kernels::sort_gather_b128::launch(stream, config, input.cast(), index, output.cast(), len),
        }?;
    }
    Ok(())
}
