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
        let make = |_: &Stream| {
            let room = device.zeroed::<f64>(gemv_scratch_len::<f64>(layout()).unwrap()).unwrap();
            ((matrix(device), matrix(device)), device.zeroed::<f64>(N * N).unwrap(), room)
        };
        replays(device, "gemv", make, |s, ((a, x), y, scratch)| {
            Ok(gemv(s, 2.0, Matrix::new(&*a, layout())?, x.slice(..N), 0.5, y.slice_mut(..N), scratch)?)
        });
        replays(device, "ger", make, |s, ((x, y), a, _)| {
            Ok(ger(s, 2.0, x.slice(..N), y.slice(..N), MatrixMut::new(a, layout())?)?)
        });
        replays(device, "axpy", make, |s, ((x, _), y, _)| Ok(axpy(s, 2.0, &*x, y)?));
        replays(device, "scale", make, |s, (_, y, _)| Ok(scale(s, 0.5, y)?));
        replays(device, "copy", make, |s, ((x, _), y, _)| Ok(copy(s, &*x, y)?));
        let make = |_: &Stream| {
            let room =
                device.zeroed::<f64>(symv_scratch_len(N).unwrap().max(trmv_scratch_len(N).unwrap())).unwrap();
            ((matrix(device), matrix(device)), device.zeroed::<f64>(N).unwrap(), room)
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
        let make = |_: &Stream| {
            let len = gemm_scratch_len::<f64>(N, layout())
                .max(symm_scratch_len::<f64>(Side::Left, layout()).unwrap())
                .max(trmm_scratch_len::<f64>(Side::Left, layout()).unwrap())
                .max(syrk_scratch_len::<f64>(N, layout()))
                .max(syr2k_scratch_len::<f64>(N, layout()));
            let room = device.zeroed::<f64>(len).unwrap();
            ((matrix(device), definite(device)), device.zeroed::<f64>(N * N).unwrap(), room)
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
        let make = |_: &Stream| {
            let len = potrf_scratch_len::<f64>(N, 1)
                .unwrap()
                .max(potrs_scratch_len::<f64>(N, layout()).unwrap())
                .max(potri_scratch_len::<f64>(N).unwrap())
                .max(trsm_scratch_len::<f64>(Side::Left, layout()).unwrap());
            let outputs = (device.zeroed::<f64>(N * N).unwrap(), device.zeroed::<u32>(1).unwrap());
            (definite(device), outputs, device.zeroed::<f64>(len).unwrap())
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
