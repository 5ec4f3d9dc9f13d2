//! The launches of sorts.

use gpu_core::{Element, Parts, Segments, Stream, View, ViewMut};
use gpu_sort_kernels::segmented::{INDICES, tile};
use gpu_sort_kernels::{self as kernels, GATHER_THREADS, HEADER_WORDS, Order, Pass};
use gpu_std::half::{bf16, f16};
use gpu_std::launch::{Kernel, LaunchConfig};
use gpu_std::memory::{Global, GlobalMut};

use crate::key::{SortKey, Sorting};
use crate::plan::SortPlan;
use crate::segmented::cut::Cut;
use crate::segmented::launch::Moved;
use crate::segmented::{self, SegmentedPlan};
use crate::values::Values;
use crate::width::{Width, by_width};
use gpu_core::Error;

/// The parameters of a sweep over keys and `V`s: keys and values, in and out, the pass, starts of this digit and of the
/// next, counts, the header.
type OfPairs<K, V> = (
    Global<K>,
    GlobalMut<K>,
    Global<V>,
    GlobalMut<V>,
    Pass,
    Global<u64>,
    GlobalMut<u64>,
    GlobalMut<u32>,
    GlobalMut<u32>,
);

/// Bits that there are kernels for.
///
/// # Safety
/// The kernels are those of these bits: [`kernels::count`], and [`kernels::sweep`] without values and with values of 32
/// and 64 bits.
#[doc(hidden)]
pub unsafe trait Bits: Element {
    /// Keys, their number, their order, the first bit, the bits, zeros, starts, counts and how many, the header.
    type Count: Kernel<
        Arguments = (
            Global<Self>,
            u64,
            Order,
            u32,
            u32,
            GlobalMut<u64>,
            GlobalMut<u64>,
            GlobalMut<u32>,
            u64,
            GlobalMut<u32>,
        ),
    >;
    /// As with values, without them.
    type Keys: Kernel<
        Arguments = (
            Global<Self>,
            GlobalMut<Self>,
            Pass,
            Global<u64>,
            GlobalMut<u64>,
            GlobalMut<u32>,
            GlobalMut<u32>,
        ),
    >;
    type Pairs32: Kernel<Arguments = OfPairs<Self, u32>>;
    type Pairs64: Kernel<Arguments = OfPairs<Self, u64>>;
}

/// A type whose bits there are kernels for.
///
/// # Safety
/// `Bits` is as wide.
#[doc(hidden)]
pub unsafe trait Launch: Element {
    type Bits: Bits;
}

macro_rules! bits {
    ($($bits:ty: $($t:ty)*, $count:ident;
        $keys:ident: $rows:expr;
        $four:ident: $four_rows:expr, $four_blocks:literal, $four_level:literal;
        $eight:ident: $eight_rows:expr, $eight_blocks:literal, $eight_level:literal;)*) => { $(
        // SAFETY: the table names the kernels of the bits.
        unsafe impl Bits for $bits {
            type Count = kernels::$count;
            type Keys = kernels::$keys;
            type Pairs32 = kernels::$four;
            type Pairs64 = kernels::$eight;
        }

        $(
            // SAFETY: the name says how wide it is.
            unsafe impl Launch for $t {
                type Bits = $bits;
            }
        )*
    )* };
}
gpu_sort_kernels::sort_instances!(bits);

/// Enqueues a sort of at least one key; without `keys`, of those in the output, where they are. Everything has been checked:
/// same device, same lengths; the next parts are those of [`SortPlan::scratch`], and of values that are gathered in place
/// room for a copy.
pub(crate) fn sort<K: SortKey, V: Element>(
    stream: &Stream,
    keys: Option<View<'_, K>>,
    mut output: ViewMut<'_, K>,
    mut values: Values<'_, '_, V>,
    sorting: Sorting,
    plan: SortPlan,
    parts: &mut Parts<'_>,
) -> Result<(), Error> {
    if let Some(one) = one_tile::<K, V>(plan.len, sorting, &values)? {
        let moved = match values {
            Values::Indices(indices) => Moved::Indices(indices),
            _ => Moved::None,
        };
        let output = output.as_global_mut();
        let keys = keys.map_or(output.as_global(), |keys| keys.as_global());
        let segment = Segments::of_length(plan.len)?;
        return segmented::launch::sort::<V>(stream, &one, segment, keys.cast(), output.cast(), moved, parts);
    }
    let len = plan.len as u64;
    let passes = sorting.passes();
    let mut words = parts.array::<u64>(plan.words(passes));
    let header = words.as_global_mut();
    let starts = header.offset(HEADER_WORDS as u64 / 2);
    let counts = starts.offset(plan.start_words(passes) as u64).cast::<u32>();
    let header = header.cast::<u32>();
    let (key_bytes, value_bytes) = (plan.shape.key_bytes as usize, plan.shape.value_bytes as usize);
    let mut temporary = parts.array::<u8>(plan.len * key_bytes).cast::<K>();
    let mut moved_temporary = parts.array::<u8>(plan.len * value_bytes);
    let is_gathered = values.is_gathered();
    let index = parts.array::<u32>(if is_gathered { plan.len } else { 0 }).as_global_mut();

    // In place, the passes go to and fro between the output and the temporary memory and end in the output: an even
    // number of them starts there, an odd one from a copy.
    let is_copied = passes % 2 == 1;
    let keys = match keys {
        Some(keys) => keys.as_global(),
        None if is_copied => {
            stream.copy(temporary.reborrow(), output.view())?;
            temporary.view().as_global()
        }
        None => output.view().as_global(),
    };
    let (keys, output, temporary) =
        (keys.cast(), output.as_global_mut().cast(), temporary.as_global_mut().cast());
    let mut copy_of_values = match &values {
        Values::InPlace(values) if is_gathered => {
            let mut copy = parts.array::<V>(values.len());
            stream.copy(copy.reborrow(), values.view())?;
            Some(copy)
        }
        Values::InPlace(values) if is_copied => {
            stream.copy(moved_temporary.reborrow().cast::<V>(), values.view())?;
            None
        }
        _ => None,
    };
    let moved_temporary = moved_temporary.as_global_mut().cast::<u64>();
    let Sorting { order, first_bit, bits, .. } = sorting;
    let arguments =
        (keys, len, order, first_bit, bits, parts.zeros, starts, counts, plan.count_words(), header);
    // SAFETY: the kernel reads `len` keys, and writes to words of which there are enough, and which are used on this
    // stream only; the zeros are zero (the scratch memory says so, and every launch leaves them so). Buffers are freed
    // only after the work enqueued before.
    unsafe { stream.launch::<<K::Bits as Bits>::Count>(plan.count(stream.device(), passes), arguments)? };
    // What moves with the keys, from where in the first pass, and to where in the last one.
    let index_words = index.cast::<u64>();
    let (bytes, mut from, last, are_indices) = match &mut values {
        Values::None => (0, moved_temporary.as_global(), moved_temporary, false),
        Values::Indices(output) => (4, index_words.as_global(), output.as_global_mut().cast(), true),
        Values::Of(input, output) => match size_of::<V>() {
            bytes @ (4 | 8) => (bytes, input.as_global().cast(), output.as_global_mut().cast(), false),
            _ => (4, index_words.as_global(), index_words, true),
        },
        Values::InPlace(values) => match size_of::<V>() {
            bytes @ (4 | 8) => {
                let values = values.as_global_mut().cast::<u64>();
                (bytes, if is_copied { moved_temporary } else { values }.as_global(), values, false)
            }
            _ => (4, index_words.as_global(), index_words, true),
        },
    };
    let mut input = keys;
    for pass in 0..passes {
        // The last pass writes to the output, the one before to the temporary memory, and so on in turn.
        let (to, moved_to) =
            if (passes - 1 - pass).is_multiple_of(2) { (output, last) } else { (temporary, moved_temporary) };
        let rows = starts.offset(2 * u64::from(pass) * u64::from(plan.shape.digits()));
        let launches = plan.sweeps(sorting, pass, are_indices && pass == 0);
        for (number, (config, pass)) in launches.enumerate() {
            let row = |number: usize| rows.offset(number as u64 % 2 * u64::from(plan.shape.digits()));
            let (starts, next) = (row(number).as_global(), row(number + 1));
            // SAFETY: what a pass reads and what it writes are apart (in place, output and temporary memory in turn), and
            // each has room for `len` elements; the words are those that the launches before left.
            unsafe {
                match bytes {
                    0 if plan.shape.is_short() => {
                        let (input, to) = (input.cast(), to.cast());
                        let arguments = (input, to, pass, starts, next, counts, header);
                        stream.launch::<kernels::sort_few_keys_b32>(config, arguments)
                    }
                    0 => {
                        let arguments = (input, to, pass, starts, next, counts, header);
                        stream.launch::<<K::Bits as Bits>::Keys>(config, arguments)
                    }
                    4 => {
                        let (from, to_values) = (from.cast(), moved_to.cast());
                        let arguments = (input, to, from, to_values, pass, starts, next, counts, header);
                        stream.launch::<<K::Bits as Bits>::Pairs32>(config, arguments)
                    }
                    _ => {
                        let arguments = (input, to, from, moved_to, pass, starts, next, counts, header);
                        stream.launch::<<K::Bits as Bits>::Pairs64>(config, arguments)
                    }
                }
            }?;
        }
        (input, from) = (to.as_global(), moved_to.as_global());
    }
    match (&mut values, &mut copy_of_values) {
        (Values::Of(input, output), _) if is_gathered => {
            gather(stream, *input, index.as_global(), output.reborrow())
        }
        (Values::InPlace(output), Some(copy)) => {
            gather(stream, copy.view(), index.as_global(), output.reborrow())
        }
        _ => Ok(()),
    }
}

/// The plan of one launch that sorts all keys as one segment, where a block sorts as many at once and they are sorted
/// by all bits. It needs no scratch memory.
fn one_tile<K: SortKey, V: Element>(
    len: usize,
    sorting: Sorting,
    values: &Values<'_, '_, V>,
) -> Result<Option<SegmentedPlan>, Error> {
    let payload = match values {
        Values::None => 0,
        Values::Indices(_) => INDICES,
        Values::Of(..) | Values::InPlace(_) => return Ok(None),
    };
    if sorting.bits != K::BITS || len > tile(4) as usize {
        return Ok(None);
    }
    let cut = Cut { row: len, count: 1, longest: len, shortest: len };
    let plan = SegmentedPlan::new(len, cut, sorting, size_of::<K>(), payload, None)?;
    Ok(Some(plan).filter(|plan| plan.job.passes == 0))
}

/// Writes the values at the places that an index says, as many as the output has room for. Everything has been checked: the index
/// has as many places, all of them in the values, and is on the stream's device.
pub(crate) fn gather<V: Element>(
    stream: &Stream,
    input: View<'_, V>,
    index: Global<u32>,
    output: ViewMut<'_, V>,
) -> Result<(), Error> {
    let len = output.len() as u64;
    let config =
        LaunchConfig::linear(len.div_ceil(GATHER_THREADS as u64).min(1 << 20) as u32, GATHER_THREADS);
    // SAFETY: the output has `len` elements, and so has the index, whose places are in the input.
    unsafe {
        by_width!(V as W => stream.launch::<<W as Width>::Gather>(config, (input.untyped(), index, output.untyped(), len)))
    }?;
    Ok(())
}
