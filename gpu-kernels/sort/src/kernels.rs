//! The kernels of the PTX modules.

use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::*;

macro_rules! kernels {
    ($($images:ident of $key:ty {
        $count:ident;
        $keys:ident: $rows:expr;
        $($pairs:ident of $value:ty: $pair_rows:expr, $blocks:literal, $level:literal;)*
    })*) => { $(
        /// Counts digits of keys, as [`count`] says, in blocks of [`COUNT_WARPS`].
        #[kernel(images = $images, launch_bounds(512, 2), opt_level = 1)]
        pub fn $count(
            keys: Global<$key>,
            len: u64,
            order: Order,
            first_bit: u32,
            bits: u32,
            starts: GlobalMut<u64>,
            header: GlobalMut<u32>,
        ) {
            count::<$key, DIGIT_BITS, COUNT_WARPS>(keys, len, order, first_bit, bits, starts, header);
        }

        /// Moves keys to their places by one digit, as [`sweep`] says.
        #[kernel(images = $images, launch_bounds(384, 3), opt_level = 1)]
        pub fn $keys(
            input: Global<$key>,
            output: GlobalMut<$key>,
            pass: Pass,
            starts: Global<u64>,
            next_starts: GlobalMut<u64>,
            counts: GlobalMut<u32>,
            header: GlobalMut<u32>,
        ) {
            sweep::<$key, (), DIGIT_BITS, { $rows }, SWEEP_WARPS>(
                input, output, (), pass, starts, next_starts, counts, header,
            );
        }

        $(
            /// Moves keys and values to their places by one digit, as [`sweep`] says.
            #[kernel(images = $images, launch_bounds(384, $blocks), opt_level = $level)]
            pub fn $pairs(
                input: Global<$key>,
                output: GlobalMut<$key>,
                values: Global<$value>,
                values_output: GlobalMut<$value>,
                pass: Pass,
                starts: Global<u64>,
                next_starts: GlobalMut<u64>,
                counts: GlobalMut<u32>,
                header: GlobalMut<u32>,
            ) {
                let payload = Pairs { input: values, output: values_output, indices: pass.indices == 1 };
                sweep::<$key, Pairs<$value>, DIGIT_BITS, { $pair_rows }, SWEEP_WARPS>(
                    input, output, payload, pass, starts, next_starts, counts, header,
                );
            }
        )*
    )* };
}
// The sweeps' last number is the assembler's level: with 1 they are faster than with 3 (H200, 2^27 `i32`: keys 2.62
// ms for 2.79, pairs 3.87 for 4.16), but pairs with words of 64 bits then spill for some architecture.
kernels! {
    sm_75 of u8 {
        sort_count_b8;
        sort_keys_b8: ROWS;
        sort_pairs_b8_b32 of u32: ROWS, 2, 1;
        sort_pairs_b8_b64 of u64: WIDE_PAIR_ROWS, 3, 3;
    }
    sm_75 of u16 {
        sort_count_b16;
        sort_keys_b16: ROWS;
        sort_pairs_b16_b32 of u32: ROWS, 2, 1;
        sort_pairs_b16_b64 of u64: WIDE_PAIR_ROWS, 3, 3;
    }
    sm_75 of u32 {
        sort_count_b32;
        sort_keys_b32: ROWS;
        sort_pairs_b32_b32 of u32: ROWS, 2, 1;
        sort_pairs_b32_b64 of u64: WIDE_PAIR_ROWS, 3, 3;
    }
    sm_75 of u64 {
        sort_count_b64;
        sort_keys_b64: WIDE_ROWS;
        sort_pairs_b64_b32 of u32: WIDE_PAIR_ROWS, 3, 3;
        sort_pairs_b64_b64 of u64: WIDEST_ROWS, 2, 3;
    }
}

macro_rules! gathers {
    ($($name:ident: $t:ty;)*) => { $(
        /// Values in the order of an index: [`gather`].
        #[kernel(images = sm_75, launch_bounds(256))]
        pub fn $name(input: Global<$t>, index: Global<u32>, output: GlobalMut<$t>, len: u64) {
            gather(input, index, output, len);
        }
    )* };
}
gathers! {
    sort_gather_b8: u8;
    sort_gather_b16: u16;
    sort_gather_b128: u128;
}
