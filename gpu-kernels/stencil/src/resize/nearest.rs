//! Resizing by the nearest pixel, to any size: elements are moved as bits.
//!
//! Threads have the elements that [`super::bilinear`] gives them.

use gpu_std::memory::{Element, Global, GlobalMut};
use gpu_std::{device, kernel, unroll};

use super::{COLUMNS, Part, ROWS, Shape};

/// Moves a thread's elements.
#[device]
#[inline(always)]
fn nearest<T: Element>(input: Global<T>, output: GlobalMut<T>, shape: Shape) {
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

    // The element of an input row for each element.
    let mut from = [0; N];
    unroll::<N>(|k| {
        let element = (first + k as u32 * shape.width).min(row_length - 1);
        let pixel = element.checked_div(shape.channels).unwrap_or(0);
        from[k] = x.nearest(pixel) * shape.channels + (element - pixel * shape.channels);
    });
    let end = (first_row + ROWS).min(y.output);
    let mut row = first_row;
    while row < end {
        let pixels = input.offset(y.nearest(row) as u64 * shape.input_pitch);
        let output = output.offset(row as u64 * shape.output_pitch);
        unroll::<N>(|k| {
            let element = first + k as u32 * shape.width;
            if element < row_length {
                output.write_streaming(element, pixels.read_only(from[k]));
            }
        });
        row += 1;
    }
}

macro_rules! kernels {
    ($($T:ty: $name:ident;)*) => { $(
        #[doc = concat!("Resizes images of elements as large as `", stringify!($T), "`: blocks of [`super::THREADS`] threads, as many as [`Shape`] says.")]
        #[kernel(images = sm_75, launch_bounds(256, 4))]
        pub fn $name(input: Global<$T>, output: GlobalMut<$T>, shape: Shape) {
            nearest::<$T>(input, output, shape);
        }
    )* };
}
kernels! {
    u8: stencil_resize_nearest_b8;
    u16: stencil_resize_nearest_b16;
    u32: stencil_resize_nearest_b32;
    u64: stencil_resize_nearest_b64;
}
