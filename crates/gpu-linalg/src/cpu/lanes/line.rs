//! The sums of a line of 32 lanes in registers of 32 bytes.
//!
//! By instructions, as [tiles](super::tile): the compiler kept sums in memory, or took registers one after the other
//! that wait for each other, and 1000² `f32` took a core 120 µs instead of 105.

use core::arch::x86_64::{__m256, __m256d};

/// Registers of sums: an element of each lane.
pub(super) const SUMS_F32: usize = 4;
pub(super) const SUMS_F64: usize = 8;

// Masks of the elements of a group that are left: behind as many as these follow as many of none.
static LEFT_F32: [[i32; 32]; 2] = [[-1; 32], [0; 32]];
static LEFT_F64: [[i64; 8]; 2] = [[-1; 8], [0; 8]];

// Adds to a register of sums the products of 16 bytes of each of its lanes, of which those that are `part` of a line
// are read by masks: of `f32` in four registers, which two stages sort by the place in 16 bytes, of `f64` in two.
macro_rules! group {
    (f32 whole $sum:literal, $at:literal) => {
        concat!(
            "vmovups {a}, [{line} + ", $at, "]\n",
            "vmovups {b}, [{line} + ", $at, " + 32]\n",
            "vmovups {c}, [{line} + ", $at, " + 64]\n",
            "vmovups {d}, [{line} + ", $at, " + 96]\n",
            group!(f32 $sum, $at),
        )
    };
    (f32 part $sum:literal, $at:literal) => {
        concat!(
            "vmovups {even_a}, [{left}]\n",
            "vmovups {odd_a}, [{left} + 32]\n",
            "vmovups {even_b}, [{left} + 64]\n",
            "vmovups {odd_b}, [{left} + 96]\n",
            "vmaskmovps {a}, {even_a}, [{line} + ", $at, "]\n",
            "vmaskmovps {b}, {odd_a}, [{line} + ", $at, " + 32]\n",
            "vmaskmovps {c}, {even_b}, [{line} + ", $at, " + 64]\n",
            "vmaskmovps {d}, {odd_b}, [{line} + ", $at, " + 96]\n",
            group!(f32 $sum, $at),
        )
    };
    (f32 $sum:literal, $at:literal) => {
        concat!(
            "vshufps {even_a}, {a}, {c}, 0x88\n",
            "vshufps {odd_a}, {a}, {c}, 0xdd\n",
            "vshufps {even_b}, {b}, {d}, 0x88\n",
            "vshufps {odd_b}, {b}, {d}, 0xdd\n",
            "vshufps {a}, {even_a}, {even_b}, 0x88\n",
            "vshufps {b}, {odd_a}, {odd_b}, 0x88\n",
            "vshufps {c}, {even_a}, {even_b}, 0xdd\n",
            "vshufps {d}, {odd_a}, {odd_b}, 0xdd\n",
            "vfmadd231ps {", $sum, "}, {a}, [{x} + ", $at, "]\n",
            "vfmadd231ps {", $sum, "}, {b}, [{x} + ", $at, " + 32]\n",
            "vfmadd231ps {", $sum, "}, {c}, [{x} + ", $at, " + 64]\n",
            "vfmadd231ps {", $sum, "}, {d}, [{x} + ", $at, " + 96]\n",
        )
    };
    (f64 whole $sum:literal, $at:literal) => {
        concat!(
            "vmovupd {a}, [{line} + ", $at, "]\n",
            "vmovupd {b}, [{line} + ", $at, " + 32]\n",
            group!(f64 $sum, $at),
        )
    };
    (f64 part $sum:literal, $at:literal) => {
        concat!(
            "vmovupd {c}, [{left}]\n",
            "vmovupd {d}, [{left} + 32]\n",
            "vmaskmovpd {a}, {c}, [{line} + ", $at, "]\n",
            "vmaskmovpd {b}, {d}, [{line} + ", $at, " + 32]\n",
            group!(f64 $sum, $at),
        )
    };
    (f64 $sum:literal, $at:literal) => {
        concat!(
            "vunpcklpd {c}, {a}, {b}\n",
            "vunpckhpd {d}, {a}, {b}\n",
            "vfmadd231pd {", $sum, "}, {c}, [{x} + ", $at, "]\n",
            "vfmadd231pd {", $sum, "}, {d}, [{x} + ", $at, " + 32]\n",
        )
    };
}

// What is less than a round: whole groups, and a part of one.
macro_rules! rest {
    ($kind:tt, $size:literal: [$sum:literal, $at:literal, $end:literal]) => {
        group!($kind part $sum, $at)
    };
    ($kind:tt, $size:literal: [$sum:literal, $at:literal, $end:literal] $($more:tt)*) => {
        concat!(
            "cmp {rest}, ", $size, "\n",
            "jb ", $end, "f\n",
            group!($kind whole $sum, $at),
            "sub {rest}, ", $size, "\n",
            "jz 9f\n",
            rest!($kind, $size: $($more)*),
            "jmp 9f\n",
            $end, ":\n",
            group!($kind part $sum, $at),
        )
    };
}

// Adds to the sums the products of a line and `x`, which is in order, and whose last round is filled up.
//
// # Panics
// If `x` has fewer rounds than the line.
//
// # Safety of each
// The machine has the instructions.
macro_rules! lines {
    ($(
        $name:ident: $T:tt, $Register:ident, $SUMS:ident, $LEFT:ident, $size:literal,
            [$($temporary:ident)*], $([$sum:ident $name_of_sum:literal, $at:literal, $end:literal])*;
    )*) => { $(
        #[target_feature(enable = "avx2,fma")]
        #[inline]
        pub(super) unsafe fn $name(line: &[$T], x: &[$T], sums: &mut [$Register; $SUMS]) {
            let round = 512 / size_of::<$T>();
            assert!(line.len().next_multiple_of(round) <= x.len(), "x has as many rounds");
            let [$(mut $sum),*] = *sums;
            // SAFETY: what is read is the line's, that of `x` of as many rounds, and of masks as many as a group has
            // elements, from one of the first half on.
            unsafe {
                core::arch::asm!(
                    "test {rounds}, {rounds}",
                    "jz 3f",
                    ".p2align 5",
                    "2:",
                    $(group!($T whole $name_of_sum, $at),)*
                    "add {line}, 512",
                    "add {x}, 512",
                    "dec {rounds}",
                    "jnz 2b",
                    "3:",
                    "test {rest}, {rest}",
                    "jz 9f",
                    rest!($T, $size: $([$name_of_sum, $at, $end])*),
                    "9:",
                    line = inout(reg) line.as_ptr() => _,
                    x = inout(reg) x.as_ptr() => _,
                    rounds = inout(reg) line.len() / round => _,
                    rest = inout(reg) line.len() % round => _,
                    left = in(reg) $LEFT.as_ptr().cast::<$T>().add($size - line.len() % $size),
                    $($sum = inout(ymm_reg) $sum,)*
                    a = out(ymm_reg) _,
                    b = out(ymm_reg) _,
                    c = out(ymm_reg) _,
                    d = out(ymm_reg) _,
                    $($temporary = out(ymm_reg) _,)*
                    options(readonly, nostack),
                );
            }
            *sums = [$($sum),*];
        }
    )* };
}

lines! {
    add_f32: f32, __m256, SUMS_F32, LEFT_F32, 32,
        [even_a odd_a even_b odd_b],
        [sum_0 "sum_0", "0", "20"] [sum_1 "sum_1", "128", "21"] [sum_2 "sum_2", "256", "22"]
        [sum_3 "sum_3", "384", "23"];
    add_f64: f64, __m256d, SUMS_F64, LEFT_F64, 8,
        [],
        [sum_0 "sum_0", "0", "20"] [sum_1 "sum_1", "64", "21"] [sum_2 "sum_2", "128", "22"]
        [sum_3 "sum_3", "192", "23"] [sum_4 "sum_4", "256", "24"] [sum_5 "sum_5", "320", "25"]
        [sum_6 "sum_6", "384", "26"] [sum_7 "sum_7", "448", "27"];
}

#[cfg(test)]
mod tests {
    use super::super::{Has, Lanes};
    use core::arch::x86_64::{__m256, __m256d};
    use gpu_std::float::Float;

    /// Compares the sums to those of a loop, and has what is short refused.
    fn check<T: Float + PartialEq + core::fmt::Debug, V: Lanes<T>, const G: usize>(of: fn(usize) -> T) {
        // SAFETY: the machine has these instructions, as the test asks.
        let has = unsafe { Has::<V>::new() };
        let (in_16_bytes, round) = (16 / size_of::<T>(), 512 / size_of::<T>());
        // Where a group of registers has an element of a lane: two stages, or one, reverse the bits.
        let place = |lane: usize| lane.reverse_bits() >> (usize::BITS - V::LEN.ilog2());
        for len in (0..2 * round + 5).chain([5 * round, 6 * round - 1]) {
            let line: Vec<T> = (0..len).map(of).collect();
            let mut x: Vec<T> = (7..len + 7).map(of).collect();
            let mut expected = [of(5); 32];
            for (at, (&a, &x)) in line.iter().zip(&x).enumerate() {
                let sum = &mut expected[at / in_16_bytes % 32];
                *sum = a.mul_add(x, *sum);
            }
            x.resize(len.next_multiple_of(round), T::ZERO);
            let group = in_16_bytes * V::LEN;
            let mut ordered = x.clone();
            for (ordered, x) in ordered.chunks_exact_mut(group).zip(x.chunks_exact(group)) {
                for (at, &x) in x.iter().enumerate() {
                    ordered[at % in_16_bytes * V::LEN + place(at / in_16_bytes)] = x;
                }
            }
            let mut sums = [V::splat(has, of(5)); G];
            assert!(V::add_line(has, &line, &ordered, &mut sums));
            let mut stored = [T::ZERO; 32];
            for (sum, to) in sums.iter().zip(stored.chunks_mut(V::LEN)) {
                sum.store(to);
            }
            let actual: Vec<T> =
                (0..32).map(|lane| stored[lane / V::LEN * V::LEN + place(lane % V::LEN)]).collect();
            assert_eq!(actual, expected, "{len} elements");
            if len > 0 {
                let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    V::add_line(has, &line, &ordered[1..], &mut sums)
                }));
                assert!(refused.is_err(), "{len} elements, and one too few of x");
            }
        }
    }

    #[test]
    fn instructions_add_as_a_loop_does() {
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            check::<f32, __m256, 4>(|at| (at * at % 1009) as f32 / 7.0 - 60.0);
            check::<f64, __m256d, 8>(|at| (at * at % 1009) as f64 / 7.0 - 60.0);
        } else {
            eprintln!("SKIPPED: this machine has no avx2");
        }
    }
}
