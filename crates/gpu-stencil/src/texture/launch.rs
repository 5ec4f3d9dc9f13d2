//! The launches: the only unsafe code of reading textures.

use gpu_core::{Stream, Texture, View, ViewMut};
use gpu_stencil_kernels::texture as kernels;

use super::plan::{ResizePlan, SamplePlan};

/// Enqueues the reads of `plan`.
pub(super) fn sample(
    stream: &Stream,
    plan: &SamplePlan,
    texture: &Texture,
    places: View<'_, f32>,
    output: ViewMut<'_, f32>,
) -> gpu_core::Result<()> {
    let arguments = (texture.as_texture(), places, output, plan.reads);
    // SAFETY: the views have the coordinates and the values of all places (checked by the caller), the output is
    // exclusive; the texture is of this device, has this many dimensions, at most three, and is read as `reads` says. All
    // is freed only after the work enqueued before.
    unsafe {
        match plan.dimensions {
            1 => stream.launch::<kernels::stencil_texture_sample_1d>(plan.launch, arguments),
            2 => stream.launch::<kernels::stencil_texture_sample_2d>(plan.launch, arguments),
            _ => stream.launch::<kernels::stencil_texture_sample_3d>(plan.launch, arguments),
        }
    }
}

/// Enqueues the resize of `plan`.
pub(super) fn resize(
    stream: &Stream,
    plan: &ResizePlan,
    texture: &Texture,
    output: ViewMut<'_, f32>,
) -> gpu_core::Result<()> {
    let ([columns, rows], [x, y]) = (plan.extents, plan.scales);
    let arguments = (texture.as_texture(), output, plan.reads, columns, rows, x, y);
    // SAFETY: the view has the image of the plan's layout (checked where it was made), and is exclusive; the texture
    // is of this device and of two dimensions, and is read as the plan says. All is freed only after the work
    // enqueued before.
    unsafe { stream.launch::<kernels::stencil_texture_resize>(plan.launch, arguments) }
}
