//! The tables.

use gpu_examples::table::Table;
use gpu_model::Device;
use gpu_model::literature::counted::Model;

use super::{Errors, Line};

/// Prints them.
pub fn print(device: &Device, lines: &[Line], errors: &Errors) {
    println!("Predicted and measured on a {}, in µs; errors in percent of what was measured:\n", device.name);
    let mut table =
        Table::new(["kernel", "size", "measured", "waves", "error", "bottleneck", "roofline", "error", ""]);
    for line in lines {
        let remark = match (line.held_out, line.cached) {
            (true, _) => "held out",
            (_, true) => "in L2",
            _ => "",
        };
        table.row([
            line.kernel.clone(),
            line.size.to_string(),
            format!("{:.2}", line.measured_microseconds),
            format!("{:.2}", line.predicted_microseconds),
            format!("{:+.1}", line.error),
            line.bottleneck.to_string(),
            format!("{:.2}", line.roofline_microseconds),
            format!("{:+.1}", line.roofline_error),
            remark.to_owned(),
        ]);
    }
    println!("{table}");
    println!("The literature's models on the same, in µs:\n");
    let head = ["kernel", "size", "measured"].into_iter().chain(Model::ALL.map(Model::name));
    let mut table = Table::new(head);
    for line in lines {
        let times = Model::ALL.map(|model| line.literature.get(&model).copied());
        let cells = [Some(line.measured_microseconds)]
            .into_iter()
            .chain(times)
            .map(|time| time.map_or("–".to_owned(), |time| format!("{time:.2}")));
        table.row([line.kernel.clone(), line.size.to_string()].into_iter().chain(cells));
    }
    println!("{table}");
    println!("Absolute errors:\n");
    let mut table = Table::new(["model", "rows", "median %", "90th percentile %"]);
    let all = lines.len();
    let ours = [
        ("waves", errors.rows, [errors.median, errors.ninetieth]),
        ("waves, held out", errors.held_out_rows, [errors.held_out_median, errors.held_out_ninetieth]),
        ("roofline", all, [errors.roofline_median, errors.roofline_ninetieth]),
    ];
    let others = errors.literature.iter().map(|(model, found)| (model.name(), all, *found));
    for (name, rows, [median, ninetieth]) in ours.into_iter().chain(others) {
        if rows > 0 {
            table.row([name.to_owned(), rows.to_string(), format!("{median:.1}"), format!("{ninetieth:.1}")]);
        }
    }
    println!("{table}");
    println!("The longest prediction, of {}, took {:.1} s.", errors.slowest, errors.slowest_seconds);
    println!("The variant predicted as the fastest is, in {} of {} sizes.", errors.fastest, errors.sizes);
    println!(
        "Of {} pairs of variants of one size that differ by more than 10 %, the faster one is found in {}.",
        errors.pairs, errors.right
    );
}
