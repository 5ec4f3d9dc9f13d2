use gpu_core::{Layout, Matrix, MatrixMut};
use gpu_linalg::*;

use super::*;

const N: usize = 96;

fn layout() -> Layout {
    Layout::row_major(N, N).unwrap()
}

/// A symmetric positive definite matrix.
fn definite(device: &Device) -> Buffer<f64> {
    let place = |i: usize| {
        let (row, column) = (i / N, i % N);
        if row == column { N as f64 } else { 1.0 / (1.0 + row.abs_diff(column) as f64) }
    };
    device.upload(&(0..N * N).map(place).collect::<Vec<_>>()).unwrap()
}

fn matrix(device: &Device) -> Buffer<f64> {
    device.upload(&numbers(N * N, 100).into_iter().map(|n| n as f64 / 64.0).collect::<Vec<_>>()).unwrap()
}

#[test]
fn vectors_and_elements() {
    on_each("vectors_and_elements", |device| {
        let make = |s: &Stream| {
            let room = scratch(s, gemv_scratch::<f64>(layout()).unwrap());
            ((matrix(device), matrix(device)), device.zeroed::<f64>(N * N).unwrap(), room)
        };
        replays(device, "gemv", make, |s, ((a, x), y, scratch)| {
            Ok(gemv(s, 2.0, Matrix::new(&*a, layout())?, x.slice(..N), 0.5, y.slice_mut(..N), scratch)?)
        });
        replays(device, "ger", make, |s, ((x, y), a, _)| {
            Ok(ger(s, 2.0, x.slice(..N), y.slice(..N), MatrixMut::new(a, layout())?)?)
        });
        replays(device, "axpy", make, |s, ((x, _), y, _)| Ok(axpy(s, 2.0, &*x, y)?));
        replays(device, "add", make, |s, ((x, z), y, _)| Ok(add(s, &*x, &*z, y)?));
        replays(device, "subtract", make, |s, ((x, z), y, _)| Ok(subtract(s, &*x, &*z, y)?));
        replays(device, "hadamard", make, |s, ((x, z), y, _)| Ok(hadamard(s, &*x, &*z, y)?));
        replays(device, "scale", make, |s, (_, y, _)| Ok(scale(s, 0.5, y)?));
        replays(device, "copy", make, |s, ((x, _), y, _)| Ok(copy(s, &*x, y)?));
        let make = |s: &Stream| {
            let size = symv_scratch::<f64>(N).unwrap().max(trmv_scratch::<f64>(N).unwrap());
            ((matrix(device), matrix(device)), device.zeroed::<f64>(N).unwrap(), scratch(s, size))
        };
        replays(device, "symv", make, |s, ((a, x), y, scratch)| {
            Ok(symv(s, Triangle::Lower, 2.0, Matrix::new(&*a, layout())?, x.slice(..N), 0.5, y, scratch)?)
        });
        replays(device, "trmv", make, |s, ((a, _), x, scratch)| {
            Ok(trmv(s, Triangle::Lower, Diagonal::Stored, Matrix::new(&*a, layout())?, x, scratch)?)
        });
    });
}

#[test]
fn products() {
    on_each("products", |device| {
        let make = |s: &Stream| {
            let size = gemm_scratch::<f64>(N, layout())
                .max(symm_scratch::<f64>(Side::Left, layout()).unwrap())
                .max(trmm_scratch::<f64>(Side::Left, layout()).unwrap())
                .max(syrk_scratch::<f64>(N, layout()))
                .max(syr2k_scratch::<f64>(N, layout()));
            ((matrix(device), definite(device)), device.zeroed::<f64>(N * N).unwrap(), scratch(s, size))
        };
        macro_rules! each {
            ($($name:ident: ($s:ident, $a:ident, $b:ident, $c:ident, $scratch:ident) $call:expr;)*) => { $(
                replays(device, stringify!($name), make, |$s, ((a, b), c, $scratch)| {
                    let ($a, $b) = (Matrix::new(&*a, layout())?, Matrix::new(&*b, layout())?);
                    let ($c, _) = (MatrixMut::new(c, layout())?, $b);
                    Ok($call?)
                });
            )* };
        }
        each! {
            gemm: (s, a, b, c, scratch) gemm(s, 2.0, a, b, 0.5, c, scratch);
            symm: (s, a, b, c, scratch) symm(s, Side::Left, Triangle::Lower, 2.0, b, a, 0.5, c, scratch);
            trmm: (s, a, _b, c, scratch) trmm(s, Side::Left, Triangle::Lower, Diagonal::Stored, 2.0, a, c, scratch);
            syrk: (s, a, _b, c, scratch) syrk(s, Triangle::Lower, 2.0, a, 0.5, c, scratch);
            syr2k: (s, a, b, c, scratch) syr2k(s, Triangle::Lower, 2.0, a, b, 0.5, c, scratch);
        }
    });
}

#[test]
fn factors_and_solves() {
    on_each("factors_and_solves", |device| {
        let make = |s: &Stream| {
            let size = potrf_scratch::<f64>(N, 1)
                .unwrap()
                .max(potrs_scratch::<f64>(N, layout()).unwrap())
                .max(potri_scratch::<f64>(N, 1).unwrap())
                .max(trsm_scratch::<f64>(Side::Left, layout()).unwrap());
            let outputs = (device.zeroed::<f64>(N * N).unwrap(), device.zeroed::<u32>(1).unwrap());
            (definite(device), outputs, scratch(s, size))
        };
        let lower = Triangle::Lower;
        replays(device, "potrf", make, |s, (a, (l, info), scratch)| {
            s.copy(&mut *l, &*a)?;
            Ok(potrf(s, lower, MatrixMut::new(l, layout())?, info, scratch)?)
        });
        replays(device, "potrf_to", make, |s, (a, (l, info), scratch)| {
            Ok(potrf_to(s, lower, Matrix::new(&*a, layout())?, MatrixMut::new(l, layout())?, info, scratch)?)
        });
        replays(device, "potrs", make, |s, (l, (b, _), scratch)| {
            Ok(potrs(s, lower, Matrix::new(&*l, layout())?, MatrixMut::new(b, layout())?, scratch)?)
        });
        replays(device, "potrs_to", make, |s, (l, (x, _), scratch)| {
            let (l, into) = (Matrix::new(&*l, layout())?, MatrixMut::new(x, layout())?);
            Ok(potrs_to(s, lower, l, l, into, scratch)?)
        });
        replays(device, "potri_to", make, |s, (l, (x, _), scratch)| {
            // A part of it: the simulator takes a second for the whole.
            let part = Layout::row_major(20, 20)?.with_leading_dimension(N)?;
            let (l, into) = (Matrix::new(&*l, part)?, MatrixMut::new(x, part)?);
            Ok(potri_to(s, lower, l, into, scratch)?)
        });
        replays(device, "potri", make, |s, (a, (l, _), scratch)| {
            s.copy(&mut *l, &*a)?;
            Ok(potri(s, lower, MatrixMut::new(l, layout())?, scratch)?)
        });
        replays(device, "trsm", make, |s, (a, (b, info), scratch)| {
            let (a, b) = (Matrix::new(&*a, layout())?, MatrixMut::new(b, layout())?);
            Ok(trsm(s, Side::Left, lower, Diagonal::Stored, 2.0, a, b, info, scratch)?)
        });
    });
}

#[test]
fn exchanges_and_single_right_hand_sides() {
    on_each("exchanges_and_single_right_hand_sides", |device| {
        let make = |s: &Stream| {
            let column = Layout::column_major(N, 1).unwrap();
            let room = scratch(s, trsm_scratch::<f64>(Side::Left, column).unwrap());
            let outputs = (device.zeroed::<f64>(N).unwrap(), device.zeroed::<u32>(1).unwrap());
            ((definite(device), matrix(device)), outputs, room)
        };
        replays(device, "trsv", make, |s, ((a, _), (x, info), scratch)| {
            Ok(trsv(s, Triangle::Lower, Diagonal::Stored, Matrix::new(&*a, layout())?, x, info, scratch)?)
        });
        let make = |_: &Stream| {
            let outputs = (device.zeroed::<f64>(N * N).unwrap(), device.zeroed::<f64>(N * N).unwrap());
            (matrix(device), outputs, ())
        };
        replays(device, "swap", make, |s, (x, (y, z), ())| {
            s.copy(&mut *z, &*x)?;
            Ok(swap(s, y, z)?)
        });
    });
}

#[test]
fn factors_of_several_sizes_and_skylines() {
    on_each("factors_of_several_sizes_and_skylines", |device| {
        let (lower, order) = (Triangle::Lower, Order::RowMajor);
        let all = [5, 40, 0, 17];
        let make = |_: &Stream| {
            let sizes = Sizes::new(device, &all).unwrap();
            let mut batch = vec![0.0; sizes.elements()];
            for (number, &n) in all.iter().enumerate() {
                let first = sizes.first(number);
                for at in 0..n * n {
                    batch[first + at] = if at % (n + 1) == 0 { n as f64 } else { 0.5 };
                }
            }
            let outputs = (
                device.zeroed::<f64>(sizes.elements()).unwrap(),
                device.zeroed::<u32>(all.len()).unwrap(),
                device.zeroed::<f64>(3 * sizes.rows()).unwrap(),
            );
            ((device.upload(&batch).unwrap(), sizes), outputs, ())
        };
        replays(device, "potrf_sizes and potrs_sizes", make, |s, ((a, sizes), (l, info, x), ())| {
            s.copy(&mut *l, &*a)?;
            potrf_sizes(s, lower, order, sizes, &mut *l, info)?;
            Ok(potrs_sizes(s, lower, order, sizes, &*l, order, 3, x)?)
        });
        // Blocks of 8, each row of which begins at most three before the diagonal.
        let first: Vec<usize> = (0..N / 8).map(|row| row.saturating_sub(3)).collect();
        let make = |s: &Stream| {
            let skyline = BlockSkyline::new(device, N, 8, &first).unwrap();
            let room = scratch(s, skyline.scratch::<f64>());
            let outputs = (device.zeroed::<f64>(N * N).unwrap(), device.zeroed::<u32>(1).unwrap());
            ((definite(device), skyline), outputs, room)
        };
        replays(device, "potrf_skyline", make, |s, ((a, skyline), (l, info), scratch)| {
            s.copy(&mut *l, &*a)?;
            Ok(potrf_skyline(s, lower, skyline, MatrixMut::new(l, layout())?, info, scratch)?)
        });
    });
}

#[test]
fn products_on_tensor_cores() {
    on_each("products_on_tensor_cores", |device| {
        // A C that is small, so that sums are cut into parts, which scratch memory holds.
        let (m, n, k) = (64, 64, 1024);
        let of = |rows, columns| Layout::row_major(rows, columns).unwrap();
        let make = |s: &Stream| {
            let factor = |seed: usize| {
                let values = numbers(64 * k + seed, 64).into_iter().skip(seed);
                device
                    .upload(&values.map(|n| bf16::from_f32(n as f32 / 8.0 - 4.0)).collect::<Vec<_>>())
                    .unwrap()
            };
            let (a, b) = (factor(0), factor(5));
            let (of_a, of_b) = (Matrix::new(&a, of(m, k)).unwrap(), Matrix::new(&b, of(k, n)).unwrap());
            let room = scratch(s, gemm_tensor_scratch(of_a, of_b, of(m, n)));
            ((a, b), device.zeroed::<f32>(m * n).unwrap(), room)
        };
        replays(device, "gemm_tensor", make, |s, ((a, b), c, scratch)| {
            let (a, b) = (Matrix::new(&*a, of(m, k))?, Matrix::new(&*b, of(k, n))?);
            Ok(gemm_tensor::<bf16, f32>(s, 0.5, a, b, 0.0, MatrixMut::new(c, of(m, n))?, scratch)?)
        });
        let bias =
            |len: usize| device.upload(&(0..len).map(|at| at as f32 - 9.0).collect::<Vec<_>>()).unwrap();
        let with_bias = |s: &Stream| {
            let (factors, c, room) = make(s);
            ((factors, bias(n)), c, room)
        };
        replays(device, "gemm_tensor_with", with_bias, |s, (((a, b), bias), c, scratch)| {
            let (a, b) = (Matrix::new(&*a, of(m, k))?, Matrix::new(&*b, of(k, n))?);
            let epilogue = Epilogue::new().bias_per_column(&*bias).activation(Activation::Gelu);
            let c = MatrixMut::new(c, of(m, n))?;
            Ok(gemm_tensor_with::<bf16, f32>(s, 0.5, a, b, 0.0, c, &epilogue, scratch)?)
        });
        // Two launches more: one that copies factors, one that adds parts.
        let make = |s: &Stream| {
            let factor = |seed: usize| {
                let values = numbers(64 * k + seed, 64).into_iter().skip(seed);
                device.upload(&values.map(|n| n as f32 / 8.0 - 4.0).collect::<Vec<_>>()).unwrap()
            };
            let room = scratch(s, gemm_tf32_scratch(of(m, k), of(k, n), of(m, n)));
            ((factor(0), factor(5)), device.zeroed::<f32>(m * n).unwrap(), room)
        };
        replays(device, "gemm_tf32", make, |s, ((a, b), c, scratch)| {
            let (a, b) = (Matrix::new(&*a, of(m, k))?, Matrix::new(&*b, of(k, n))?);
            Ok(gemm_tf32(s, 0.5, a, b, 0.0, MatrixMut::new(c, of(m, n))?, scratch)?)
        });
        let with_bias = |s: &Stream| {
            let (factors, c, room) = make(s);
            ((factors, bias(m)), c, room)
        };
        replays(device, "gemm_tf32_with", with_bias, |s, (((a, b), bias), c, scratch)| {
            let (a, b) = (Matrix::new(&*a, of(m, k))?, Matrix::new(&*b, of(k, n))?);
            let epilogue = Epilogue::new().bias_per_row(&*bias).activation(Activation::Relu);
            Ok(gemm_tf32_with(s, 0.5, a, b, 0.0, MatrixMut::new(c, of(m, n))?, &epilogue, scratch)?)
        });
        // The same of bytes, of which B is copied.
        let make = |s: &Stream| {
            let factor = |seed: usize| {
                let values = numbers(64 * k + seed, 64).into_iter().skip(seed);
                device.upload(&values.map(|n| n as i8 - 32).collect::<Vec<_>>()).unwrap()
            };
            let (a, b) = (factor(0), factor(5));
            let (of_a, of_b) = (Matrix::new(&a, of(m, k)).unwrap(), Matrix::new(&b, of(k, n)).unwrap());
            let room = scratch(s, gemm_i8_scratch(of_a, of_b, of(m, n)));
            ((a, b), device.zeroed::<i32>(m * n).unwrap(), room)
        };
        replays(device, "gemm_i8", make, |s, ((a, b), c, scratch)| {
            let (a, b) = (Matrix::new(&*a, of(m, k))?, Matrix::new(&*b, of(k, n))?);
            Ok(gemm_i8(s, -3, a, b, 0, MatrixMut::new(c, of(m, n))?, scratch)?)
        });
        // Batches by starts: the table is held with the rest.
        let (m, n, k) = (40, 24, 32);
        let starts = |_: &Stream| BatchStarts::new(device, &[[0, 3, n], [1, 0, n + m * n]]).unwrap();
        macro_rules! by_starts {
            ($name:literal: $function:path, $T:ty, $C:ty, $one:expr, $zero:expr, $value:expr) => {
                let make = |s: &Stream| {
                    let values: Vec<$T> = numbers(64 * k + 5, 64).into_iter().map($value).collect();
                    let c = device.zeroed::<$C>(n + 2 * m * n).unwrap();
                    (device.upload(&values).unwrap(), c, starts(s))
                };
                replays(device, $name, make, |s, (a, c, starts)| {
                    let (a, b) = (Matrix::new(&*a, of(m, k))?, Matrix::new(&*a, of(k, n))?);
                    Ok($function(s, $one, a, b, $zero, MatrixMut::new(c, of(m, n))?, &*starts)?)
                });
            };
        }
        by_starts!("gemm_batched": gemm_batched, f64, f64, 0.5, 0.0, |n| n as f64);
        by_starts!("gemm_tensor_batched": gemm_tensor_batched, bf16, f32, 0.5, 0.0, |n| bf16::from_f32(n as f32));
        by_starts!("gemm_tf32_batched": gemm_tf32_batched, f32, f32, 0.5, 0.0, |n| n as f32);
        by_starts!("gemm_i8_batched": gemm_i8_batched, i8, i32, -3, 0, |n| n as i8);
    });
}
