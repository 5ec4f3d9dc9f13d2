//! The plot of predicted over measured times.

use std::error::Error;
use std::path::Path;

use gpu_examples::chart::{FONT, paper};
use gpu_model::literature::counted::Model;
use plotters::prelude::*;

use super::Line;

/// The least time of a plot, in microseconds.
const LEAST: f64 = 0.1;

/// Predicted over measured times, of what was measured: on the diagonal they are equal.
///
/// # Errors
/// Where nothing was measured; those of the file.
pub fn plot(file: &Path, lines: &[Line]) -> Result<(), Box<dyn Error>> {
    let points: Vec<(f64, &Line)> =
        lines.iter().filter_map(|line| Some((line.measured_microseconds?, line))).collect();
    if points.is_empty() {
        return Err("nothing was measured that could be drawn".into());
    }
    let mut devices: Vec<&str> = points.iter().map(|(_, line)| line.device.as_str()).collect();
    devices.dedup();
    const WIDTH: u32 = 1000;
    type Of = Box<dyn Fn(&Line) -> f64>;
    let mut models: Vec<(&str, Of)> = vec![
        ("waves", Box::new(|line: &Line| line.predicted_microseconds)),
        ("roofline", Box::new(|line: &Line| line.roofline_microseconds)),
    ];
    for model in Model::ALL {
        models.push((
            model.name(),
            Box::new(move |line: &Line| {
                // Off the chart where there is none.
                line.literature.get(&model).copied().unwrap_or(0.0)
            }),
        ));
    }
    let root = paper(file, (WIDTH, 700))?;
    // From one power of ten to another: those have labels. What is less than a tenth of a microsecond lies on the edge.
    let range = |times: Vec<f64>| {
        let logs = times.into_iter().map(|time| time.max(LEAST).log10());
        let (low, high) = logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), log| {
            (log.floor().min(low), log.ceil().max(high))
        });
        (10f64.powf(low), 10f64.powf(high))
    };
    let (left, right) = range(points.iter().map(|(measured, _)| *measured).collect());
    let (low, high) =
        range(models.iter().flat_map(|(_, of)| points.iter().map(|(_, line)| of(line))).collect());
    let mut chart = ChartBuilder::on(&root)
        .caption(format!("Predicted over measured times: {}", devices.join(", ")), (FONT, 20))
        .margin(12)
        .margin_right(190)
        .x_label_area_size(40)
        .y_label_area_size(80)
        .build_cartesian_2d((left..right).log_scale(), (low..high).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("measured, µs")
        .y_desc("predicted, µs")
        .label_style((FONT, 15))
        .max_light_lines(1)
        .x_label_formatter(&|time| time.to_string())
        .y_label_formatter(&|time| time.to_string())
        .draw()?;
    chart
        .draw_series([PathElement::new([left.max(low), right.min(high)].map(|time| (time, time)), BLACK)])?;
    // Ours last, above the others.
    for (index, (name, of)) in models.iter().enumerate().rev() {
        let colour = Palette99::pick(index).to_rgba();
        let (size, style) = if index == 0 { (4, colour.filled()) } else { (3, colour.stroke_width(1)) };
        let places = points.iter().map(|(measured, line)| (*measured, of(line).max(LEAST)));
        chart.draw_series(places.map(|place| Circle::new(place, size, style)))?;
        let (beside, top) = (WIDTH as i32 - 178, 50 + 22 * index as i32);
        root.draw(&Circle::new((beside, top + 8), size, style))?;
        root.draw(&Text::new(*name, (beside + 14, top), (FONT, 16)))?;
    }
    root.present()?;
    Ok(())
}
