//! Launches of factorisations of skyline matrices.

use gpu_core::{Stream, View, ViewMut};
use gpu_factor_kernels::Root;
use gpu_factor_kernels::skyline::{self as kernels, Shape};
use gpu_std::launch::{Kernel, LaunchConfig};
use gpu_std::memory::{Global, GlobalMut};

use crate::error::Error;
use crate::launch::RealElement;

/// A type of elements of skyline matrices: `f32`, `f64`.
pub trait SkylineElement: RealElement + Root + sealed::Kernels {}

mod sealed {
    use super::*;

    /// # Safety
    /// Each is the kernel of its name, of this type.
    pub unsafe trait Kernels: gpu_std::memory::Element {
        /// The matrix, the tables, the tiles' progress, what was found, what is to be done.
        type Factor: Kernel<Arguments = (GlobalMut<Self>, Global<u32>, GlobalMut<u32>, GlobalMut<u32>, Shape)>;
    }
}

macro_rules! elements {
    ($($T:ty: $factor:ident;)*) => { $(
        impl SkylineElement for $T {}

        // SAFETY: the table names the kernels of the type.
        unsafe impl sealed::Kernels for $T {
            type Factor = kernels::$factor;
        }
    )* };
}
elements! {
    f32: factor_skyline_f32;
    f64: factor_skyline_f64;
}

/// Enqueues the factorisation of the matrix of `shape`, which `a` holds; `tables` are those of its structure.
pub(crate) fn factor<T: SkylineElement>(
    stream: &Stream,
    shape: Shape,
    a: ViewMut<'_, T>,
    tables: View<'_, u32>,
    progress: ViewMut<'_, u32>,
    info: ViewMut<'_, u32>,
) -> Result<(), Error> {
    let resident = stream.device().planned_multiprocessors() * kernels::BLOCKS;
    let config = LaunchConfig::linear(shape.tiles.min(resident), kernels::THREADS)
        .shared(kernels::shared_bytes::<T>());
    // SAFETY: the caller checked that the matrix lies within `a`, that the tables are of its structure and that
    // `progress` has a word for every tile and `info` one; `progress` is zero. `a` and both are exclusive, and freed only after
    // the work enqueued before. Tiles are handed out so that what one waits for was handed out before: with any
    // number of blocks at the same time the kernel ends.
    unsafe { stream.launch::<T::Factor>(config, (a, tables, progress, info, shape)) }?;
    Ok(())
}
