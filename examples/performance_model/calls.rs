//! Calls: public functions that no program times (crate gpu-calls), and products on the tensor cores by kernels that no
//! plan takes for the programs' shapes.
//!
//! There is nothing to set the predictions beside, so they are predicted only. A call is counted like a case of the
//! benchmarks: launched in the simulator in two small sizes, all blocks or, where they do not wait for each other, a
//! few of them, and scaled.

use std::error::Error;
use std::sync::OnceLock;

use gpu_benches::tensor::{Shape, measure};
pub use gpu_calls::Call;
use gpu_calls::{Part, Run};
use gpu_core::Device;
use gpu_examples::predicted::{Counted, side_by_side};
use gpu_linalg::bf16;
use gpu_linalg::variants::{TensorStep, TensorVariant, gemm_step};
use gpu_model::literature::roofline::Demand;
use gpu_model::units::Bytes;
use gpu_model::waves::{Counts, simulated};
use gpu_sim::{Config, Record};

use super::cases::Counting;
use super::scaling::{in_cache, multiprocessors, operate, read_once, scaled_launches};
use super::tensor::MMA;

/// What any implementation of so many elements has to do.
pub fn demand(call: &Call, size: usize) -> Demand {
    let of = |each: f64| each * size as f64;
    Demand { operations: of(call.operations), bytes: vec![Bytes(of(call.bytes))] }
}

/// The launches of so many elements, of some or all of their blocks.
fn simulate(
    call: &Call,
    size: usize,
    sample: Option<u32>,
    multiprocessors: u32,
    counting: &Counting,
) -> Result<Vec<Counts>, String> {
    let run = || -> Result<Vec<Counts>, Box<dyn Error>> {
        let config = Config { sample, multiprocessors, ..simulated::config(counting.caches) };
        // What is done once, before the first of many, is none of it: nothing is counted, and no block waits for one
        // that runs beside it.
        let unseen = Config { record: Record::Off, caches: None, resident_blocks: 1, ..config };
        let device = Device::simulator_with(unseen);
        let mut run = call.ready(&device, size)?;
        let simulator = device.as_simulator().ok_or("the simulator is a simulator")?;
        drop((simulator.take_reports(), simulator.take_fills()));
        simulator.set_config(config);
        run()?;
        device.synchronize()?;
        Ok(match call.part.units {
            Some(mma) => counting.launched_by_units(&device, mma)?,
            None => counting.launched(&device)?,
        })
    };
    run().map_err(|error| format!("{} of {size}: {error}", call.name))
}

/// What so many elements count: simulated up to some size, scaled beyond.
///
/// # Errors
/// Those of the simulator; launches that are others when there are fewer elements, so that nothing can be scaled.
pub fn count(call: &Call, size: usize, counting: &Counting) -> Result<Counted, Box<dyn Error>> {
    let Part { elements, sample, .. } = call.part;
    let mut counted = if size <= elements {
        let all = Config::default().multiprocessors;
        let launches = simulate(call, size, sample, all, counting)?;
        Counted { smaller: launches.clone(), launches, simulated: size }
    } else {
        // From larger launches where smaller ones tell nothing of the whole.
        let attempts = [(1, true), (4, true), (1, false)];
        let all = attempts.into_iter().filter(|(larger, _)| size > larger * elements);
        let mut found = Err("nothing was simulated".into());
        for (larger, growing) in all {
            found = scaled(call, size, larger * elements, growing, counting);
            if found.is_ok() {
                break;
            }
        }
        found?
    };
    let bytes = demand(call, size).bytes[0];
    if sample.is_some() {
        read_once(&mut counted, bytes);
    }
    in_cache(&mut counted, bytes, counting.l2);
    operate(&mut counted.launches, call.operations * size as f64);
    Ok(counted)
}

/// As scaled from so many elements and a quarter of them.
fn scaled(
    call: &Call,
    size: usize,
    large: usize,
    growing: bool,
    counting: &Counting,
) -> Result<Counted, Box<dyn Error>> {
    let elements = [large / 4, large];
    let all = Config::default().multiprocessors;
    let [of_small, of_large] = side_by_side(elements, |part| {
        let of_part = if call.part.is_cut { multiprocessors(part, size) } else { all };
        simulate(call, part, call.part.sample, of_part, counting)
    })?;
    scaled_launches([&of_small, &of_large], elements, size, growing)
}

/// All calls.
pub fn all() -> &'static [Call] {
    static ALL: OnceLock<Vec<Call>> = OnceLock::new();
    ALL.get_or_init(|| gpu_calls::all().into_iter().chain(on_tensor_cores()).collect())
}

/// Rows and columns of products on the tensor cores.
const SIDE: usize = 2048;
/// How long the sums are that are simulated, of which the smaller ones have a quarter.
const LENGTH: usize = 1024;

/// Products on the tensor cores by kernels of choice, as the program for those launches them. Their operations are none
/// of 32 bits.
fn on_tensor_cores() -> [Call; 10] {
    let [fragments, tiles, boxes] = TensorStep::ALL.map(by_step);
    [
        fragments,
        tiles,
        boxes,
        by_variant("f16", TensorVariant::Lanes),
        by_variant("f16", TensorVariant::Narrow),
        by_variant("f16", TensorVariant::Thin),
        by_variant("f16", TensorVariant::Cluster),
        by_variant("bf16", TensorVariant::Cluster),
        by_variant("i8", TensorVariant::Lanes),
        in_parts(),
    ]
}

/// A product on the tensor cores.
fn by_variant(element: &'static str, variant: TensorVariant) -> Call {
    let output = if element == "i8" { "i32" } else { element };
    let bytes = if element == "i8" { [1, 4] } else { [2, 2] };
    let area = SIDE * SIDE;
    let name = format!("gemm_tensor_variant/{variant:?}/{element}").to_lowercase();
    let each = (2 * bytes[0] + bytes[1]) as f64 / SIDE as f64;
    // Bytes are contiguous along the sums.
    let transposed = [false, element == "i8"];
    let call = Call::new(name, each, by_units(area * LENGTH), move |device, products| {
        let size = [SIDE, SIDE, products / area];
        measured(device, Shape { element, output, size, transposed, count: 1 }, Some(variant))
    });
    call.with(area * SIDE, 0.0)
}

/// A product by a step to those.
fn by_step(step: TensorStep) -> Call {
    let (area, each) = (SIDE * SIDE, 8.0 / SIDE as f64);
    let name = format!("gemm_step/{step:?}").to_lowercase();
    let call = Call::new(name, each, by_units(area * LENGTH), move |device, products| {
        let k = products / area;
        let (a, b) = (device.zeroed::<bf16>(SIDE * k)?, device.zeroed::<bf16>(SIDE * k)?);
        let (mut c, stream) = (device.zeroed(area)?, device.default_stream());
        Ok(Box::new(move || Ok(gemm_step(step, &stream, &a, &b, &mut c, [SIDE, SIDE, k])?)))
    });
    call.with(area * SIDE, 0.0)
}

/// A product of a small area on the tensor cores, whose sums are cut into parts.
fn in_parts() -> Call {
    const AREA: usize = 256 * 256;
    let all = AREA << 14;
    let call = Call::new("gemm_tensor/parts/f16".into(), 4.0 / 256.0, by_units(all), |device, products| {
        let size = [256, 256, products / AREA];
        let shape = Shape { element: "f16", output: "f16", size, transposed: [false; 2], count: 1 };
        measured(device, shape, None)
    });
    call.with(all, 0.0)
}

/// A block of so many products.
fn by_units(products: usize) -> Part {
    Part { units: Some(MMA), ..Part::sample(products, 1) }
}

/// As its program measures it, inputs and all: copies to the device are no launches.
fn measured(device: &Device, shape: Shape, variant: Option<TensorVariant>) -> Result<Run, Box<dyn Error>> {
    let device = device.clone();
    Ok(Box::new(move || Ok(measure(&device, &shape, variant, false).map(drop)?)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::tests::with_counters;
    use super::super::{coverage, recorded};
    use super::*;

    #[test]
    fn each_row_has_a_name_of_its_own() {
        let rows = recorded::kernels(&[]).expect("all are there");
        let names: BTreeSet<String> = rows.iter().map(|row| row.name()).collect();
        assert_eq!(names.len(), rows.len());
        assert!(all().iter().all(|call| names.contains(&call.name)) && all().len() > 400, "{}", all().len());
        for Call { name, size, bytes, operations, part, .. } in all() {
            assert!(*bytes > 0.0 && *operations >= 0.0 && *size >= part.elements, "{name}");
        }
    }

    /// Each call is there for a kernel that no other row launches.
    #[test]
    fn none_is_superfluous() {
        let rows: BTreeSet<&str> = coverage::predicted().into_values().collect();
        let without: Vec<&str> =
            all().iter().map(|call| call.name.as_str()).filter(|name| !rows.contains(name)).collect();
        assert!(without.is_empty(), "{without:?}");
    }

    /// Of as many elements as are simulated nothing is scaled, and what is scaled to as many is the same.
    #[test]
    fn what_is_simulated_itself_is_its_scaled_counts() {
        let h200 = gpu_model::Device::by_name("h200").expect("it is described");
        let call = all().iter().find(|call| call.name == "select_flagged/u8").expect("there is one");
        let elements = call.part.elements;
        let [counted, scaled] = with_counters(|counters| {
            let counter = crate::counter(counters, &recorded::SOURCES[0], &h200).expect("it was measured");
            let counted = count(call, elements, counter.counting()).expect("it is simulated");
            let scaled = scaled(call, elements, elements, true, counter.counting());
            [counted, scaled.expect("its launches are the same")]
        });
        assert_eq!((counted.simulated, scaled.simulated), (elements, elements));
        assert_eq!(counted.launches.len(), scaled.launches.len());
        for (one, other) in counted.launches.iter().zip(&scaled.launches) {
            assert_eq!((&one.kernel, one.blocks, one.threads), (&other.kernel, other.blocks, other.threads));
            let of = |counts: &Counts| {
                let instructions = counts.instructions.all();
                [
                    counts.memory_read.0,
                    counts.memory_written.0,
                    counts.lines,
                    counts.lines_written,
                    instructions,
                ]
            };
            for (one, other) in of(one).into_iter().zip(of(other)) {
                assert!((one - other).abs() <= 1e-9 * one.abs(), "{one} is scaled to {other}");
            }
        }
    }
}
