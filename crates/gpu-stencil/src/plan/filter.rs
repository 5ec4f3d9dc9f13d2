//! Filters: which kernel, and how its blocks share the image.

use gpu_std::launch::LaunchConfig;
use gpu_stencil_kernels::filter::geometry::{THREADS, WARPS};
use gpu_stencil_kernels::filter::{Divisor, Geometry, general, march, sobel};

use super::blocks;
use crate::error::Error;
use gpu_core::ImageLayout;

/// Rows of a block of a fast kernel, at least. Few rows were the best of an H200 wherever memory is what counts,
/// presumably as blocks that march far drift apart, and what they read and write at a time is less and less in one
/// place. (5 × 5 of `f32`, 16384²: 562 µs with 8 rows, 609 with 32, 657 with 128, 787 with 448.)
const MIN_ROWS: u32 = 8;
/// And at most.
const MAX_ROWS: u32 = 128;
/// Rows of a block of the gradients' kernel: 599 µs at 16384² of `f32`, where 32 took 600 and 16 took 603.
const SOBEL_ROWS: u32 = 24;
/// Blocks of a multiprocessor that keep it busy several times over.
const ENOUGH_BLOCKS: u64 = 31;
/// Rows of a block of a general kernel: a separable one computes as many rows' sums again as the filter is high.
const GENERAL_ROWS: u32 = 32;
const GENERAL_FULL_ROWS: u32 = 4 * general::FULL_ROWS;

/// Where the windows of a filter lie: so many taps, from so many pixels left of and above an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Taps along x and y.
    pub taps: (u32, u32),
    /// Pixels to the left of an output that its window starts at; negative where it starts at its right.
    pub left: i32,
    /// The same upwards.
    pub top: i32,
}

/// Which kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// The fast one, for so many taps along both axes, and so many channels.
    Fast {
        /// Taps.
        taps: u32,
        /// Elements of a pixel.
        channels: u32,
    },
    /// The one for everything.
    General,
}

/// The launch of a filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// The kernel.
    pub kernel: Kernel,
    /// Grid, block and shared memory.
    pub launch: LaunchConfig,
    /// What the kernel is told.
    pub geometry: Geometry,
}

/// Whether all rows of all images, of elements of so many bytes, start at multiples of `to` bytes.
pub(crate) fn aligned(to: usize, bytes: usize, layout: ImageLayout, address: u64) -> bool {
    let whole = |elements: usize| elements.wrapping_mul(bytes).is_multiple_of(to);
    address.is_multiple_of(to as u64)
        && whole(layout.pitch())
        && (layout.count() < 2 || whole(layout.stride()))
}

impl Plan {
    /// The plan for a filter of elements `T`, summed as `S`, of images of one shape; `instances` are the fast
    /// kernels, by taps and channels, `addresses` those of input and output; for a device of so many multiprocessors.
    ///
    /// # Errors
    /// [`gpu_core::Error::TooManyBlocks`].
    pub fn filter<T, S: gpu_std::float::Float>(
        instances: &[((u32, u32), impl Sized)],
        separable: bool,
        window: Window,
        mode: u32,
        [input, output]: [ImageLayout; 2],
        addresses: [u64; 2],
        multiprocessors: u32,
    ) -> Result<Self, Error> {
        let (taps_x, taps_y) = window.taps;
        // But for each block as many rows are computed twice as the filter has taps, less one: the more a row costs,
        // the more rows.
        let is_float = size_of::<T>() == size_of::<S>();
        let rows = match separable {
            true if is_float => taps_y * taps_y / 2,
            true => 8 * taps_y,
            false => taps_x * taps_y,
        };
        let mut plan =
            Self::of::<T>(instances, window, mode, rows, [input, output], addresses, multiprocessors);
        if plan.kernel == Kernel::General {
            let geometry = &mut plan.geometry;
            let (threads, bytes) = if separable {
                geometry.rows = GENERAL_ROWS.max(taps_y);
                (general::SEPARABLE_THREADS, general::separable_shared_bytes::<S>(taps_y))
            } else {
                geometry.rows = GENERAL_FULL_ROWS;
                (general::FULL_THREADS, general::full_shared_bytes::<S>(taps_x * taps_y))
            };
            plan.launch = LaunchConfig::linear(0, threads).shared(bytes);
            geometry.across = Divisor::new(geometry.output_row.div_ceil(threads));
        }
        plan.with_blocks(output)
    }

    /// The plan for gradients of images of one shape; `instances` as for [`Plan::filter`], `output` the extents of the
    /// outputs.
    ///
    /// # Errors
    /// [`gpu_core::Error::TooManyBlocks`].
    pub fn sobel<T>(
        instances: &[((u32, u32), impl Sized)],
        window: Window,
        mode: u32,
        [input, output]: [ImageLayout; 2],
        address: u64,
        multiprocessors: u32,
    ) -> Result<Self, Error> {
        // Each output has an alignment of its own.
        let addresses = [address, 1];
        let mut plan =
            Self::of::<T>(instances, window, mode, SOBEL_ROWS, [input, output], addresses, multiprocessors);
        if plan.kernel == Kernel::General {
            plan.launch = LaunchConfig::linear(0, sobel::THREADS);
            plan.geometry.rows = GENERAL_ROWS;
            plan.geometry.across = Divisor::new(plan.geometry.output_row.div_ceil(sobel::THREADS));
        }
        plan.with_blocks(output)
    }

    /// All but the number of blocks; of the general kernel also without its launch, its rows and blocks side by side. A
    /// block of the fast one has about `rows` rows.
    fn of<T>(
        instances: &[((u32, u32), impl Sized)],
        window: Window,
        mode: u32,
        rows: u32,
        [input, output]: [ImageLayout; 2],
        addresses: [u64; 2],
        multiprocessors: u32,
    ) -> Self {
        let (taps, channels) = (window.taps.0, input.channels() as u32);
        // Their border logic takes images no smaller than the filter.
        let fast = taps == window.taps.1
            && instances.iter().any(|(instance, _)| *instance == (taps, channels))
            && input.width().min(input.height()) >= taps as usize;
        let bytes = size_of::<T>();
        // A window starts with a row's vector only if the filter is in the middle, or off by whole vectors.
        let shift = (window.left - (taps / 2) as i32).unsigned_abs() as usize * input.channels() * bytes;
        let [inward, inward_x] = march::inward(mode, input.width() as u32);
        let [_, inward_y] = march::inward(mode, input.height() as u32);
        let mut geometry = Geometry {
            input_pitch: input.pitch() as u64,
            input_stride: input.stride() as u64,
            output_pitch: output.pitch() as u64,
            output_stride: output.stride() as u64,
            width: input.width() as u32,
            height: input.height() as u32,
            output_row: output.row() as u32,
            output_height: output.height() as u32,
            channels,
            taps_x: window.taps.0,
            taps_y: window.taps.1,
            left: window.left,
            top: window.top,
            mode,
            inward,
            inward_x,
            inward_y,
            rows: 0,
            across: Divisor::default(),
            down: Divisor::default(),
            input_aligned: [16, 4]
                .into_iter()
                .find(|&to| aligned(to, bytes, input, addresses[0]) && shift.is_multiple_of(to))
                .unwrap_or(0) as u32,
            output_aligned: aligned(16, bytes, output, addresses[1]) as u32,
            flip: 0,
        };
        if !fast {
            return Self { kernel: Kernel::General, launch: LaunchConfig::linear(0, 0), geometry };
        }
        let across = geometry.output_row.div_ceil(WARPS * 32 * march::lane::<T>(taps));
        geometry.across = Divisor::new(across);
        let images = u64::from(across) * output.count() as u64;
        let blocks = |rows: u32| images * u64::from(geometry.output_height.div_ceil(rows));
        let mut rows = rows.clamp(MIN_ROWS, MAX_ROWS);
        let enough = ENOUGH_BLOCKS * u64::from(multiprocessors);
        while rows > MIN_ROWS && blocks(rows) < enough {
            rows = (rows / 2).max(MIN_ROWS);
        }
        geometry.rows = rows;
        let launch = LaunchConfig::linear(0, THREADS).shared(march::shared_bytes::<T>(taps, channels));
        Self { kernel: Kernel::Fast { taps, channels }, launch, geometry }
    }

    fn with_blocks(mut self, output: ImageLayout) -> Result<Self, Error> {
        let geometry = &mut self.geometry;
        let down = geometry.output_height.div_ceil(geometry.rows);
        geometry.down = Divisor::new(down);
        let lines = u64::from(down).saturating_mul(output.count() as u64);
        self.launch.grid[0] = blocks(lines.saturating_mul(u64::from(geometry.across.get())))?;
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Window = Window { taps: (5, 5), left: 2, top: 2 };

    fn plan(window: Window, layout: ImageLayout, address: u64) -> Plan {
        Plan::filter::<f32, f32>(&[((5, 1), ())], true, window, 0, [layout; 2], [address; 2], 132).unwrap()
    }

    #[test]
    fn the_fast_kernel_takes_what_it_was_made_for() {
        let large = ImageLayout::new(16384, 16384, 1).unwrap();
        let fast = Kernel::Fast { taps: 5, channels: 1 };
        let figure = plan(WINDOW, large, 256);
        assert_eq!((figure.kernel, figure.geometry.rows, figure.launch.grid), (fast, 12, [32 * 1366, 1, 1]));
        assert_eq!((figure.geometry.input_aligned, figure.geometry.output_aligned), (16, 1));
        // Off its middle by one pixel, or at an address that is no multiple of 16.
        assert_eq!(plan(Window { left: 1, ..WINDOW }, large, 256).geometry.input_aligned, 4);
        assert_eq!(plan(WINDOW, large, 8).geometry.output_aligned, 0);
        let photograph = plan(WINDOW, ImageLayout::new(750, 499, 1).unwrap(), 0);
        assert_eq!((photograph.kernel, photograph.geometry.rows), (fast, 8));
        assert_eq!(photograph.geometry.input_aligned, 4, "750 elements are no whole vectors of 16 bytes");
    }

    #[test]
    fn the_general_kernel_takes_the_rest() {
        let layout = ImageLayout::new(100, 3, 1).unwrap();
        assert_eq!(plan(WINDOW, layout, 0).kernel, Kernel::General, "the image is lower than the filter");
        let layout = ImageLayout::new(100, 100, 2).unwrap();
        let two = plan(WINDOW, layout, 0);
        assert_eq!((two.kernel, two.launch.grid[0], two.launch.shared_bytes), (Kernel::General, 4 * 4, 1280));
        let wide = Window { taps: (5, 4), ..WINDOW };
        assert_eq!(plan(wide, ImageLayout::new(100, 100, 1).unwrap(), 0).kernel, Kernel::General);
    }

    #[test]
    fn more_blocks_than_a_launch_has_are_an_error() {
        let layout = ImageLayout::new(1 << 20, 1 << 30, 2).unwrap();
        let error =
            Plan::filter::<u8, f32>(&[((5, 1), ())], true, WINDOW, 0, [layout; 2], [0; 2], 132).unwrap_err();
        assert!(
            matches!(error, Error::Device(gpu_core::Error::TooManyBlocks { limit: 0x7fff_ffff, .. })),
            "{error}"
        );
    }
}
