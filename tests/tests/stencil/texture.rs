//! Textures: one body over all backends, against a serial oracle in double precision and the bound of eight-bit
//! weights, which
//! `gpu_stencil::texture` derives.

use gpu_core::texture::{AddressMode, Descriptor, FilterMode, Invalid, ReadMode, Texel, Texture};
use gpu_core::{Device, Kind};
use gpu_stencil::resize::{self, Addressing, Interpolation};
use gpu_stencil::texture::{resize_into, sample, sample_into};
use gpu_stencil::{Error, Image, ImageLayout, ImageMut, texture};
use gpu_tests::backends::for_each;
use gpu_tests::data::floats;

const ADDRESSES: [AddressMode; 4] =
    [AddressMode::Clamp, AddressMode::Wrap, AddressMode::Mirror, AddressMode::Border];
/// Half a unit of a weight's last bit.
const WEIGHT: f64 = 1.0 / 512.0;

fn repeats(address: AddressMode) -> bool {
    matches!(address, AddressMode::Wrap | AddressMode::Mirror)
}

/// The texel at `index` of `n`, by CUDA's addressing; `None` is zero.
fn texel(index: i64, n: i64, address: AddressMode) -> Option<usize> {
    let at = match address {
        AddressMode::Clamp => index.clamp(0, n - 1),
        AddressMode::Wrap => index.rem_euclid(n),
        AddressMode::Mirror => index.rem_euclid(2 * n).min((-1 - index).rem_euclid(2 * n)),
        AddressMode::Border if (0..n).contains(&index) => index,
        AddressMode::Border => return None,
    };
    Some(at as usize)
}

/// The oracle, of one channel: the programming guide's formulae with exact weights.
fn naive(texels: &[f64], extents: &[usize], descriptor: Descriptor, place: &[f32]) -> f64 {
    let mut value = 0.0;
    // Each corner's weight, and its place in the array.
    for corner in 0..1 << extents.len() {
        let (mut weight, mut at, mut step, mut inside) = (1.0, 0, 1, true);
        for (axis, (&n, &coordinate)) in extents.iter().zip(place).enumerate() {
            let x = f64::from(coordinate) * if descriptor.normalized_coordinates { n as f64 } else { 1.0 };
            let second = corner >> axis & 1 == 1;
            let (index, share) = match descriptor.filter {
                FilterMode::Point => (x.floor(), if second { 0.0 } else { 1.0 }),
                FilterMode::Linear => {
                    let (first, fraction) = ((x - 0.5).floor(), (x - 0.5) - (x - 0.5).floor());
                    if second { (first + 1.0, fraction) } else { (first, 1.0 - fraction) }
                }
            };
            weight *= share;
            match texel(index as i64, n as i64, descriptor.address) {
                Some(texel) => at += texel * step,
                None => inside = false,
            }
            step *= n;
        }
        value += if inside { weight * texels[at] } else { 0.0 };
    }
    value
}

/// `channel` of what is read of the elements, and the channels.
fn channel<T: Texel + Into<f64>>(data: &[T], channels: usize, channel: usize, largest: f64) -> Vec<f64> {
    data.chunks(channels).map(|texel| texel[channel].into() / largest).collect()
}

/// Texels of a type, from `seed`, and the largest of that type.
trait Subject: Texel + Into<f64> {
    const LARGEST: f64;
    fn texels(seed: u64, len: usize) -> Vec<Self>;
}

macro_rules! subjects {
    ($($T:ty, $largest:literal, $of:expr;)*) => { $(
        impl Subject for $T {
            const LARGEST: f64 = $largest;
            fn texels(seed: u64, len: usize) -> Vec<Self> {
                floats(seed, len).into_iter().map($of).collect()
            }
        }
    )* };
}
subjects! {
    u8, 255.0, |value: f32| value.to_bits() as u8;
    u16, 65_535.0, |value: f32| value.to_bits() as u16;
    f32, 1.0, |value| value;
}

/// All that can be asked of texels of this type.
fn descriptors<T: Subject>() -> Vec<Descriptor> {
    let integer = T::LARGEST > 1.0;
    let reads = [ReadMode::Element, ReadMode::NormalizedFloat];
    let mut all = Vec::new();
    for address in ADDRESSES {
        for filter in [FilterMode::Point, FilterMode::Linear] {
            for read in reads.into_iter().filter(|&read| integer || read == ReadMode::Element) {
                for normalized_coordinates in [false, true] {
                    let descriptor = Descriptor { address, filter, read, normalized_coordinates };
                    let integers = integer && read == ReadMode::Element;
                    if (!repeats(address) || normalized_coordinates)
                        && !(integers && filter == FilterMode::Linear)
                    {
                        all.push(descriptor);
                    }
                }
            }
        }
    }
    all
}

/// Powers of two, by which normalised coordinates are multiplied exactly.
const SHAPES: [&[usize]; 5] = [&[8], &[4, 8], &[8, 2], &[4, 2, 8], &[1, 1]];

/// Checks a texture at places given in texels, relative to the bound's weight: 0 demands the exact value.
fn check<T: Subject>(
    device: &Device,
    (extents, channels): (&[usize], usize),
    descriptor: Descriptor,
    places: &[f32],
    weight: f64,
) -> f64 {
    let data = T::texels(3, extents.iter().product::<usize>() * channels);
    let texture = Texture::new(device, extents, channels, descriptor, &data).unwrap();
    let dimensions = extents.len();
    let places: Vec<f32> =
        places[..places.len() / dimensions * dimensions]
            .iter()
            .enumerate()
            .map(|(at, place)| {
                if descriptor.normalized_coordinates {
                    place / extents[at % dimensions] as f32
                } else {
                    *place
                }
            })
            .collect();
    let values = sample(&texture, &device.upload(&places).unwrap()).unwrap().to_vec().unwrap();
    assert_eq!(values.len(), places.len() / dimensions * channels);
    let normalized = descriptor.read == ReadMode::NormalizedFloat;
    let mut worst = 0.0f64;
    for k in 0..channels {
        let texels = channel(&data, channels, k, if normalized { T::LARGEST } else { 1.0 });
        let all = texels.iter().copied().chain((descriptor.address == AddressMode::Border).then_some(0.0));
        let (low, high) =
            all.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        let magnitude = low.abs().max(high.abs());
        // Coordinates of f32, and a rounding or two of each lerp; a normalised integer is rounded once, or between
        // texels to 65,535ths.
        let coordinate = extents.iter().map(|&n| n as f64 * 2f64.powi(-23)).sum::<f64>();
        let roundings = match (weight > 0.0, normalized) {
            (true, _) => 8.0,
            (false, true) => 1.0,
            (false, false) => 0.0,
        };
        let rounding = roundings * 2f64.powi(-24) * magnitude;
        let of_weights = if weight > 0.0 {
            let parts = if normalized { 0.5 / 65_535.0 } else { 0.0 };
            ((dimensions * dimensions) as f64 * weight + coordinate) * (high - low) + parts
        } else {
            0.0
        };
        for (at, place) in places.chunks(dimensions).enumerate() {
            let exact = naive(&texels, extents, descriptor, place);
            let error = (f64::from(values[at * channels + k]) - exact).abs();
            assert!(
                error <= of_weights + rounding,
                "{} {extents:?} × {channels}, {descriptor:?}, at {place:?} on {}: {} and not {exact}, off by {error:e}",
                core::any::type_name::<T>(),
                device.name(),
                values[at * channels + k],
            );
            if high > low {
                worst = worst.max(error / (high - low) / (dimensions * dimensions) as f64);
            }
        }
    }
    worst
}

fn check_all<T: Subject>(device: &Device, places: &[f32], filter: FilterMode, weight: f64) -> f64 {
    let mut worst = 0.0f64;
    for descriptor in descriptors::<T>().into_iter().filter(|one| one.filter == filter) {
        for (at, extents) in SHAPES.into_iter().enumerate() {
            let channels = [1, 2, 4][at % 3];
            worst = worst.max(check::<T>(device, (extents, channels), descriptor, places, weight));
        }
    }
    worst
}

#[test]
fn reads_are_exact_at_texel_centres() {
    for_each("reads_are_exact_at_texel_centres", |device| {
        // Inside and outside, all combinations along the axes: 13, 2 and 3 have no common factor.
        let places: Vec<f32> = (0..13 * 6).map(|at| (at * 5 % 13) as f32 - 2.5).collect();
        for filter in [FilterMode::Point, FilterMode::Linear] {
            check_all::<u8>(device, &places, filter, 0.0);
            check_all::<u16>(device, &places, filter, 0.0);
            check_all::<f32>(device, &places, filter, 0.0);
        }
    });
}

#[test]
fn points_are_the_texels_they_are_in() {
    for_each("points_are_the_texels_they_are_in", |device| {
        // Odd multiples of 1/64: never on a boundary, and exact in all that is done with them.
        let places: Vec<f32> = (0..300).map(|at| (at * 37 % 801) as f32 / 32.0 - 9.0 + 1.0 / 64.0).collect();
        check_all::<u8>(device, &places, FilterMode::Point, 0.0);
        check_all::<u16>(device, &places, FilterMode::Point, 0.0);
        check_all::<f32>(device, &places, FilterMode::Point, 0.0);
    });
}

#[test]
fn linear_reads_are_within_the_bound_of_the_weights() {
    for_each("linear_reads_are_within_the_bound_of_the_weights", |device| {
        let places: Vec<f32> = floats(17, 900).into_iter().map(|value| value % 12.0).collect();
        let worst = check_all::<u8>(device, &places, FilterMode::Linear, WEIGHT)
            .max(check_all::<u16>(device, &places, FilterMode::Linear, WEIGHT))
            .max(check_all::<f32>(device, &places, FilterMode::Linear, WEIGHT));
        println!(
            "{}: the worst deviation is {worst:.3e} of the range and the axes' square, the bound {WEIGHT:.3e}",
            device.name()
        );
        assert!(worst > WEIGHT / 8.0, "weights have more than eight bits: this tests nothing");
    });
}

/// Two texels, 0 and 256: a read is the weight in its units.
#[test]
fn weights_are_rounded_to_the_nearest_of_256() {
    for_each("weights_are_rounded_to_the_nearest_of_256", |device| {
        let smooth = Descriptor { filter: FilterMode::Linear, ..Descriptor::default() };
        let texture = Texture::new(device, &[2], 1, smooth, &[0.0f32, 256.0]).unwrap();
        let places: Vec<f32> = (0..=2048).map(|at| 0.5 + at as f32 / 2048.0).collect();
        let values = sample(&texture, &device.upload(&places).unwrap()).unwrap().to_vec().unwrap();
        for (at, value) in values.into_iter().enumerate() {
            let exact = at as f64 / 8.0;
            assert!((f64::from(value) - exact).abs() <= 0.5, "{}: {value} at {exact}", device.name());
            assert_eq!(value.fract(), 0.0, "{}: {value} is no multiple of a unit", device.name());
        }
    });
}

/// The documentation's bound between the two ways to resize.
#[test]
fn resizes_are_near_those_through_plain_loads() {
    for_each("resizes_are_near_those_through_plain_loads", |device| {
        let (width, height) = (37, 21);
        let layout = ImageLayout::new(width, height, 1).unwrap();
        let pixels = floats(5, layout.span());
        let image = device.upload(&pixels).unwrap();
        let extremes =
            pixels.iter().fold((f32::MAX, f32::MIN), |(low, high), &of| (low.min(of), high.max(of)));
        let range = f64::from(extremes.1.max(0.0)) - f64::from(extremes.0.min(0.0));
        for (address, addressing) in ADDRESSES.into_iter().zip([
            Addressing::Clamp,
            Addressing::Wrap,
            Addressing::Mirror,
            Addressing::Border(0.0),
        ]) {
            let descriptor = Descriptor {
                address,
                filter: FilterMode::Linear,
                normalized_coordinates: repeats(address),
                ..Descriptor::default()
            };
            // From memory of the device, where there is some.
            let texture = Texture::new(device, &[width, height], 1, descriptor, &image).unwrap();
            for (columns, rows) in [(18, 10), (74, 42), (50, 5), (1, 1)] {
                let to = ImageLayout::new(columns, rows, 1).unwrap().with_pitch(columns + 3).unwrap();
                let mut output = device.upload(&vec![f32::NAN; to.span() + 2]).unwrap();
                let target = ImageMut::new(&mut output, to).unwrap();
                resize_into(&device.default_stream(), &texture, target).unwrap();
                let actual = output.to_vec().unwrap();
                let input = Image::new(&image, layout).unwrap();
                let expected =
                    resize::resize(input, columns, rows, Interpolation::Bilinear(addressing)).unwrap();
                let expected = expected.to_vec().unwrap();
                let bound =
                    (4.0 * WEIGHT + width as f64 * 2f64.powi(-22)) * range + 20.0 * 2f64.powi(-24) * range;
                for row in 0..rows {
                    for column in 0..columns {
                        let (actual, expected) =
                            (actual[to.index(0, row, column, 0)], expected[row * columns + column]);
                        let error = f64::from(actual - expected).abs();
                        assert!(error <= bound, "{address:?} ({column}, {row}): {actual} {expected}");
                    }
                }
                let gaps = (0..to.span() + 2).filter(|at| at % to.pitch() >= columns || *at >= to.span());
                assert!(gaps.into_iter().all(|at| actual[at].is_nan()), "a gap was written");
            }
        }
    });
}

/// The report's: texels of `u8`, read as they are, from the nearest.
#[test]
fn whole_pixels_are_those_of_the_nearest() {
    for_each("whole_pixels_are_those_of_the_nearest", |device| {
        for channels in [1, 2, 4] {
            let layout = ImageLayout::new(12, 8, channels).unwrap();
            let pixels = u8::texels(9, layout.span());
            let texture = Texture::new(device, &[12, 8], channels, Descriptor::default(), &pixels).unwrap();
            assert!(texture.reads_integers());
            let image = device.upload(&pixels).unwrap();
            for (width, height) in [(24, 16), (6, 4), (48, 2)] {
                let input = Image::new(&image, layout).unwrap();
                let expected = resize::resize(input, width, height, Interpolation::Nearest).unwrap();
                let expected: Vec<f32> = expected.to_vec().unwrap().into_iter().map(f32::from).collect();
                assert_eq!(texture::resize(&texture, width, height).unwrap().to_vec().unwrap(), expected);
            }
        }
    });
}

#[test]
fn impossible_textures_are_refused() {
    for_each("impossible_textures_are_refused", |device| {
        let plain = Descriptor::default();
        let invalid = |extents: &[usize], channels: usize, descriptor: Descriptor| match Texture::new(
            device, extents, channels, descriptor, &[0u8; 4],
        )
        .unwrap_err()
        {
            gpu_core::Error::Texture(invalid) => invalid,
            other => panic!("{other}"),
        };
        assert_eq!(invalid(&[], 1, plain), Invalid::Dimensions { actual: 0 });
        assert_eq!(invalid(&[1; 4], 1, plain), Invalid::Dimensions { actual: 4 });
        assert_eq!(invalid(&[4], 3, plain), Invalid::Channels { actual: 3 });
        let extent = |dimensions, axis, limit, actual| Invalid::Extent { dimensions, axis, limit, actual };
        assert_eq!(invalid(&[4, 0], 1, plain), extent(2, 1, 65_536, 0));
        assert_eq!(invalid(&[1, 1, 16_385], 1, plain), extent(3, 2, 16_384, 16_385));
        assert_eq!(invalid(&[usize::MAX], 1, plain), extent(1, 0, 131_072, usize::MAX));
        for address in [AddressMode::Wrap, AddressMode::Mirror] {
            let descriptor = Descriptor { address, ..plain };
            assert_eq!(invalid(&[4], 1, descriptor), Invalid::AddressNeedsNormalizedCoordinates { address });
        }
        let smooth = Descriptor { filter: FilterMode::Linear, ..plain };
        assert_eq!(invalid(&[4], 1, smooth), Invalid::LinearNeedsFloats);
        let normalized = Descriptor { read: ReadMode::NormalizedFloat, ..plain };
        let error = Texture::new(device, &[4], 1, normalized, &[0.0f32; 4]).unwrap_err();
        assert!(matches!(error, gpu_core::Error::Texture(Invalid::FloatsAreNotNormalized)), "{error}");
        let error = Texture::new(device, &[2, 2], 1, plain, &[0.0f32; 5]).unwrap_err();
        assert!(matches!(error, gpu_core::Error::LengthMismatch { expected: 4, actual: 5, .. }), "{error}");
        let foreign = Device::simulator().upload(&[0.0f32; 4]).unwrap();
        let error = Texture::new(device, &[4], 1, plain, &foreign).unwrap_err();
        assert!(matches!(error, gpu_core::Error::WrongDevice { .. }), "{error}");
    });
}

#[test]
fn reads_that_cannot_be_are_refused_and_nothing_is_written() {
    for_each("reads_that_cannot_be_are_refused_and_nothing_is_written", |device| {
        let stream = device.default_stream();
        let plane = Texture::new(device, &[2, 2], 2, Descriptor::default(), &[1.0f32; 8]).unwrap();
        let line = Texture::new(device, &[4], 1, Descriptor::default(), &[1.0f32; 4]).unwrap();
        let places = device.upload(&[0.5f32; 6]).unwrap();
        let mut output = device.upload(&[-7.0f32; 8]).unwrap();
        let error = sample_into(&stream, &plane, places.slice(..5), &mut output).unwrap_err();
        assert!(matches!(error, Error::Places { coordinates: 5, dimensions: 2 }), "{error}");
        let error = sample_into(&stream, &plane, &places, &mut output).unwrap_err();
        assert!(
            matches!(error, Error::Device(gpu_core::Error::OutputLength { expected: 6, actual: 8, .. })),
            "{error}"
        );
        sample_into(&stream, &plane, places.slice(..0), output.slice_mut(..0)).unwrap();
        let layout = ImageLayout::new(2, 2, 1).unwrap();
        let error = resize_into(&stream, &line, ImageMut::new(&mut output, layout).unwrap()).unwrap_err();
        assert!(matches!(error, Error::TextureDimensions { expected: 2, actual: 1 }), "{error}");
        let error = resize_into(&stream, &plane, ImageMut::new(&mut output, layout).unwrap()).unwrap_err();
        assert!(matches!(error, Error::Channels { expected: 2, actual: 1 }), "{error}");
        let two = ImageLayout::new(2, 1, 2).unwrap().with_batch(2, 4).unwrap();
        let error = resize_into(&stream, &plane, ImageMut::new(&mut output, two).unwrap()).unwrap_err();
        assert!(matches!(error, Error::Images { expected: 1, actual: 2 }), "{error}");
        let elsewhere = Device::simulator();
        let foreign = Texture::new(&elsewhere, &[6], 1, Descriptor::default(), &[1.0f32; 6]).unwrap();
        let error = sample_into(&stream, &foreign, &places, output.slice_mut(..6)).unwrap_err();
        assert!(matches!(error, Error::Device(gpu_core::Error::WrongDevice { .. })), "{error}");
        assert_eq!(output.to_vec().unwrap(), [-7.0; 8]);
    });
}

/// A GPU has few of them, and frees one only when nothing reads it any more.
#[test]
fn textures_come_and_go() {
    for_each("textures_come_and_go", |device| {
        let place = device.upload(&[0.5f32]).unwrap();
        let mut output = device.alloc::<f32>(1).unwrap();
        for round in 0..200u8 {
            let texture = Texture::new(device, &[1], 1, Descriptor::default(), &[round]).unwrap();
            sample_into(&device.default_stream(), &texture, &place, &mut output).unwrap();
            drop(texture);
            assert_eq!(output.to_vec().unwrap(), [f32::from(round)]);
        }
        let texture = Texture::new(device, &[1], 1, Descriptor::default(), &[1u8]).unwrap();
        assert_eq!(texture.as_sampler().is_some(), device.kind() == Kind::Cpu);
    });
}
