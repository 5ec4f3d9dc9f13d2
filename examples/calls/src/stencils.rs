//! Stencils in steps, sizes of images, signals, textures, and gradients as a textbook has them.

use gpu_stencil::iterate::{
    Boundary, Grid, GridElement, Problem, Shape, Stencil, iterate_into, iterate_scratch,
};
use gpu_stencil::resize::{Addressing, Element, Interpolation, resize_into};
use gpu_stencil::signal::variants::{Memory, Staged, Sum, VariantElement};
use gpu_stencil::texture::{self, Descriptor, FilterMode, Texture};
use gpu_stencil::variants::{Gradient, sobel};
use gpu_stencil::{Image, ImageLayout, ImageMut, Scratch};

use super::{Call, Part, Sample, samples, sides};

/// All of them.
pub fn all() -> Vec<Call> {
    let mut all = vec![
        steps::<f32>("box", 4),
        steps::<f64>("box", 4),
        steps::<f32>("star", 1),
        steps::<f64>("star", 1),
        march::<f64>(),
        resized::<u8>("nearest"),
        resized::<u16>("nearest"),
        resized::<f32>("nearest"),
        resized::<f64>("nearest"),
        gradients(),
        texture_resize(),
    ];
    for size in ["half", "double"] {
        all.extend([resized::<f64>(size), resized::<i16>(size), resized::<u16>(size)]);
    }
    for memory in Memory::ALL {
        all.extend([signal::<f32>(memory), signal::<f64>(memory)]);
    }
    all.extend([1, 2, 3].map(texture_samples));
    all
}

/// Steps on a plane: of a star, or of a box, each cell of which is of its neighbours.
fn steps<T: GridElement + Sample + From<f32>>(shape: &'static str, steps: usize) -> Call {
    let name = format!("iterate/{shape}/{}", std::any::type_name::<T>());
    let bytes = 2.0 * size_of::<T>() as f64;
    Call::new(name, bytes, Part::sample(1 << 20, 8).cut(), move |device, len| {
        let [rows, columns] = sides(len);
        let shape = if shape == "box" { Shape::Box } else { Shape::Star };
        let weights = vec![T::from(0.1); shape.weights(2, 1)];
        let (stencil, grid) = (Stencil::new(2, shape, 1, &weights)?, Grid::plane(rows, columns)?);
        run(device, stencil, grid, steps)
    })
}

/// A step in a volume.
fn march<T: GridElement + Sample + From<f32>>() -> Call {
    let name = format!("iterate/volume/{}", std::any::type_name::<T>());
    Call::new(name, 2.0 * size_of::<T>() as f64, Part::sample(1 << 20, 8), |device, len| {
        let [rows, columns] = sides(len / 64);
        let weights = vec![T::from(0.1); Shape::Star.weights(3, 1)];
        let stencil = Stencil::new(3, Shape::Star, 1, &weights)?;
        run(device, stencil, Grid::volume(64, rows, columns)?, 1)
    })
}

fn run<T: GridElement + Sample>(
    device: &gpu_core::Device,
    stencil: Stencil<T>,
    grid: Grid,
    steps: usize,
) -> Result<super::Run, Box<dyn std::error::Error>> {
    let (stream, input) = (device.default_stream(), device.upload(&samples::<T>(grid.len()))?);
    let mut scratch = Scratch::with_size(&stream, iterate_scratch::<T>(grid, steps))?;
    let mut output = device.alloc(grid.len())?;
    Ok(Box::new(move || {
        let problem = Problem::new(&stencil, grid, Boundary::Dirichlet)?;
        Ok(iterate_into(&stream, &problem, &input, steps, &mut output, &mut scratch)?)
    }))
}

/// An image of another size: as large, of the nearest pixels; half as wide and high, or twice, of means.
fn resized<T: Element + Sample>(size: &'static str) -> Call {
    let (width, height): (fn(usize) -> usize, f64) = match size {
        "half" => (|side| side / 2, 0.25),
        "double" => (|side| side * 2, 4.0),
        _ => (|side| side, 1.0),
    };
    let name = format!("resize/{size}/{}", std::any::type_name::<T>());
    let bytes = (1.0 + height) * size_of::<T>() as f64;
    Call::new(name, bytes, Part::sample(1 << 20, 8), move |device, len| {
        let [rows, columns] = sides(len);
        let from = ImageLayout::new(columns, rows, 1)?;
        let to = ImageLayout::new(width(columns), width(rows), 1)?;
        let how = match size {
            "nearest" => Interpolation::Nearest,
            _ => Interpolation::Bilinear(Addressing::Clamp),
        };
        let (stream, input) = (device.default_stream(), device.upload(&samples::<T>(len))?);
        let mut output = device.alloc(to.span())?;
        Ok(Box::new(move || {
            let (input, output) = (Image::new(&input, from)?, ImageMut::new(&mut output, to)?);
            Ok(resize_into(&stream, input, how, output)?)
        }))
    })
}

/// A correlation of a signal with 32 taps, as a textbook has it.
fn signal<T: VariantElement + Sample>(memory: Memory) -> Call {
    let name = format!("signal/{}/{}", memory.name(), std::any::type_name::<T>());
    Call::new(name, 2.0 * size_of::<T>() as f64, Part::sample(1 << 18, 8), move |device, len| {
        let (stream, taps) = (device.default_stream(), samples::<T>(32));
        let (signal, mut staging) = (device.upload(&samples::<T>(len))?, device.alloc(taps.len())?);
        let mut output = device.alloc(len + 1 - taps.len())?;
        Ok(Box::new(move || {
            let filter = Staged::new(memory, &taps, &mut staging)?;
            Ok(filter.correlate_into(&stream, Sum::Register, &signal, &mut output)?)
        }))
    })
}

/// Gradients in three launches.
fn gradients() -> Call {
    Call::new("variants/sobel/f32".into(), 16.0, Part::sample(1 << 20, 8), |device, len| {
        let (stream, extents) = (device.default_stream(), sides(len));
        let input = device.upload(&samples::<f32>(len))?;
        let [mut gx, mut gy, mut magnitude] = [device.alloc(len)?, device.alloc(len)?, device.alloc(len)?];
        Ok(Box::new(move || {
            let output = Gradient { gx: gx.view_mut(), gy: gy.view_mut(), magnitude: magnitude.view_mut() };
            Ok(sobel(&stream, &input, output, extents)?)
        }))
    })
}

/// A texture of means of its texels.
fn linear(device: &gpu_core::Device, extents: &[usize]) -> Result<Texture, Box<dyn std::error::Error>> {
    let descriptor = Descriptor { filter: FilterMode::Linear, ..Descriptor::default() };
    let texels = device.upload(&samples::<f32>(extents.iter().product()))?;
    Ok(Texture::new(device, extents, 1, descriptor, &texels)?)
}

/// An image twice as wide and high, of a texture.
fn texture_resize() -> Call {
    Call::new("texture/resize/f32".into(), 20.0, Part::sample(1 << 20, 8), |device, len| {
        let ([rows, columns], stream) = (sides(len), device.default_stream());
        let texture = linear(device, &[columns, rows])?;
        let to = ImageLayout::new(2 * columns, 2 * rows, 1)?;
        let mut output = device.alloc(to.span())?;
        Ok(Box::new(move || Ok(texture::resize_into(&stream, &texture, ImageMut::new(&mut output, to)?)?)))
    })
}

/// Reads of a texture of so many dimensions at places in the order of its texels.
fn texture_samples(dimensions: usize) -> Call {
    let name = format!("texture/sample/{dimensions}d");
    let bytes = 4.0 * (dimensions + 2) as f64;
    Call::new(name, bytes, Part::sample(1 << 16, 8), move |device, len| {
        let [rows, columns] = sides(len / 64);
        let extents = match dimensions {
            1 => vec![1 << 12],
            2 => vec![64 * columns, rows],
            _ => vec![columns, rows, 64],
        };
        let (stream, texture) = (device.default_stream(), linear(device, &extents)?);
        let mut places = Vec::with_capacity(len * dimensions);
        for mut index in 0..len {
            for &extent in &extents {
                places.push((index % extent) as f32 + 0.75);
                index /= extent;
            }
        }
        let (places, mut output) = (device.upload(&places)?, device.alloc(len)?);
        Ok(Box::new(move || Ok(texture::sample_into(&stream, &texture, &places, &mut output)?)))
    })
}
