//! The launches of selections.

use gpu_core::{Element, Stream, View, ViewMut};
use gpu_sort_kernels::select::{self as kernels, Predicate};
use gpu_std::launch::{Kernel, LaunchConfig};
use gpu_std::memory::{Global, GlobalMut};

use super::plan::SelectPlan;
use super::rule::{ByFlags, ByPredicate, Rule, Unlike};
use super::runs::RunsMut;
use crate::width::{Width, by_width};
use gpu_core::Error;

/// The parameters of a kernel that selects by a predicate ([`kernels::select_if`]): items, their number, what is selected,
/// what is rejected, whether that is written, how many are selected, scratch memory.
pub type Selecting<T> = (Global<T>, u64, GlobalMut<T>, GlobalMut<T>, u32, GlobalMut<u64>, GlobalMut<u64>);

/// A predicate that a PTX module has a kernel for: see [`predicate!`](crate::predicate).
///
/// # Safety
/// The kernel is [`kernels::select_if`] of this predicate, with the rows of its shape.
pub unsafe trait PredicateInstance: Predicate<Item: Element> {
    /// The kernel.
    type Kernel: Kernel<Arguments = Selecting<Self::Item>>;
}

/// Makes a predicate of yours a [`PredicateInstance`], given the kernel that you made of it.
///
/// `unsafe` is your promise that the kernel is [`select_if`](crate::kernels::select::select_if) of this very
/// predicate, with the parameters below in this order, and that gpu-builder compiled it.
///
/// ```
/// use gpu_sort::kernels::select::{Predicate, WARPS, select_if};
/// # use gpu_std::{kernel, memory::{Global, GlobalMut}};
/// /// Numbers that are not negative.
/// pub struct NotNegative;
///
/// impl Predicate for NotNegative {
///     type Item = f32;
///     const NAME: &'static str = "not negative";
///     fn keep(item: f32) -> bool {
///         item >= 0.0
///     }
/// }
///
/// // In your kernel crate: `#[kernel(images = sm_75, launch_bounds(256, 4))]`.
/// #[kernel(launch_bounds(256, 4))]
/// pub fn not_negative(
///     items: Global<f32>,
///     len: u64,
///     selected: GlobalMut<f32>,
///     rejected: GlobalMut<f32>,
///     partition: u32,
///     count: GlobalMut<u64>,
///     words: GlobalMut<u64>,
/// ) {
///     // `Shape::new(4).rows` items of 4 bytes a thread.
///     select_if::<NotNegative, 12, WARPS>(items, len, selected, rejected, partition, count, words);
/// }
///
/// // SAFETY: the kernel is `select_if` of this predicate, with the rows of its shape.
/// gpu_sort::predicate!(unsafe NotNegative => not_negative, 12);
///
/// let values = gpu_core::Device::simulator().upload(&[1.5f32, -2.0, 0.0, f32::NAN, 7.0])?;
/// let (kept, others) = gpu_sort::partition_if::<NotNegative>(&values)?;
/// assert_eq!(kept.to_vec()?, [1.5, 0.0, 7.0]);
/// assert_eq!(others.to_vec()?[0], -2.0);
/// # Ok::<(), gpu_sort::Error>(())
/// ```
///
/// The number is that of the items of a thread that the kernel was made with: another than
/// [`Shape::new`](crate::kernels::select::Shape::new) gives does not compile.
#[macro_export]
macro_rules! predicate {
    (unsafe $predicate:ty => $kernel:ident, $rows:literal) => {
        const _: () = {
            let bytes = ::core::mem::size_of::<<$predicate as $crate::kernels::select::Predicate>::Item>();
            assert!(
                $crate::kernels::select::Shape::new(bytes as u32).rows == $rows,
                "a kernel of another shape"
            );
        };

        // SAFETY: whoever wrote `unsafe` promises that this is the kernel.
        unsafe impl $crate::PredicateInstance for $predicate {
            type Kernel = $kernel;
        }
    };
}

/// What a kernel that selects takes beside its rule.
#[doc(hidden)]
pub struct Selection<T: Element> {
    config: LaunchConfig,
    items: Global<T>,
    len: u64,
    selected: GlobalMut<T>,
    rejected: GlobalMut<T>,
    partition: u32,
    count: GlobalMut<u64>,
    words: GlobalMut<u64>,
}

/// A rule that there are kernels for.
#[doc(hidden)]
pub trait LaunchRule<T: Element> {
    /// # Safety
    /// The views have room for what is selected; the words are those of the plan for as many items, zero before the
    /// first launch that used them, and used by nothing else.
    unsafe fn launch(&self, stream: &Stream, selection: Selection<T>) -> Result<(), gpu_core::Error>;
}

impl<T: Element> LaunchRule<T> for ByFlags<'_> {
    #[inline]
    unsafe fn launch(&self, stream: &Stream, s: Selection<T>) -> Result<(), gpu_core::Error> {
        let Selection { config, items, len, selected, rejected, partition, count, words } = s;
        // SAFETY: the caller promises what the kernel needs; there are as many flags as items.
        unsafe {
            by_width!(T as W => {
                let (items, selected, rejected) = (items.cast(), selected.cast(), rejected.cast());
                let arguments = (items, len, self.0, selected, rejected, partition, count, words);
                stream.launch::<<W as Width>::Flagged>(config, arguments)
            })
        }
    }
}

impl<T: Element> LaunchRule<T> for Unlike {
    #[inline]
    unsafe fn launch(&self, stream: &Stream, s: Selection<T>) -> Result<(), gpu_core::Error> {
        // SAFETY: the caller promises what the kernel needs.
        unsafe {
            by_width!(T as W => {
                let arguments = (s.items.cast(), s.len, s.selected.cast(), s.count, s.words);
                stream.launch::<<W as Width>::Unique>(s.config, arguments)
            })
        }
    }
}

/// Enqueues the run-length encoding of at least one item: its runs, then their lengths. Everything has been checked, as
/// for [`select`], and `words` are the plan's.
pub(super) fn encode<T: Element>(
    stream: &Stream,
    items: View<'_, T>,
    mut runs: RunsMut<'_, T>,
    plan: SelectPlan,
    words: GlobalMut<u64>,
) -> Result<(), Error> {
    let (len, config) = (items.len() as u64, plan.launch_with_numbers(stream.device()));
    let (starts, count) = (runs.starts.as_global_mut(), runs.count.as_global_mut());
    let blocks = len.div_ceil(u64::from(kernels::LENGTHS_THREADS));
    let blocks = stream.device().blocks_for(kernels::LENGTHS_BLOCKS, blocks);
    let of_lengths = LaunchConfig::linear(blocks, kernels::LENGTHS_THREADS);
    // SAFETY: the kernels read the items, write outputs that have room for as many runs and are borrowed exclusively,
    // and use words of the plan's number, zero at first, on this stream only; the second reads what the
    // first has written. Buffers are freed only after the work enqueued before.
    unsafe {
        by_width!(T as W => {
            let arguments = (items.untyped(), len, runs.values.untyped(), starts, count, words);
            stream.launch::<<W as Width>::Starts>(config, arguments)
        })?;
        let arguments = (starts.as_global(), count.as_global(), len, runs.lengths);
        stream.launch::<kernels::run_lengths>(of_lengths, arguments)?;
    }
    Ok(())
}

impl<P: PredicateInstance> LaunchRule<P::Item> for ByPredicate<P> {
    #[inline]
    unsafe fn launch(&self, stream: &Stream, s: Selection<P::Item>) -> Result<(), gpu_core::Error> {
        // SAFETY: the caller promises what the kernel needs.
        unsafe {
            stream.launch::<P::Kernel>(
                s.config,
                (s.items, s.len, s.selected, s.rejected, s.partition, s.count, s.words),
            )
        }
    }
}

/// Enqueues a selection from at least one item. Everything has been checked: same device, same lengths; `words` are the
/// plan's.
#[expect(clippy::too_many_arguments, reason = "three outputs")]
pub(super) fn select<T: Element, R: Rule<T>>(
    stream: &Stream,
    items: View<'_, T>,
    rule: R,
    mut selected: ViewMut<'_, T>,
    rejected: Option<ViewMut<'_, T>>,
    mut count: ViewMut<'_, u64>,
    plan: SelectPlan,
    words: GlobalMut<u64>,
) -> Result<(), Error> {
    let selected = selected.as_global_mut();
    let partition = u32::from(rejected.is_some());
    let selection = Selection {
        config: plan.launch(stream.device()),
        items: items.as_global(),
        len: items.len() as u64,
        selected,
        rejected: rejected.map_or(selected, |mut rejected| rejected.as_global_mut()),
        partition,
        count: count.as_global_mut(),
        words,
    };
    // SAFETY: the kernel reads the items and what the rule borrows, writes outputs that have room for all items and
    // are borrowed exclusively, and uses words of the plan's number, zero at first, on this stream only. Buffers are freed only after the work enqueued before.
    unsafe { rule.launch(stream, selection) }?;
    Ok(())
}
