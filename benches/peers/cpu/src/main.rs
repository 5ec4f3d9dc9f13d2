//! Times gpu-linalg's CPU device and faer by turns, in one process and on the same threads: what disturbs the machine
//! disturbs both.

mod routines;

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use serde_json::json;

use routines::{Case, Real, Routine};

/// Times gpu-linalg on the CPU, and faer, by turns.
///
/// Matrices are column-major and square. Before each run inputs are as they were; that is not timed. First both
/// results are compared: exit code 1 says that they differ by more than rounding.
#[derive(Debug, Parser)]
#[command(name = "cpu-peers", version)]
struct Args {
    /// What to time
    #[arg(long, value_enum, value_delimiter = ',', default_value = "potrf,syrk,trsm,gemm")]
    routines: Vec<Routine>,

    /// Types of elements
    #[arg(long, value_enum, value_delimiter = ',', default_value = "f64,f32")]
    types: Vec<Type>,

    /// Rows of the matrices [default: 512,1024,2048,4096 for potrf, 256,512,1024 for the others]
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    sizes: Vec<u32>,

    /// Time each row of the table for so long
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    seconds: f64,

    /// Threads of both [default: one for each core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Write one JSON object a line for every row to this file as well
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Type {
    F32,
    F64,
}

/// Times of both, sorted, in milliseconds.
struct Times {
    ours: Vec<f64>,
    faer: Vec<f64>,
}

fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

/// Runs both by turns, for so many seconds, and at least three times.
fn measure<T: Real>(case: &mut Case<T>, seconds: f64) -> Times {
    let mut times = Times { ours: Vec::new(), faer: Vec::new() };
    let timed = |times: &mut Vec<f64>, took: Duration| times.push(took.as_secs_f64() * 1e3);
    let start = Instant::now();
    while times.ours.len() < 3 || start.elapsed().as_secs_f64() < seconds {
        timed(&mut times.ours, case.ours());
        timed(&mut times.faer, case.faer());
    }
    times.ours.sort_by(f64::total_cmp);
    times.faer.sort_by(f64::total_cmp);
    times
}

/// Compares and times one case; `None`: the results differ.
fn row<T: Real>(routine: Routine, n: usize, seconds: f64) -> Option<Times> {
    let mut case = Case::<T>::new(routine, n);
    // What is compared has run once: caches and threads are warm.
    case.ours();
    case.faer();
    case.agrees().then(|| measure(&mut case, seconds))
}

fn main() -> ExitCode {
    let args = Args::parse();
    if let Some(threads) = args.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build_global().expect("the pool is not yet in use");
    }
    let threads = rayon::current_num_threads();
    let mut json = args.json.as_ref().map(|path| File::create(path).expect("a file that can be written"));
    println!("milliseconds, median and least, on {threads} threads; speed: faer's median by ours\n");
    println!("routine  type     n      ours     least      faer     least  speed   runs");
    println!("-------  ----  ----  --------  --------  --------  --------  -----  -----");
    let mut code = ExitCode::SUCCESS;
    for &routine in &args.routines {
        let sizes = if args.sizes.is_empty() { routine.sizes() } else { &args.sizes };
        for &of in &args.types {
            for &n in sizes {
                let (name, of_type) = (routine.name(), format!("{of:?}").to_lowercase());
                let times = match of {
                    Type::F32 => row::<f32>(routine, n as usize, args.seconds),
                    Type::F64 => row::<f64>(routine, n as usize, args.seconds),
                };
                let Some(Times { ours, faer }) = times else {
                    println!("{name:7}  {of_type:4}  {n:4}  the results differ");
                    code = ExitCode::FAILURE;
                    continue;
                };
                let (middle, faer_middle) = (median(&ours), median(&faer));
                let (speed, runs) = (faer_middle / middle, ours.len());
                print!("{name:7}  {of_type:4}  {n:4}  {middle:8.3}  {:8.3}  ", ours[0]);
                println!("{faer_middle:8.3}  {:8.3}  {speed:5.2}  {runs:5}", faer[0]);
                if let Some(json) = &mut json {
                    let row = json!({
                        "routine": name, "type": of_type, "n": n, "threads": threads, "runs": runs,
                        "ours_ms": middle, "ours_least_ms": ours[0],
                        "faer_ms": faer_middle, "faer_least_ms": faer[0],
                    });
                    writeln!(json, "{row}").expect("a file that can be written");
                }
            }
        }
    }
    code
}
