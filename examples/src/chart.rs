//! The paper that charts are drawn on, and curves of times over lengths.

use std::error::Error;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

/// The font of all labels: it comes with the program, so that a chart does not depend on the machine.
pub const FONT: &str = "plot";

/// Makes [`FONT`] ready for use.
///
/// # Errors
/// Where it is no font.
#[inline]
pub fn font() -> Result<(), Box<dyn Error>> {
    plotters::style::register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT)
        .map_err(|_| "the font is not one".into())
}

/// A white PNG of so many pixels, its folder made if it is not there, with [`FONT`] ready for use.
///
/// # Errors
/// Where the folder cannot be made.
#[inline]
pub fn paper(
    file: &Path,
    pixels: (u32, u32),
) -> Result<DrawingArea<BitMapBackend<'_>, Shift>, Box<dyn Error>> {
    font()?;
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let paper = BitMapBackend::new(file, pixels).into_drawing_area();
    paper.fill(&WHITE)?;
    Ok(paper)
}

/// A name, and how long how many elements took.
pub type Curve<'a> = (&'a str, Vec<(f64, f64)>);

/// Draws times in `unit` over numbers of elements, both positive: a curve for each name, with logarithmic axes.
///
/// # Errors
/// Where it cannot be drawn.
#[inline]
pub fn curves(
    area: &DrawingArea<BitMapBackend<'_>, Shift>,
    caption: String,
    unit: &str,
    curves: &[Curve<'_>],
) -> Result<(), Box<dyn Error>> {
    curves_over(area, caption, ["elements", unit], curves)
}

/// The same of any two positive quantities, with the names of both axes.
///
/// # Errors
/// Where it cannot be drawn.
#[inline]
pub fn curves_over(
    area: &DrawingArea<BitMapBackend<'_>, Shift>,
    caption: String,
    [across, up]: [&str; 2],
    curves: &[Curve<'_>],
) -> Result<(), Box<dyn Error>> {
    // From one power of ten to another: those have labels.
    let range = |of: fn(&(f64, f64)) -> f64| {
        let logs = curves.iter().flat_map(|(_, points)| points).map(|point| of(point).max(1e-6).log10());
        let (low, high) = logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), log| {
            (log.floor().min(low), log.ceil().max(high))
        });
        10f64.powf(low)..10f64.powf(high.max(low + 1.0))
    };
    let mut chart = ChartBuilder::on(area)
        .caption(caption, (FONT, 20))
        .margin(12)
        .margin_right(200)
        .x_label_area_size(40)
        .y_label_area_size(80)
        .build_cartesian_2d(range(|point| point.0).log_scale(), range(|point| point.1).log_scale())?;
    chart
        .configure_mesh()
        .x_desc(across)
        .y_desc(up)
        .label_style((FONT, 15))
        .max_light_lines(1)
        .x_label_formatter(&|&len| match len {
            len if len >= 1e6 => format!("{}M", len / 1e6),
            len if len >= 1e3 => format!("{}k", len / 1e3),
            len => len.to_string(),
        })
        .y_label_formatter(&|time| format!("{time}"))
        .draw()?;
    for (index, (name, points)) in curves.iter().enumerate() {
        let colour = Palette99::pick(index).to_rgba();
        let points: Vec<(f64, f64)> = points.iter().map(|&(len, time)| (len, time.max(1e-6))).collect();
        // Where they end the lines lie too close for names: those stand beside, from the top, in the order of the
        // table.
        chart.draw_series([PathElement::new(points.clone(), colour.stroke_width(2))])?;
        chart.draw_series(points.iter().map(|&point| Circle::new(point, 3, colour.filled())))?;
        let (left, top) = (area.dim_in_pixel().0 as i32 - 190, 50 + 22 * index as i32);
        area.draw(&Rectangle::new([(left, top + 4), (left + 18, top + 10)], colour.filled()))?;
        area.draw(&Text::new(*name, (left + 26, top), (FONT, 16)))?;
    }
    Ok(())
}
