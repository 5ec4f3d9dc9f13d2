//! Sobel's gradients: along x and y, their magnitude and their direction, any of them in one pass.
//!
//! ```text
//! d(y) = p(x+1, y) - p(x-1, y)                       gx(y) = fma(2, d(y), d(y-1)) + d(y+1)
//! s(y) = fma(2, p(x, y), p(x-1, y)) + p(x+1, y)      gy(y) = s(y+1) - s(y-1)
//! magnitude = sqrt(fma(gx, gx, gy · gy))             direction = atan2(gy, gx)
//! ```
//!
//! Signs are SciPy's: gradients point to where the image is brighter. (I. Sobel and G. Feldman, 1968, as told in Duda
//! and Hart, *Pattern Classification and Scene Analysis*, 1973, pp. 271–272.) Of integers up to 16 bits gx and gy are
//! exact.

use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::parameter::Parameter;
use gpu_std::thread::{block_idx_x, thread_idx_x};
use gpu_std::{device, opaque, rolled, unroll};

use super::arctangent::{Coefficients, atan2};
use super::geometry::{Geometry, Place};
use super::march::march;
use super::pixel::{Pixel, store_left};
use crate::border::source;

/// The gradient along x is wanted.
pub const GX: u32 = 1;
/// The gradient along y is wanted.
pub const GY: u32 = 2;
/// The magnitude is wanted.
pub const MAGNITUDE: u32 = 4;
/// The direction is wanted.
pub const DIRECTION: u32 = 8;

/// Threads of a block of `general`; each has a column.
pub const THREADS: u32 = 128;

/// What is wanted, and how it lies: gx, gy, magnitude and direction, in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Targets {
    /// Elements from one row to the next.
    pub pitch: [u64; 4],
    /// Elements from one image to the next.
    pub stride: [u64; 4],
    /// Which are wanted: the sum of [`GX`], [`GY`], [`MAGNITUDE`], [`DIRECTION`].
    pub wanted: u32,
    /// Which have rows that all start at multiples of 16 bytes.
    pub aligned: u32,
}

impl Targets {
    /// Row `row` of image `image` of output `number`.
    #[inline(always)]
    fn row<T: Pixel>(&self, output: GlobalMut<T>, number: usize, image: u32, row: u32) -> GlobalMut<T> {
        output.offset(image as u64 * self.stride[number] + row as u64 * self.pitch[number])
    }
}

/// The difference of a row's window, left, middle and right.
#[inline(always)]
pub fn difference<S: Float>(left: S, right: S) -> S {
    right - left
}

/// The smoothed value of a row's window.
#[inline(always)]
pub fn smooth<S: Float>(left: S, middle: S, right: S) -> S {
    (S::ONE + S::ONE).mul_add(middle, left) + right
}

/// The gradient along x from the differences of three rows, from the top.
#[inline(always)]
pub fn along_x<S: Float>(differences: [S; 3]) -> S {
    smooth(differences[0], differences[1], differences[2])
}

/// The magnitude of a gradient.
#[inline(always)]
pub fn magnitude<S: Float>(gx: S, gy: S) -> S {
    gx.mul_add(gx, gy * gy).sqrt()
}

/// The four outputs; those not wanted are never touched.
#[derive(Clone, Copy)]
pub(super) struct Outputs<G: Pixel> {
    pub(super) gx: GlobalMut<G>,
    pub(super) gy: GlobalMut<G>,
    pub(super) magnitude: GlobalMut<G>,
    pub(super) direction: GlobalMut<G::Sum>,
}

/// Writes `V` values of output `number`.
#[device]
#[inline(always)]
fn store<T: Pixel, const V: usize>(
    output: GlobalMut<T>,
    targets: &Targets,
    number: usize,
    (image, row, column, end): (u32, u32, u32, u32),
    values: [T::Sum; V],
) {
    // Opaque: the compiler would work out the 64-bit places of all outputs before the march, and spill them.
    let row = targets.row(output, number, opaque(image), row).offset(column as u64);
    let is_aligned = targets.aligned & (1 << number) != 0;
    store_left::<T, V>(row, 0, is_aligned, end.saturating_sub(column), values);
}

/// What `of` makes of `V` gradients. They are a queue, in a loop: sides leave at the front, a part of them at a time,
/// results come at the back. Unrolled, they would be most of the kernel.
#[device]
#[inline(always)]
fn queued<S: Float, const V: usize, const PART: usize>(
    mut gx: [S; V],
    mut gy: [S; V],
    of: impl Fn(S, S) -> S,
) -> [S; V] {
    let mut done = 0;
    while done < V as u32 {
        done = rolled(done);
        let mut results = [S::ZERO; PART];
        unroll::<PART>(|v| results[v] = of(gx[v], gy[v]));
        let sides = gy;
        unroll::<V>(|v| {
            gx[v] = if v + PART < V { gx[v + PART] } else { results[v + PART - V] };
            gy[v] = sides[(v + PART) % V];
        });
        done += PART as u32;
    }
    gx
}

/// Writes the value of output `number`, if it is wanted.
#[device]
#[inline(always)]
fn store_one<T: Pixel>(
    output: GlobalMut<T>,
    targets: &Targets,
    number: usize,
    (image, row, column): (u32, u32, u32),
    value: impl Fn() -> T::Sum,
) {
    if targets.wanted & (1 << number) != 0 {
        targets.row(output, number, image, row).offset(column as u64).write(0, T::narrow(value()));
    }
}

/// Computes a block's gradients on the fast kernels' walk.
#[device]
#[inline(always)]
pub(super) fn sobel<T, G, const V: usize, const C: usize>(
    input: Global<T>,
    outputs: Outputs<G>,
    geometry: Geometry,
    targets: Targets,
    outside: T,
) where
    T: Pixel,
    G: Pixel<Sum = T::Sum>,
    T::Sum: Coefficients + Pixel<Sum = T::Sum>,
{
    let zero = [T::Sum::ZERO; V];
    let (mut differences, mut smoothed) = ([zero; 2], [zero; 2]);
    march::<T, V, 3, C>(input, &geometry, outside, |place: Place, number, column, window| {
        let (mut d, mut s, mut gx, mut gy) = (zero, zero, zero, zero);
        unroll::<V>(|v| {
            let (left, middle, right) = (window.at(v), window.at(v + C), window.at(v + 2 * C));
            d[v] = difference(left, right);
            s[v] = smooth(left, middle, right);
            gx[v] = along_x([differences[0][v], differences[1][v], d[v]]);
            gy[v] = difference(smoothed[0][v], s[v]);
        });
        (differences, smoothed) = ([differences[1], d], [smoothed[1], s]);
        if number >= 2 {
            let at = (place.image, place.row + number - 2, column, geometry.output_row);
            if targets.wanted & GX != 0 {
                store::<G, V>(outputs.gx, &targets, 0, at, gx);
            }
            if targets.wanted & GY != 0 {
                store::<G, V>(outputs.gy, &targets, 1, at, gy);
            }
            if targets.wanted & MAGNITUDE != 0 {
                let magnitudes = if V == 16 {
                    queued::<_, V, 4>(gx, gy, magnitude)
                } else {
                    core::array::from_fn(|v| magnitude(gx[v], gy[v]))
                };
                store::<G, V>(outputs.magnitude, &targets, 2, at, magnitudes);
            }
            if targets.wanted & DIRECTION != 0 {
                let angle = |gx, gy| atan2(gy, gx);
                let angles =
                    // Mutants: how many leave the queue at a time changes no angle.
                    if V < 8 { queued::<_, V, 2>(gx, gy, angle) } else { queued::<_, V, 4>(gx, gy, angle) };
                store::<T::Sum, V>(outputs.direction, &targets, 3, at, angles);
            }
        }
    });
}

/// The same for any number of channels, a thread a column.
#[device]
#[inline(always)]
pub(super) fn general<T, G>(
    input: Global<T>,
    outputs: Outputs<G>,
    geometry: Geometry,
    targets: Targets,
    outside: T,
) where
    T: Pixel,
    G: Pixel<Sum = T::Sum>,
    T::Sum: Coefficients + Pixel<Sum = T::Sum>,
{
    let place = geometry.place(block_idx_x());
    let column = place.across * THREADS + thread_idx_x();
    if column >= geometry.output_row {
        return;
    }
    let input = input.offset(place.image as u64 * geometry.input_stride);
    // No pixel is empty: the compiler need not look.
    let pixel = column / geometry.channels.max(1);
    let channel = (column - pixel * geometry.channels) as i32;
    let (mut xs, mut tap) = ([0; 3], 0);
    while tap < 3 {
        tap = rolled(tap);
        let x = source(pixel as i32 + tap as i32 - geometry.left, geometry.width as i32, geometry.mode);
        xs = [xs[1], xs[2], x];
        tap += 1;
    }
    let zero = T::Sum::ZERO;
    let (mut differences, mut smoothed) = ([zero; 2], [zero; 2]);
    let mut number = 0;
    while number < place.rows + 2 {
        let y = source((place.row + number) as i32 - geometry.top, geometry.height as i32, geometry.mode);
        let row = input.offset(y.max(0) as u64 * geometry.input_pitch);
        let mut values = [zero; 3];
        unroll::<3>(|tap| {
            let value = if xs[tap] < 0 || y < 0 {
                outside
            } else {
                row.read_only((xs[tap] * geometry.channels as i32 + channel) as u32)
            };
            values[tap] = value.widen();
        });
        let [left, middle, right] = values;
        let (d, s) = (difference(left, right), smooth(left, middle, right));
        if number >= 2 {
            let at = (place.image, place.row + number - 2, column);
            let (gx, gy) = (along_x([differences[0], differences[1], d]), difference(smoothed[0], s));
            store_one(outputs.gx, &targets, 0, at, || gx);
            store_one(outputs.gy, &targets, 1, at, || gy);
            store_one(outputs.magnitude, &targets, 2, at, || magnitude(gx, gy));
            store_one(outputs.direction, &targets, 3, at, || atan2(gy, gx));
        }
        (differences, smoothed) = ([differences[1], d], [smoothed[1], s]);
        number += 1;
    }
}
