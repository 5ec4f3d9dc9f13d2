//! Triangular systems free of synchronisation, rows in their own order, a thread a row: what [`levels`](crate::levels)
//! says of waiting is so here. Each thread asks for [`ASKED`] values at a time.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::thread_idx_x;
use gpu_std::{device, keep_rolled, kernel};

use crate::THREADS;
use crate::levels::{Beside, Rows, first_of_block};
use crate::scalar::Scalar;
use crate::waiting::{ASKED, Batch, Strides, System, all_are};

/// Bytes of dynamic shared memory of a block.
pub const fn shared_bytes<T: Scalar>() -> u32 {
    SharedLayout::new().array::<u32>(1).array::<T::Word>(THREADS).bytes()
}

#[device]
#[inline(always)]
fn free<T: Scalar>(offsets: Global<u32>, system: System<T>, ticket: GlobalMut<u32>, shape: &Rows) {
    let (system, ticket) = system.of_block(ticket);
    let mut memory = shared::dynamic();
    let (room, known) = (memory.array::<u32>(1), memory.array::<T::Word>(THREADS));
    let thread = thread_idx_x();
    known.write(thread, T::UNKNOWN);
    let base = first_of_block(ticket, room);
    let number = base + thread;
    let mut done = number >= shape.rows;
    let row = if done { 0 } else { shape.numbered(number) };
    let mut rest = Beside::default();
    let (mut right, mut inverse, mut sum) = (T::ZERO, T::ONE, T::ZERO);
    if !done {
        rest = shape.beside(offsets, system.indices, row);
        (right, inverse) = system.ends(row, &rest, shape);
    }
    // Read before what they are multiplied by is known.
    let mut batch = Batch::read(&system, shape, number, &rest, (0, 1, rest.left));
    let mut first = 0;
    loop {
        keep_rolled();
        let mut moved = false;
        if !done {
            let mut goes_on = true;
            while goes_on {
                keep_rolled();
                goes_on = batch.ask(|other| {
                    // Mutants: the solution of the block's first row is in global memory as well.
                    if other >= base {
                        known.atomic(other - base).load(Ordering::Relaxed, Scope::Block)
                    } else {
                        system.ask(shape.numbered(other))
                    }
                });
                if goes_on {
                    moved = true;
                    sum = batch.add(sum, rest.left - first);
                    first = rest.left.min(first + ASKED as u32);
                    if first < rest.left {
                        batch = Batch::read(&system, shape, number, &rest, (first, 1, rest.left));
                    } else {
                        let word = ((right - sum) * inverse).to_word();
                        known.atomic(thread).store(word, Ordering::Relaxed, Scope::Block);
                        system.tell(row, word);
                        done = true;
                        goes_on = false;
                    }
                }
            }
        }
        if all_are(done, moved) {
            break;
        }
    }
}

macro_rules! kernels {
    ($($T:ty, $Word:ty: $free:ident;)*) => { $(
        #[doc = concat!("Systems of `", stringify!($T), "`, free of synchronisation: a thread a row, in blocks of [`THREADS`], with [`shared_bytes`], for each system. All bits of the solutions are ones before, and `ticket`, a word a system, is zero.")]
        #[kernel(images = sm_75, launch_bounds(256))]
        pub fn $free(
            offsets: Global<u32>,
            indices: Global<u32>,
            values: Global<$T>,
            b: Global<$T>,
            x: GlobalMut<$Word>,
            ticket: GlobalMut<u32>,
            shape: Rows,
            strides: Strides,
            alpha: $T,
        ) {
            free::<$T>(offsets, System { indices, values, b, x, alpha, strides }, ticket, &shape);
        }
    )* };
}

kernels! {
    f32, u32: sparse_solve_free_f32;
    f64, u64: sparse_solve_free_f64;
}
