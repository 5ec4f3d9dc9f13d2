//! What is timed, as both libraries offer it to who brings the memory: neither allocates results.

use std::time::{Duration, Instant};

use clap::ValueEnum;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltParams, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::{matmul::matmul, triangular_solve::solve_lower_triangular_in_place};
use faer::{Accum, MatMut, MatRef, Par, Spec};
use gpu_core::{Buffer, Device, Scratch};
use gpu_linalg::{Diagonal, Layout, Matrix, MatrixMut, Side, Triangle, gemm, potrf, syrk, trsm};

/// A type of elements.
pub trait Real:
    gpu_linalg::TriangleElement + gpu_linalg::FactorElement + faer::traits::RealField + Into<f64>
{
    /// The nearest one.
    fn of(value: f64) -> Self;
    /// The distance from one to the next number.
    const EPSILON: f64;
}

impl Real for f32 {
    fn of(value: f64) -> Self {
        value as f32
    }
    const EPSILON: f64 = f32::EPSILON as f64;
}

impl Real for f64 {
    fn of(value: f64) -> Self {
        value
    }
    const EPSILON: f64 = f64::EPSILON;
}

/// A routine, by the name that BLAS or LAPACK has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Routine {
    /// A = L · Lᵀ, in place
    Potrf,
    /// The lower triangle of C = A · Aᵀ
    Syrk,
    /// A · X = B, A lower triangular, in place
    Trsm,
    /// C = A · B
    Gemm,
}

impl Routine {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Potrf => "potrf",
            Self::Syrk => "syrk",
            Self::Trsm => "trsm",
            Self::Gemm => "gemm",
        }
    }

    /// Rows of the matrices that are timed unless others are asked for.
    pub fn sizes(self) -> &'static [u32] {
        if self == Self::Potrf { &[512, 1024, 2048, 4096] } else { &[256, 512, 1024] }
    }
}

/// A routine's operands, and a result for each library.
pub struct Case<T: Real> {
    routine: Routine,
    n: usize,
    a: Buffer<T>,
    /// What the result is before.
    before: Buffer<T>,
    ours: Buffer<T>,
    faer: Buffer<T>,
    scratch: Scratch,
    info: Buffer<u32>,
    stack: MemBuffer,
}

impl<T: Real> Case<T> {
    /// Of matrices of `n` rows and columns.
    pub fn new(routine: Routine, n: usize) -> Self {
        let device = Device::cpu();
        // Large diagonals make matrices positive definite, and systems well-conditioned.
        let diagonal = if matches!(routine, Routine::Potrf | Routine::Trsm) { n as f64 } else { 0.5 };
        let element = |at: usize, most: f64| {
            let hash = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            T::of(if at.is_multiple_of(n + 1) { most } else { hash as f64 / 16_777_216.0 - 0.5 })
        };
        let a: Vec<T> = (0..n * n).map(|at| element(at, diagonal)).collect();
        let before: Vec<T> = match routine {
            Routine::Potrf => a.clone(),
            Routine::Trsm => (0..n * n).map(|at| element(at + 7, 0.5)).collect(),
            Routine::Syrk | Routine::Gemm => vec![T::ZERO; n * n],
        };
        let stack = cholesky_in_place_scratch::<T>(n, Par::rayon(0), Spec::<LltParams, T>::default());
        let upload = |values: &[T]| device.upload(values).expect("memory");
        Self {
            routine,
            n,
            a: upload(&a),
            before: upload(&before),
            ours: upload(&before),
            faer: upload(&before),
            scratch: Scratch::new(&device.default_stream()),
            info: device.alloc(1).expect("memory"),
            stack: MemBuffer::new(stack),
        }
    }

    /// The result as it was before, in memory that was just written, as it is for both.
    fn restore(before: &Buffer<T>, result: &mut Buffer<T>) {
        let before = before.view();
        let (before, mut result) = (before.as_slice().expect("the CPU's"), result.view_mut());
        result.as_mut_slice().expect("the CPU's").copy_from_slice(before);
    }

    /// Runs gpu-linalg's.
    pub fn ours(&mut self) -> Duration {
        let Self { routine, n, a, before, ours, scratch, info, .. } = self;
        Self::restore(before, ours);
        let layout = Layout::column_major(*n, *n).expect("it is small");
        let stream = a.device().default_stream();
        let a = Matrix::new(&*a, layout).expect("of this shape");
        let c = MatrixMut::new(ours, layout).expect("of this shape");
        let (lower, start) = (Triangle::Lower, Instant::now());
        match routine {
            Routine::Potrf => potrf(&stream, lower, c, info, scratch),
            Routine::Syrk => syrk(&stream, lower, T::ONE, a, T::ZERO, c, scratch),
            Routine::Trsm => trsm(&stream, Side::Left, lower, Diagonal::Stored, T::ONE, a, c, info, scratch),
            Routine::Gemm => gemm(&stream, T::ONE, a, a, T::ZERO, c, scratch),
        }
        .expect("operands that fit together");
        start.elapsed()
    }

    /// Runs faer's.
    pub fn faer(&mut self) -> Duration {
        let Self { routine, n, a, before, faer, stack, .. } = self;
        Self::restore(before, faer);
        let (a, mut c) = (a.view(), faer.view_mut());
        let a = MatRef::from_column_major_slice(a.as_slice().expect("the CPU's"), *n, *n);
        let c = MatMut::from_column_major_slice_mut(c.as_mut_slice().expect("the CPU's"), *n, *n);
        let (par, start) = (Par::rayon(0), Instant::now());
        let (lower, all) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        match routine {
            Routine::Potrf => {
                cholesky_in_place(c, Default::default(), par, MemStack::new(stack), Default::default())
                    .expect("a positive definite matrix");
            }
            Routine::Syrk => {
                triangular::matmul(c, lower, Accum::Replace, a, all, a.transpose(), all, T::of(1.0), par);
            }
            Routine::Trsm => solve_lower_triangular_in_place(a, c, par),
            Routine::Gemm => matmul(c, Accum::Replace, a, a, T::of(1.0), par),
        }
        start.elapsed()
    }

    /// Whether both results are the same up to rounding, in the lower triangle where only that is computed.
    pub fn agrees(&self) -> bool {
        let (ours, faer) = (self.ours.view(), self.faer.view());
        let (ours, faer) = (ours.as_slice().expect("the CPU's"), faer.as_slice().expect("the CPU's"));
        let triangle = matches!(self.routine, Routine::Potrf | Routine::Syrk);
        let pairs = ours.iter().zip(faer).enumerate();
        let mut pairs = pairs.filter(|(at, _)| !triangle || at % self.n >= at / self.n);
        // Sums of n products that are together at most of the size of n, by two libraries.
        let most = 2.0 * T::EPSILON * self.n as f64 * (self.n as f64 + 1.0);
        pairs.all(|(_, (&ours, &faer))| (ours.into() - faer.into()).abs() <= most)
    }
}
