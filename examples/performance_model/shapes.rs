//! The shapes that gpu-benches has programs of their own for: selections and sorts of segments, products on the tensor
//! cores, batches by starts, factorisations and their systems, bands, symmetric updates, triangular systems, and what
//! is done with sparse matrices.
//!
//! Of each program the shapes of the figures are predicted, and every so many-th of those that a seed drew, by a rule
//! that was fixed before any of them was predicted. They were timed again and again on one input.

use std::collections::{HashMap, HashSet};
use std::error::Error;

use gpu_benches::suite::sparse::{Structure, Timed, structures};
use gpu_benches::sweep::wall_median;
use gpu_benches::{
    batched as batches, factor as factors, level3 as updates, shapes as sorts, tensor as tensors,
};
use gpu_core::Device;
use gpu_examples::predicted::Counted;
use gpu_model::literature::roofline::Demand;
use gpu_model::units::{Bytes, Seconds};
use gpu_model::waves::Counts;
use serde::Deserialize;

use super::cases::Counting;
use super::changed::moment;
use super::operations::{self, Operation};
use super::skyline::Skyline;
use super::timing::{Calls, Read, Timing};
use super::{
    analyses, batched, conversions, factor, level3, renewals, sorting, sparse, tensor, transpositions,
};

/// Every so many-th of the drawn shapes of sorts, and of products on the tensor cores, of which 400 come last: of the
/// 200 that there were when the rule was fixed, and of those that were drawn later and not measured.
const EVERY_SORT: usize = 4;
const EVERY_TENSOR: usize = 10;
const DRAWN_TENSOR: usize = 400;
/// The same of factors, of updates and systems, of sparse matrices, of which each fifth is of another kind, and of
/// batches of products: rules that were fixed before any of them was predicted.
const EVERY_FACTOR: usize = 9;
const EVERY_LEVEL3: usize = 9;
const EVERY_SPARSE: usize = 5;
const EVERY_BATCH: usize = 4;

/// Microseconds, and when they were measured.
pub type Time = (f64, u64);

/// How often each operation of a sparse matrix is timed.
const ROUNDS: usize = 21;

/// A shape of one of these programs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// The first keys, or segments in order.
    Sort(sorts::Shape),
    /// A product on the tensor cores.
    Tensor(tensors::Shape),
    /// A factorisation, or systems with factors.
    Factor(factors::Shape),
    /// A factorisation of a band, or of the whole matrix beside it.
    Skyline(Skyline),
    /// A symmetric update, or a triangular system.
    Level3(updates::Shape),
    /// Something done with a sparse matrix.
    Sparse(Structure, Operation),
    /// A batch of products whose matrices start anywhere.
    Batch(batches::Shape),
}

/// A line of a program's results.
#[derive(Deserialize)]
struct Line {
    suite: String,
    peer: String,
    #[serde(alias = "structure")]
    shape: Option<String>,
    operation: Option<String>,
    algorithm: Option<String>,
    ms_median: f64,
    date: String,
}

impl Shape {
    /// All of them.
    pub fn all() -> Vec<Self> {
        let sorts = chosen(sorts::shapes(), |shape| shape.drawn, EVERY_SORT).map(Self::Sort);
        let mut products = tensors::shapes();
        let drawn = products.split_off(products.len().saturating_sub(DRAWN_TENSOR));
        let products = products.into_iter().chain(drawn.into_iter().step_by(EVERY_TENSOR));
        let factors = chosen(factors::shapes(), |shape| shape.drawn, EVERY_FACTOR).map(Self::Factor);
        let updates = chosen(updates::shapes(), |shape| shape.drawn, EVERY_LEVEL3).map(Self::Level3);
        let batches = chosen(batches::shapes(), |shape| shape.drawn, EVERY_BATCH).map(Self::Batch);
        let structures = chosen(structures(), |structure| structure.drawn, EVERY_SPARSE);
        let sparse = structures.flat_map(|structure| {
            let all = Operation::all().into_iter();
            let all = all.filter(move |operation| !structure.drawn || operation.is_of_any_kind());
            all.map(move |operation| Self::Sparse(structure, operation))
        });
        let factors = factors.chain(Skyline::all().map(Self::Skyline));
        let products = products.map(Self::Tensor).chain(batches);
        sorts.chain(products).chain(factors).chain(updates).chain(sparse).collect()
    }

    /// What its results are called: suite, shape, and of sparse matrices operation and algorithm.
    fn result(self) -> (&'static str, String) {
        match self {
            Self::Factor(shape) => ("factor", shape.to_string()),
            Self::Skyline(shape) => ("factor", shape.to_string()),
            Self::Level3(shape) => ("level3", shape.to_string()),
            Self::Sparse(structure, operation) => {
                let [operation, algorithm] = operation.names();
                ("sparse", format!("{operation} {algorithm} {structure}").replace("  ", " "))
            }
            Self::Sort(shape) => ("sort-shapes", shape.to_string()),
            Self::Tensor(shape) => ("tensor", shape.to_string()),
            Self::Batch(shape) => ("batched", shape.to_string()),
        }
    }

    /// As `--kernel` takes it.
    pub fn name(self) -> String {
        let name = self.result().1.replace(' ', "/");
        if matches!(self, Self::Sparse(..)) { format!("sparse/{name}") } else { name }
    }

    /// Whether it is among those that came last, and are judged apart: batches by starts, and of factors, updates,
    /// systems and sparse matrices what a seed drew.
    pub fn is_last(self) -> bool {
        match self {
            Self::Batch(_) => true,
            Self::Factor(shape) => shape.drawn,
            Self::Level3(shape) => shape.drawn,
            Self::Sparse(structure, _) => structure.drawn,
            Self::Sort(_) | Self::Tensor(_) | Self::Skyline(_) => false,
        }
    }

    /// What its errors are put together with.
    pub fn family(self) -> &'static str {
        match self {
            Self::Factor(shape) if shape.drawn && shape.count > 1 => "drawn factors of batches",
            Self::Factor(shape) if shape.drawn => "drawn factors",
            Self::Level3(updates::Shape { op: updates::Op::Trsm, drawn: true, .. }) => {
                "drawn triangular systems"
            }
            Self::Level3(shape) if shape.drawn => "drawn symmetric updates",
            Self::Sparse(structure, Operation::Transpose(_)) if structure.drawn => {
                "drawn sparse transpositions"
            }
            Self::Sparse(structure, Operation::Order) if structure.drawn => "drawn orders of sparse rows",
            Self::Sparse(structure, Operation::Analysis(_)) if structure.drawn => "drawn sparse analyses",
            Self::Sparse(structure, _) if structure.drawn => "drawn sparse products",
            Self::Sort(sorts::Shape { op: sorts::Op::TopK(_), .. }) => "selections",
            Self::Sort(_) => "sorts of segments",
            Self::Tensor(tensors::Shape { element: "tf32", .. }) => "products of tf32",
            Self::Tensor(tensors::Shape { element: "i8", .. }) => "products of bytes",
            Self::Tensor(_) => "products of 16 bits",
            Self::Factor(factors::Shape { op: factors::Op::Potrf, count: 1, .. }) => {
                "factors of large matrices"
            }
            Self::Factor(factors::Shape { op: factors::Op::Potrf, .. }) => "factors of batches",
            Self::Factor(_) => "systems of factors",
            Self::Skyline(_) => "factors of bands",
            Self::Level3(updates::Shape { op: updates::Op::Trsm, .. }) => "triangular systems",
            Self::Level3(_) => "symmetric updates",
            Self::Batch(_) => "batches by starts",
            Self::Sparse(_, Operation::Spmv(_) | Operation::Spmm(_)) => "sparse products",
            Self::Sparse(_, Operation::Transpose(_)) => "sparse transpositions",
            Self::Sparse(_, Operation::Order) => "orders of sparse rows",
            Self::Sparse(_, Operation::Analysis(_)) => "sparse analyses",
            Self::Sparse(_, Operation::Ic0 | Operation::Ilu0) => "incomplete factors",
            Self::Sparse(_, operation) if operation.is_renewal() => "plans of sparse matrices",
            Self::Sparse(_, Operation::Expand | Operation::Compress | Operation::SortRows) => {
                "conversions of sparse matrices"
            }
            Self::Sparse(..) => "sparse systems",
        }
    }

    /// How large it is, for a table.
    pub fn size(self) -> usize {
        match self {
            Self::Sort(shape) => shape.len,
            Self::Tensor(shape) => shape.size[0] * shape.size[1] * shape.count,
            Self::Factor(shape) => shape.n * shape.n * shape.count,
            Self::Skyline(shape) => shape.n * shape.n,
            Self::Level3(shape) => shape.extents[0] * shape.extents[0],
            Self::Sparse(structure, _) => structure.rows as usize,
            Self::Batch(shape) => shape.extents[0] * shape.extents[1] * shape.count,
        }
    }

    /// What any implementation has to compute, in 32-bit operations, and to read and write.
    pub fn demand(self) -> Demand {
        let (operations, bytes) = match self {
            Self::Sort(shape) => (0.0, sorting::bytes(shape)),
            Self::Tensor(shape) => (0.0, tensor::demand(shape)[1]),
            Self::Factor(shape) => factor::demand(shape).into(),
            Self::Skyline(shape) => shape.demand().into(),
            Self::Level3(shape) => level3::demand(shape).into(),
            Self::Batch(shape) => batched::demand(shape).into(),
            Self::Sparse(structure, operation) => (0.0, operations::bytes(structure, operation)),
        };
        Demand { operations, bytes: vec![Bytes(bytes)] }
    }

    /// How its program times it.
    pub fn timing(self) -> Timing {
        match self {
            Self::Factor(shape) if shape.op == factors::Op::Potrf => {
                Timing::BehindCopy(factor::copied(shape))
            }
            Self::Sparse(_, operation) if operation.is_waited_for() => Timing::Waited,
            Self::Sparse(..) | Self::Skyline(_) => Timing::Alone,
            _ => Timing::Among,
        }
    }

    /// What the host reads while these are launched.
    pub fn reads(self, launches: &[Counts]) -> Vec<Read> {
        match self {
            Self::Sparse(_, Operation::Transpose(_)) => transpositions::reads(launches),
            Self::Sparse(_, operation) if operation.is_waited_for() => analyses::reads(launches),
            _ => Vec::new(),
        }
    }

    /// Its milliseconds on a device, as its program measures them.
    ///
    /// # Errors
    /// Those of the device.
    pub fn measure(self, device: &Device) -> Result<f64, Box<dyn Error>> {
        Ok(match self {
            Self::Sort(shape) => sorts::measure(device, &shape, gpu_sort::TopK::largest(), false)?,
            Self::Tensor(shape) => tensors::measure(device, &shape, None, false)?,
            Self::Factor(shape) => factors::measure(device, &shape, false)?,
            Self::Skyline(shape) => shape.measure(device)?,
            Self::Level3(shape) => updates::measure(device, &shape, None, false)?,
            Self::Batch(shape) => shape.measure(device, false)?,
            Self::Sparse(structure, operation) => {
                let arrays = structure.arrays();
                if let Some(mut run) = conversions::ready(operation, device, &arrays)? {
                    return Ok(wall_median(ROUNDS, || Ok(run()?))?);
                }
                if let Some(ms) = renewals::measure(operation, device, &arrays, ROUNDS)? {
                    return Ok(ms);
                }
                let [operation, algorithm] = operation.names();
                let all = gpu_benches::suite::sparse::measure(device, &arrays, ROUNDS, false)?;
                let is_it = |one: &&Timed| {
                    one.operation == operation && (algorithm.is_empty() || one.algorithm == algorithm)
                };
                all.iter().find(is_it).ok_or_else(|| format!("{} was not timed", self.name()))?.ms
            }
        })
    }

    /// What it counts.
    ///
    /// # Errors
    /// Those of the simulator.
    pub fn count(self, counting: &Counting) -> Result<Counted, Box<dyn Error>> {
        match self {
            Self::Sort(shape) => sorting::count(shape, counting),
            Self::Tensor(shape) => tensor::count(shape, counting),
            Self::Factor(shape) => factor::count(shape, counting),
            Self::Skyline(shape) => shape.count(counting),
            Self::Level3(shape) => level3::count(shape, counting),
            Self::Batch(shape) => batched::count(shape, counting),
            Self::Sparse(structure, operation) => sparse::count(structure, operation, counting),
        }
    }
}

/// Of a program's shapes all that were not drawn, and every so many-th of the others.
fn chosen<T>(all: Vec<T>, is_drawn: fn(&T) -> bool, every: usize) -> impl Iterator<Item = T> {
    let (drawn, figures): (Vec<T>, Vec<T>) = all.into_iter().partition(is_drawn);
    figures.into_iter().chain(drawn.into_iter().step_by(every))
}

/// Of each suite and shape the newest result: its microseconds, and when it was measured.
type Newest = HashMap<(String, String), (f64, u64)>;

fn results(texts: &[&str]) -> Result<Newest, serde_json::Error> {
    let mut newest = Newest::new();
    for line in texts.iter().flat_map(|text| text.lines()) {
        let Line { suite, peer, shape: Some(shape), operation, algorithm, ms_median, date } =
            serde_json::from_str(line)?
        else {
            continue;
        };
        // Of an order of rows, and of an analysis, it says how many levels there are.
        let is_of_levels = matches!(operation.as_deref(), Some("order rows" | "analysis"));
        let algorithm = algorithm.filter(|_| !is_of_levels);
        let words = [operation.unwrap_or_default(), algorithm.unwrap_or_default(), shape];
        let name = words.iter().filter(|word| !word.is_empty()).map(String::as_str).collect::<Vec<_>>();
        let of_shape = newest.entry((suite, name.join(" "))).or_default();
        if peer == gpu_benches::report::OURS && moment(&date) >= of_shape.1 {
            *of_shape = (ms_median * 1e3, moment(&date));
        }
    }
    Ok(newest)
}

/// The newest results of square products of row-major matrices, by the names of the benchmarks' cases.
///
/// # Errors
/// Where a line is no result.
pub fn products(texts: &[&str]) -> Result<Vec<(String, Time)>, serde_json::Error> {
    let results = results(texts)?;
    let square = |((suite, shape), time): (&(String, String), &Time)| {
        let words: Vec<&str> = shape.split(' ').collect();
        match words[..] {
            ["gemm", element, m, n, k, "nn", "0"] if suite == "product-shapes" && m == n && n == k => {
                Some((format!("gemm/{element}/{m}x{n}"), *time))
            }
            _ => None,
        }
    };
    Ok(results.iter().filter_map(square).collect())
}

/// The microseconds of the shapes of which there is a result, the newest one, when it was measured, and what a call
/// with next to nothing to do took then.
///
/// # Errors
/// Where a line is no result.
pub fn newest(texts: &[&str]) -> Result<Vec<(Shape, Time, Option<Seconds>)>, serde_json::Error> {
    let (newest, all) = (results(texts)?, Shape::all());
    let rows: HashSet<(&str, String)> = all.iter().map(|shape| shape.result()).collect();
    let calls = Calls::of(texts, |suite, shape| rows.contains(&(suite, shape.to_owned())))?;
    let found = all.iter().filter_map(|&shape| {
        let (suite, name) = shape.result();
        let call = |moment| calls.time(suite, &name, moment);
        let time = newest.get(&(suite.to_owned(), name.clone()))?;
        (time.0 > 0.0).then(|| (shape, *time, call(time.1)))
    });
    Ok(found.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shape_has_a_name_of_its_own() {
        let all = Shape::all();
        let mut names: Vec<String> = all.iter().map(|shape| shape.name()).collect();
        names.sort_unstable();
        let before = names.len();
        names.dedup();
        assert!(names.len() == before && before > 200, "{} of {before}", names.len());
        for shape in all {
            let Demand { operations, bytes } = shape.demand();
            assert!(operations >= 0.0 && bytes[0].0 > 0.0 && shape.size() > 0, "{}", shape.name());
        }
    }

    #[test]
    fn the_newest_result_of_a_shape_counts() {
        const SHAPE: &str = "potrf f64 512 1 l 0 0 0";
        let line = |peer: &str, time: f64, date: &str| {
            format!(
                r#"{{"suite":"factor","peer":"{peer}","shape":"{SHAPE}","ms_median":{time},"date":"{date}"}}"#
            )
        };
        let text = [line("ours", 2.0, "2"), line("ours", 3.0, "1"), line("cusolver", 4.0, "3")].join("\n");
        let [(shape, time, _)] = newest(&[&text]).expect("they are lines")[..] else {
            panic!("there is one")
        };
        assert_eq!((shape.name().as_str(), time), ("potrf/f64/512/1/l/0/0/0", (2000.0, 2)));
        let sparse = r#"{"suite":"sparse","peer":"ours","shape":"band 200000 16 0 0","operation":"spmv",
            "algorithm":"Thread","ms_median":0.5,"date":"1"}"#;
        let [(shape, time, _)] = newest(&[&sparse.replace('\n', "")]).expect("a line")[..] else {
            panic!("there is one")
        };
        assert_eq!((shape.family(), time), ("sparse products", (500.0, 1)));
        let product = |shape: &str| {
            format!(
                r#"{{"suite":"product-shapes","peer":"ours","shape":"{shape}","ms_median":3.0,"date":"7"}}"#
            )
        };
        let lines =
            ["gemm f32 64 64 64 nn 0", "gemm f32 64 64 32 nn 0", "gemm f32 64 64 64 tn 0"].map(product);
        let found = products(&[&lines.join("\n")]).expect("lines");
        assert_eq!(found, [("gemm/f32/64x64".to_owned(), (3000.0, 7))]);
    }
}
