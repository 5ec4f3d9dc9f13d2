//! The multiply-adds of a tile of four rows of three registers of 32 bytes, which with a line of the other factor and
//! an element take all 16 that a machine without AVX-512 has.
//!
//! By instructions: of the same in Rust the compiler took some multiply-adds before their time, kept a sum in memory
//! for it, and a core took twice as long.

use super::{Across, Block};

/// Rows and registers of each.
pub(super) const ROWS: usize = 4;
pub(super) const SIDE: usize = 3;

// The products of a k: three registers of a line, and an element of each row.
macro_rules! products {
    ($broadcast:literal, $mul_add:literal) => {
        concat!(
            "vmovups {line_0}, [{line}]\n",
            "vmovups {line_1}, [{line} + 32]\n",
            "vmovups {line_2}, [{line} + 64]\n",
            products!(row $broadcast, $mul_add, "0"),
            products!(row $broadcast, $mul_add, "1"),
            products!(row $broadcast, $mul_add, "2"),
            products!(row $broadcast, $mul_add, "3"),
            "add {line}, {line_step}\n",
            "add {at}, {row_step}\n",
        )
    };
    (row $broadcast:literal, $mul_add:literal, $row:literal) => {
        concat!(
            $broadcast, " {element}, [{row_", $row, "} + {at}]\n",
            $mul_add, " {sum_", $row, "_0}, {line_0}, {element}\n",
            $mul_add, " {sum_", $row, "_1}, {line_1}, {element}\n",
            $mul_add, " {sum_", $row, "_2}, {line_2}, {element}\n",
        )
    };
}

// Adds the products of each k: of a line's element and a row's to the row's sum. `$ahead` bytes are asked for ahead of
// the first row's, as other tiles' are.
//
// # Panics
// If lines are shorter than the registers, or there are not as many as elements of the rows.
//
// # Safety of each
// The machine has the instructions.
macro_rules! tiles {
    ($($name:ident: $T:ty, $Register:ident, $broadcast:literal, $mul_add:literal, $ahead:literal;)*) => { $(
        #[target_feature(enable = "avx2,fma")]
        #[inline]
        pub(super) unsafe fn $name(
            lines: Block<'_, $T>,
            rows: Across<'_, $T, ROWS>,
            sums: &mut [[core::arch::x86_64::$Register; SIDE]; ROWS],
        ) {
            let bytes = size_of::<$T>();
            assert!(lines.len() * bytes >= SIDE * 32 && lines.lines() == rows.count, "lines are those of the rows");
            let [row_0, row_1, row_2, row_3] = rows.starts;
            let (mut sum_0, mut sum_1, mut sum_2, mut sum_3) = (sums[0], sums[1], sums[2], sums[3]);
            // SAFETY: what is read is the first elements of each line and all of each row, `count` of both; addresses
            // behind the last are of prefetches alone, which read and fault at none.
            unsafe {
                core::arch::asm!(
                    "test {fours}, {fours}",
                    "jz 3f",
                    ".p2align 5",
                    "2:",
                    concat!("prefetcht0 [{row_0} + {at} + ", $ahead, "]"),
                    products!($broadcast, $mul_add),
                    products!($broadcast, $mul_add),
                    concat!("prefetcht0 [{row_0} + {at} + ", $ahead, "]"),
                    products!($broadcast, $mul_add),
                    products!($broadcast, $mul_add),
                    "dec {fours}",
                    "jnz 2b",
                    "3:",
                    "test {rest}, {rest}",
                    "jz 5f",
                    "4:",
                    products!($broadcast, $mul_add),
                    "dec {rest}",
                    "jnz 4b",
                    "5:",
                    line = inout(reg) lines.start => _,
                    line_step = in(reg) lines.step * bytes,
                    row_0 = in(reg) row_0,
                    row_1 = in(reg) row_1,
                    row_2 = in(reg) row_2,
                    row_3 = in(reg) row_3,
                    at = inout(reg) 0usize => _,
                    row_step = in(reg) rows.step * bytes,
                    fours = inout(reg) rows.count / 4 => _,
                    rest = inout(reg) rows.count % 4 => _,
                    sum_0_0 = inout(ymm_reg) sum_0[0],
                    sum_0_1 = inout(ymm_reg) sum_0[1],
                    sum_0_2 = inout(ymm_reg) sum_0[2],
                    sum_1_0 = inout(ymm_reg) sum_1[0],
                    sum_1_1 = inout(ymm_reg) sum_1[1],
                    sum_1_2 = inout(ymm_reg) sum_1[2],
                    sum_2_0 = inout(ymm_reg) sum_2[0],
                    sum_2_1 = inout(ymm_reg) sum_2[1],
                    sum_2_2 = inout(ymm_reg) sum_2[2],
                    sum_3_0 = inout(ymm_reg) sum_3[0],
                    sum_3_1 = inout(ymm_reg) sum_3[1],
                    sum_3_2 = inout(ymm_reg) sum_3[2],
                    line_0 = out(ymm_reg) _,
                    line_1 = out(ymm_reg) _,
                    line_2 = out(ymm_reg) _,
                    element = out(ymm_reg) _,
                    options(readonly, nostack),
                );
            }
            *sums = [sum_0, sum_1, sum_2, sum_3];
        }
    )* };
}

tiles! {
    products_f32: f32, __m256, "vbroadcastss", "vfmadd231ps", "256";
    products_f64: f64, __m256d, "vbroadcastsd", "vfmadd231pd", "512";
}

#[cfg(test)]
mod tests {
    use super::super::{Across, Block, Has, Lanes, add_products};

    /// Compares both ways to the sums, and what they say of lines that are too short or too few.
    fn check<T: Copy + PartialEq + core::fmt::Debug, V: Lanes<T>>(of: fn(usize) -> T) {
        // SAFETY: the machine has these instructions, as the test asks.
        let has = unsafe { Has::<V>::new() };
        let (b, a): (Vec<T>, Vec<T>) = ((0..700).map(of).collect(), (7..700).map(of).collect());
        for count in [1, 2, 3, 4, 5, 7, 8, 13, 22] {
            for starts in [[0, 1, 2, 3], [0, 100, 200, 200]] {
                let lines = Block::new(&b, 31, count, 3 * V::LEN);
                let rows = Across::new(&a, starts, 4, count);
                let mut sums = [[[V::splat(has, of(5)); 3]; 4]; 2];
                add_products(has, lines, rows, 64, &mut sums[0]);
                V::add_products(has, lines, rows, 64, &mut sums[1]);
                let [expected, actual] = sums.map(|sums| {
                    let mut elements = vec![of(0); 12 * V::LEN];
                    for (sum, to) in sums.as_flattened().iter().zip(elements.chunks_mut(V::LEN)) {
                        sum.store(to);
                    }
                    elements
                });
                assert_eq!(actual, expected, "{count} {starts:?}");
            }
        }
        for (rows, len) in [(6, 3 * V::LEN), (4, 3 * V::LEN), (5, 3 * V::LEN - 1)] {
            let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let mut sums = [[V::splat(has, of(5)); 3]; 4];
                let rows = Across::new(&a, [0, 1, 2, 3], 4, rows);
                V::add_products(has, Block::new(&b, 31, 5, len), rows, 64, &mut sums);
            }));
            assert!(refused.is_err(), "{rows} rows' elements for 5 lines of {len}");
        }
    }

    #[test]
    fn instructions_add_as_the_compilers_do() {
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            check::<f32, core::arch::x86_64::__m256>(|at| (at * at % 1009) as f32 / 7.0 - 60.0);
            check::<f64, core::arch::x86_64::__m256d>(|at| (at * at % 1009) as f64 / 7.0 - 60.0);
        } else {
            eprintln!("SKIPPED: this machine has no avx2");
        }
    }
}
