//! Tables 9.1 and B.18: Cholesky's factorisation of a dense structured matrix by blocks of 64 × 64 doubles.

use super::{Printed, Reading, no_such};
use crate::device::{Device, Launch};
use crate::error::Result;
use crate::literature::gonzalez::{self, CacheRule, Copy, Giga, Machine, Path};
use crate::literature::mukherjee::Overlap;
use crate::units::{Bytes, Cycles, Seconds};

/// Side of a block.
pub(super) const SIDE: f64 = 64.0;
const DOUBLE: f64 = 8.0;

/// The kernels of the thesis' listings 8.13 to 8.16, on one block.
pub(super) struct Kernels {
    pub(super) device: Device,
    pub(super) machine: Machine,
    /// 4 blocks of 1024 threads.
    pub(super) tiled: Launch,
    /// 192 threads a block, as many as it takes.
    pub(super) linear: Launch,
    pub(super) transposition_global: Path,
    pub(super) transposition_shared: Path,
    pub(super) product_global: Path,
    pub(super) product_shared: Path,
    pub(super) difference: Path,
    /// One of the 64 steps of a triangular solve.
    pub(super) solve: Path,
}

impl Kernels {
    pub(super) fn new() -> Result<Self> {
        let device = Device::by_name("c2070")?;
        let machine = Machine::new(&device, CacheRule::Mean)?;
        let tiled = Launch::new(&device, 4, 1024)?;
        let linear = Launch::new(&device, (SIDE * SIDE / 192.0).ceil() as u64, 192)?;
        let both = Path { issue: device.issue()?.double, data: Bytes(DOUBLE), ..Path::default() };
        Ok(Self {
            device,
            machine,
            tiled,
            linear,
            transposition_global: Path { uncached: 2.0, ..both },
            transposition_shared: Path { shared: 2.0, ..both },
            product_global: Path { uncached: 3.0, ..both },
            // Two writes of tiles, 32 pairs of reads and the sum. The listing goes over two pairs of tiles; the
            // thesis counts one.
            product_shared: Path { instructions: 32.0, shared: 2.0 + 2.0 * 32.0 + 1.0, ..both },
            difference: Path { instructions: 1.0, uncached: 3.0, ..both },
            solve: Path { instructions: 3.0, uncached: 6.0, ..both },
        })
    }

    /// C_sum(K).
    pub(super) fn cycles(&self, launch: &Launch, path: &Path) -> Result<Cycles> {
        self.machine.lanes.kernel(launch, self.machine.path(path, Overlap::Sum)?)
    }

    fn time(&self, launch: &Launch, path: &Path) -> Result<Seconds> {
        Ok(self.cycles(launch, path)? / self.device.clock)
    }

    /// Transposition, product and difference: the kernels of DSYRK and of DGEMM.
    pub(super) fn update(&self) -> Result<Seconds> {
        let tiled = [
            &self.transposition_global,
            &self.transposition_shared,
            &self.product_global,
            &self.product_shared,
        ];
        let tiled: Result<Seconds> = tiled.into_iter().map(|path| self.time(&self.tiled, path)).sum();
        Ok(tiled? + self.time(&self.linear, &self.difference)?)
    }

    /// All steps of a triangular solve: the kernels of DTRSM.
    pub(super) fn solve(&self) -> Result<Seconds> {
        Ok(self.time(&self.tiled, &self.solve)? * SIDE)
    }

    /// Copies of so many blocks within the device.
    pub(super) fn copy(&self, blocks: f64) -> Result<Seconds> {
        let bytes = Bytes(blocks * SIDE * SIDE * DOUBLE);
        gonzalez::transfer(&self.device, Copy::WithinDevice, bytes, Giga::Binary)
    }

    /// DSYRK: two blocks there, half a block back.
    pub(super) fn syrk(&self) -> Result<Seconds> {
        Ok(self.update()? + self.copy(2.0)? + self.copy(0.5)?)
    }

    /// DGEMM: three blocks there, one back.
    pub(super) fn gemm(&self) -> Result<Seconds> {
        Ok(self.update()? + self.copy(3.0)? + self.copy(1.0)?)
    }

    /// DTRSM: two blocks there, one back.
    pub(super) fn trsm(&self) -> Result<Seconds> {
        Ok(self.solve()? + self.copy(2.0)? + self.copy(1.0)?)
    }
}

/// How often each kernel runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Executions {
    syrk: f64,
    gemm: f64,
    trsm: f64,
    /// DPOTRF, on the host; each is followed by a copy of its block to the device. As often a row of blocks is copied
    /// back.
    potrf: f64,
}

/// The first block of a row that is not zero, in the matrices of the measurements.
fn first_block(row: usize) -> usize {
    match row {
        0 => 0,
        _ if row.is_multiple_of(3) => row - 1,
        _ => 1,
    }
}

/// The loops of listing 8.9 over a matrix of so many blocks a side, blocks of zeros left out.
fn executions(blocks: usize) -> Executions {
    let mut counts = Executions::default();
    for column in 0..blocks {
        counts.potrf += 1.0;
        counts.syrk += column.saturating_sub(first_block(column)) as f64;
        for row in column + 1..blocks {
            let first = first_block(row).max(first_block(column));
            counts.gemm += column.saturating_sub(first) as f64;
            counts.trsm += f64::from(u8::from(column >= first_block(row)));
        }
    }
    counts
}

/// Both tables; 9.1 has the parts too.
pub(super) fn factorisation(
    table: &str,
    printed: &Printed,
    order: f64,
    model: &str,
    reading: Reading,
) -> Result<f64> {
    let kernels = Kernels::new()?;
    let counts = executions((order / SIDE) as usize);
    let milliseconds = Seconds::milliseconds;
    let syrk = milliseconds(kernels.syrk()?) * counts.syrk;
    let gemm = milliseconds(kernels.gemm()?) * counts.gemm;
    let trsm = milliseconds(kernels.trsm()?) * counts.trsm;
    // Row by row of blocks, the lower triangle with its diagonal goes to the host: together N·(N + 1)/2 elements.
    let triangle = Bytes(order * (order + 1.0) / 2.0 * DOUBLE);
    let back =
        gonzalez::transfer(&kernels.device, Copy::PageableToHost, triangle, Giga::Binary)?.milliseconds();
    let block = Bytes(SIDE * SIDE * DOUBLE);
    let there =
        gonzalez::transfer(&kernels.device, Copy::PageableToDevice, block, Giga::Binary)?.milliseconds();
    Ok(match model {
        "gonzalez_syrk_executions" => counts.syrk,
        "gonzalez_syrk" => syrk,
        "gonzalez_gemm_executions" => counts.gemm,
        "gonzalez_gemm" => gemm,
        "gonzalez_trsm_executions" => counts.trsm,
        "gonzalez_trsm" => trsm,
        "gonzalez_potrf_executions" | "gonzalez_syrk_copies_count" | "gonzalez_potrf_copies_count" => {
            counts.potrf
        }
        "gonzalez_syrk_copies" => back,
        // Of one of them.
        "gonzalez_potrf_copies" => there,
        "gonzalez" => {
            let measured = printed.get("9.1").ok_or_else(|| no_such("9.1", model))?;
            let on_host = measured.number("9.1", order, "measured_potrf")?;
            // The table adds one of its executions and one copy, not all.
            let times = if reading == Reading::Table { 1.0 } else { counts.potrf };
            syrk + gemm + trsm + back + (on_host + there) * times
        }
        _ => return Err(no_such(table, model)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of 4 blocks begin at 0, 1, 1, 2. DSYRK: 0 + 0 + 1 + 1 = 2. DTRSM, rows below the diagonal that have
    /// begun: column 0 none (1, 1, 2 > 0), column 1 row 2 (row 3 begins at 2), column 2 row 3: 2. DGEMM, blocks
    /// before the column in both rows: column 1 none; column 2 with row 3: from 2 on, none: 0.
    #[test]
    fn executions_of_a_small_matrix() {
        let expected = Executions { syrk: 2.0, gemm: 0.0, trsm: 2.0, potrf: 4.0 };
        assert_eq!(executions(4), expected);
    }
}
