//! A plate with hot spots, and the colours of its heat.

use std::f32::consts::PI;

/// The cells of a cold plate with so many round spots of all sizes, row by row, from 0 to 1. Another seed, other
/// places.
pub fn cells(columns: usize, rows: usize, spots: u32, seed: u32) -> Vec<f32> {
    let (width, height) = (columns as f32, rows as f32);
    let random = |number: u32| {
        let hash = (seed ^ number.wrapping_mul(0x9e37_79b9)).wrapping_mul(0x85eb_ca6b);
        let hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
        (hash ^ hash >> 16) as f32 / u32::MAX as f32
    };
    let spots: Vec<[f32; 4]> = (0..spots)
        .map(|spot| {
            let of = |what| random(4 * spot + what);
            let radius = (0.02 + 0.08 * of(2)) * width.min(height);
            [of(0) * width, of(1) * height, radius, 0.6 + 0.4 * of(3)]
        })
        .collect();
    let cell = |at: usize| {
        let x = (at % columns) as f32 + 0.5;
        let y = (at / columns) as f32 + 0.5;
        let hot = spots.iter().filter(|[left, top, radius, _]| (x - left).hypot(y - top) < *radius);
        hot.map(|[.., heat]| *heat).fold(0.0, f32::max)
    };
    (0..columns * rows).map(cell).collect()
}

/// Black, blue, red, yellow, white: as a thermal camera shows it. Square roots, so that what is nearly cold is seen.
pub fn colour(heat: f32) -> [u8; 3] {
    let heat = heat.clamp(0.0, 1.0).sqrt();
    let byte = |value: f32| (255.0 * value.clamp(0.0, 1.0)).round() as u8;
    let blue = (PI * heat * 1.6).sin().max(0.0) * 0.8 + (heat - 0.8).max(0.0) * 5.0;
    [byte(heat * 1.6 - 0.2), byte(heat * 2.0 - 0.9), byte(blue)]
}
