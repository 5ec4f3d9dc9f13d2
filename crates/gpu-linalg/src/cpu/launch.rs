//! Launches panels with the widest vectors that the machine has, found out at run time: with their
//! [registers](super::lanes), the only unsafe code here.

use gpu_core::vectors::{Work, run_wide};
use gpu_std::float::Float;

#[cfg(any(test, not(target_arch = "x86_64")))]
use super::lanes::Portable;
use super::lanes::{Has, Lanes, Registers};
use super::panel::{Buffers, Panel};

/// Computes a panel's part of C with the instructions at hand, and tiles of as many elements as their registers hold.
///
/// # Panics
/// Without [`has_registers`].
pub(super) fn compute<T: Registers>(panel: &Panel<'_, T>, buffers: &mut Buffers<T>, c: &mut [&mut [T]]) {
    #[cfg(target_arch = "x86_64")]
    {
        if std::is_x86_feature_detected!("avx512f") {
            // SAFETY: the machine has these instructions.
            return unsafe { avx512(panel, buffers, c) };
        }
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            // SAFETY: the machine has these instructions.
            return unsafe { avx2(panel, buffers, c) };
        }
    }
    #[cfg(all(target_arch = "x86_64", not(test)))]
    unreachable!("registers that the machine has");
    #[cfg(any(test, not(target_arch = "x86_64")))]
    portable(panel, buffers, c);
}

/// Work on elements of type `T` in registers: the widest, those of half as many bytes, and those of 16 bytes; each may
/// be the next smaller one where the machine has no other.
///
/// No closure, all of it inlined, as in [`Tiles`]. So one branch too many is much code: those that registers' lengths
/// rule out are left out by `const { … }`, before anything of them is compiled.
pub(super) trait ByRegisters<T: Registers>: Sized {
    /// What comes out.
    type Output;

    /// Does it. Mark it `#[inline(always)]`.
    fn run<W: Lanes<T>, H: Lanes<T>, L: Lanes<T>>(self, has: (Has<W>, Has<H>, Has<L>)) -> Self::Output;

    /// [`Self::run`] in registers of 64 bytes. Methods, as the compiler divides code between cores by the modules of
    /// types that have them: functions of this module were compiled on one, for two minutes.
    ///
    /// # Safety
    /// The machine has these instructions.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512vl,avx2,fma")]
    unsafe fn avx512(self) -> Self::Output {
        // SAFETY: as the caller says.
        let has = unsafe { (Has::<T::Avx512>::new(), Has::<T::Avx2>::new(), Has::<T::Avx128>::new()) };
        self.run(has)
    }

    /// [`Self::run`] in registers of 32 bytes.
    ///
    /// # Safety
    /// The machine has these instructions.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn avx2(self) -> Self::Output {
        // SAFETY: as the caller says.
        let has = unsafe { (Has::<T::Avx2>::new(), Has::<T::Avx128>::new(), Has::<T::Avx128>::new()) };
        self.run(has)
    }
}

/// Whether the machine has registers for all that is here. An x86-64 without fused multiply-adds has none: each of
/// these is a call there, whatever is around it, and code for it would be a third of this crate's.
pub(super) fn has_registers() -> bool {
    #[cfg(all(target_arch = "x86_64", not(test)))]
    return std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma");
    #[cfg(any(test, not(target_arch = "x86_64")))]
    true
}

/// Does work in the widest registers that the machine has: every time in the same ones.
///
/// # Panics
/// Without [`has_registers`].
pub(super) fn by_registers<T: Registers, W: ByRegisters<T>>(work: W) -> W::Output {
    #[cfg(all(target_arch = "x86_64", not(test)))]
    let widest = usize::MAX;
    #[cfg(all(target_arch = "x86_64", test))]
    let widest = tests::WIDEST.get();
    #[cfg(target_arch = "x86_64")]
    {
        use std::is_x86_feature_detected as has;
        if widest >= 64 && has!("avx512f") && has!("avx512vl") && has!("avx2") && has!("fma") {
            // SAFETY: the machine has these instructions.
            return unsafe { work.avx512() };
        }
        if widest >= 32 && has!("avx2") && has!("fma") {
            // SAFETY: the machine has these instructions.
            return unsafe { work.avx2() };
        }
    }
    #[cfg(all(target_arch = "x86_64", not(test)))]
    unreachable!("registers that the machine has");
    #[cfg(any(test, not(target_arch = "x86_64")))]
    registers_portable(work)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn registers_portable<T: Registers, W: ByRegisters<T>>(work: W) -> W::Output {
    work.run((T::HAS_SIXTEEN, T::HAS_SIXTEEN, T::HAS_SIXTEEN))
}

/// Does work in the compiler's vectors, as [`gpu_core::vectors::run`] does.
///
/// # Panics
/// Without [`has_registers`].
pub(super) fn by_vectors<W: Work>(work: W) -> W::Output {
    #[cfg(not(test))]
    return run_wide(work).unwrap_or_else(|_| unreachable!("registers that the machine has"));
    #[cfg(test)]
    run_wide(work).unwrap_or_else(W::run)
}

/// Work on tiles of `M` columns of a factor and `N` rows, or the other way round, that the registers hold.
///
/// Rows are multiples of columns, so that the rows of one tile are the columns of others without being copied. Four
/// columns are fewer than a widest vector's elements: with as many the compiler takes vectors along them, and gathers.
///
/// No closure, and all of it inlined: what is not is compiled for the oldest machines ([`gpu_core::vectors::Work`]).
pub(super) trait Tiles {
    /// What comes out.
    type Output;

    /// Does it. Mark it `#[inline(always)]`.
    fn run<const M: usize, const N: usize>(self) -> Self::Output;
}

/// Does work on elements of type `T` with the instructions at hand: every time with the same tiles.
pub(super) fn by_tiles<T: Float, W: Tiles>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if std::is_x86_feature_detected!("avx512f") {
            // SAFETY: the machine has these instructions.
            return unsafe { tiles_avx512::<T, W>(work) };
        }
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            // SAFETY: the machine has these instructions.
            return unsafe { tiles_avx2::<T, W>(work) };
        }
    }
    tiles_portable::<T, W>(work)
}

fn tiles_portable<T: Float, W: Tiles>(work: W) -> W::Output {
    if const { size_of::<T>() == 4 } { work.run::<4, 8>() } else { work.run::<4, 4>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn tiles_avx512<T: Float, W: Tiles>(work: W) -> W::Output {
    if const { size_of::<T>() == 4 } { work.run::<4, 32>() } else { work.run::<4, 16>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn tiles_avx2<T: Float, W: Tiles>(work: W) -> W::Output {
    if const { size_of::<T>() == 4 } { work.run::<4, 16>() } else { work.run::<4, 8>() }
}

/// With what every machine has.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn portable<T: Registers>(panel: &Panel<'_, T>, buffers: &mut Buffers<T>, c: &mut [&mut [T]]) {
    panel.compute::<Portable<T>, 4, 2>(Portable::HAS, buffers, c);
}

/// 24 of 32 registers of 64 bytes for sums.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn avx512<T: Registers>(panel: &Panel<'_, T>, buffers: &mut Buffers<T>, c: &mut [&mut [T]]) {
    // SAFETY: this is called only where the machine has AVX-512F.
    let has = unsafe { Has::new() };
    panel.compute::<T::Avx512, 8, 3>(has, buffers, c);
}

/// 12 of 16 registers of 32 bytes for sums.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<T: Registers>(panel: &Panel<'_, T>, buffers: &mut Buffers<T>, c: &mut [&mut [T]]) {
    // SAFETY: this is called only where the machine has AVX2 and FMA.
    let has = unsafe { Has::new() };
    panel.compute::<T::Avx2, 4, 3>(has, buffers, c);
}

/// Adds to a tile's sums, k after k, the products of `M` elements of A and `N` of B.
#[inline(always)]
pub(super) fn add_products<T: Float, const M: usize, const N: usize>(
    a: &[T],
    b: &[T],
    sums: &mut [[T; N]; M],
) {
    // In registers meanwhile.
    let mut tile = *sums;
    for (a, b) in a.as_chunks::<M>().0.iter().zip(b.as_chunks::<N>().0) {
        for i in 0..M {
            for j in 0..N {
                tile[i][j] = a[i].mul_add(b[j], tile[i][j]);
            }
        }
    }
    *sums = tile;
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::api::Triangle;
    use crate::cpu::gemm::{Compute, gemm_with};
    use crate::cpu::panel::Kept;
    use crate::matrix::{BatchLayout, Layout};
    use crate::plan::gemm::Sums;
    use crate::reference;

    thread_local! {
        /// Bytes of the widest registers that work on this thread may take.
        pub(super) static WIDEST: std::cell::Cell<usize> = const { std::cell::Cell::new(usize::MAX) };
    }

    /// Does `work` with registers of at most so many bytes, on one thread: others have their own.
    pub(crate) fn in_registers(widest: usize, work: impl FnOnce() + Send) {
        let thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        thread.install(|| {
            WIDEST.set(widest);
            work();
        });
    }

    /// Every set of instructions that this machine has.
    fn ways<T: Kept>() -> Vec<(&'static str, Compute<T>)> {
        let mut ways: Vec<(&str, Compute<T>)> = vec![("portable", portable), ("best", compute)];
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            // SAFETY: the machine has these instructions.
            ways.push(("avx2", |panel, buffers, c| unsafe { avx2(panel, buffers, c) }));
        } else {
            eprintln!("SKIPPED: this machine has no avx2");
        }
        ways
    }

    /// Values of many magnitudes, so that another order of operations shows.
    fn values<T: Float>(len: usize, of: fn(f64) -> T) -> Vec<T> {
        (0..len as u64)
            .map(|at| {
                let hash = (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                of(((hash >> 40) as f64 - 8e6) * 2f64.powi((hash >> 20 & 15) as i32))
            })
            .collect()
    }

    fn check<T: Kept + PartialEq>(of: fn(f64) -> T) {
        // Around the ends of tiles, whose last ones have any number of rows and columns, of blocks of rows, columns
        // and k, and of what is packed at a time.
        for (m, n, k) in [
            (1, 1, 0),
            (40, 70, 0),
            (13, 33, 1),
            (5, 2051, 7),
            (770, 20, 3),
            (30, 257, 193),
            (25, 40, 400),
            (1, 5000, 300),
            (5000, 1, 300),
            (9, 4200, 700),
            (49, 64, 3000),
            (40, 40, 30),
            (193, 193, 9),
            (400, 400, 200),
            (16, 35, 300),
            (20, 39, 150),
            (24, 2, 140),
            (28, 49, 20),
            (12, 4, 4000),
            (9, 5, 3000),
            // The last columns of several tiles of rows together, which are more or fewer than a group.
            (113, 33, 500),
            (118, 18, 450),
            (100, 37, 300),
            (61, 23, 5000),
            (13, 17, 400),
            // A is copied, or read where it lies.
            (100, 290, 300),
            (41, 256, 200),
            (29, 20, 800),
            (100, 129, 60),
            (133, 33, 300),
            (150, 18, 250),
            (140, 21, 130),
        ] {
            let row_major = |rows, columns| Layout::row_major(rows, columns).expect("it is small");
            let one = |matrix| BatchLayout { matrix, count: 1, stride: 0 };
            let (a, b, old) = (values(m * k, of), values(k * n, of), values(m * n, of));
            let layouts = [row_major(m, k), row_major(k, n), row_major(m, n)];
            let transposed =
                [row_major(k, m).transposed(), row_major(n, k).transposed(), row_major(n, m).transposed()];
            let all = [
                layouts,
                transposed,
                [transposed[0], layouts[1], layouts[2]],
                [layouts[0], transposed[1], layouts[2]],
                [transposed[0], transposed[1], layouts[2]],
            ];
            for [a_layout, b_layout, c_layout] in all.map(|layouts| layouts.map(one)) {
                let (a, b) = ((&a[..], a_layout), (&b[..], b_layout));
                let triangles =
                    if m == n { &[None, Some(Triangle::Lower), Some(Triangle::Upper)][..] } else { &[None] };
                for (&triangle, sums) in
                    triangles.iter().flat_map(|triangle| [(triangle, Sums::Parts), (triangle, Sums::Chains)])
                {
                    let (mut expected, of_all) = (old.clone(), (triangle, sums));
                    reference::by_tiles(of_all, of(0.5), a, b, of(-1.5), (&mut expected, c_layout));
                    for (name, way) in ways::<T>() {
                        let mut c = old.clone();
                        gemm_with(way, of_all, of(0.5), a, b, of(-1.5), (&mut c, c_layout));
                        assert!(c == expected, "{name}, {m} × {n} × {k}, {of_all:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_set_of_instructions_gives_the_references_bits() {
        check::<f32>(|value| value as f32);
        check::<f64>(|value| value);
    }
}
