//! Filters, by bands of rows: each row of the input is brought, with its border, into a buffer of sums, once a band;
//! the chains of a row's outputs run side by side.

use gpu_core::cores;
use gpu_core::vectors::{self, Work};
use gpu_std::float::Float;
use gpu_stencil_kernels::border::source;
use gpu_stencil_kernels::filter::Pixel;

use crate::border::Border;
use crate::plan::Window;
use gpu_core::ImageLayout;

/// Outputs whose chains run side by side: as many as fill the registers of every set of instructions.
const LANES: usize = 32;
/// Rows of a band at least.
const MIN_ROWS: usize = 16;

/// The filter with `weights`, rows one after the other, of `input`.
///
/// # Panics
/// Where extents do not fit together, or a slice is shorter than its images.
pub fn correlate<T: Pixel>(
    weights: &[T::Sum],
    window: Window,
    border: Border<T>,
    input: (&[T], ImageLayout),
    output: (&mut [T], ImageLayout),
) {
    let (taps_x, taps_y) = (window.taps.0 as usize, window.taps.1 as usize);
    assert_eq!(weights.len(), taps_x * taps_y, "a weight for every place");
    let channels = input.1.channels();
    let as_they_are = None::<fn(&[T::Sum], &mut [T::Sum])>;
    bands(window, border, input, output, as_they_are, |lines, output| {
        let tap = |tap: usize| (weights[tap], &lines.row(tap / taps_x)[tap % taps_x * channels..]);
        chains(weights.len(), tap, output.len(), |at, sum| output[at] = T::narrow(sum));
    });
}

/// The filter with the weights of a row and of a column.
///
/// # Panics
/// Where extents do not fit together, or a slice is shorter than its images.
pub fn separable<T: Pixel>(
    [row, column]: [&[T::Sum]; 2],
    window: Window,
    border: Border<T>,
    input: (&[T], ImageLayout),
    output: (&mut [T], ImageLayout),
) {
    assert_eq!(window.taps, (row.len() as u32, column.len() as u32), "a weight for every place");
    let channels = input.1.channels();
    // Rows have been through the first chain when they come to a band's buffer.
    let first = |padded: &[T::Sum], line: &mut [T::Sum]| {
        let tap = |tap: usize| (row[tap], &padded[tap * channels..]);
        chains(row.len(), tap, line.len(), |at, sum| line[at] = sum);
    };
    bands(window, border, input, output, Some(first), |lines, output| {
        let tap = |tap: usize| (column[tap], lines.row(tap));
        chains(column.len(), tap, output.len(), |at, sum| output[at] = T::narrow(sum));
    });
}

/// `len` chains of `links` multiply-adds: `link` gives the weight of a link, and the values it is multiplied with.
///
/// The machine's widest vectors are asked for here and no farther out: both closures are small, so they become part
/// of the loops.
#[inline(always)]
fn chains<'a, S: Float>(
    links: usize,
    link: impl Fn(usize) -> (S, &'a [S]),
    len: usize,
    write: impl FnMut(usize, S),
) {
    vectors::run(Chains { links, link, len, write });
}

/// What [`chains`] does.
struct Chains<L, W> {
    links: usize,
    link: L,
    len: usize,
    write: W,
}

impl<'a, S: Float + 'a, L: Fn(usize) -> (S, &'a [S]), W: FnMut(usize, S)> Work for Chains<L, W> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { links, link, len, mut write } = self;
        let mut at = 0;
        while at + LANES <= len {
            side_by_side::<S, LANES>(links, &link, at, &mut write);
            at += LANES;
        }
        while at < len {
            side_by_side::<S, 1>(links, &link, at, &mut write);
            at += 1;
        }
    }
}

/// `N` chains, from number `at` on.
#[inline(always)]
fn side_by_side<'a, S: Float, const N: usize>(
    links: usize,
    link: &impl Fn(usize) -> (S, &'a [S]),
    at: usize,
    write: &mut impl FnMut(usize, S),
) {
    // A product by itself, sign of zero included, is a multiply-add to -0.
    let mut sums = [-S::ZERO; N];
    for number in 0..links {
        let (weight, values) = link(number);
        for (sum, &value) in sums.iter_mut().zip(&values[at..at + N]) {
            *sum = weight.mul_add(value, *sum);
        }
    }
    for (lane, sum) in sums.into_iter().enumerate() {
        write(at + lane, sum);
    }
}

/// Computes every row of the output from the rows of its window, with their borders, or from what `first` makes of
/// them.
fn bands<T: Pixel, F: Fn(&[T::Sum], &mut [T::Sum]) + Sync>(
    window: Window,
    border: Border<T>,
    (input, input_layout): (&[T], ImageLayout),
    (output, layout): (&mut [T], ImageLayout),
    first: Option<F>,
    compute: impl Fn(&Rows<'_, T>, &mut [T]) + Sync,
) {
    let height = band_height(layout.height());
    for number in 0..layout.count() {
        let image = &input[input_layout.index(number, 0, 0, 0)..];
        let rows = image_rows(output, layout, number);
        cores::chunks(rows, height * layout.pitch(), 1, |band, output| {
            let image = (image, input_layout);
            let mut rows = Rows::new(window, border, image, layout.row(), first.is_some());
            for (y, output) in output.chunks_mut(layout.pitch()).enumerate() {
                rows.advance(band * height + y, &first);
                compute(&rows, &mut output[..layout.row()]);
            }
        });
    }
}

/// Rows of a band: several bands for each thread, each high enough that the rows it shares with the next are few.
pub(super) fn band_height(height: usize) -> usize {
    height.div_ceil(4 * cores::count()).max(MIN_ROWS)
}

/// The rows of an image, gaps between them included.
pub(super) fn image_rows<T>(output: &mut [T], layout: ImageLayout, number: usize) -> &mut [T] {
    &mut output[layout.index(number, 0, 0, 0)..][..(layout.height() - 1) * layout.pitch() + layout.row()]
}

/// The rows of the input that a row of outputs depends on, widened, with their borders.
pub(super) struct Rows<'a, T: Pixel> {
    window: Window,
    mode: u32,
    outside: T,
    image: (&'a [T], ImageLayout),
    padded: Vec<T::Sum>,
    lines: Vec<Vec<T::Sum>>,
    /// The output's row that the lines belong to, if there are any yet.
    row: Option<usize>,
    /// Where the first of them is.
    oldest: usize,
}

impl<'a, T: Pixel> Rows<'a, T> {
    /// For outputs of `len` elements in a row; `changed` says that the rows are not kept as they are.
    pub(super) fn new(
        window: Window,
        border: Border<T>,
        image: (&'a [T], ImageLayout),
        len: usize,
        changed: bool,
    ) -> Self {
        let (mode, outside) = border.code(T::default());
        let padded = len + (window.taps.0 as usize - 1) * image.1.channels();
        let kept = if changed { len } else { padded };
        Self {
            window,
            mode,
            outside,
            image,
            padded: vec![T::Sum::ZERO; padded],
            lines: vec![vec![T::Sum::ZERO; kept]; window.taps.1 as usize],
            row: None,
            oldest: 0,
        }
    }

    /// Goes on to the output's row `row`: the first one, or the one after the last.
    pub(super) fn advance(&mut self, row: usize, first: &Option<impl Fn(&[T::Sum], &mut [T::Sum])>) {
        let taps = self.lines.len();
        let missing = if self.row.replace(row).is_none() { 0 } else { taps - 1 };
        for tap in missing..taps {
            self.pad(row as i32 + tap as i32 - self.window.top);
            let line = &mut self.lines[self.oldest];
            match first {
                Some(first) => first(&self.padded, line),
                None => line.copy_from_slice(&self.padded),
            }
            self.oldest = if self.oldest + 1 < taps { self.oldest + 1 } else { 0 };
        }
    }

    /// Row `number` of the window.
    #[inline(always)]
    pub(super) fn row(&self, number: usize) -> &[T::Sum] {
        let at = self.oldest + number;
        &self.lines[if at < self.lines.len() { at } else { at - self.lines.len() }]
    }

    /// Brings row `y` of the input, wherever that is, into the buffer.
    fn pad(&mut self, y: i32) {
        let (image, layout) = self.image;
        let (channels, outside) = (layout.channels(), self.outside.widen());
        let y = source(y, layout.height() as i32, self.mode);
        if y < 0 {
            return self.padded.fill(outside);
        }
        let line = &image[layout.index(0, y as usize, 0, 0)..][..layout.row()];
        // The pixels of the buffer that are the image's own, and what is to the left and right of them.
        let pixels = (self.padded.len() / channels) as i32;
        let begin = self.window.left.clamp(0, pixels);
        let end = (layout.width() as i32 + self.window.left).clamp(begin, pixels);
        let from = (begin - self.window.left) as usize * channels;
        let inside = &mut self.padded[begin as usize * channels..end as usize * channels];
        for (to, from) in inside.iter_mut().zip(&line[from.min(line.len())..]) {
            *to = from.widen();
        }
        for pixel in (0..begin).chain(end..pixels) {
            let x = source(pixel - self.window.left, layout.width() as i32, self.mode);
            for channel in 0..channels {
                self.padded[pixel as usize * channels + channel] =
                    if x < 0 { outside } else { line[x as usize * channels + channel].widen() };
            }
        }
    }
}
