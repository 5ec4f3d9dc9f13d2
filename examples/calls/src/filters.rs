//! Filters of images: of the widths, types and channels that there are fast kernels for, and of others.

use gpu_stencil::scipy::{self, Exact};
use gpu_stencil::{
    Border, Filter, Gradients, Image, ImageLayout, ImageMut, Pixel, SeparableFilter, Weight, correlate_into,
    correlate_separable_into, sobel_into,
};

use super::{Call, Part, Sample, samples};

/// Kernels that programs time.
const TIMED: [&str; 10] = [
    "correlate_separable/f32/11x11",
    "correlate_separable/f32/5x5",
    "correlate_separable/f64/5x5",
    "correlate_separable/u16x3/5x5",
    "correlate_separable/u8/11x11",
    "correlate_separable/u8/5x5",
    "correlate/f32/11x11",
    "correlate/f32/3x3",
    "correlate/f32x3/3x3",
    "sobel/f32",
];

/// Pixels of a row, and rows, of images of more than one channel; of one channel twice as many.
const SIDE: usize = 2048;

/// Taps that there is no fast kernel for.
const OTHER: usize = 4;

/// A type of images of several channels.
fn name<T>(channels: usize) -> String {
    let element = std::any::type_name::<T>();
    if channels == 1 { element.to_owned() } else { format!("{element}x{channels}") }
}

/// An image of so many elements with rows of the usual length: how many go side by side decides what a block has.
fn layout(elements: usize, channels: usize) -> Result<ImageLayout, gpu_core::Error> {
    let width = if channels == 1 { 2 * SIDE } else { SIDE };
    ImageLayout::new(width, elements / (width * channels), channels)
}

/// All of them.
pub fn all() -> Vec<Call> {
    let mut all = Vec::new();
    of::<f32>(&mut all);
    of::<f64>(&mut all);
    of::<u8>(&mut all);
    of::<u16>(&mut all);
    of::<i16>(&mut all);
    all.retain(|call| !TIMED.contains(&call.name.as_str()));
    all
}

/// Those of a type.
fn of<T: Pixel + Exact + Sample>(all: &mut Vec<Call>) {
    // Images of signed integers are filtered by the fast kernels of unsigned ones.
    let has_fast = std::any::type_name::<T>() != "i16";
    let fast = if has_fast { [1, 3, 4].as_slice() } else { &[] };
    for &channels in fast {
        for taps in [3, 5, 7, 9, 11] {
            all.push(separable::<T>(taps, channels));
            // The others of 9 × 9 are no fast ones.
            let is_fast = taps != 9 || channels == 1 && ["f32", "u8"].contains(&std::any::type_name::<T>());
            all.extend(is_fast.then(|| full::<T>(taps, channels)));
        }
        all.push(gradients::<T>(channels));
    }
    all.extend([separable::<T>(OTHER, 1), full::<T>(OTHER, 1), gradients::<T>(2)]);
    all.extend(["laplace", "correlate", "uniform_filter"].map(as_scipy::<T>));
}

/// A call of images of so many channels, which reads each element once and writes so many outputs of it.
fn call<T>(
    name: String,
    channels: usize,
    outputs: usize,
    ready: impl Fn(&gpu_core::Device, usize) -> Result<super::Run, Box<dyn std::error::Error>>
    + Send
    + Sync
    + 'static,
) -> Call {
    let pixels = if channels == 1 { 4 * SIDE * SIDE } else { SIDE * SIDE };
    let part = Part::sample(pixels * channels / 8, 4).cut();
    let bytes = ((1 + outputs) * size_of::<T>()) as f64;
    Call { size: pixels * channels, ..Call::new(name, bytes, part, ready) }
}

fn separable<T: Pixel + Sample>(taps: usize, channels: usize) -> Call {
    let name = format!("correlate_separable/{}/{taps}x{taps}", name::<T>(channels));
    call::<T>(name, channels, 1, move |device, len| {
        let (stream, layout) = (device.default_stream(), layout(len, channels)?);
        let weights: Vec<T::Sum> = (0..taps).map(|tap| T::Sum::from_f64(0.25 + tap as f64)).collect();
        let filter = SeparableFilter::new(&weights, &weights)?;
        let (input, mut output) = (device.upload(&samples::<T>(len))?, device.alloc(len)?);
        Ok(Box::new(move || {
            let (input, output) = (Image::new(&input, layout)?, ImageMut::new(&mut output, layout)?);
            Ok(correlate_separable_into(&stream, input, &filter, Border::Nearest, output)?)
        }))
    })
}

fn full<T: Pixel + Sample>(taps: usize, channels: usize) -> Call {
    let name = format!("correlate/{}/{taps}x{taps}", name::<T>(channels));
    call::<T>(name, channels, 1, move |device, len| {
        let (stream, layout) = (device.default_stream(), layout(len, channels)?);
        let weights: Vec<T::Sum> = (0..taps * taps).map(|tap| T::Sum::from_f64(0.25 + tap as f64)).collect();
        let filter = Filter::new(taps, taps, &weights)?;
        let (input, mut output) = (device.upload(&samples::<T>(len))?, device.alloc(len)?);
        Ok(Box::new(move || {
            let (input, output) = (Image::new(&input, layout)?, ImageMut::new(&mut output, layout)?);
            Ok(correlate_into(&stream, input, &filter, Border::Nearest, output)?)
        }))
    })
}

/// Both gradients.
fn gradients<T: Pixel + Sample>(channels: usize) -> Call {
    call::<T>(format!("sobel/{}", name::<T>(channels)), channels, 2, move |device, len| {
        let (stream, layout) = (device.default_stream(), layout(len, channels)?);
        let input = device.upload(&samples::<T>(len))?;
        let [mut gx, mut gy] = [device.alloc(len)?, device.alloc(len)?];
        Ok(Box::new(move || {
            let image = Image::new(&input, layout)?;
            let gx = Some(ImageMut::new(&mut gx, layout)?);
            let gy = Some(ImageMut::new(&mut gy, layout)?);
            Ok(sobel_into(&stream, image, Border::Nearest, Gradients { gx, gy, ..Gradients::default() })?)
        }))
    })
}

/// A filter with the bits of SciPy's.
fn as_scipy<T: Pixel + Exact + Sample>(function: &'static str) -> Call {
    let name = format!("scipy/{function}/{}", name::<T>(1));
    call::<T>(name, 1, 1, move |device, len| {
        let (layout, input) = (layout(len, 1)?, device.upload(&samples::<T>(len))?);
        Ok(Box::new(move || {
            let image = Image::new(&input, layout)?;
            match function {
                "laplace" => scipy::laplace(image, Border::Nearest),
                "correlate" => {
                    let weights: Vec<f64> = (0..9).map(f64::from).collect();
                    scipy::correlate(image, &Filter::new(3, 3, &weights)?, Border::Nearest)
                }
                // Along both axes it would read what blocks write that are not simulated.
                _ => scipy::uniform_filter(image, 1, 5, Border::Nearest),
            }?;
            Ok(())
        }))
    })
}
