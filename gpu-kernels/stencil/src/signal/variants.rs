//! The textbook's correlations, a thread an output: what the memory that holds the filter is worth (seed: C. Gimenez,
//! *Computación de Alto Rendimiento en GPU*, 2019, section 6).
//!
//! Output `j` is `sum over i of filter[i] · signal[i + j]`, from +0 on, `i` ascending. All lanes of a warp read the
//! same tap, and 32 consecutive elements of the signal:
//!
//! * **global**: two loads for each multiplication; that of the filter is one word for all lanes, which the L1 has,
//!   but each takes the L1's turn like any other.
//! * **constant**: the constant cache gives one word to all lanes at a time, which is what is asked for; half of the
//!   loads of the L1 are gone. The table travels with the launch, in a kernel's 4 KB of parameters, so it is small.
//! * **shared**: as quick as the constant cache for a word that all lanes want, after a copy by the block and a
//!   barrier; as large as the shared memory, here in pieces of [`PIECE`] taps, so that any filter will do.
//!
//! With the sum in `output[j]`, as the textbook's kernels have it, each tap also costs a store, and reads what the
//! one before wrote; a register costs nothing. `sum_in_output` chooses.

use gpu_std::constant::Constant;
use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_dim_x, index_1d, sync_threads, thread_idx_x};
use gpu_std::{device, kernel};

/// Taps in shared memory at a time.
pub const PIECE: u32 = 1024;
/// Taps of a table of `f32`: with the other parameters just less than 4 KB.
pub const TABLE_F32: usize = 1000;
/// Taps of a table of `f64`.
pub const TABLE_F64: usize = 500;

/// Dynamic shared memory of the kernels with the filter there, in bytes.
pub const fn shared_bytes<T: gpu_std::memory::Element>() -> u32 {
    SharedLayout::new().array::<T>(PIECE).bytes()
}

/// Adds the products of `taps` taps, the first of which falls on `signal`'s first element.
#[device]
#[inline(always)]
fn add<T: Float>(
    tap: impl Fn(u32) -> T,
    signal: Global<T>,
    output: GlobalMut<T>,
    taps: u32,
    sum_in_output: u32,
) {
    let mut i = 0;
    if sum_in_output != 0 {
        while i < taps {
            output.write(0, tap(i).mul_add(signal.read(i), output.read(0)));
            i += 1;
        }
    } else {
        let mut sum = output.read(0);
        while i < taps {
            sum = tap(i).mul_add(signal.read(i), sum);
            i += 1;
        }
        output.write(0, sum);
    }
}

/// The kernels: calls the macro `$with` with, for each type, the taps of its table, and the kernels by the filter's memory.
#[macro_export]
macro_rules! signal_variants {
    ($with:ident) => {
        $with! {
            f32, TABLE_F32: stencil_signal_global_f32, stencil_signal_constant_f32, stencil_signal_shared_f32;
            f64, TABLE_F64: stencil_signal_global_f64, stencil_signal_constant_f64, stencil_signal_shared_f64;
        }
    };
}

macro_rules! kernels {
    ($($T:ty, $table:ident: $global:ident, $constant:ident, $shared:ident;)*) => { $(
        #[doc = concat!("The filter, of `", stringify!($T), "`, in global memory. Launch a thread for each output.")]
        #[kernel(images = sm_75, launch_bounds(1024))]
        pub fn $global(
            signal: Global<$T>,
            filter: Global<$T>,
            output: GlobalMut<$T>,
            outputs: u32,
            taps: u32,
            sum_in_output: u32,
        ) {
            let j = index_1d();
            if j < outputs {
                let (signal, output) = (signal.offset(j as u64), output.offset(j as u64));
                output.write(0, 0.0);
                add(|i| filter.read(i), signal, output, taps, sum_in_output);
            }
        }

        #[doc = concat!("The filter, of `", stringify!($T), "`, in constant memory. Launch a thread for each output.")]
        #[kernel(images = sm_75, launch_bounds(1024))]
        pub fn $constant(
            signal: Global<$T>,
            filter: Constant<$T, $table>,
            output: GlobalMut<$T>,
            outputs: u32,
            taps: u32,
            sum_in_output: u32,
        ) {
            let j = index_1d();
            if j < outputs {
                let (signal, output) = (signal.offset(j as u64), output.offset(j as u64));
                output.write(0, 0.0);
                add(|i| filter.read(i), signal, output, taps, sum_in_output);
            }
        }

        #[doc = concat!("The filter, of `", stringify!($T), "`, in shared memory, piece by piece. Launch a thread for each output,")]
        /// with [`shared_bytes`].
        #[kernel(images = sm_75, launch_bounds(1024))]
        pub fn $shared(
            signal: Global<$T>,
            filter: Global<$T>,
            output: GlobalMut<$T>,
            outputs: u32,
            taps: u32,
            sum_in_output: u32,
        ) {
            let piece = shared::dynamic().array::<$T>(PIECE);
            let j = index_1d();
            let (signal, output) = (signal.offset(j as u64), output.offset(j as u64));
            if j < outputs {
                output.write(0, 0.0);
            }
            let mut done = 0;
            while done < taps {
                let count = (taps - done).min(PIECE);
                let mut at = thread_idx_x();
                while at < count {
                    piece.write(at, filter.offset(done as u64).read(at));
                    at += block_dim_x();
                }
                sync_threads();
                if j < outputs {
                    add(|i| piece.read(i), signal.offset(done as u64), output, count, sum_in_output);
                }
                sync_threads();
                done += count;
            }
        }
    )* };
}
signal_variants!(kernels);
