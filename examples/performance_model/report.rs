//! The tables.

use std::io::{self, Write};

use gpu_examples::table::Table;
use gpu_model::literature::counted::Model;

use super::Line;
use super::errors::Errors;

/// Prints them.
///
/// # Errors
/// Where they cannot be written.
pub fn print(to: &mut dyn Write, lines: &[Line], errors: &Errors) -> io::Result<()> {
    writeln!(
        to,
        "Predicted and measured on an {}, in µs; errors in percent of what was measured:\n",
        errors.device
    )?;
    let time = |time: Option<f64>| time.map_or("–".to_owned(), |time| format!("{time:.2}"));
    let off = |error: Option<f64>| error.map_or("–".to_owned(), |error| format!("{error:+.1}"));
    let mut table =
        Table::new(["kernel", "size", "measured", "waves", "error", "bottleneck", "roofline", "error", ""]);
    for line in lines {
        let remark = match (line.measured_microseconds, line.held_out, line.cached) {
            (None, ..) => "not measured",
            (_, true, _) => "held out",
            (_, _, true) => "in L2",
            _ => "",
        };
        table.row([
            line.kernel.clone(),
            line.size.to_string(),
            time(line.measured_microseconds),
            time(Some(line.predicted_microseconds)),
            off(line.error),
            line.bottleneck.to_string(),
            time(Some(line.roofline_microseconds)),
            off(line.roofline_error),
            remark.to_owned(),
        ]);
    }
    writeln!(to, "{table}")?;
    writeln!(to, "The literature's models on the same, in µs:\n")?;
    let head = ["kernel", "size", "measured"].into_iter().chain(Model::ALL.map(Model::name));
    let mut table = Table::new(head);
    for line in lines {
        let times = Model::ALL.map(|model| line.literature.get(&model).copied());
        let cells = [line.measured_microseconds].into_iter().chain(times).map(time);
        table.row([line.kernel.clone(), line.size.to_string()].into_iter().chain(cells));
    }
    writeln!(to, "{table}")?;
    if errors.not_measured > 0 {
        let were = if errors.not_measured == 1 { "was" } else { "were" };
        writeln!(
            to,
            "{} of these {were} not measured on an {}: predicted only.\n",
            errors.not_measured, errors.device
        )?;
    }
    writeln!(to, "The longest prediction, of {}, took {:.1} s.", errors.slowest, errors.slowest_seconds)?;
    let all = lines.len() - errors.not_measured;
    if all == 0 {
        return Ok(());
    }
    writeln!(to, "Absolute errors:\n")?;
    let mut table = Table::new(["model", "rows", "median %", "90th percentile %"]);
    let together = errors.judged_rows + errors.last_rows;
    let ours = [
        ("waves", errors.rows, [errors.median, errors.ninetieth]),
        ("waves, held out", errors.held_out_rows, [errors.held_out_median, errors.held_out_ninetieth]),
        ("waves, variants timed later", errors.later_rows, [errors.later_median, errors.later_ninetieth]),
        ("waves, all held out", errors.judged_rows, [errors.judged_median, errors.judged_ninetieth]),
        ("waves, batches by starts and drawn", errors.last_rows, [errors.last_median, errors.last_ninetieth]),
        ("waves, with these", together, [errors.all_median, errors.all_ninetieth]),
        ("roofline", all, [errors.roofline_median, errors.roofline_ninetieth]),
    ];
    let others = errors.literature.iter().map(|(model, found)| (model.name(), all, *found));
    for (name, rows, [median, ninetieth]) in ours.into_iter().chain(others) {
        if rows > 0 {
            table.row([name.to_owned(), rows.to_string(), format!("{median:.1}"), format!("{ninetieth:.1}")]);
        }
    }
    writeln!(to, "{table}")?;
    if !errors.shapes.is_empty() {
        writeln!(to, "Of these, families that have programs of their own:\n")?;
        let mut table = Table::new(["family", "rows", "median %", "90th percentile %"]);
        for (family, (rows, median, ninetieth)) in &errors.shapes {
            let numbers = [rows.to_string(), format!("{median:.1}"), format!("{ninetieth:.1}")];
            table.row([vec![(*family).to_owned()], numbers.to_vec()].concat());
        }
        writeln!(to, "{table}")?;
    }
    if errors.pairs > 0 {
        writeln!(
            to,
            "Of {} pairs of variants of one size that differ by more than 10 %, the faster one is found in {}.\n",
            errors.pairs, errors.right
        )?;
        let mut table = Table::new(["family", "pairs", "found"]);
        for (family, [pairs, right]) in &errors.families {
            table.row([family.clone(), pairs.to_string(), right.to_string()]);
        }
        writeln!(to, "{table}")?;
    }
    if !errors.tuned.is_empty() {
        writeln!(to, "The fastest variant of each size:\n")?;
        let mut table = Table::new(["family", "size", "predicted", "ahead by %", "measured"]);
        for row in &errors.tuned {
            let lead = format!("{:.0}", row.lead);
            let [family, predicted, measured] =
                [&row.family, &row.predicted, &row.measured].map(Clone::clone);
            table.row([family, row.size.to_string(), predicted, lead, measured]);
        }
        writeln!(to, "{table}")?;
    }
    Ok(())
}
