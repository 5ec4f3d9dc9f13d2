//! Counts of factorisations of bands, and of whole matrices of the same sizes, which are measured beside them.
//!
//! A band has fewer tiles than a triangle, and of a tile fewer products, but as many pivots one after the other: its
//! launch is counted as that of a large matrix is ([`factor`](super::factor)).

use std::error::Error;
use std::fmt;

use gpu_benches::factor::{Op, Shape};
use gpu_benches::skyline::measure;
use gpu_core::{Device, Scratch};
use gpu_examples::predicted::Counted;
use gpu_linalg::plan::factor::STEP;
use gpu_linalg::variants::cholesky::rows_of_share;
use gpu_linalg::{BlockSkyline, FactorElement, Layout, MatrixMut, Triangle, potrf_skyline};
use gpu_model::waves::{Counts, simulated};

use super::cases::Counting;
use super::factor::{self, Tiles};

/// Rows of a block, and the part of the blocks that bands have: those of the figures.
const SIDE: usize = 64;
const SHARE: f64 = 0.1;

/// A matrix of which a band is factored, or all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Skyline {
    pub element: &'static str,
    pub n: usize,
    pub is_whole: bool,
}

impl fmt::Display for Skyline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let blocks = self.n.div_ceil(SIDE);
        let there: usize = self.firsts().iter().enumerate().map(|(row, first)| row + 1 - first).sum();
        let share = there as f64 / (blocks * (blocks + 1) / 2) as f64;
        write!(f, "skyline {} {} {share:.4}", self.element, self.n)
    }
}

impl Skyline {
    /// Those of the figures.
    pub fn all() -> impl Iterator<Item = Self> {
        let sizes: [(&str, &[usize]); 2] =
            [("f64", &[8192, 16_384, 32_768, 65_536, 90_112]), ("f32", &[16_384, 65_536, 98_304])];
        let of = |(element, sizes): (&'static str, &'static [usize])| {
            sizes.iter().flat_map(move |&n| [false, true].map(|is_whole| Self { element, n, is_whole }))
        };
        sizes.into_iter().flat_map(of)
    }

    /// The first block of each row of blocks.
    fn firsts(&self) -> Vec<usize> {
        let blocks = self.n.div_ceil(SIDE);
        if self.is_whole { vec![0; blocks] } else { rows_of_share(blocks, SHARE) }
    }

    fn whole(&self) -> Shape {
        let Self { element, n, .. } = *self;
        Shape { op: Op::Potrf, element, n, count: 1, triangle: Triangle::Lower, gap: 0, drawn: false }
    }

    /// Rows of tiles, tiles, and products of two of them.
    fn tiles(&self) -> Tiles {
        let firsts = self.firsts();
        let rows = self.n.div_ceil(STEP);
        let first = |row: usize| firsts[row * STEP / SIDE] * SIDE / STEP;
        let (mut tiles, mut products) = (0, 0);
        for row in 0..rows {
            tiles += row + 1 - first(row);
            // Of two rows of tiles the lower one begins later.
            products += (first(row)..=row).map(|column| column - first(row)).sum::<usize>();
        }
        let all = tiles as f64;
        Tiles {
            rows: rows as f64,
            solved: all,
            products: products as f64,
            all: tiles,
            area: all / 6.0,
            count: 1.0,
        }
    }

    /// 32-bit operations and bytes that any implementation moves.
    pub fn demand(&self) -> [f64; 2] {
        let Tiles { solved, products, .. } = self.tiles();
        let bytes = if self.element == "f32" { 4.0 } else { 8.0 };
        let tile = STEP as f64 * STEP as f64;
        // Products, and of each tile's own columns half of one.
        [2.0 * tile * STEP as f64 * (products + solved / 2.0), 2.0 * bytes * tile * solved]
    }

    /// What it counts.
    ///
    /// # Errors
    /// Those of the simulator.
    pub fn count(&self, counting: &Counting) -> Result<Counted, Box<dyn Error>> {
        if self.is_whole {
            return factor::count(self.whole(), counting);
        }
        let run = |n| match self.element {
            "f32" => simulate::<f32>(n, counting),
            _ => simulate::<f64>(n, counting),
        };
        let mut counted = factor::tiled(self.tiles(), run)?;
        factor::necessary(&mut counted, self.demand());
        Ok(counted)
    }

    /// Its milliseconds on a device.
    ///
    /// # Errors
    /// Those of the device.
    pub fn measure(&self, device: &Device) -> Result<f64, Box<dyn Error>> {
        let found = match self.element {
            "f32" => measure::<f32>(device, self.n, SHARE)?,
            _ => measure::<f64>(device, self.n, SHARE)?,
        };
        Ok(if self.is_whole { found.whole_ms } else { found.band_ms })
    }
}

/// A skyline of which all is there.
fn simulate<T: FactorElement>(n: usize, counting: &Counting) -> Result<Vec<Counts>, String> {
    let run = || -> Result<Device, Box<dyn Error>> {
        let device = Device::simulator_with(simulated::config(counting.caches));
        let layout = Layout::row_major(n, n)?;
        let mut host = vec![T::ZERO; n * n];
        (0..n).for_each(|at| host[layout.index(at, at)] = T::ONE);
        let (mut a, mut info) = (device.upload(&host)?, device.alloc(1)?);
        let skyline = BlockSkyline::new(&device, n, SIDE, &vec![0; n.div_ceil(SIDE)])?;
        let (stream, matrix) = (device.default_stream(), MatrixMut::new(&mut a, layout)?);
        let mut scratch = Scratch::new(&stream);
        potrf_skyline(&stream, Triangle::Lower, &skyline, matrix, &mut info, &mut scratch)?;
        Ok(device)
    };
    counting.launched_by_units(&run().map_err(|error| error.to_string())?, 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whole triangles have all tiles, and are called as their results are; so are bands.
    #[test]
    fn bands_have_fewer_tiles() {
        let all: Vec<String> = Skyline::all().map(|one| one.to_string()).collect();
        assert_eq!(
            (all.len(), all[0].as_str(), all[3].as_str()),
            (16, "skyline f64 8192 0.1060", "skyline f64 16384 1.0000")
        );
        let whole = Skyline { element: "f64", n: 512, is_whole: true }.tiles();
        assert_eq!((whole.rows, whole.solved, whole.products), (4.0, 10.0, 10.0));
        let [band, whole] = [false, true].map(|is_whole| Skyline { element: "f64", n: 8192, is_whole });
        assert!(band.demand()[0] < 0.03 * whole.demand()[0], "{:?}", band.demand());
    }
}
