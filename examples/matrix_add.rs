//! What the shape of the grid and of the block is worth: the sum of two matrices with 12 of them.
//!
//! `cargo run --release --example matrix_add` runs a course's 12 tests (`gpu_examples::additions::MATRICES`), among
//! them grids with 30 threads for an element and blocks that are no whole warps, beside the CPU and with the copies.
//! `--metrics` shows what the simulator counts of tests 7 and 8, which differ in nothing but the grid. Without a GPU
//! it runs them in the simulator, with sides 50 times shorter; those times are the simulator's own.

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;
use gpu_core::Device;
use gpu_examples::additions::{self, Configuration, MATRICES};
use gpu_examples::exit_code;
use gpu_examples::table::Table;
use gpu_linalg::variants::add;
use gpu_sim::metrics::{Architecture, Metrics, Occupancy};
use gpu_sim::{BlockOrder, Config, Geometry, Record};
use serde::Serialize;

/// Time the sum of two matrices with 12 grids and blocks, and the copies around it
#[derive(Parser)]
struct Options {
    #[command(flatten)]
    common: additions::Common,
    /// Time nothing: print what the simulator counts of tests 7 and 8
    #[arg(long)]
    metrics: bool,
}

/// So many times shorter are the sides for the simulator.
const SMALLER: u32 = 50;

/// Rows and columns of the matrix whose sum is simulated: a whole number of warps, so that nothing but the grid's
/// excess counts.
const SIMULATED: usize = 160;

fn main() -> ExitCode {
    let options = Options::parse();
    exit_code(if options.metrics {
        metrics(options.common.json)
    } else {
        additions::run(&options.common, "sums of matrices of f32", &MATRICES, SMALLER)
    })
}

/// What the simulator counts of a launch: nvprof's metrics as far as nothing has to be timed for them.
#[derive(Serialize)]
struct Counted {
    #[serde(flatten)]
    configuration: Configuration,
    threads: u64,
    warps: u64,
    /// Threads for each element.
    threads_per_element: f64,
    /// Loads and stores of threads, for each element.
    accesses_per_element: f64,
    /// Of warps, of which those without an element have none.
    ldst_executed: u64,
    /// Of warps, as they stand in the source.
    control_approximate: u64,
    gld_efficiency: f64,
    gst_efficiency: f64,
    /// Of the whole test.
    theoretical_occupancy: f64,
    /// Of the whole test, as if all blocks took as long.
    achieved_occupancy: f64,
}

/// A test's grid for the matrix that is simulated: as many blocks as its rule gives.
fn simulated(test: u32) -> Configuration {
    let warps = (SIMULATED / 32) as u32;
    // The course counted blocks of 32 threads in both tests; in the first they have 1024.
    let (grid, block) =
        if test == 7 { ([warps, SIMULATED as u32], [1024, 1]) } else { ([warps, warps], [32, 32]) };
    Configuration { test, rows: SIMULATED, columns: SIMULATED, repeats: 1, grid, block }
}

fn count(configuration: Configuration) -> Result<Counted, Box<dyn Error>> {
    let device = Device::simulator_with(Config {
        record: Record::Full,
        block_order: BlockOrder::Ascending,
        vary_residency: false,
        ..Config::default()
    });
    let elements = configuration.elements();
    let x: Vec<f32> = (0..elements).map(|index| index as f32).collect();
    let (x_device, mut z) = (device.upload(&x)?, device.alloc(elements)?);
    let shape = [configuration.rows, configuration.columns];
    add(&device.default_stream(), configuration.launch(), &x_device, &x_device, &mut z, shape)?;
    if z.to_vec()?.iter().zip(&x).any(|(&sum, &x)| sum != 2.0 * x) {
        return Err(format!("test {}: the sum is wrong", configuration.test).into());
    }
    let reports = device.as_simulator().ok_or("the simulator is a simulator")?.take_reports();
    let first = reports.first().ok_or("nothing was launched")?;
    let metrics = Metrics::of_all(&reports);
    // Of the whole test, which is too large to be simulated, but whose grid is known.
    let whole =
        MATRICES.iter().find(|test| test.test == configuration.test).ok_or("the test is one of them")?;
    let [x, y] = whole.grid;
    let geometry = Geometry { grid: [x, y, 1], ..first.geometry };
    let occupancy = Occupancy::of(&Architecture::H200, &geometry, None);
    let accessed = metrics.global_loads.requested + metrics.global_stores.requested;
    Ok(Counted {
        configuration,
        threads: configuration.threads(),
        warps: configuration.threads() / 32,
        threads_per_element: configuration.threads() as f64 / elements as f64,
        accesses_per_element: accessed as f64 / size_of::<f32>() as f64 / elements as f64,
        ldst_executed: metrics.instructions.ldst_executed(),
        control_approximate: metrics.instructions.control_approximate,
        gld_efficiency: metrics.gld_efficiency,
        gst_efficiency: metrics.gst_efficiency,
        theoretical_occupancy: occupancy.theoretical,
        achieved_occupancy: occupancy.achieved,
    })
}

fn metrics(json: bool) -> Result<(), Box<dyn Error>> {
    let counted = [7, 8].map(simulated).into_iter().map(count).collect::<Result<Vec<_>, _>>()?;
    if json {
        counted.iter().try_for_each(|line| serde_json::to_string(line).map(|text| println!("{text}")))?;
        return Ok(());
    }
    println!("sums of {SIMULATED} × {SIMULATED} matrices, simulated on the model of an H200\n");
    let mut table = Table::new(["", "test 7", "test 8"]);
    let mut row = |name: &str, text: &dyn Fn(&Counted) -> String| {
        table.row([name.to_owned(), text(&counted[0]), text(&counted[1])]);
    };
    let shape = |[x, y]: [u32; 2]| format!("{x}×{y}");
    row("grid", &|of| shape(of.configuration.grid));
    row("block", &|of| shape(of.configuration.block));
    row("threads", &|of| of.threads.to_string());
    row("threads per element", &|of| format!("{:.2}", of.threads_per_element));
    row("warps", &|of| of.warps.to_string());
    row("loads and stores per element", &|of| format!("{:.2}", of.accesses_per_element));
    row("ldst_executed", &|of| of.ldst_executed.to_string());
    row("control flow (approximate)", &|of| of.control_approximate.to_string());
    row("gld_efficiency %", &|of| format!("{:.2}", of.gld_efficiency));
    row("gst_efficiency %", &|of| format!("{:.2}", of.gst_efficiency));
    row("theoretical occupancy %", &|of| format!("{:.2}", of.theoretical_occupancy));
    row("achieved occupancy %", &|of| format!("{:.2}", of.achieved_occupancy));
    println!("{table}");
    Ok(())
}
