//! Bilinear halving of both sides of an image with one channel: the mean of four pixels, with the bits of
//! [`super::bilinear`].
//!
//! Every place lies between four pixels with both weights 1/2, and none outside. So nothing is computed of places,
//! and a thread loads 16 bytes of each input row, next to its neighbours' 16: whole lines, each once, past the
//! first-level cache. What it stores is half of that, 8 bytes a row; a warp's 256 are whole lines too, which is what
//! memory wants. (Stores of 16 would need the two halves of neighbouring threads: two shuffles to save one of nine
//! accesses, while only one cycle in three issues at all.)
//!
//! The floor is memory: 5 bytes move for each byte of output. [`HALF_ROWS`] rows a thread are 128 bytes in flight;
//! the 1024 threads of four blocks have 128 KB, four times what an H200's multiprocessor needs at full speed. (H200,
//! 16384² `f32`: 304 µs, 4,400 GB/s, 1.05 of a copy's speed.)

use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::{device, rolled, unroll};

use super::{Part, Pixel, Shape, lerp};

/// Rows of which a thread computes elements.
pub const HALF_ROWS: u32 = 4;
/// Bytes that a thread loads of an input row.
pub const HALF_BYTES: u32 = 16;

/// Computes a thread's elements: `H` of each row, from `V = 2H` of two rows. All rows start at multiples of 16 bytes.
#[device]
#[inline(always)]
pub(super) fn half<T: Pixel, const V: usize, const H: usize>(
    input: Global<T>,
    output: GlobalMut<T>,
    shape: Shape,
) {
    const ROWS: usize = HALF_ROWS as usize;
    let Shape { x, y, .. } = shape;
    let part = Part::of_this_thread(shape);
    let first_row = part.row * HALF_ROWS;
    let first = (part.across * shape.width + part.lane) * H as u32;
    // Mutants: from either end on there are no rows, or no columns.
    if first_row >= y.output || first >= x.output {
        return;
    }
    let half = T::Value::ONE / (T::Value::ONE + T::Value::ONE);
    let mean = |a: T, b: T, c: T, d: T| {
        let (above, below) = (lerp(a.widen(), b.widen(), half), lerp(c.widen(), d.widen(), half));
        T::narrow(lerp(above, below, half))
    };
    let input_rows = 2 * first_row as u64 * shape.input_pitch;
    let input = input.offset(part.image * shape.input_stride + input_rows + 2 * first as u64);
    let output_rows = first_row as u64 * shape.output_pitch;
    let output = output.offset(part.image * shape.output_stride + output_rows + first as u64);

    // Mutants: what just fits may go the other way, to the same result.
    if first + H as u32 <= x.output && first_row + HALF_ROWS <= y.output {
        let mut rows = [[[T::default(); V]; 2]; ROWS];
        unroll::<ROWS>(|k| {
            let pair = input.offset(2 * k as u64 * shape.input_pitch);
            rows[k][0] = pair.read_streaming_vec(0);
            rows[k][1] = pair.offset(shape.input_pitch).read_streaming_vec(0);
        });
        unroll::<ROWS>(|k| {
            let [above, below] = rows[k];
            let mut means = [T::default(); H];
            unroll::<H>(|i| means[i] = mean(above[2 * i], above[2 * i + 1], below[2 * i], below[2 * i + 1]));
            output.offset(k as u64 * shape.output_pitch).write_streaming_vec::<H>(0, means);
        });
    } else {
        let (rows, columns) = ((y.output - first_row).min(HALF_ROWS), (x.output - first).min(H as u32));
        let mut row = 0;
        while row < rows {
            row = rolled(row);
            let above = input.offset(2 * row as u64 * shape.input_pitch);
            let below = above.offset(shape.input_pitch);
            let output = output.offset(row as u64 * shape.output_pitch);
            let mut at = 0;
            while at < columns {
                at = rolled(at);
                let (left, right) = (2 * at, 2 * at + 1);
                let (a, b) = (above.read_only(left), above.read_only(right));
                output.write_streaming(at, mean(a, b, below.read_only(left), below.read_only(right)));
                at += 1;
            }
            row += 1;
        }
    }
}
