//! Textures in the simulator: reads that a GPU would answer with anything are the kernel's fault, at its line.

mod support;

use std::sync::Arc;

use gpu_sim::{Fault, FaultKind, Simulator};
use gpu_std::prelude::*;
use gpu_std::texture::{Descriptor, Sampler, Samplers, Texture};
use support::{Array, block, simulator};

/// Reads the texture in one dimension.
#[kernel]
fn read_line(texture: Texture, values: GlobalMut<f32>) {
    let [first, .., last] = texture.read_1d::<f32>(1.5);
    values.write(0, first);
    values.write(1, last);
}
const LINE: u32 = line!() - 4;

/// Reads it in two, as numbers.
#[kernel]
fn read_plane(texture: Texture, values: GlobalMut<u32>) {
    let [first, second, ..] = texture.read_2d::<u32>(0.5, 0.5);
    values.write(0, first);
    values.write(1, second);
}

fn made(extents: &[usize]) -> Sampler {
    let texels = (1..=extents.iter().product::<usize>()).map(|i| [i as f32, 0.0, 0.0, 0.0]).collect();
    Sampler::new(extents, Descriptor::default(), texels).with_channels(1)
}

fn line_of(simulator: &Simulator, handle: u64) -> Result<Vec<f32>, Fault> {
    let values = Array::<f32>::zeroed(simulator, 2);
    // SAFETY: two values; the simulator checks the texture.
    unsafe { read_line::launch(simulator, block(1, 0), Texture::from_raw(handle), values.global_mut())? };
    Ok(values.get())
}

fn plane_of(simulator: &Simulator, handle: u64) -> Result<Vec<u32>, Fault> {
    let values = Array::<u32>::zeroed(simulator, 2);
    // SAFETY: as above.
    unsafe { read_plane::launch(simulator, block(1, 0), Texture::from_raw(handle), values.global_mut())? };
    Ok(values.get())
}

fn refused<T: std::fmt::Debug>(outcome: Result<T, Fault>, why: &str) -> Fault {
    let fault = outcome.unwrap_err();
    assert!(matches!(&fault.kind, FaultKind::Panic { message } if message.contains(why)), "{fault}");
    assert_eq!(fault.site.as_ref().unwrap().file, file!(), "{fault}");
    fault
}

#[test]
fn a_texture_after_its_drop_or_of_another_simulator() {
    for seed in 0..20 {
        let (one, other) = (simulator(seed), simulator(seed));
        let handle = Samplers::get().add(one.id(), Arc::new(made(&[3])));
        assert_eq!(line_of(&one, handle).unwrap()[0], 2.0);
        assert_eq!(line_of(&one.clone(), handle).unwrap()[0], 2.0);
        refused(line_of(&other, handle), "on another simulator");
        Samplers::get().remove(handle).unwrap();
        // Not even where another texture was made since.
        let next = Samplers::get().add(one.id(), Arc::new(made(&[3])));
        let fault = refused(line_of(&one, handle), "was dropped");
        assert_eq!(fault.site.as_ref().unwrap().line, LINE, "{fault}");
        Samplers::get().remove(next).unwrap();
    }
}

#[test]
fn a_texture_of_another_dimension_or_type() {
    let one = simulator(1);
    let add = |sampler| Samplers::get().add(one.id(), Arc::new(sampler));
    let (line, plane, integers) = (add(made(&[3])), add(made(&[2, 2])), add(made(&[2, 2]).of_integers()));
    refused(plane_of(&one, line), "a texture of 1 dimensions is read at a place of 2");
    refused(line_of(&one, plane), "a texture of 2 dimensions is read at a place of 1");
    refused(plane_of(&one, plane), "whose reads give f32 is read as u32");
    refused(line_of(&one, add(made(&[3]).of_integers())), "whose reads give u32 is read as f32");
    assert_eq!(plane_of(&one, integers).unwrap()[0], 1);
}

#[test]
fn channels_that_a_texture_does_not_have_are_no_zeros() {
    let one = simulator(1);
    let add = |sampler| Samplers::get().add(one.id(), Arc::new(sampler));
    let values = line_of(&one, add(made(&[3]))).unwrap();
    assert!(values[0] == 2.0 && values[1].is_nan(), "{values:?}");
    assert_eq!(line_of(&one, add(made(&[3]).with_channels(4))).unwrap(), [2.0, 0.0]);
    let values = plane_of(&one, add(made(&[2, 2]).of_integers())).unwrap();
    assert!(values[0] == 1 && values[1] > 1 << 16, "{values:?}");
    assert_eq!(plane_of(&one, add(made(&[2, 2]).of_integers().with_channels(2))).unwrap(), [1, 0]);
}
