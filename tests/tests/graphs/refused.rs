//! Functions that allocate, wait or read what they have computed.

use std::cell::RefCell;

use gpu_sort::SortOptions;
use gpu_stencil::texture::{Descriptor, Texture};
use gpu_tests::backends::for_each;

use super::*;

#[track_caller]
fn refuses(device: &Device, names: &[&str], call: impl Fn(&Buffer<f32>) -> Result<()>) {
    let stream = device.default_stream();
    // What a call was to give first, so that kernels are not what is refused.
    let input = floats(device, 1000);
    call(&input).unwrap();
    for passes_on in [true, false] {
        let captured = stream.capture(&input, |_, input| match call(input) {
            Err(error) if passes_on => Err(error),
            _ => Ok(()),
        });
        match captured {
            Err(Error::NotCapturable { what }) => assert!(names.contains(&what), "{what} on {device}"),
            other => panic!("{other:?} on {device}"),
        }
        call(&input).unwrap();
    }
}

#[test]
fn easy_forms() {
    on_each("easy_forms", |device| {
        let names = [
            "an allocation",
            "a copy to the host",
            "scratch memory that a device keeps",
            "a result that comes back to the host",
        ];
        refuses(device, &names, |x| gpu_reduce::sum(x).map(drop));
        refuses(device, &names, |x| gpu_scan::inclusive_sum(x).map(drop));
        refuses(device, &names, |x| gpu_sort::sort(x, SortOptions::ascending()).map(drop));
        refuses(device, &names, |x| gpu_sort::unique(x).map(drop));
        refuses(device, &names, |x| {
            let device = x.device();
            gpu_core::Offsets::new(device, &[0, 5]).map(drop)
        });
        refuses(device, &names, |x| Ok(gpu_transpose::permute(x, &[10, 100], &[1, 0]).map(drop)?));
    });
}

/// The quotients of means are computed on the host.
#[test]
fn means_on_a_stream() {
    on_each("means_on_a_stream", |device| {
        let stream = device.default_stream();
        let rows = gpu_core::Segments::of_length(100).unwrap();
        let size = gpu_reduce::reduce_scratch(1000)
            .max(gpu_reduce::reduce_axis_scratch::<gpu_reduce::kernels::Sum<f32>>(&[100, 10], 0).unwrap());
        let room = RefCell::new(Scratch::with_size(&stream, size).unwrap());
        let output = RefCell::new(device.zeroed::<f32>(10).unwrap());
        let names = ["an allocation"];
        let (s, output, room) = (&stream, || output.borrow_mut(), || room.borrow_mut());
        refuses(device, &names, |x| gpu_reduce::mean_into(s, x, output().slice_mut(..1), &mut room()));
        refuses(device, &names, |x| gpu_reduce::mean_segments_into(s, x, rows, &mut *output(), &mut room()));
        refuses(device, &names, |x| {
            gpu_reduce::mean_axis_into(s, x, &[100, 10], 0, &mut *output(), &mut room())
        });
    });
}

#[test]
fn textures() {
    for_each("textures", |device| {
        if device.kind() == Kind::Cpu {
            return;
        }
        let texels = numbers(64, 100).into_iter().map(|n| n as f32).collect::<Vec<_>>();
        let texture = Texture::new(device, &[64], 1, Descriptor::default(), &texels).unwrap();
        let (places, output) = (floats(device, 10), device.zeroed::<f32>(10).unwrap());
        let refused = device.default_stream().capture((places, output), |s, (places, output)| {
            Ok(gpu_stencil::texture::sample_into(s, &texture, &*places, output)?)
        });
        assert!(
            matches!(refused, Err(Error::NotCapturable { what: "a kernel that reads a texture" })),
            "{refused:?}"
        );
        let made = device
            .default_stream()
            .capture((), |_, ()| Texture::new(device, &[64], 1, Descriptor::default(), &texels).map(drop));
        assert!(made.is_err(), "{made:?}");
    });
}

/// What is checked on the device, and read, is checked before.
#[test]
fn structures() {
    on_each("structures", |device| {
        let stream = device.default_stream();
        let matrix = gpu_sparse::Csr::upload(device, 2, 2, &[0, 1, 2], &[0, 1], &[1.0, 2.0]).unwrap();
        let captured = stream.capture(&matrix, |_, matrix| Ok(gpu_sparse::Spmv::new(&**matrix).map(drop)?));
        assert!(matches!(captured, Err(Error::NotCapturable { .. })), "{captured:?}");
    });
}
