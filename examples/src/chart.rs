//! The paper that charts are drawn on.

use std::error::Error;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

/// The font of all labels: it comes with the program, so that a chart does not depend on the machine.
pub const FONT: &str = "plot";

/// A white PNG of so many pixels, its folder made if it is not there, with [`FONT`] ready for use.
///
/// # Errors
/// Where the folder cannot be made.
pub fn paper(
    file: &Path,
    pixels: (u32, u32),
) -> Result<DrawingArea<BitMapBackend<'_>, Shift>, Box<dyn Error>> {
    plotters::style::register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT)
        .map_err(|_| "the font is not one")?;
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let paper = BitMapBackend::new(file, pixels).into_drawing_area();
    paper.fill(&WHITE)?;
    Ok(paper)
}
