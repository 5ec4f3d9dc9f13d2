//! All transpositions, and what the simulator counts of them.

use std::error::Error;

use gpu_core::{Device, Stream, View, ViewMut};
use gpu_sim::metrics::{Architecture, Metrics, Occupancy};
use gpu_sim::{BlockOrder, Config, Record};
use gpu_transpose::variants::{Variant, transpose_with};
use gpu_transpose::{Layout, Matrix, MatrixMut, transpose_into};
use serde::Serialize;

use crate::choice::{Choice, Textbook};

/// A transposition: a textbook's, or [`transpose_into`].
pub type Transposition = Choice<Variant>;

impl Textbook for Variant {
    fn all() -> Vec<Self> {
        Self::ALL.to_vec()
    }
    fn by_name(name: &str) -> Option<Self> {
        Self::by_name(name)
    }
    fn label(self) -> String {
        self.to_string()
    }
}

impl Transposition {
    /// Its name without the size of the tile.
    pub fn name(self) -> &'static str {
        match self {
            Self::Textbook(variant) => variant.name(),
            Self::Fast => "fast",
        }
    }

    /// Rows and columns of a block's threads; of the fast one, of its tile.
    pub fn block(self) -> u32 {
        match self {
            Self::Textbook(variant) => variant.block(),
            Self::Fast => gpu_transpose_kernels::TILE_B32.rows,
        }
    }

    /// Enqueues it.
    ///
    /// # Errors
    /// Those of [`transpose_into`].
    #[inline]
    pub fn enqueue<'a, 'b>(
        self,
        stream: &Stream,
        input: impl Into<View<'a, f32>>,
        matrix: Layout,
        output: impl Into<ViewMut<'b, f32>>,
    ) -> Result<(), gpu_transpose::Error> {
        let transposed = Layout::row_major(matrix.columns(), matrix.rows())?;
        let (input, output) = (Matrix::new(input, matrix)?, MatrixMut::new(output, transposed)?);
        match self {
            Self::Textbook(variant) => transpose_with(variant, stream, input, output),
            Self::Fast => transpose_into(stream, input, output),
        }
    }
}

/// What the simulator counted of a transposition.
pub struct Counted {
    /// Which one.
    pub transposition: Transposition,
    /// How many kernels it launched.
    pub launches: usize,
    /// The metrics of all its launches together.
    pub metrics: Metrics,
    /// Of its first launch.
    pub occupancy: Occupancy,
}

/// Runs a transposition of a `size` × `size` matrix in the simulator, on the models of `architecture`, and checks it.
///
/// # Errors
/// A fault of the simulator, or a wrong result.
#[inline]
pub fn count(
    transposition: Transposition,
    size: usize,
    architecture: Architecture,
) -> Result<Counted, Box<dyn Error>> {
    let device = Device::simulator_with(Config {
        record: Record::Full,
        caches: Some(architecture),
        // As hardware tends to, so that what blocks share in the caches is close in time.
        block_order: BlockOrder::Ascending,
        vary_residency: false,
        ..Config::default()
    });
    let matrix = Layout::row_major(size, size)?;
    // Every element of its own, as bits: floats would repeat beyond 2^24.
    let values: Vec<f32> = (0..matrix.span()).map(|index| f32::from_bits(index as u32)).collect();
    let input = device.upload(&values)?;
    let mut output = device.alloc(matrix.span())?;
    transposition.enqueue(&device.default_stream(), &input, matrix, &mut output)?;
    let transposed = output.to_vec()?;
    let place = |index: usize| index % size * size + index / size;
    if let Some(index) =
        (0..values.len()).find(|&index| transposed[index].to_bits() != values[place(index)].to_bits())
    {
        return Err(format!("{transposition}: element {index} is wrong").into());
    }
    let reports = device.as_simulator().ok_or("the simulator is a simulator")?.take_reports();
    let first = reports.first().ok_or("nothing was launched")?;
    Ok(Counted {
        transposition,
        launches: reports.len(),
        metrics: Metrics::of_all(&reports),
        occupancy: Occupancy::of(&architecture, &first.geometry, None),
    })
}

/// A line of JSON: the metrics under nvprof's names. Percentages are between 0 and 100.
#[derive(Serialize)]
#[allow(missing_docs)]
pub struct Line {
    pub variant: &'static str,
    pub block: u32,
    pub gld_efficiency: f64,
    pub gst_efficiency: f64,
    pub shared_efficiency: f64,
    pub branch_efficiency: f64,
    pub divergent_branch: u64,
    pub gld_transactions: u64,
    pub gst_transactions: u64,
    pub gld_transactions_per_request: f64,
    pub gst_transactions_per_request: f64,
    pub shared_load_transactions: u64,
    pub shared_store_transactions: u64,
    pub shared_load_transactions_per_request: f64,
    pub shared_store_transactions_per_request: f64,
    pub global_bytes_requested: u64,
    pub global_bytes_moved: u64,
    pub l1_transactions: u64,
    pub global_hit_rate: f64,
    pub l2_read_transactions: u64,
    pub l2_write_transactions: u64,
    pub l2_read_hit_rate: f64,
    pub l2_write_hit_rate: f64,
    pub dram_read_transactions: u64,
    pub dram_write_transactions: u64,
    pub theoretical_occupancy: f64,
    pub achieved_occupancy: f64,
    pub ldst_executed: u64,
    pub barriers: u64,
    pub control_approximate: u64,
    pub size: usize,
    pub launches: usize,
    pub architecture: &'static str,
}

impl Counted {
    /// Its line of JSON.
    #[inline]
    pub fn line(&self, size: usize, architecture: &Architecture) -> Line {
        let metrics = &self.metrics;
        let caches = metrics.caches.expect("`count` asks for them");
        Line {
            variant: self.transposition.name(),
            block: self.transposition.block(),
            gld_efficiency: metrics.gld_efficiency,
            gst_efficiency: metrics.gst_efficiency,
            shared_efficiency: metrics.shared_efficiency,
            branch_efficiency: metrics.branch_efficiency,
            divergent_branch: metrics.divergent_branch,
            gld_transactions: metrics.gld_transactions,
            gst_transactions: metrics.gst_transactions,
            gld_transactions_per_request: metrics.gld_transactions_per_request,
            gst_transactions_per_request: metrics.gst_transactions_per_request,
            shared_load_transactions: metrics.shared_load_transactions,
            shared_store_transactions: metrics.shared_store_transactions,
            shared_load_transactions_per_request: metrics.shared_load_transactions_per_request,
            shared_store_transactions_per_request: metrics.shared_store_transactions_per_request,
            global_bytes_requested: metrics.global_bytes().requested,
            global_bytes_moved: metrics.global_bytes().moved,
            l1_transactions: caches.l1_transactions,
            global_hit_rate: caches.global_hit_rate,
            l2_read_transactions: caches.l2_read_transactions,
            l2_write_transactions: caches.l2_write_transactions,
            l2_read_hit_rate: caches.l2_read_hit_rate,
            l2_write_hit_rate: caches.l2_write_hit_rate,
            dram_read_transactions: caches.dram_read_transactions,
            dram_write_transactions: caches.dram_write_transactions,
            theoretical_occupancy: self.occupancy.theoretical,
            achieved_occupancy: self.occupancy.achieved,
            ldst_executed: metrics.instructions.ldst_executed(),
            barriers: metrics.instructions.barriers,
            control_approximate: metrics.instructions.control_approximate,
            size,
            launches: self.launches,
            architecture: architecture.name,
        }
    }
}
