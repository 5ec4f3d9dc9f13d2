use gpu_stencil::iterate::{
    Boundary, Grid, Problem, Stencil, difference_into, iterate_into, iterate_scratch,
};
use gpu_stencil::resize::{Interpolation, resize_into};
use gpu_stencil::signal::variants::{Memory, Staged, Sum};
use gpu_stencil::signal::{self, Mode};
use gpu_stencil::{
    Border, Filter, Gradients, Image, ImageLayout, ImageMut, SeparableFilter, box_mean_into, convolve_into,
    convolve_separable_into, correlate_into, correlate_separable_into, gaussian_into, laplace_into,
    sharpen_into, sobel_into,
};

use super::*;

const WIDTH: usize = 90;
const HEIGHT: usize = 41;

#[test]
fn filters() {
    on_each("filters", |device| {
        let layout = ImageLayout::new(WIDTH, HEIGHT, 1).unwrap();
        let weights: Vec<f32> = numbers(49 * 49, 100).into_iter().map(|n| n as f32).collect();
        let small = Filter::new(3, 3, &weights[..9]).unwrap();
        let separable = SeparableFilter::new(&weights[..5], &weights[5..8]).unwrap();
        let border = Border::Reflect;
        let make = |_: &Stream| {
            let large = Filter::new(33, 33, &weights[..33 * 33]).unwrap().upload(device).unwrap();
            ((floats(device, WIDTH * HEIGHT), large), device.zeroed::<f32>(WIDTH * HEIGHT).unwrap(), ())
        };
        macro_rules! each {
            ($($name:ident: ($s:ident, $input:ident, $large:ident, $output:ident) $call:expr;)*) => { $(
                replays(device, stringify!($name), make, |$s, ((pixels, $large), output, ())| {
                    let $input = Image::new(&*pixels, layout)?;
                    let $output = ImageMut::new(output, layout)?;
                    let _ = &*$large;
                    Ok($call?)
                });
            )* };
        }
        each! {
            correlate: (s, input, _large, output) correlate_into(s, input, &small, border, output);
            convolve: (s, input, _large, output) convolve_into(s, input, &small, border, output);
            weights_on_the_device: (s, input, large, output) correlate_into(s, input, large, border, output);
            correlate_separable: (s, input, _large, output) correlate_separable_into(s, input, &separable, border, output);
            convolve_separable: (s, input, _large, output) convolve_separable_into(s, input, &separable, border, output);
            gaussian: (s, input, _large, output) gaussian_into(s, input, 1.5, 4.0, border, output);
            box_mean: (s, input, _large, output) box_mean_into(s, input, 5, 3, border, output);
            sharpen: (s, input, _large, output) sharpen_into(s, input, border, output);
            laplace: (s, input, _large, output) laplace_into(s, input, border, output);
            sobel: (s, input, _large, output) {
                let gradients = Gradients { magnitude: Some(output), ..Gradients::default() };
                sobel_into(s, input, border, gradients)
            };
        }
        let half = ImageLayout::new(WIDTH / 2, HEIGHT / 2, 1).unwrap();
        let make =
            |_: &Stream| (floats(device, WIDTH * HEIGHT), device.zeroed::<f32>(half.span()).unwrap(), ());
        replays(device, "resize", make, |s, (pixels, output, ())| {
            let (input, output) = (Image::new(&*pixels, layout)?, ImageMut::new(output, half)?);
            Ok(resize_into(s, input, Interpolation::Nearest, output)?)
        });
    });
}

#[test]
fn signals() {
    on_each("signals", |device| {
        let make = |_: &Stream| {
            let output = device.zeroed::<f32>(Mode::Full.output_len(3_000, 17)).unwrap();
            ((floats(device, 3_000), floats(device, 17)), output, ())
        };
        replays(device, "signal::convolve", make, |s, ((signal, filter), output, ())| {
            Ok(signal::convolve_into(s, &*signal, &*filter, Mode::Full, output)?)
        });
        replays(device, "signal::correlate", make, |s, ((signal, filter), output, ())| {
            Ok(signal::correlate_into(s, &*signal, &*filter, Mode::Full, output)?)
        });
    });
}

/// The textbook's: a filter in constant memory travels with the launch. Elsewhere it is borrowed for as long as it is
/// staged, so a graph cannot hold it, and staging it is a copy from the host.
#[test]
fn signals_of_the_textbook() {
    on_each("signals_of_the_textbook", |device| {
        let taps: Vec<f32> = numbers(17, 100).into_iter().map(|n| n as f32).collect();
        let make = |_: &Stream| {
            let output = device.zeroed::<f32>(Mode::Valid.output_len(3_000, 17)).unwrap();
            ((floats(device, 3_000), device.zeroed::<f32>(17).unwrap()), output, ())
        };
        for sum in [Sum::Output, Sum::Register] {
            replays(device, "signal::variants::correlate", make, |s, ((signal, staging), output, ())| {
                let filter = Staged::new(Memory::Constant, &taps, staging)?;
                Ok(filter.correlate_into(s, sum, &*signal, output)?)
            });
        }
        let stream = device.stream().unwrap();
        for memory in [Memory::Global, Memory::Shared] {
            let mut staging = device.zeroed::<f32>(17).unwrap();
            let filter = Staged::new(memory, &taps, &mut staging).unwrap();
            let refused = stream.capture(make(&stream), |s, ((signal, _), output, ())| {
                Ok(filter.correlate_into(s, Sum::Register, &*signal, output)?)
            });
            assert!(
                matches!(refused, Err(Error::GraphMemory { write: false, .. })),
                "{memory:?}: {refused:?}"
            );
            let refused = stream.capture(make(&stream), |_, ((_, staging), _, ())| {
                Staged::new(memory, &taps, staging)?;
                Ok(())
            });
            assert!(matches!(refused, Err(Error::NotCapturable { .. })), "{memory:?}: {refused:?}");
        }
    });
}

#[test]
fn iterations() {
    on_each("iterations", |device| {
        let (grid, jacobi) = (Grid::plane(40, 60).unwrap(), Stencil::jacobi(2, 1.0_f32).unwrap());
        let problem = Problem::new(&jacobi, grid, Boundary::Dirichlet).unwrap();
        for steps in [1, 7] {
            let make = |stream: &Stream| {
                let room = Scratch::with_size(stream, iterate_scratch::<f32>(grid, steps)).unwrap();
                (floats(device, 2_400), device.zeroed::<f32>(2_400).unwrap(), room)
            };
            replays(device, "iterate", make, |s, (x, y, scratch)| {
                Ok(iterate_into(s, &problem, &*x, steps, y, scratch)?)
            });
        }
        let make = |_: &Stream| {
            let output = device.zeroed::<f32>(2_400).unwrap();
            (floats(device, 2_400), output, ())
        };
        replays(device, "difference", make, |s, (x, y, ())| Ok(difference_into(s, &problem, &*x, y)?));
    });
}
