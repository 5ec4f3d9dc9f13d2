//! The kernels of the PTX modules.

use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::*;

/// The kernels of radix sorts: calls the macro `$with` with, for keys of as many bits, the types that are such keys, the
/// kernel that counts, that which moves keys, with the rows of a tile, and those which move values of 32 and 64 bits too,
/// with the rows, the blocks of a multiprocessor and the assembler's level: with 1 they are faster than with 3 (H200, 2^27
/// `i32`: keys 2.62 ms for 2.79, pairs 3.87 for 4.16), but pairs with words of 64 bits then spill for some architecture.
#[macro_export]
macro_rules! sort_instances {
    ($with:ident) => {
        $with! {
            u8: u8 i8, sort_count_b8;
                sort_keys_b8: ROWS;
                sort_pairs_b8_b32: ROWS, 2, 1;
                sort_pairs_b8_b64: WIDE_PAIR_ROWS, 3, 3;
            u16: u16 i16 f16 bf16, sort_count_b16;
                sort_keys_b16: ROWS;
                sort_pairs_b16_b32: ROWS, 2, 1;
                sort_pairs_b16_b64: WIDE_PAIR_ROWS, 3, 3;
            u32: u32 i32 f32, sort_count_b32;
                sort_keys_b32: ROWS;
                sort_pairs_b32_b32: ROWS, 2, 1;
                sort_pairs_b32_b64: WIDE_PAIR_ROWS, 3, 3;
            u64: u64 i64 f64, sort_count_b64;
                sort_keys_b64: WIDE_ROWS;
                sort_pairs_b64_b32: WIDE_PAIR_ROWS, 3, 3;
                sort_pairs_b64_b64: WIDEST_ROWS, 2, 3;
        }
    };
}

macro_rules! kernels {
    ($($key:ty: $($t:ty)*, $count:ident;
        $keys:ident: $rows:expr;
        $four:ident: $four_rows:expr, $four_blocks:literal, $four_level:literal;
        $eight:ident: $eight_rows:expr, $eight_blocks:literal, $eight_level:literal;)*) => { $(
        /// Counts digits of keys, as [`count`] says, in blocks of [`COUNT_WARPS`].
        #[kernel(images = sm_75_90, launch_bounds(512, 2), opt_level = 1, programmatic)]
        pub fn $count(
            keys: Global<$key>,
            len: u64,
            order: Order,
            first_bit: u32,
            bits: u32,
            zeros: GlobalMut<u64>,
            starts: GlobalMut<u64>,
            counts: GlobalMut<u32>,
            words: u64,
            header: GlobalMut<u32>,
        ) {
            count::<$key, DIGIT_BITS, COUNT_WARPS>(
                keys, len, order, first_bit, bits, zeros, starts, counts, words, header,
            );
        }

        /// Moves keys to their places by one digit, as [`sweep`] says.
        #[kernel(images = sm_75_90, launch_bounds(384, 3), opt_level = 1, programmatic)]
        pub fn $keys(
            input: Global<$key>,
            output: GlobalMut<$key>,
            pass: Pass,
            starts: Global<u64>,
            next_starts: GlobalMut<u64>,
            counts: GlobalMut<u32>,
            header: GlobalMut<u32>,
        ) {
            sweep::<$key, (), DIGIT_BITS, { $rows }, SWEEP_WARPS, 1>(
                input, output, (), pass, starts, next_starts, counts, header,
            );
        }

        pairs! { $key, u32, $four: $four_rows, $four_blocks, $four_level }
        pairs! { $key, u64, $eight: $eight_rows, $eight_blocks, $eight_level }
    )* };
}

macro_rules! pairs {
    ($key:ty, $value:ty, $pairs:ident: $rows:expr, $blocks:literal, $level:literal) => {
        /// Moves keys and values to their places by one digit, as [`sweep`] says.
        #[kernel(images = sm_75_90, launch_bounds(384, $blocks), opt_level = $level, programmatic)]
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
            sweep::<$key, Pairs<$value>, DIGIT_BITS, { $rows }, SWEEP_WARPS, 1>(
                input,
                output,
                payload,
                pass,
                starts,
                next_starts,
                counts,
                header,
            );
        }
    };
}
sort_instances!(kernels);

/// As `sort_keys_b32` for few keys: tiles of [`SHORT_ROWS`].
#[kernel(images = sm_75_90, launch_bounds(384, 3), opt_level = 1, programmatic)]
pub fn sort_few_keys_b32(
    input: Global<u32>,
    output: GlobalMut<u32>,
    pass: Pass,
    starts: Global<u64>,
    next_starts: GlobalMut<u64>,
    counts: GlobalMut<u32>,
    header: GlobalMut<u32>,
) {
    sweep::<u32, (), DIGIT_BITS, SHORT_ROWS, SWEEP_WARPS, SHORT_AT_ONCE>(
        input,
        output,
        (),
        pass,
        starts,
        next_starts,
        counts,
        header,
    );
}

/// Lists segments by their classes: [`segmented::classify`].
#[kernel(images = sm_75, launch_bounds(256), opt_level = 1)]
pub fn segmented_classify(
    offsets: Global<u32>,
    segments: u32,
    len: u64,
    composite_bytes: u32,
    counts: GlobalMut<u32>,
    lists: GlobalMut<u32>,
) {
    segmented::classify(offsets, segments, len, composite_bytes, counts, lists);
}

macro_rules! segmented {
    ($($composite:ty, $blocks:literal: $sort:ident $merge:ident;)*) => { $(
        /// Sorts segments of up to a tile, and the tiles of longer ones: [`segmented::sort_tiles`].
        #[kernel(images = sm_75, launch_bounds(256, $blocks))]
        pub fn $sort(
            job: segmented::Job,
            keys: Global<u8>,
            offsets: Global<u32>,
            counts: Global<u32>,
            lists: Global<u32>,
            keys_output: GlobalMut<u8>,
            indices: GlobalMut<u32>,
            first: GlobalMut<$composite>,
            second: GlobalMut<$composite>,
        ) {
            segmented::sort_tiles::<$composite, { <$composite>::ITEMS }>(
                job, keys, offsets, counts, lists, keys_output, indices, first, second,
            );
        }

        /// Merges runs of long segments: [`segmented::merge_pass`].
        #[kernel(images = sm_75, launch_bounds(256, $blocks))]
        pub fn $merge(
            job: segmented::Job,
            pass: u32,
            offsets: Global<u32>,
            counts: Global<u32>,
            lists: Global<u32>,
            from: Global<$composite>,
            to: GlobalMut<$composite>,
            keys_output: GlobalMut<u8>,
            indices: GlobalMut<u32>,
        ) {
            segmented::merge_pass::<$composite, { <$composite>::ITEMS }>(
                job, pass, offsets, counts, lists, from, to, keys_output, indices,
            );
        }
    )* };
}
segmented! {
    u32, 4: segmented_sort_b32 segmented_merge_b32;
    u64, 2: segmented_sort_b64 segmented_merge_b64;
    u128, 3: segmented_sort_b128 segmented_merge_b128;
}

macro_rules! top_k_rows {
    ($($rows:ident: $key:ty, $composite:ty, $tile:ident, $threads:literal, $blocks:literal;)*) => { $(
        /// Selects the first of rows, segments or parts: [`top_k::select_rows`].
        #[kernel(images = sm_75, launch_bounds($threads, $blocks))]
        pub fn $rows(
            selection: top_k::Selection,
            keys: Global<u8>,
            offsets: Global<u32>,
            header: Global<u32>,
            keys_output: GlobalMut<u8>,
            indices: GlobalMut<u32>,
            candidates: GlobalMut<$composite>,
        ) {
            const TILE: top_k::Tile = top_k::Tile::$tile;
            const ITEMS: usize = TILE.items(<$key as top_k::Loaded>::ITEMS);
            const { assert!(TILE.threads() == $threads) };
            top_k::select_rows::<$key, $composite, top_k::ByBound<$threads, ITEMS, { TILE.room() / 4 }>>(
                selection, TILE.room(), keys, offsets, header, keys_output, indices, candidates,
            );
        }
    )* };
}
top_k_rows! {
    top_k_rows_b16: top_k::Narrow, u64, FourWarps, 128, 8;
    top_k_rows_b32: u32, u64, FourWarps, 128, 8;
    top_k_rows_b64: u64, u128, FourWarps, 128, 7;
    top_k_two_warps_b16: top_k::Narrow, u64, TwoWarps, 64, 14;
    top_k_two_warps_b32: u32, u64, TwoWarps, 64, 16;
    top_k_two_warps_b64: u64, u128, TwoWarps, 64, 14;
    top_k_warp_b16: top_k::Narrow, u64, Warp, 32, 32;
    top_k_warp_b32: u32, u64, Warp, 32, 32;
    top_k_warp_b64: u64, u128, Warp, 32, 28;
    top_k_half_b16: top_k::Narrow, u64, Half, 32, 32;
    top_k_half_b32: u32, u64, Half, 32, 32;
    top_k_half_b64: u64, u128, Half, 32, 32;
    top_k_quarter_b16: top_k::Narrow, u64, Quarter, 32, 32;
    top_k_quarter_b32: u32, u64, Quarter, 32, 32;
    top_k_quarter_b64: u64, u128, Quarter, 32, 32;
}

macro_rules! top_k {
    ($($key:ty, $composite:ty: $digits:ident $filter:ident;)*) => { $(
        /// The same as `top_k_rows_*` for a larger `k`.
        #[kernel(images = sm_75, launch_bounds(512, 2))]
        pub fn $digits(
            selection: top_k::Selection,
            keys: Global<u8>,
            offsets: Global<u32>,
            header: Global<u32>,
            keys_output: GlobalMut<u8>,
            indices: GlobalMut<u32>,
            candidates: GlobalMut<$composite>,
        ) {
            const ROOM: u32 = top_k::digits_room(size_of::<$composite>() as u32);
            top_k::select_rows::<$key, $composite, top_k::ByDigits<{ top_k::DIGITS_THREADS }, 8>>(
                selection, ROOM, keys, offsets, header, keys_output, indices, candidates,
            );
        }

        /// Finds what does not exceed the bound: [`top_k::filter`].
        #[kernel(images = sm_75, launch_bounds(256, 6))]
        pub fn $filter(
            keys: Global<u8>,
            key_bytes: u32,
            len: u32,
            order: Order,
            bound: Global<$composite>,
            candidates: GlobalMut<$composite>,
            room: u32,
            header: GlobalMut<u32>,
        ) {
            let keys = top_k::Array::<$key>::new(keys, key_bytes, order);
            const LOADS: usize = <$key as top_k::Loaded>::LOADS;
            top_k::filter::<$key, $composite, LOADS>(keys, len, bound, candidates, room, header);
        }
    )* };
}
top_k! {
    top_k::Narrow, u64: top_k_digits_b16 top_k_filter_b16;
    u32, u64: top_k_digits_b32 top_k_filter_b32;
    u64, u128: top_k_digits_b64 top_k_filter_b64;
}

macro_rules! top_k_ends {
    ($($key:ty, $composite:ty: $sample:ident $name:ident $items:literal $digits:ident;)*) => { $(
        /// Finds a bound: [`top_k::sample`].
        #[kernel(images = sm_75, launch_bounds(256))]
        pub fn $sample(
            keys: Global<u8>,
            key_bytes: u32,
            stretch: u32,
            draws: u32,
            rank: u32,
            order: Order,
            minima: GlobalMut<$composite>,
            bound: GlobalMut<$composite>,
            header: GlobalMut<u32>,
        ) {
            let keys = top_k::Array::<$key>::new(keys, key_bytes, order);
            top_k::sample(keys, stretch, draws, rank, minima, bound, header);
        }

        /// Selects the first of the candidates: [`top_k::select_candidates`].
        #[kernel(images = sm_75, launch_bounds(512))]
        pub fn $name(
            selection: top_k::Selection,
            candidates: Global<$composite>,
            offsets: Global<u32>,
            header: Global<u32>,
            keys_output: GlobalMut<u8>,
            indices: GlobalMut<u32>,
        ) {
            top_k::select_candidates::<$composite, top_k::ByBound<{ top_k::LAST_THREADS }, $items, 512>>(
                selection, top_k::LAST_ROOM, candidates, offsets, header, keys_output, indices,
            );
        }

        /// The same for a larger `k`.
        #[kernel(images = sm_75, launch_bounds(512, 2))]
        pub fn $digits(
            selection: top_k::Selection,
            candidates: Global<$composite>,
            offsets: Global<u32>,
            header: Global<u32>,
            keys_output: GlobalMut<u8>,
            indices: GlobalMut<u32>,
        ) {
            const ROOM: u32 = top_k::digits_room(size_of::<$composite>() as u32);
            top_k::select_candidates::<$composite, top_k::ByDigits<{ top_k::DIGITS_THREADS }, 8>>(
                selection, ROOM, candidates, offsets, header, keys_output, indices,
            );
        }
    )* };
}
top_k_ends! {
    top_k::Short, u64: top_k_sample_b32 top_k_last_b64 8 top_k_digits_last_b64;
    u64, u128: top_k_sample_b64 top_k_last_b128 8 top_k_digits_last_b128;
}
