//! Where keys and values are read and written.

use gpu_std::memory::{Element, Global, GlobalMut, Shared};
use gpu_std::{device, rolled};

use super::{ALL, INDICES, Job};
use crate::composite::{Composite, Ordered, compose, index_of, key_of};

/// Where item `place` of a tile lies in shared memory: a lane's items are apart from the next lane's by an odd number, so that
/// neither rows nor columns meet in a bank.
#[inline(always)]
pub(super) fn padded<C: Composite>(place: u32) -> u32 {
    place + place / C::ITEMS as u32
}

/// The arrays of a sort.
#[derive(Clone, Copy)]
pub(crate) struct Arrays {
    pub(crate) keys: Global<u8>,
    pub(crate) values: Global<u8>,
    pub(crate) keys_output: GlobalMut<u8>,
    pub(crate) values_output: GlobalMut<u8>,
}

/// Segment `number` starts there and has so many elements.
#[device]
#[inline(always)]
pub(crate) fn segment(job: Job, offsets: Global<u32>, number: u32) -> (u64, u64) {
    if job.row > 0 {
        (number as u64 * job.row, job.row)
    } else {
        let start = offsets.read(number);
        (start as u64, (offsets.offset(1).read(number) - start) as u64)
    }
}

/// Which row of `tiles` tiles tile `entry` of all is of, and which of that row's it is.
#[inline(always)]
pub(crate) fn tile_of_row(entry: u32, tiles: u32) -> (u32, u32) {
    // Not 0 where there are any: a division that checks would bring a panic.
    let row = entry.checked_div(tiles).unwrap_or(0);
    (row, entry - row * tiles)
}

/// Writes item `at` of segment `number`, which starts at `start`, in the end.
#[device]
#[inline(always)]
pub(crate) fn store<C: Composite>(arrays: Arrays, job: Job, composite: C, number: u32, start: u64, at: u32) {
    if at >= job.limit {
        return;
    }
    let to = if job.limit == ALL { start } else { number as u64 * job.limit as u64 } + at as u64;
    if size_of::<C>() == 16 {
        store_key::<C, u64>(arrays, job, composite, to);
    } else {
        match job.key_bytes {
            1 => store_key::<C, u8>(arrays, job, composite, to),
            2 => store_key::<C, u16>(arrays, job, composite, to),
            4 => store_key::<C, u32>(arrays, job, composite, to),
            _ => store_key::<C, u64>(arrays, job, composite, to),
        }
    }
    if size_of::<C>() == 4 {
        return;
    }
    let index = index_of(composite);
    let from = start + index as u64;
    match job.payload {
        0 => {}
        INDICES => arrays.values_output.cast::<u32>().offset(to).write(0, index),
        1 => store_value::<u8>(arrays, from, to),
        2 => store_value::<u16>(arrays, from, to),
        4 => store_value::<u32>(arrays, from, to),
        8 => store_value::<u64>(arrays, from, to),
        _ => store_value::<u128>(arrays, from, to),
    }
}

#[inline(always)]
fn store_key<C: Composite, K: Ordered>(arrays: Arrays, job: Job, composite: C, to: u64) {
    // Widths that do not go with the composite are compiled away.
    if size_of::<K>() <= size_of::<C>() {
        arrays.keys_output.cast::<K>().offset(to).write(0, key_of::<C, K>(composite, job.order));
    }
}

#[inline(always)]
fn store_value<V: Element>(arrays: Arrays, from: u64, to: u64) {
    arrays.values_output.cast::<V>().offset(to).write(0, arrays.values.cast::<V>().offset(from).read(0));
}

/// Reads `ITEMS` items of the tile, eight of them at a time, for the thread's warp: item `32 i + lane` of its part at a time, to
/// shared memory. `find` gives where the key at a place of the tile is, its index in its segment, and whether there is one.
#[device]
#[inline(always)]
pub(super) fn load<C: Composite>(
    arrays: Arrays,
    job: Job,
    items: Shared<C>,
    find: impl Fn(u32) -> (u64, u32, bool),
) {
    match job.key_bytes {
        1 => load_keys::<C, u8>(arrays, job, items, find),
        2 => load_keys::<C, u16>(arrays, job, items, find),
        4 => load_keys::<C, u32>(arrays, job, items, find),
        _ => load_keys::<C, u64>(arrays, job, items, find),
    }
}

#[device]
#[inline(always)]
fn load_keys<C: Composite, K: Ordered>(
    arrays: Arrays,
    job: Job,
    items: Shared<C>,
    find: impl Fn(u32) -> (u64, u32, bool),
) {
    if (size_of::<K>() == 8) == (size_of::<C>() == 16) || size_of::<C>() == 8 {
        let keys = arrays.keys.cast::<K>();
        let first = gpu_std::thread::thread_idx_x() / 32 * 32 * C::ITEMS as u32 + gpu_std::warp::lane_id();
        let mut row = 0;
        while row < C::ITEMS as u32 {
            row = rolled(row);
            let mut read = [K::default(); 8];
            let mut indices = [0; 8];
            let mut there = [false; 8];
            gpu_std::unroll::<8>(|i| {
                let (at, index, is_there) = find(first + 32 * (row + i as u32));
                (indices[i], there[i]) = (index, is_there);
                if is_there {
                    read[i] = keys.offset(at).read(0);
                }
            });
            gpu_std::unroll::<8>(|i| {
                let composite = compose::<C, K>(read[i], job.order, indices[i]);
                let place = first + 32 * (row + i as u32);
                items.write(padded::<C>(place), if there[i] { composite } else { C::HIGHEST });
            });
            row += 8;
        }
    }
}
