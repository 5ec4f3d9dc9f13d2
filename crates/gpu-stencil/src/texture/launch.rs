//! The launches: the only unsafe code of reading textures.

use gpu_core::{Stream, Texture, View, ViewMut};
use gpu_stencil_kernels::texture as kernels;

use super::plan::{ResizePlan, SamplePlan};
use crate::error::Error;

/// Enqueues the reads of `plan`.
pub(super) fn sample(
    stream: &Stream,
    plan: &SamplePlan,
    texture: &Texture,
    places: View<'_, f32>,
    mut output: ViewMut<'_, f32>,
) -> Result<(), Error> {
    let (places, output, reads) = (places.as_global(), output.as_global_mut(), plan.reads);
    let texture = texture.as_texture();
    match plan.dimensions {
        // SAFETY: the views have the coordinates and the values of all places (checked by the caller), the output is
        // exclusive; the texture is of this device, has this many dimensions, and is read as `reads` says. All is
        // freed only after the work enqueued before.
        1 => unsafe {
            kernels::stencil_texture_sample_1d::launch(stream, plan.launch, texture, places, output, reads)
        },
        // SAFETY: as above.
        2 => unsafe {
            kernels::stencil_texture_sample_2d::launch(stream, plan.launch, texture, places, output, reads)
        },
        // SAFETY: as above; there are no textures of more dimensions.
        _ => unsafe {
            kernels::stencil_texture_sample_3d::launch(stream, plan.launch, texture, places, output, reads)
        },
    }?;
    Ok(())
}

/// Enqueues the resize of `plan`.
pub(super) fn resize(
    stream: &Stream,
    plan: &ResizePlan,
    texture: &Texture,
    mut output: ViewMut<'_, f32>,
) -> Result<(), Error> {
    let ([columns, rows], [x, y]) = (plan.extents, plan.scales);
    // SAFETY: the view has the image of the plan's layout (checked where it was made), and is exclusive; the texture
    // is of this device and of two dimensions, and is read as the plan says. All is freed only after the work
    // enqueued before.
    unsafe {
        kernels::stencil_texture_resize::launch(
            stream,
            plan.launch,
            texture.as_texture(),
            output.as_global_mut(),
            plan.reads,
            columns,
            rows,
            x,
            y,
        )?;
    }
    Ok(())
}
