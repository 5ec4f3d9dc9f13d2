//! The steps from fragments in registers to the products on the tensor cores.

use gpu_core::{Capability, Stream, View, ViewMut};
use gpu_std::half::bf16;
use gpu_std::launch::LaunchConfig;
use gpu_std::tensor_map::{Format, Swizzle, Tensor};
use gpu_tensor_kernels as kernels;

use super::{expect_product, launch};
use crate::api::tensor::no_tensor_cores;
use crate::error::Error;
use crate::plan::pack::ALIGNMENT;

/// A product on the tensor cores that does one thing more than the one before. Between them and behind them come those
/// of [`TensorVariant`](super::TensorVariant).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TensorStep {
    /// Warps that multiply fragments in registers (`mma`), one tile after the other. Capability 8.0. With the next
    /// tiles on their way by asynchronous copies it is [`TensorVariant::Lanes`](super::TensorVariant::Lanes).
    Fragments,
    /// Warpgroups that multiply tiles in shared memory (`wgmma`), which threads write there, one after the other.
    /// Capability 9.0.
    Tiles,
    /// The same with tiles that the copy engine brings, the next ones meanwhile, started by a thread that multiplies,
    /// too. Capability 9.0. With a warp of its own for copies it is
    /// [`TensorVariant::Narrow`](super::TensorVariant::Narrow).
    Boxes,
}

impl TensorStep {
    /// All of them, in their order.
    pub const ALL: [Self; 3] = [Self::Fragments, Self::Tiles, Self::Boxes];

    /// The launch for an m × n product.
    pub fn launch_config(self, m: u32, n: u32) -> LaunchConfig {
        let blocks = m.div_ceil(kernels::STEP_TILE) * n.div_ceil(kernels::STEP_TILE);
        let bytes = match self {
            Self::Fragments => kernels::STEP_FRAGMENTS_BYTES,
            Self::Tiles => kernels::STEP_TILES_BYTES,
            Self::Boxes => kernels::STEP_BOXES_BYTES,
        };
        LaunchConfig::linear(blocks.max(1), kernels::STEP_THREADS).shared(bytes)
    }
}

/// `C = A · B` by `step`, row-major without gaps, with sums of `f32`: A is m × k, B is k × n, C is m × n, `shape` is
/// `[m, n, k]`.
///
/// # Errors
/// As [`gemm`](super::gemm()); [`Error::Unaligned`] where k or n is no multiple of eight, or a matrix does not begin at
/// a multiple of 16 bytes; [`Error::NoTensorCores`]. C is as it was then.
///
/// ```
/// use gpu_linalg::bf16;
/// use gpu_linalg::variants::{TensorStep, gemm_step};
/// let device = gpu_core::Device::simulator();
/// let ones = device.upload(&[1.0; 64].map(bf16::from_f32))?;
/// for step in TensorStep::ALL {
///     let mut c = device.alloc(64)?;
///     gemm_step(step, &device.default_stream(), &ones, &ones, &mut c, [8, 8, 8])?;
///     assert_eq!(c.to_vec()?, [8.0; 64]);
/// }
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemm_step<'a, 'b, 'c>(
    step: TensorStep,
    stream: &Stream,
    a: impl Into<View<'a, bf16>>,
    b: impl Into<View<'b, bf16>>,
    c: impl Into<ViewMut<'c, f32>>,
    shape: [usize; 3],
) -> Result<(), Error> {
    let (a, b, mut c) = (a.into(), b.into(), c.into());
    let [m, n, k] = expect_product(stream, (a, b), &c, shape)?;
    if m == 0 || n == 0 {
        return Ok(());
    }
    let addresses = [a.as_global().address(), b.as_global().address(), c.as_global_mut().address()];
    let is_aligned = |address: u64| address.is_multiple_of(ALIGNMENT as u64);
    if !addresses.into_iter().all(is_aligned) || !k.is_multiple_of(8) || !n.is_multiple_of(8) {
        return Err(Error::Unaligned { bytes: ALIGNMENT });
    }
    let config = step.launch_config(m, n);
    let needs = if step == TensorStep::Fragments { "8.0" } else { "9.0" };
    // Drivers describe boxes to no other device.
    let other = stream.device().capability().filter(|&capability| capability != Capability::new(9, 0));
    if let (Some(other), true) = (other, step == TensorStep::Boxes) {
        return Err(Error::NoTensorCores { capability: other.to_string(), needs });
    }
    if k == 0 {
        // Of no elements there are no boxes.
        return Ok(stream.memset(c, 0)?);
    }
    let [a_box, b_box] = kernels::boxes(2, kernels::STEP_TILE, [false, true]);
    let boxes = [tensor(addresses[0], [m, k], a_box), tensor(addresses[1], [k, n], b_box)];
    no_tensor_cores(launch::step(step, stream, config, (a, b), boxes, c, [m, n, k]), needs)
}

/// A row-major matrix without gaps, in boxes of lines of 128 bytes.
fn tensor(address: u64, [rows, columns]: [u32; 2], [width, height]: [u32; 2]) -> Tensor {
    let line = u64::from(columns) * size_of::<bf16>() as u64;
    Tensor {
        address,
        format: Format::U16,
        extents: [columns.into(), rows.into(), 1],
        strides: [line, line * u64::from(rows)],
        tile: [width, height, 1],
        swizzle: Swizzle::Bytes128,
    }
}
