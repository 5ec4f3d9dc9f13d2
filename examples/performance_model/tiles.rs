//! Which tiles a product of matrices should take: the model's choice beside the fastest that was measured, and beside
//! that of gpu-linalg's plan.
//!
//! Every kernel of `gemm` was timed on an H100, at shapes drawn by a seed (benches/results, `product-shapes
//! --kernels`). The table has every third of those of `f32` none of whose sides is less than 64, from the first one on:
//! a rule that was fixed before anything was predicted of them. No formula was sought with them in view.

use std::error::Error;
use std::io::{self, Write};

use gpu_examples::table::Table;
use gpu_linalg::plan::gemm::Kernel;
use gpu_model::Device;
use gpu_model::units::Bytes;
use gpu_model::waves::Counts;
use gpu_model::waves::tuning::rank;
use serde::{Deserialize, Serialize};

use super::cases::Counting;
use super::product::{self, Product};

/// The least side of a product in the table.
const LEAST: usize = 64;
/// Every so many-th of the shapes.
const EVERY: usize = 3;

/// A line of the results.
#[derive(Deserialize)]
struct Timed {
    /// Type, m, n, k, which factors are transposed, whether it was drawn.
    shape: String,
    /// None where the plan of that day chose.
    kernel: Option<String>,
    ms_median: f64,
}

/// A product, and what each kernel took.
struct Shape {
    name: String,
    extents: [usize; 3],
    transposed: [bool; 2],
    /// Microseconds by each kernel.
    times: Vec<(Kernel, f64)>,
}

/// A row of the table.
#[derive(Serialize)]
pub struct Row {
    pub shape: String,
    /// The kernel that the model takes, and by how many percent it is predicted to be ahead of the second.
    pub model: &'static str,
    pub lead: f64,
    /// What is predicted of it, and what it took.
    pub predicted_microseconds: f64,
    pub model_microseconds: f64,
    /// The fastest one.
    pub fastest: &'static str,
    pub fastest_microseconds: f64,
    /// By the plan.
    pub plan_microseconds: f64,
    /// How much longer than the fastest the model's choice and the plan's take, in percent.
    pub model_loss: f64,
    pub plan_loss: f64,
}

/// The table.
#[derive(Serialize)]
pub struct Tiles {
    pub device: String,
    pub shapes: usize,
    /// How much longer than the fastest the choices take, in percent, by the geometric mean: the model's, the plan's,
    /// and those of whoever takes any of the kernels.
    pub model_loss: f64,
    pub plan_loss: f64,
    pub random_loss: f64,
    pub tiles: Vec<Row>,
}

/// The shapes of the table.
fn shapes(results: &str) -> Result<Vec<Shape>, Box<dyn Error>> {
    let mut all: Vec<Shape> = Vec::new();
    for line in results.lines() {
        let Timed { shape: name, kernel, ms_median } = serde_json::from_str(line)?;
        let words: Vec<&str> = name.split(' ').collect();
        let (&["gemm", "f32", m, n, k, orders, "1"], Some(kernel)) = (&words[..], kernel) else { continue };
        let extents = [m.parse()?, n.parse()?, k.parse()?];
        if extents.iter().any(|&side| side < LEAST) {
            continue;
        }
        let place = all.iter().position(|shape| shape.name == name).unwrap_or(all.len());
        if place == all.len() {
            let transposed = [0, 1].map(|factor| orders.as_bytes().get(factor) == Some(&b't'));
            all.push(Shape { name, extents, transposed, times: Vec::new() });
        }
        let shape = &mut all[place];
        let known = Kernel::of(size_of::<f32>(), None).iter().find(|one| one.name() == kernel);
        let known = known.ok_or_else(|| format!("there is no kernel `{kernel}`, which was measured"))?;
        shape.times.push((*known, ms_median * 1e3));
    }
    Ok(all.into_iter().step_by(EVERY).collect())
}

impl Tiles {
    /// That of the kernels' times on a device, of the first of so many shapes each.
    ///
    /// # Errors
    /// Those of the simulator and of the model; lines that are no results.
    pub fn of(
        device: &Device,
        counting: &Counting,
        results: &str,
        every: usize,
    ) -> Result<Self, Box<dyn Error>> {
        let (mut tiles, mut logarithms) = (Vec::new(), [0.0; 3]);
        for Shape { name, extents, transposed, times } in shapes(results)?.into_iter().step_by(every) {
            let kernels: Vec<Kernel> = times.iter().map(|(kernel, _)| *kernel).collect();
            let [m, n, k] = extents.map(|side| side as f64);
            // Each was launched again and again on the same factors.
            let cached = Bytes(4.0 * (m * k + k * n + m * n)) <= counting.l2;
            let count = |_: &(), &kernel: &Kernel| -> Result<Vec<Counts>, Box<dyn Error>> {
                let product = Product { extents, transposed, gaps: [0; 3], kernel: Some(kernel) };
                let launches = product::tiles(product, counting)?.into_iter();
                Ok(if cached { launches.map(Counts::cached).collect() } else { launches.collect() })
            };
            let ranking = rank(device, [()], &kernels, count)?.swap_remove(0);
            let took = |kernel: Kernel| {
                let found = times.iter().find(|(one, _)| *one == kernel);
                found.map_or(f64::NAN, |(_, time)| *time)
            };
            let fastest = times.iter().min_by(|one, other| one.1.total_cmp(&other.1));
            let &(fastest, least) = fastest.ok_or_else(|| format!("{name}: no kernel was measured"))?;
            let model = *ranking.best();
            let chosen = Product { extents, transposed, gaps: [0; 3], kernel: None };
            let plan = took(chosen.planned(size_of::<f32>())?);
            let mean = times.iter().map(|(_, time)| (time / least).ln()).sum::<f64>() / times.len() as f64;
            let ratios = [took(model) / least, plan / least];
            for (sum, more) in logarithms.iter_mut().zip([ratios[0].ln(), ratios[1].ln(), mean]) {
                *sum += more;
            }
            let [model_loss, plan_loss] = ratios.map(|ratio| 100.0 * (ratio - 1.0));
            tiles.push(Row {
                shape: name,
                model: model.name(),
                lead: 100.0 * ranking.lead(),
                predicted_microseconds: ranking.variants[0].1.time.0 * 1e6,
                model_microseconds: took(model),
                fastest: fastest.name(),
                fastest_microseconds: least,
                plan_microseconds: plan,
                model_loss,
                plan_loss,
            });
        }
        let loss = logarithms.map(|sum| 100.0 * ((sum / tiles.len() as f64).exp() - 1.0));
        let [model_loss, plan_loss, random_loss] = loss;
        let device = device.name.clone();
        Ok(Self { device, shapes: tiles.len(), model_loss, plan_loss, random_loss, tiles })
    }

    /// Prints it.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        writeln!(
            to,
            "Which kernel of `gemm` to take, by the model, on an {}; losses in percent of the fastest's time:\n",
            self.device
        )?;
        let mut table = Table::new([
            "m × n × k, transposed",
            "model's",
            "ahead by %",
            "predicted µs",
            "took",
            "fastest",
            "took",
            "plan's took",
            "model's loss",
            "plan's loss",
        ]);
        for row in &self.tiles {
            let time = |time: f64| format!("{time:.1}");
            table.row([
                row.shape.clone(),
                row.model.to_owned(),
                format!("{:.0}", row.lead),
                time(row.predicted_microseconds),
                time(row.model_microseconds),
                row.fastest.to_owned(),
                time(row.fastest_microseconds),
                time(row.plan_microseconds),
                time(row.model_loss),
                time(row.plan_loss),
            ]);
        }
        writeln!(to, "{table}")?;
        writeln!(
            to,
            "In the geometric mean the model's choice takes {:.1} % more than the fastest of {} shapes, the plan's \
             {:.1} %, any kernel {:.1} %.",
            self.model_loss, self.shapes, self.plan_loss, self.random_loss
        )?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::recorded::SOURCES;
    use super::*;

    #[test]
    fn shapes_are_chosen_by_a_rule() {
        let [_, h100] = &SOURCES;
        let found = shapes(h100.tiles.expect("it was measured")).expect("they are results");
        assert_eq!(found.len(), 16);
        for shape in &found {
            assert!(shape.extents.iter().all(|&side| side >= LEAST), "{}", shape.name);
            // All but the one for short sums.
            let all = Kernel::of(size_of::<f32>(), None).len();
            assert_eq!(shape.times.len(), all - 1, "{}", shape.name);
        }
        assert!([0, 1].iter().all(|&factor| found.iter().any(|shape| shape.transposed[factor])));
    }
}
