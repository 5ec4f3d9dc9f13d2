//! The textbook's filters: every variant on every backend that runs kernels, against a serial oracle.

use gpu_core::image::Invalid;
use gpu_core::{Device, Kind};
use gpu_sim::metrics::Metrics;
use gpu_sim::{Config, Record};
use gpu_stencil::Error;
use gpu_stencil::variants::{BlurVariant, Gradient, MAX_RADIUS, Mask, blur, sobel};
use gpu_tests::backends::for_each;
use gpu_tests::compare::assert_same_bits;
use gpu_tests::data::floats;

/// `mask ⋆ image`, rows and columns ascending, zero outside.
fn naive_blur(image: &[f32], mask: &[f32], [rows, columns]: [usize; 2]) -> Vec<f32> {
    let side = mask.len().isqrt();
    let radius = side / 2;
    let pixel = |row: usize, column: usize| {
        let inside = row >= radius && row < rows + radius && column >= radius && column < columns + radius;
        if inside { image[(row - radius) * columns + column - radius] } else { 0.0 }
    };
    let sum = |row: usize, column: usize| {
        (0..side * side)
            .fold(0.0f32, |sum, at| mask[at].mul_add(pixel(row + at / side, column + at % side), sum))
    };
    (0..rows * columns).map(|at| sum(at / columns, at % columns)).collect()
}

/// `[gx, gy, magnitude]`, zero at the outermost pixels.
fn naive_sobel(image: &[f32], [rows, columns]: [usize; 2]) -> [Vec<f32>; 3] {
    let filters = [
        [-1.0, 0.0, 1.0, -2.0, 0.0, 2.0, -1.0, 0.0, 1.0f32],
        [-1.0, -2.0, -1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 1.0],
    ];
    let inside =
        |row: usize, column: usize| (1..rows.max(1) - 1).contains(&row) && (1..columns - 1).contains(&column);
    let derivative = |filter: [f32; 9]| -> Vec<f32> {
        let of = |row: usize, column: usize| {
            (0..9).fold(0.0f32, |sum, at| {
                filter[at].mul_add(image[(row + at / 3 - 1) * columns + column + at % 3 - 1], sum)
            })
        };
        (0..rows * columns)
            .map(|at| (at / columns, at % columns))
            .map(|(row, column)| if inside(row, column) { of(row, column) } else { 0.0 })
            .collect()
    };
    let [gx, gy] = filters.map(derivative);
    let magnitude = gx.iter().zip(&gy).map(|(x, y)| x.mul_add(*x, y * y).sqrt()).collect();
    [gx, gy, magnitude]
}

const SHAPES: [[usize; 2]; 6] = [[1, 1], [3, 2], [31, 33], [64, 32], [45, 70], [2, 100]];

#[test]
fn every_blur_gives_the_bits_of_a_loop() {
    for_each("every_blur_gives_the_bits_of_a_loop", |device| {
        if device.kind() == Kind::Cpu {
            println!("the CPU runs no kernels: see `what_cannot_be_is_refused`");
            return;
        }
        for (at, extents) in SHAPES.into_iter().enumerate() {
            let image = floats(at as u64, extents[0] * extents[1]);
            let input = device.upload(&image).unwrap();
            // Both of the report, and one of random weights of any sign.
            for radius in [2, 5, 1] {
                let side = 2 * radius as usize + 1;
                let mask = match radius {
                    1 => Mask::new(device, radius, &floats(99, side * side)).unwrap(),
                    _ => Mask::gaussian(device, radius, f64::from(radius) / 2.0).unwrap(),
                };
                let expected = naive_blur(&image, mask.weights(), extents);
                for variant in BlurVariant::ALL {
                    let mut output = device.upload(&vec![f32::NAN; image.len() + 1]).unwrap();
                    blur(variant, &device.default_stream(), &input, &mask, &mut output, extents).unwrap();
                    let context = format!("{} {extents:?} r = {radius} on {}", variant.name(), device.name());
                    let actual = output.to_vec().unwrap();
                    assert_same_bits(&actual[..image.len()], &expected, &context);
                    assert!(actual[image.len()].is_nan(), "{context}: written beyond the image");
                }
            }
        }
    });
}

#[test]
fn a_gaussian_adds_up_to_one_and_falls_off() {
    let device = Device::cpu();
    for radius in 1..=MAX_RADIUS {
        let mask = Mask::gaussian(&device, radius, 1.5).unwrap();
        let weights = mask.weights();
        // Each weight errs by 2^-25 of itself at most, and so does their sum.
        let sum: f64 = weights.iter().copied().map(f64::from).sum();
        assert!((sum - 1.0).abs() <= 2f64.powi(-25), "{sum}");
        let centre = weights.len() / 2;
        assert!(weights[centre..].iter().all(|weight| *weight <= weights[centre]));
        // exp(-1/2σ²): both weights err by 2^-24 of themselves.
        let ratio = f64::from(weights[centre + 1]) / f64::from(weights[centre]);
        assert!((ratio - (-1.0f64 / 4.5).exp()).abs() < 2f64.powi(-22), "{ratio}");
    }
}

#[test]
fn sobel_gives_the_bits_of_a_loop() {
    for_each("sobel_gives_the_bits_of_a_loop", |device| {
        if device.kind() == Kind::Cpu {
            println!("the CPU runs no kernels: see `what_cannot_be_is_refused`");
            return;
        }
        for (at, extents) in [[3, 3], [16, 16], [17, 40], [2, 9], [50, 33]].into_iter().enumerate() {
            let image = floats(at as u64, extents[0] * extents[1]);
            let input = device.upload(&image).unwrap();
            let mut outputs = [0; 3].map(|_| device.upload(&vec![f32::NAN; image.len()]).unwrap());
            let [gx, gy, magnitude] = &mut outputs;
            let gradient = Gradient { gx: gx.view_mut(), gy: gy.view_mut(), magnitude: magnitude.view_mut() };
            sobel(&device.default_stream(), &input, gradient, extents).unwrap();
            for (output, expected) in outputs.iter().zip(naive_sobel(&image, extents)) {
                let context = format!("{extents:?} on {}", device.name());
                assert_same_bits(&output.to_vec().unwrap(), &expected, &context);
            }
        }
    });
}

/// The report's image, 750 × 499 in blocks of 16 × 16: where warps diverge can be counted by hand.
#[test]
fn divergence_of_sobel_is_what_its_guards_say() {
    let device = Device::simulator_with(Config { record: Record::Full, ..Config::default() });
    let (rows, columns) = (499, 750);
    let input = device.upload(&floats(1, rows * columns)).unwrap();
    let mut outputs = [0; 3].map(|_| device.alloc(rows * columns).unwrap());
    let [gx, gy, magnitude] = &mut outputs;
    let gradient = Gradient { gx: gx.view_mut(), gy: gy.view_mut(), magnitude: magnitude.view_mut() };
    sobel(&device.default_stream(), &input, gradient, [rows, columns]).unwrap();
    let reports = device.as_simulator().unwrap().take_reports();
    let [x, y, of_magnitude] = &reports[reports.len() - 3..] else { panic!("{} launches", reports.len()) };

    // A warp has 16 pixels of two rows: 47 × 250 of the 47 × 256 have pixels. The guard divides those that have both
    // inner ones and others: at the left and at the right edge all, but the last ones, whose two rows (498 and 499)
    // have no inner pixels; else the first ones, of row 0 and 1.
    let diverging = 2 * 249 + 45;
    for report in [x, y, of_magnitude] {
        assert_eq!(Metrics::new(report).divergent_branch, diverging, "{:?}", report.kernel);
    }
    // The magnitude has no other branch: one for each warp.
    let warps = 47 * 256;
    let efficiency = 100.0 * (warps - diverging) as f64 / warps as f64;
    assert_eq!(Metrics::new(of_magnitude).branch_efficiency, efficiency);
    assert!(
        Metrics::new(x).branch_efficiency > efficiency,
        "the flag's branches and the loops' never diverge"
    );
}

#[test]
fn what_cannot_be_is_refused() {
    for_each("what_cannot_be_is_refused", |device| {
        let stream = device.default_stream();
        let input = device.upload(&[1.0f32; 12]).unwrap();
        let mut output = device.upload(&[-7.0f32; 12]).unwrap();
        let error = Mask::new(device, 1, &[1.0; 8]).unwrap_err();
        assert!(matches!(error, Error::Mask { radius: 1, expected: 9, actual: 8, .. }), "{error}");
        for radius in [0, MAX_RADIUS + 1, u32::MAX] {
            let error = Mask::gaussian(device, radius, 1.0).unwrap_err();
            assert!(matches!(error, Error::Mask { limit: MAX_RADIUS, .. }), "{error}");
        }
        for sigma in [0.0, 5e-324] {
            let identity = Mask::gaussian(device, 1, sigma).unwrap();
            assert_eq!(identity.weights(), [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
        }
        for sigma in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(Mask::gaussian(device, 1, sigma), Err(Error::Sigma { .. })), "{sigma}");
        }
        let mask = Mask::new(device, 1, &[1.0; 9]).unwrap();
        let error = blur(BlurVariant::Global, &stream, &input, &mask, &mut output, [3, 5]).unwrap_err();
        assert!(
            matches!(error, Error::Device(gpu_core::Error::Length { expected: 15, actual: 12, .. })),
            "{error}"
        );
        let error = blur(BlurVariant::Global, &stream, &input, &mask, &mut output, [0, 5]).unwrap_err();
        assert!(matches!(error, Error::Device(gpu_core::Error::Image(Invalid::Empty { .. }))), "{error}");
        let (mut gx, mut gy) =
            (device.upload(&[-7.0f32; 12]).unwrap(), device.upload(&[-7.0f32; 11]).unwrap());
        let gradient = Gradient { gx: gx.view_mut(), gy: gy.view_mut(), magnitude: output.view_mut() };
        let error = sobel(&stream, &input, gradient, [3, 4]).unwrap_err();
        assert!(
            matches!(error, Error::Device(gpu_core::Error::Length { expected: 12, actual: 11, .. })),
            "{error}"
        );
        if device.kind() == Kind::Cpu {
            let error = blur(BlurVariant::Shared, &stream, &input, &mask, &mut output, [3, 4]).unwrap_err();
            assert!(matches!(error, Error::Device(gpu_core::Error::Unsupported { .. })), "{error}");
            let mut gy = device.upload(&[-7.0f32; 12]).unwrap();
            let gradient = Gradient { gx: gx.view_mut(), gy: gy.view_mut(), magnitude: output.view_mut() };
            let error = sobel(&stream, &input, gradient, [3, 4]).unwrap_err();
            assert!(matches!(error, Error::Device(gpu_core::Error::Unsupported { .. })), "{error}");
            assert_eq!(gy.to_vec().unwrap(), [-7.0; 12]);
        }
        assert_eq!(output.to_vec().unwrap(), [-7.0; 12]);
        assert_eq!(gx.to_vec().unwrap(), [-7.0; 12]);
    });
}
