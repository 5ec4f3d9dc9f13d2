//! Accumulators in shared memory: all first words, then all second ones, so that neighbouring lanes use neighbouring
//! banks whatever an accumulator's size.

use gpu_std::memory::Shared;
use gpu_std::{device, unroll};

use crate::{Accumulator, MAX_WORDS};

/// Element `index` of an array of `len` accumulators.
///
/// ```
/// use gpu_collective::words::{read, write};
/// use gpu_std::prelude::*;
///
/// /// The pairs of a block in the opposite order.
/// #[kernel]
/// pub fn reverse(keys: GlobalMut<u32>, values: GlobalMut<f32>) {
///     let array = shared::dynamic().array::<u32>(2 * 64);
///     let thread = thread::thread_idx_x();
///     write(array, 64, thread, (keys.read(thread), values.read(thread)));
///     thread::sync_threads();
///     let (key, value): (u32, f32) = read(array, 64, 63 - thread);
///     keys.write(thread, key);
///     values.write(thread, value);
/// }
/// # use gpu_std::launch::LaunchConfig;
/// # let device = gpu_core::Device::simulator();
/// # let (mut keys, mut values) = (device.upload(&(0..64).collect::<Vec<u32>>())?, device.zeroed::<f32>(64)?);
/// # let (a, b) = (keys.view_mut().as_global_mut(), values.view_mut().as_global_mut());
/// # unsafe { reverse::launch(&device.default_stream(), LaunchConfig::linear(1, 64).shared(4 * 128), a, b)? };
/// assert_eq!(keys.to_vec()?[..3], [63, 62, 61]);
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[device]
#[inline(always)]
pub fn read<A: Accumulator>(array: Shared<u32>, len: u32, index: u32) -> A {
    A::from_words(&mut |word| array.read(word * len + index))
}

/// Sets element `index`, as [`read`] finds it.
#[device]
#[inline(always)]
pub fn write<A: Accumulator>(array: Shared<u32>, len: u32, index: u32, value: A) {
    unroll::<{ MAX_WORDS as usize }>(|word| {
        if (word as u32) < A::WORDS {
            array.write(word as u32 * len + index, value.word(word as u32));
        }
    });
}
