//! Bilinear resizing to any size.
//!
//! A thread has [`COLUMNS`] elements of each of [`ROWS`] rows, its neighbours' next to them, so that every load and
//! store of a warp is of neighbouring elements as far as the ratio of the sizes lets it. Which columns it reads, and
//! with which weights, is computed once for all its rows. Going down, two output rows between the same two input
//! rows, or sharing one, interpolate that row once: enlarging reads each input row once a thread.

use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::{device, keep_rolled, unroll};

use super::{Part, Pixel, Shape, neighbour};

/// Elements of a row that a thread computes.
pub const COLUMNS: u32 = 4;
/// Rows of which a thread computes elements. Instructions bound the kernel, and where a thread is and which columns
/// it reads takes it 500.
pub const ROWS: u32 = 16;

/// `a + t · (b - a)`: exactly `a` where `t` is zero, and where `a` and `b` are one finite number.
#[inline(always)]
pub fn lerp<V: Float>(a: V, b: V, t: V) -> V {
    t.mul_add(b - a, a)
}

/// Computes a thread's elements.
#[device]
#[inline(always)]
pub(super) fn bilinear<T: Pixel>(input: Global<T>, output: GlobalMut<T>, shape: Shape, border: T) {
    const N: usize = COLUMNS as usize;
    let Shape { x, y, .. } = shape;
    let part = Part::of_this_thread(shape);
    let first_row = part.row * ROWS;
    // Mutants: from the end on there are no rows.
    if first_row >= y.output {
        return;
    }
    let input = input.offset(part.image * shape.input_stride);
    let output = output.offset(part.image * shape.output_stride);
    let row_length = x.output * shape.channels;
    let first = part.across * shape.width * COLUMNS + part.lane;
    let border = border.widen();

    // Elements of an input row to the left and to the right of each element; negative where they are the border's
    // value. Beyond the row's end they are those of its last element.
    let (mut left, mut right, mut weights) = ([0; N], [0; N], [T::Value::ZERO; N]);
    unroll::<N>(|k| {
        let element = (first + k as u32 * shape.width).min(row_length - 1);
        let pixel =
            if shape.channels == 1 { element } else { element.checked_div(shape.channels).unwrap_or(0) };
        let channel = element - pixel * shape.channels;
        let place = x.place(pixel);
        let of = |index: i32| {
            let pixel = neighbour(index, x.input, shape.mode);
            if pixel < 0 { -1 } else { pixel * shape.channels as i32 + channel as i32 }
        };
        left[k] = of(place.index);
        right[k] = of(place.index + 1);
        weights[k] = T::weight(place.remainder, x);
    });
    let line = |index: i32| {
        let row = neighbour(index, y.input, shape.mode);
        let pixels = input.offset(row.max(0) as u64 * shape.input_pitch);
        let value = |at: i32| if row < 0 || at < 0 { border } else { pixels.read_only(at as u32).widen() };
        let mut line = [T::Value::ZERO; N];
        unroll::<N>(|k| line[k] = lerp(value(left[k]), value(right[k]), weights[k]));
        line
    };

    let end = (first_row + ROWS).min(y.output);
    let mut row = first_row;
    let mut place = y.place(row);
    let step = y.step();
    // No row yet: -1 is the first there can be.
    let mut last = -3;
    let (mut above, mut below) = ([T::Value::ZERO; N], [T::Value::ZERO; N]);
    while row < end {
        if place.index != last {
            // Both rows, or the lower one where the upper one is the lower one of before.
            let mut index = place.index + (place.index == last + 1) as i32;
            while index <= place.index + 1 {
                keep_rolled();
                (above, below) = (below, line(index));
                index += 1;
            }
            last = place.index;
        }
        let weight = T::weight(place.remainder, y);
        let output = output.offset(row as u64 * shape.output_pitch);
        unroll::<N>(|k| {
            let element = first + k as u32 * shape.width;
            if element < row_length {
                output.write_streaming(element, T::narrow(lerp(above[k], below[k], weight)));
            }
        });
        row += 1;
        place = place.next(step);
    }
}
