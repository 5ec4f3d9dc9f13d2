//! Every accessor of global and shared memory and of tables, through the simulator, against plain Rust.

mod support;

use gpu_sim::FaultKind;
use gpu_std::prelude::*;
use gpu_std::shared::SharedLayout;
use support::{Array, block, simulator};

macro_rules! element_tests {
    ($($name:ident: $t:ty, $n:literal, $value:expr;)*) => { $(
        mod $name {
            use super::*;

            /// Every way to read and to write, side by side: scalars and vectors, through shared memory too.
            #[kernel]
            pub fn copies(x: Global<$t>, y: GlobalMut<$t>, length: u32) {
                let i = thread::index_1d();
                let mut shared = shared::dynamic();
                let _first = shared.array::<u8>(3);
                let tile: Shared<$t> = shared.array(length);
                let half: Shared<$t> = tile.offset(length / 2);
                let (tail, at) = (x.offset(4), i * $n);
                x.prefetch(i);
                y.as_global().prefetch(i);
                y.write(i, x.read(i));
                y.write_streaming(length + i, x.read_only(i));
                y.offset(2 * length as u64).write_volatile(i, x.read_streaming(i));
                if i % 2 == 0 { tile.write(i / 2, tail.read(i)) } else { half.write(i / 2, tail.read(i)) }
                thread::sync_threads();
                y.write(3 * length + i, tile.read(if i % 2 == 0 { i / 2 } else { length / 2 + i / 2 }));
                thread::sync_threads();
                if at < length {
                    y.write_vec::<$n>(4 * length + at, x.read_vec(at));
                    y.write_streaming_vec::<$n>(5 * length + at, x.read_only_vec(at));
                    y.write_vec::<$n>(6 * length + at, x.read_streaming_vec(at));
                    tile.write_vec::<$n>(at, y.as_global().read_vec(4 * length + at));
                    y.write_vec::<$n>(7 * length + at, tile.read_vec::<$n>(at));
                    y.write(8 * length + i, y.read_volatile(i));
                }
            }

            #[test]
            fn reads_and_writes() {
                const LENGTH: u32 = 64;
                let simulator = simulator(1);
                let make: fn(u32) -> $t = $value;
                let values: Vec<$t> = (0..LENGTH + 4).map(make).collect();
                let x = Array::new(&simulator, &values);
                let y = Array::<$t>::zeroed(&simulator, 9 * LENGTH as usize);
                let bytes = SharedLayout::new().array::<u8>(3).array::<$t>(LENGTH).bytes();
                // SAFETY: both arrays are as long as the kernel's indices reach.
                unsafe { copies::launch(&simulator, block(LENGTH, bytes), x.global(), y.global_mut(), LENGTH) }
                    .unwrap();
                let result = y.get();
                for (part, chunk) in result.chunks(LENGTH as usize).enumerate() {
                    for (i, value) in chunk.iter().enumerate() {
                        let expected = match part {
                            3 => values[i + 4],
                            8 if i >= LENGTH as usize / $n => continue,
                            _ => values[i],
                        };
                        assert_eq!(value.to_ne_bytes(), expected.to_ne_bytes(), "part {part}, element {i}");
                    }
                }
            }
        }
    )* };
}
element_tests! {
    of_f32: f32, 4, |i| i as f32 * 1.25 - 7.0;
    of_f32_pairs: f32, 2, |i| -(i as f32);
    of_f64: f64, 2, |i| f64::from(i).sqrt();
    of_i8: i8, 16, |i| i as i8 - 30;
    of_u8: u8, 4, |i| i as u8;
    of_i16: i16, 8, |i| i as i16 * -7;
    of_u16: u16, 2, |i| i as u16 * 900;
    of_i32: i32, 4, |i| i as i32 * -70_000;
    of_u32: u32, 4, |i| i * 60_000_000;
    of_i64: i64, 2, |i| i64::from(i) << 40;
    of_u64: u64, 2, |i| u64::MAX - u64::from(i);
}

#[derive(Clone, Copy, Parameter)]
#[repr(C)]
struct Line {
    slope: f32,
    offsets: [f64; 2],
}

#[kernel]
fn tables(weights: Constant<f32, 5>, bytes: Constant<u8, 3>, line: Line, y: GlobalMut<f64>) {
    let i = thread::index_1d();
    let weight = weights.read(i % weights.len()) * f32::from(bytes.read(i % 3));
    y.write(i, f64::from(weight * line.slope) + line.offsets[(i % 2) as usize]);
}

#[test]
fn tables_and_structs_arrive() {
    let simulator = simulator(2);
    let (weights, bytes) = ([1.0f32, 2.5, -3.0, 4.0, 0.5], [1u8, 10, 100]);
    let line = Line { slope: 2.0, offsets: [0.25, -0.5] };
    let y = Array::<f64>::zeroed(&simulator, 32);
    // SAFETY: one element a thread.
    unsafe {
        let (weights, bytes) = (Constant::new(weights), Constant::new(bytes));
        tables::launch(&simulator, block(32, 0), weights, bytes, line, y.global_mut())
    }
    .unwrap();
    for (i, value) in y.get().into_iter().enumerate() {
        let expected = f64::from(weights[i % 5] * f32::from(bytes[i % 3]) * 2.0) + line.offsets[i % 2];
        assert_eq!(value, expected);
    }
}

#[kernel]
fn reads_at(x: Global<f32>, y: GlobalMut<f32>, index: u32) {
    y.write(0, x.read(index));
}

#[kernel]
fn reads_two_at(x: Global<f32>, y: GlobalMut<f32>, index: u32) {
    y.write_vec::<2>(0, x.read_vec(index));
}

#[kernel]
fn asks_for(x: Global<f32>, index: u32) {
    x.prefetch(index);
}

#[test]
fn bad_accesses_are_reported_at_the_kernel_s_line() {
    let simulator = simulator(3);
    let x = Array::new(&simulator, &[1.0f32; 8]);
    let y = Array::<f32>::zeroed(&simulator, 2);
    // SAFETY: the simulator refuses the access.
    let fault =
        unsafe { reads_at::launch(&simulator, block(1, 0), x.global(), y.global_mut(), 8) }.unwrap_err();
    assert_eq!(fault.kernel, "reads_at");
    let site = fault.site.as_ref().expect("a place");
    assert!(site.file.ends_with("memory.rs"), "{fault}");
    assert_eq!(site.line, reads_at::META.line + 1, "{fault}");
    assert!(matches!(fault.kind, FaultKind::OutOfBounds { .. }), "{fault}");
    // SAFETY: the simulator refuses the access.
    let fault =
        unsafe { reads_two_at::launch(&simulator, block(1, 0), x.global(), y.global_mut(), 1) }.unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Misaligned { .. }), "{fault}");
    // SAFETY: the simulator refuses the access.
    let fault = unsafe { asks_for::launch(&simulator, block(1, 0), x.global(), 8) }.unwrap_err();
    assert!(matches!(fault.kind, FaultKind::OutOfBounds { .. }), "{fault}");
}

#[kernel]
fn shared_size(y: GlobalMut<u32>) {
    let mut memory = shared::dynamic();
    let a = memory.array::<u8>(5);
    let b = memory.array::<f64>(3);
    let c = memory.array::<u32>(1);
    y.write(0, a.byte_offset());
    y.write(1, b.byte_offset());
    y.write(2, c.byte_offset());
    y.write(3, memory.used());
    y.write(4, shared::bytes());
    y.write(5, b.cast::<u32>().offset(3).byte_offset());
}

#[test]
fn a_layout_is_the_same_on_both_sides() {
    const LAYOUT: SharedLayout = SharedLayout::new().array::<u8>(5).array::<f64>(3).array::<u32>(1);
    let simulator = simulator(4);
    let y = Array::<u32>::zeroed(&simulator, 6);
    // SAFETY: six elements.
    unsafe { shared_size::launch(&simulator, block(1, LAYOUT.bytes()), y.global_mut()) }.unwrap();
    assert_eq!(y.get(), [0, 16, 48, LAYOUT.bytes(), LAYOUT.bytes(), 28]);
    assert_eq!(LAYOUT.bytes(), 52);
    assert_eq!(SharedLayout::new().bytes(), 0);
}

#[test]
#[should_panic(expected = "4 GiB")]
fn an_impossible_layout_panics() {
    let _ = SharedLayout::new().array::<f64>(u32::MAX);
}

#[kernel]
fn reads_at_distance(x: Global<u32>, y: GlobalMut<u32>, distance: u64, index: u32) {
    y.write(0, x.offset(distance).offset(distance.wrapping_neg()).read(0) + x.offset(distance).read(index));
}

#[kernel]
fn reads_shared_at(y: GlobalMut<u32>, distance: u32, index: u32) {
    let mut shared = shared::dynamic();
    let tile: Shared<u32> = shared.array(16);
    for i in 0..16 {
        tile.write(i, i);
    }
    y.write(0, tile.offset(distance).read(index));
    y.write(1, tile.offset(distance).atomic(index).load(Ordering::Relaxed, Scope::Block));
}

/// Distances that come around to the array again in 32 or 64 bits, or arrive in another allocation.
#[test]
fn distances_that_wrap_are_found() {
    let simulator = simulator(1);
    let x = Array::new(&simulator, &[1u32, 2, 3, 4]);
    let y = Array::<u32>::zeroed(&simulator, 2);
    let global = |distance: u64, index| {
        // SAFETY: the simulator checks every access.
        unsafe {
            reads_at_distance::launch(&simulator, block(1, 0), x.global(), y.global_mut(), distance, index)
        }
    };
    global(3, 0).unwrap();
    assert_eq!(y.get()[0], 5);
    global(2u64.wrapping_neg(), 3).unwrap();
    assert_eq!(y.get()[0], 3);
    // 2^62 words are 2^64 bytes; 2^38 are from one allocation to the next.
    for far in [1 << 62, (1 << 62) + 1, 1 << 63, 1 << 38, (1u64 << 38).wrapping_neg(), 1 << 40] {
        let fault = global(far, 0).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::WildAddress { .. }), "{far}: {fault}");
    }
    let shared = |distance: u32, index: u32| {
        // SAFETY: as above.
        unsafe { reads_shared_at::launch(&simulator, block(1, 64), y.global_mut(), distance, index) }
    };
    shared(8, 4u32.wrapping_neg()).unwrap();
    assert_eq!(y.get(), [4, 4]);
    for far in [1 << 30, (1 << 30) + 3, 1 << 31, 1 << 16] {
        for fault in [shared(0, far).unwrap_err(), shared(far, 0).unwrap_err()] {
            assert!(matches!(fault.kind, FaultKind::OutOfBounds { .. }), "{far}: {fault}");
        }
    }
}

#[kernel]
fn row_of_a_large_matrix(x: Global<u32>, y: GlobalMut<u32>, row: u32, columns: u32) {
    y.write(0, x.read(row * columns));
}

/// Where overflow is checked, as in tests, an index that wraps is a fault before it becomes an address.
#[test]
#[cfg(debug_assertions)]
fn an_index_that_wraps_is_found() {
    let simulator = simulator(1);
    let (x, y) = (Array::new(&simulator, &[7u32]), Array::<u32>::zeroed(&simulator, 1));
    // SAFETY: the simulator checks every access.
    let run = |row, columns| unsafe {
        row_of_a_large_matrix::launch(&simulator, block(1, 0), x.global(), y.global_mut(), row, columns)
    };
    run(0, 1 << 16).unwrap();
    let fault = run(1 << 16, 1 << 16).unwrap_err();
    assert!(matches!(&fault.kind, FaultKind::Panic { message } if message.contains("overflow")), "{fault}");
    assert_eq!(fault.site.as_ref().expect("a line").file, file!());
}
