//! Indices out of bounds, memory that nobody wrote, alignment, read-only loads.

use gpu_std::launch::LaunchConfig;
use gpu_std::prelude::*;

use crate::Attack;

fn counting(n: u32) -> Vec<u32> {
    (0..n).map(|i| (i * 7 + 3) % 101).collect()
}

#[kernel]
fn copies(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (i, n) = (thread::index_1d(), 90);
    match how {
        1 if i <= n => y.write(i.min(n - 1), x.read(i)),
        2 if i <= n => y.write(i, x.read(i.min(n - 1))),
        3 => y.write(i, x.read(i)),
        4 if i < n => y.write(i, x.read(i - 1)),
        5 if i < n - 1 => y.write(i, x.read(i)),
        6 if i < n && i % 4 == 0 => y.write_vec::<4>(i, x.read_vec::<4>(i)),
        7 if i < n && i % 4 == 1 => y.write_vec::<4>(i - 1, x.read_vec::<4>(i)),
        8 if i < n => y.write(i, y.read(i)),
        9 if i < n => {
            y.write(i, x.read(i));
            if i == 50 {
                y.write(i, y.as_global().read_only(i));
            }
        }
        0 if i < n => y.write(i, x.read(i)),
        _ => {}
    }
}

#[test]
fn copy() {
    let x = counting(90);
    Attack {
        name: "copy",
        launch: copies::launch,
        config: LaunchConfig::linear(3, 32),
        expected: x.clone(),
        x,
        y: vec![],
        together: false,
        broken: &[
            "one element too far read",
            "one too far written",
            "no bound",
            "one before the first",
            "one too few",
            "vectors past the end",
            "vectors not aligned",
            "what nobody wrote",
            "read-only what the kernel writes",
        ],
    }
    .check();
}

#[kernel]
fn strides(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (n, all) = (150, thread::grid_dim_x() * thread::block_dim_x());
    let mut i = thread::index_1d();
    if how == 1 {
        // By fours without a tail.
        while i < n {
            for k in 0..4 {
                y.write(i + k * all, x.read(i + k * all));
            }
            i += 4 * all;
        }
    } else {
        let step = match how {
            2 => thread::block_dim_x(),
            3 => all + 1,
            _ => all,
        };
        while i < n {
            y.write(i, x.read(i));
            i += step;
        }
    }
}

#[test]
fn grid_stride() {
    let x = counting(150);
    Attack {
        name: "grid stride",
        launch: strides::launch,
        config: LaunchConfig::linear(2, 32),
        expected: x.clone(),
        x,
        y: vec![],
        together: false,
        broken: &["unrolled without a tail", "the stride of a block", "a stride too long"],
    }
    .check();
}

/// A matrix of 12 × 20, in tiles of 8 × 8.
#[kernel]
fn transposes(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (rows, columns) = (12, 20);
    let tile = shared::dynamic().array::<u32>(64);
    let (r, c) = (thread::thread_idx_x() / 8, thread::thread_idx_x() % 8);
    let (row, column) = (thread::block_idx_y() * 8 + r, thread::block_idx_x() * 8 + c);
    let inside = match how {
        1 => column < columns,
        2 => row < columns && column < rows,
        _ => row < rows && column < columns,
    };
    if inside {
        tile.write(r * 8 + c, x.read(if how == 3 { row * rows + column } else { row * columns + column }));
    }
    thread::sync_threads();
    let (row, column) = (thread::block_idx_x() * 8 + r, thread::block_idx_y() * 8 + c);
    if how == 4 || row < columns && column < rows {
        y.write(row * rows + column, tile.read(c * 8 + r));
    }
}

#[test]
fn partial_tiles() {
    let x = counting(240);
    Attack {
        name: "partial tiles",
        launch: transposes::launch,
        config: LaunchConfig { grid: [3, 2, 1], block: [64, 1, 1], shared_bytes: 256 },
        expected: (0..240).map(|i| x[i % 12 * 20 + i / 12]).collect(),
        x,
        y: vec![],
        together: false,
        broken: &["no bound on rows", "bounds exchanged", "the wrong pitch", "no bound on what is written"],
    }
    .check();
}

#[kernel]
fn sums_tiles(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let (i, n, mut shared) = (thread::thread_idx_x(), 70, shared::dynamic());
    let tile = shared.array::<u32>(if how == 5 { 128 } else { 64 });
    let totals = shared.array::<u32>(2);
    let at = thread::index_1d();
    if at < n {
        tile.write(i, x.read(at));
    } else if how != 1 {
        tile.write(i, 0);
    }
    thread::sync_threads();
    if i < 2 {
        let mut sum = 0;
        let (from, to) = (i * 32, i * 32 + 32);
        let to = if how == 2 { to + 1 } else { to };
        for k in from..to {
            sum += tile.read(k);
        }
        totals.write(if how == 3 { i + 1 } else { i }, sum);
    }
    thread::sync_threads();
    if i == 0 {
        let second = if how == 4 { 2 } else { 1 };
        y.write(thread::block_idx_x(), totals.read(0) + totals.read(second));
    }
}

#[test]
fn shared_arrays() {
    let x = counting(70);
    Attack {
        name: "shared arrays",
        launch: sums_tiles::launch,
        config: LaunchConfig::linear(2, 64).shared(4 * 66),
        expected: x.chunks(64).map(|tile| tile.iter().sum()).collect(),
        x,
        y: vec![],
        together: false,
        broken: &[
            "the rest of the last tile unwritten",
            "one element into the next array",
            "one past the last array",
            "one past it read",
            "an array larger than there is",
        ],
    }
    .check();
}

#[kernel]
fn counts(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let value = x.read(thread::index_1d());
    let bin = match how {
        1 => value / 10,
        2 => value / 11 - 1,
        3 => x.read(value) / 11,
        _ => value / 11,
    };
    y.atomic(bin).fetch_add(1, Ordering::Relaxed, Scope::Device);
}

#[test]
fn bins() {
    let x = counting(64);
    Attack {
        name: "bins",
        launch: counts::launch,
        config: LaunchConfig::linear(2, 32),
        expected: (0..10).map(|bin| x.iter().filter(|&&v| v / 11 == bin).count() as u32).collect(),
        x,
        y: vec![0; 10],
        together: false,
        broken: &["one bin too few", "bins from one", "an index from the data, unchecked"],
    }
    .check();
}

/// Two passes over scratch that is part of `y`.
#[kernel]
fn uses_scratch(x: Global<u32>, y: GlobalMut<u32>, how: u32) {
    let i = thread::thread_idx_x();
    if how != 1 && !(how == 2 && i == 39) {
        y.write(40 + i, 2 * x.read(i));
    }
    thread::sync_threads();
    let from = match how {
        3 => 41 + i,
        _ => 79 - i,
    };
    y.write(i, y.read(from));
}

#[test]
fn scratch() {
    let x = counting(40);
    let mut expected: Vec<u32> = x.iter().rev().map(|v| 2 * v).collect();
    expected.extend(x.iter().map(|v| 2 * v));
    Attack {
        name: "scratch",
        launch: uses_scratch::launch,
        config: LaunchConfig::linear(1, 40),
        expected,
        x,
        y: vec![],
        together: false,
        broken: &["never written", "the last element never written", "one past it"],
    }
    .check();
}
