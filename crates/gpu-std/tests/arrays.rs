//! Arrays of shared memory: an access that leaves one does not arrive in the next.

mod support;

use gpu_sim::{Direction, Fault, FaultKind, Space};
use gpu_std::async_copy;
use gpu_std::atomic::{Ordering, Scope};
use gpu_std::prelude::*;
use gpu_std::shared::SharedLayout;
use support::{Array, block, simulator};

const WAYS: u32 = 8;
/// Elements of each array.
const LEN: u32 = 32;
const LAYOUT: SharedLayout = SharedLayout::new().array::<u32>(LEN).array::<u32>(LEN).array::<u32>(LEN);

/// Accesses element `index` of the middle one of three arrays, all of which are written.
#[kernel]
fn in_the_middle(source: Global<u32>, values: GlobalMut<u32>, way: u32, index: u32) {
    let mut memory = shared::dynamic();
    let before = memory.array::<u32>(LEN);
    let middle = memory.array::<u32>(LEN);
    let after = memory.array::<u32>(LEN);
    let i = thread::thread_idx_x();
    before.write(i, i);
    middle.write(i, 100 + i);
    after.write(i, 200 + i);
    thread::sync_threads();
    if i == 0 {
        match way {
            0 => values.write(0, middle.read(index)),
            1 => middle.write(index, 1),
            2 => values.write(0, middle.offset(index).read(0)),
            3 => values.write(0, middle.cast::<u16>().read(index.wrapping_mul(2)) as u32),
            4 => {
                middle.atomic(index).fetch_add(1, Ordering::Relaxed, Scope::Block);
            }
            5 => {
                async_copy::copy::<u32, 1>(middle, index, source, 0);
                async_copy::commit();
                async_copy::wait::<0>();
            }
            6 => values.write(0, middle.read_vec::<4>(index & !3)[0]),
            _ => middle.atomic(index).store(7, Ordering::Relaxed, Scope::Block),
        }
    }
}

fn run(seed: u64, way: u32, index: u32) -> Result<(), Fault> {
    let simulator = simulator(seed);
    let (source, values) = (Array::new(&simulator, &[5u32]), Array::<u32>::zeroed(&simulator, 1));
    let config = block(LEN, LAYOUT.bytes());
    // SAFETY: an element each; the simulator checks the shared memory.
    unsafe { in_the_middle::launch(&simulator, config, source.global(), values.global_mut(), way, index) }
}

#[test]
fn an_index_past_or_before_an_array_is_out_of_bounds_whatever_lies_there() {
    for seed in 0..20 {
        for way in 0..WAYS {
            for index in [LEN, LEN + 3, 2 * LEN - 1, 2 * LEN, u32::MAX, u32::MAX - 31, 1 << 16, 1 << 20] {
                let fault = run(seed, way, index).unwrap_err();
                let FaultKind::OutOfBounds { space: Space::Shared, direction, .. } = fault.kind else {
                    panic!("{way} {index}: {fault}")
                };
                assert_eq!(direction == Direction::Write, matches!(way, 1 | 4 | 5 | 7), "{fault}");
                assert_eq!(fault.site.as_ref().unwrap().file, file!(), "{fault}");
            }
            for index in [0, 1, LEN - 1] {
                run(seed, way, index).unwrap();
            }
        }
    }
}

#[test]
fn a_fault_names_the_array_s_offset_and_size() {
    let bounds = |index| match run(1, 0, index).unwrap_err().kind {
        FaultKind::OutOfBounds { offset, size, bytes, address, .. } => (offset, size, bytes, address),
        ref other => panic!("{other}"),
    };
    assert_eq!(bounds(LEN), (128, 128, 4, 256));
    assert_eq!(bounds(u32::MAX), (-4, 128, 4, 124));
}

/// The memory as one array, and in parts: what a tile is used for first, and what then.
#[kernel]
fn all_of_it(values: GlobalMut<u32>) {
    let all = shared::dynamic().array::<u32>(0);
    let mut memory = shared::dynamic();
    let (first, second) = (memory.array::<u32>(LEN), memory.array::<u32>(LEN));
    let i = thread::thread_idx_x();
    all.write(i, i);
    all.offset(LEN).write(i, LEN + i);
    thread::sync_threads();
    values.write(i, first.read(LEN - 1 - i) + second.read(i) + all.offset(2 * LEN - 1).cast::<u32>().read(0));
}

#[test]
fn an_array_of_nothing_is_the_rest_of_the_memory() {
    let simulator = simulator(3);
    let values = Array::<u32>::zeroed(&simulator, LEN as usize);
    // SAFETY: an element for each thread.
    unsafe { all_of_it::launch(&simulator, block(LEN, 8 * LEN), values.global_mut()) }.unwrap();
    assert_eq!(values.get(), [LEN - 1 + LEN + 2 * LEN - 1; LEN as usize]);
}
