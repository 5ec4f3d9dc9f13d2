//! The same results on the CPU, in rayon: bit for bit what the kernels compute.

use gpu_core::cores;
use gpu_core::vectors::{self, Work};
use gpu_stencil_kernels::resize::{Axis, Pixel, lerp, neighbour};

use super::Interpolation;
use gpu_core::ImageLayout;

/// Resizes each image of `input` to the size of the one of `output`.
///
/// # Panics
/// Where a slice is shorter than its layout says, or the layouts have different channels or numbers of images.
///
/// ```
/// use gpu_stencil::ImageLayout;
/// use gpu_stencil::resize::{Addressing, Interpolation, reference};
/// let (two, four) = (ImageLayout::new(2, 1, 1)?, ImageLayout::new(4, 1, 1)?);
/// let mut output = [0.0; 4];
/// reference::resize((&[1.0, 2.0], two), (&mut output, four), Interpolation::Bilinear(Addressing::Border(0.0)));
/// assert_eq!(output, [0.75, 1.25, 1.75, 1.5]);
/// # Ok::<(), gpu_stencil::Error>(())
/// ```
pub fn resize<T: Pixel>(
    (input, from): (&[T], ImageLayout),
    (output, to): (&mut [T], ImageLayout),
    interpolation: Interpolation<T>,
) {
    assert_eq!((from.channels(), from.count()), (to.channels(), to.count()), "layouts do not go together");
    let x = Axis::new(from.width() as u32, to.width() as u32);
    let y = Axis::new(from.height() as u32, to.height() as u32);
    match interpolation {
        Interpolation::Nearest => {
            let columns: Vec<usize> =
                (0..to.width() as u32).map(|column| x.nearest(column) as usize).collect();
            each_row((output, to), |image, row, output| {
                let pixels = &input[from.index(image, y.nearest(row) as usize, 0, 0)..][..from.row()];
                let outputs = output.chunks_exact_mut(to.channels());
                for (output, &column) in outputs.zip(&columns) {
                    output.copy_from_slice(&pixels[column * from.channels()..][..from.channels()]);
                }
            });
        }
        Interpolation::Bilinear(addressing) => {
            let (mode, border) = addressing.code();
            let columns: Vec<Column<T>> = (0..to.width() as u32)
                .map(|column| {
                    let place = x.place(column);
                    let first = |index: i32| {
                        let column = usize::try_from(neighbour(index, x.input, mode)).ok();
                        column.map_or(OUTSIDE, |column| column * from.channels())
                    };
                    let pixels = [first(place.index), first(place.index + 1)];
                    Column { pixels, weight: T::weight(place.remainder, x) }
                })
                .collect();
            each_row((output, to), |image, row, output| {
                let place = y.place(row);
                let lines = [place.index, place.index + 1].map(|index| {
                    let row = usize::try_from(neighbour(index, y.input, mode)).ok();
                    row.map_or(&input[..0], |row| &input[from.index(image, row, 0, 0)..][..from.row()])
                });
                let (weight, border) = (T::weight(place.remainder, y), border.widen());
                vectors::run(Row {
                    lines,
                    weight,
                    border,
                    columns: &columns,
                    channels: to.channels(),
                    output,
                });
            });
        }
    }
}

/// The place of a pixel that is the border's: in no row.
const OUTSIDE: usize = isize::MAX as usize;

/// Where the two pixels of a column of the output begin in a row of the input, and the weight of the second.
struct Column<T: Pixel> {
    pixels: [usize; 2],
    weight: T::Value,
}

/// A row of the output, and what it comes of. A row of the input that is outside is empty.
struct Row<'a, T: Pixel> {
    lines: [&'a [T]; 2],
    weight: T::Value,
    border: T::Value,
    columns: &'a [Column<T>],
    channels: usize,
    output: &'a mut [T],
}

impl<T: Pixel> Work for Row<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { lines: [above, below], weight, border, columns, channels, output } = self;
        let value = |line: &[T], at: usize| line.get(at).map_or(border, |pixel| pixel.widen());
        for (output, column) in output.chunks_exact_mut(channels).zip(columns) {
            for (channel, output) in output.iter_mut().enumerate() {
                let [left, right] = column.pixels.map(|first| first + channel);
                let above = lerp(value(above, left), value(above, right), column.weight);
                let below = lerp(value(below, left), value(below, right), column.weight);
                *output = T::narrow(lerp(above, below, weight));
            }
        }
    }
}

/// Runs `work` with the number of the image and of the row, and the elements, of each row of the output.
fn each_row<T: Send>((output, layout): (&mut [T], ImageLayout), work: impl Fn(usize, u32, &mut [T]) + Sync) {
    for image in 0..layout.count() {
        let first = layout.index(image, 0, 0, 0);
        let end = layout.index(image, layout.height() - 1, layout.width() - 1, layout.channels() - 1) + 1;
        cores::chunks(&mut output[first..end], layout.pitch(), 1, |row, elements| {
            work(image, row as u32, &mut elements[..layout.row()]);
        });
    }
}
