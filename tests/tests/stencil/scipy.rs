//! SciPy's results (`data/stencil_scipy.py`): bit for bit by the `scipy` module, within the error bound by the filters
//! themselves.

use gpu_core::Device;
use gpu_stencil::scipy::{self, Axis};
use gpu_stencil::{
    Border, Error, Filter, Image, ImageLayout, Pixel, SeparableFilter, correlate, correlate_separable,
};
use gpu_tests::backends::for_each;
use gpu_tests::compare::assert_same_bits;

use crate::support::image::Element;

const GOLDEN: &str = include_str!("../data/stencil_scipy.txt");

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&hexadecimal[at..at + 2], 16).expect("hexadecimal digits");
    (0..hexadecimal.len()).step_by(2).map(digits).collect()
}

fn values<T: Element>(hexadecimal: &str) -> Vec<T> {
    bytes(hexadecimal).chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}

/// A line of the file.
struct Case<'a> {
    operation: &'a str,
    element: &'a str,
    mode: &'a str,
    parameters: Vec<&'a str>,
    layout: ImageLayout,
    input: &'a str,
    output: &'a str,
    line: &'a str,
}

fn golden() -> impl Iterator<Item = Case<'static>> {
    GOLDEN.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let [operation, element, mode, parameters @ .., height, width, input, output] = &words[..] else {
            panic!("{line}")
        };
        let extent = |word: &str| word.parse().expect("an extent");
        Case {
            operation,
            element,
            mode,
            parameters: parameters.to_vec(),
            layout: ImageLayout::new(extent(width), extent(height), 1).expect("a layout"),
            input,
            output,
            line: &line[..line.len().min(70)],
        }
    })
}

impl Case<'_> {
    fn border<T: Copy>(&self, outside: T) -> Border<T> {
        match self.mode {
            "reflect" => Border::Reflect,
            "mirror" => Border::Mirror,
            "nearest" => Border::Nearest,
            "wrap" => Border::Wrap,
            "constant" => Border::Constant(outside),
            other => panic!("{other}"),
        }
    }

    fn number<N: core::str::FromStr>(&self, at: usize) -> N {
        self.parameters[at].parse().ok().unwrap_or_else(|| panic!("a number: {}", self.line))
    }

    fn axis(&self) -> Axis {
        if self.number::<u32>(0) == 0 { Axis::Y } else { Axis::X }
    }

    fn filter(&self) -> Filter<f64> {
        let (height, width) = (self.number(0), self.number(1));
        let filter = Filter::new(width, height, &values(self.parameters[4])).unwrap();
        filter.with_origin(self.number(3), self.number(2)).unwrap()
    }
}

fn check_bits<T: Element + scipy::Exact>(device: &Device, case: &Case<'_>, outside: T) {
    let buffer = device.upload(&values::<T>(case.input)).unwrap();
    let image = Image::new(&buffer, case.layout).unwrap();
    let border = case.border(outside);
    let result = match case.operation {
        "correlate1d" => {
            let weights = values::<f64>(case.parameters[2]);
            scipy::correlate1d(image, &weights, case.axis(), border, case.number(1))
        }
        "correlate" => scipy::correlate(image, &case.filter(), border),
        "gaussian_filter" => {
            let weights = values::<f64>(case.parameters[1]);
            let ours = SeparableFilter::<f64>::gaussian(case.number(0), 4.0).unwrap();
            // Both are two roundings and an exp, which may err by an ulp, from the exact weights: 3 ulps of difference
            // at most.
            assert_eq!(ours.row().len(), weights.len(), "{}", case.line);
            for (ours, theirs) in ours.row().iter().zip(&weights) {
                assert!(
                    (ours - theirs).abs() <= 6.0 * f64::EPSILON / 2.0 * theirs,
                    "{ours} {theirs} {}",
                    case.line
                );
            }
            if ours.row() == weights {
                scipy::gaussian_filter(image, case.number(0), 4.0, border)
            } else {
                println!("the platform's exp has other weights: {}", case.line);
                let columns = scipy::correlate1d(image, &weights, Axis::Y, border, 0).unwrap();
                let columns = Image::new(&columns, case.layout).unwrap();
                scipy::correlate1d(columns, &weights, Axis::X, border, 0)
            }
        }
        "uniform_filter" => scipy::uniform_filter(image, case.number(1), case.number(0), border),
        "sobel" => scipy::sobel(image, case.axis(), border),
        "laplace" => scipy::laplace(image, border),
        other => panic!("{other}"),
    };
    let result = result.unwrap().to_vec().unwrap();
    assert_same_bits(&result, &values::<T>(case.output), &format!("{} on {}", case.line, device.name()));
}

#[test]
fn the_scipy_module_has_scipys_bits() {
    for_each("the_scipy_module_has_scipys_bits", |device| {
        let mut count = 0;
        for case in golden() {
            count += 1;
            match case.element {
                "u8" => check_bits::<u8>(device, &case, 3),
                "u16" => check_bits::<u16>(device, &case, 3),
                "i16" => check_bits::<i16>(device, &case, 3),
                "f32" => check_bits::<f32>(device, &case, 3.0),
                "f64" => check_bits::<f64>(device, &case, 3.0),
                other => panic!("{other}"),
            }
        }
        assert!(count > 500, "{count} cases");
        println!("{count} cases on {}", device.name());
    });
}

/// `gaussian_filter` with weights of its own: the platform's `exp` gives them here, NumPy's in SciPy. Golden outputs
/// are of a NumPy with AVX-512, which has its own `exp`, and of SciPy with the C library's (`stencil_scipy_exp.py`).
#[test]
fn gaussians_have_scipys_bits_where_exp_has() {
    fn filtered<T: Element + scipy::Exact>(device: &Device, case: &Case<'_>, outside: T) -> String {
        let image = device.upload(&values::<T>(case.input)).unwrap();
        let image = Image::new(&image, case.layout).unwrap();
        let result = scipy::gaussian_filter(image, case.number(0), 4.0, case.border(outside)).unwrap();
        let result = result.to_vec().unwrap();
        bytemuck::cast_slice(&result).iter().map(|byte: &u8| format!("{byte:02x}")).collect()
    }
    const EXP: &str = include_str!("../data/stencil_scipy_exp.txt");
    let cases: Vec<Case<'_>> = golden().filter(|case| case.operation == "gaussian_filter").collect();
    let lines: Vec<&str> = EXP.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(cases.len(), lines.len());
    for_each("gaussians_have_scipys_bits_where_exp_has", |device| {
        let (mut of_numpy, mut of_libm, mut of_same_exp) = (0, 0, 0);
        for (case, line) in cases.iter().zip(&lines) {
            let (weights, output) = line.split_once(' ').expect("weights and an output");
            let weights = if weights == "=" { case.parameters[1] } else { weights };
            let output = if output == "=" { case.output } else { output };
            let ours = match case.element {
                "u8" => filtered::<u8>(device, case, 3),
                "u16" => filtered::<u16>(device, case, 3),
                "i16" => filtered::<i16>(device, case, 3),
                "f32" => filtered::<f32>(device, case, 3.0),
                "f64" => filtered::<f64>(device, case, 3.0),
                other => panic!("{other}"),
            };
            of_numpy += u32::from(ours == case.output);
            of_libm += u32::from(ours == output);
            let ours = SeparableFilter::<f64>::gaussian(case.number(0), 4.0).unwrap();
            of_same_exp += u32::from(ours.row() == values::<f64>(weights));
        }
        println!("of 110 {of_numpy} with NumPy's exp, {of_libm} with libm's on {}", device.name());
        // The documentation's counts, of platforms with an exp as glibc's.
        if of_same_exp == 110 {
            assert_eq!((of_numpy, of_libm), (94, 110), "on {}", device.name());
        } else {
            println!("the platform's exp gives other weights in {} cases", 110 - of_same_exp);
            assert!(of_libm >= of_same_exp, "{of_libm} outputs of {of_same_exp} equal weights");
        }
        #[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
        assert!(of_same_exp == 110 || !std::arch::is_x86_feature_detected!("fma"), "not glibc's exp?");
    });
}

/// The filters against SciPy's, where that computes in `f64` as well: each is a sum of `n` products, one rounding a
/// link at most two, so either is within γ(2n) · Σ|w||x| of the exact result, where γ(k) = k·u / (1 - k·u) (Higham,
/// *Accuracy and Stability*, 2002, §3.1), and they are within twice that of each other. Two passes count as one of as
/// many links; normalised weights sum up to 1 within the same bound, which is what SciPy's passes, each with its own
/// constant outside, differ by.
#[test]
fn filters_are_within_the_bound_of_scipys() {
    for_each("filters_are_within_the_bound_of_scipys", |device| {
        let mut count = 0;
        for case in golden().filter(|case| case.element == "f64") {
            let pixels = values::<f64>(case.input);
            let sizes: Vec<f64> = pixels.iter().map(|pixel| pixel.abs()).collect();
            let (border, outside) = (case.border(3.0), case.border(3.0));
            let buffer = device.upload(&pixels).unwrap();
            let (image, sizes) =
                (Image::new(&buffer, case.layout).unwrap(), Image::new(&sizes[..], case.layout).unwrap());
            let absolute = |weights: &[f64]| weights.iter().map(|weight| weight.abs()).collect::<Vec<f64>>();
            let (result, bound, links) = match case.operation {
                "correlate" => {
                    let filter = case.filter();
                    let (x, y) = filter.origin();
                    let sizes_filter =
                        Filter::new(filter.width(), filter.height(), &absolute(filter.weights()));
                    let sizes_filter = sizes_filter.unwrap().with_origin(x, y).unwrap();
                    let bound = correlate(sizes, &sizes_filter, outside).unwrap();
                    (correlate(image, &filter, border).unwrap(), bound, filter.weights().len())
                }
                "gaussian_filter" => {
                    let weights = values::<f64>(case.parameters[1]);
                    let filter = SeparableFilter::new(&weights, &weights).unwrap();
                    let bound = correlate_separable(sizes, &filter, outside).unwrap();
                    (correlate_separable(image, &filter, border).unwrap(), bound, 2 * weights.len())
                }
                "uniform_filter" => {
                    let filter = SeparableFilter::box_mean(case.number(1), case.number(0)).unwrap();
                    let bound = correlate_separable(sizes, &filter, outside).unwrap();
                    // SciPy's running sums carry every error along the line.
                    let links = filter.row().len()
                        + filter.column().len()
                        + case.layout.width()
                        + case.layout.height();
                    // ... of values that have left the window as well.
                    let largest =
                        values::<f64>(case.input).iter().fold(3.0f64, |largest, x| largest.max(x.abs()));
                    let bound = bound.to_vec().unwrap().iter().map(|_| largest).collect::<Vec<f64>>();
                    (
                        correlate_separable(image, &filter, border).unwrap(),
                        Device::cpu().upload(&bound).unwrap(),
                        links,
                    )
                }
                _ => continue,
            };
            count += 1;
            let unit = f64::EPSILON / 2.0;
            let steps = 2.0 * links as f64 * unit;
            let gamma = steps / (1.0 - steps);
            let expected = values::<f64>(case.output);
            let (result, bound) = (result.to_vec().unwrap(), bound.to_vec().unwrap());
            for (at, (ours, theirs)) in result.iter().zip(&expected).enumerate() {
                // The sum of sizes is itself within a factor of 1 + γ.
                let bound = 2.0 * gamma * (1.0 + gamma) * bound[at] + 1e-17 * bound[at].max(64.0);
                assert!((ours - theirs).abs() <= bound, "[{at}] {ours} {theirs} ± {bound:e}: {}", case.line);
            }
        }
        assert!(count > 100, "{count} cases");
    });
}

/// `f32` against sums in `f64`, whose own error is as nothing: γ(n) · Σ|w||x|, n links for a full filter and those of
/// row and column for a separable one. A fused link is one rounding; the first is one too.
#[test]
fn floats_are_within_the_bound_of_the_exact_result() {
    for_each("floats_are_within_the_bound_of_the_exact_result", |device| {
        let layout = ImageLayout::new(61, 23, 1).unwrap();
        let pixels = gpu_tests::data::floats(11, layout.span());
        let wide: Vec<f64> = pixels.iter().map(|&pixel| f64::from(pixel)).collect();
        let sizes: Vec<f64> = wide.iter().map(|pixel| pixel.abs()).collect();
        let buffer = device.upload(&pixels).unwrap();
        let image = Image::new(&buffer, layout).unwrap();
        let [wide, sizes] = [&wide, &sizes].map(|values| Image::new(&values[..], layout).unwrap());
        let weights = gpu_tests::data::floats(12, 81);
        let exact: Vec<f64> = weights.iter().map(|&weight| f64::from(weight)).collect();
        let absolute: Vec<f64> = exact.iter().map(|weight| weight.abs()).collect();
        let check = |ours: Vec<f32>, exact: Vec<f64>, bound: Vec<f64>, links: usize| {
            let steps = links as f64 * f64::from(f32::EPSILON) / 2.0;
            let gamma = steps / (1.0 - steps);
            for ((ours, exact), bound) in ours.iter().zip(&exact).zip(&bound) {
                let error = (f64::from(*ours) - exact).abs();
                assert!(error <= gamma * bound * (1.0 + 1e-12), "{ours} {exact}, {links} links");
            }
            assert!(ours.iter().zip(&exact).any(|(&ours, &exact)| f64::from(ours) != exact), "it is rounded");
        };
        for (width, height) in [(3, 3), (9, 9), (4, 7)] {
            let count = width * height;
            let run = |weights: &[f64], image| {
                correlate(image, &Filter::new(width, height, &weights[..count]).unwrap(), Border::Mirror)
            };
            let filter = Filter::new(width, height, &weights[..count]).unwrap();
            let ours = correlate(image, &filter, Border::Mirror).unwrap().to_vec().unwrap();
            let (exact, bound) = (run(&exact, wide).unwrap(), run(&absolute, sizes).unwrap());
            check(ours, exact.to_vec().unwrap(), bound.to_vec().unwrap(), count);
        }
        for taps in [3, 5, 11, 24] {
            let run = |weights: &[f64], image| {
                let filter = SeparableFilter::new(&weights[..taps], &weights[20..20 + taps]).unwrap();
                correlate_separable(image, &filter, Border::Mirror).unwrap().to_vec().unwrap()
            };
            let filter = SeparableFilter::new(&weights[..taps], &weights[20..20 + taps]).unwrap();
            let ours = correlate_separable(image, &filter, Border::Mirror).unwrap().to_vec().unwrap();
            check(ours, run(&exact, wide), run(&absolute, sizes), 2 * taps);
        }
    });
}

#[test]
fn what_scipy_does_not_have_is_refused() {
    let layout = ImageLayout::new(3, 2, 1).unwrap();
    let image = Image::new(&[0u8; 6], layout).unwrap();
    let error = scipy::laplace(image, Border::Valid).unwrap_err();
    assert!(matches!(error, Error::NoSuchBorder), "{error}");
    let gaps = Image::new(&[0u8; 8], layout.with_pitch(4).unwrap()).unwrap();
    let error = scipy::sobel(gaps, Axis::X, Border::Wrap).unwrap_err();
    assert!(matches!(error, Error::NotDense { pitch: 4, row: 3 }), "{error}");
    let error = scipy::correlate1d(image, &[], Axis::X, Border::Wrap, 0).unwrap_err();
    assert!(matches!(error, Error::FilterExtent { actual: 0, .. }), "{error}");
    fn is_for_every_pixel<T: Pixel + scipy::Exact>() {}
    is_for_every_pixel::<u8>();
}

#[test]
fn a_gaussian_of_no_width_copies_the_image() {
    for_each("a_gaussian_of_no_width_copies_the_image", |device| {
        let values = [-0.0f32, 1.5, f32::INFINITY, f32::MIN_POSITIVE / 2.0, f32::NAN, -3.0];
        let buffer = device.upload(&values).unwrap();
        let image = Image::new(&buffer, ImageLayout::new(3, 2, 1).unwrap()).unwrap();
        for sigma in [0.0, 5e-324, 1e-200, 1e-15] {
            for truncate in [4.0, 1e300] {
                let same = scipy::gaussian_filter(image, sigma, truncate, Border::Reflect).unwrap();
                assert_same_bits(&same.to_vec().unwrap(), &values, &format!("{sigma} on {}", device.name()));
            }
        }
        // A filter of the crate's own adds to 0, which has no sign.
        let finite = device.upload(&[-2.0f32, 1.5, 8.0, 0.25, 7.0, -3.0]).unwrap();
        let image = Image::new(&finite, ImageLayout::new(3, 2, 1).unwrap()).unwrap();
        for filter in [SeparableFilter::gaussian(5e-324, 4.0), SeparableFilter::gaussian_of_radius(1e-200, 3)]
        {
            let same = correlate_separable(image, &filter.unwrap(), Border::Reflect).unwrap();
            assert_eq!(same.to_vec().unwrap(), finite.to_vec().unwrap());
        }
    });
}

/// SciPy's `correlate` leaves out weights up to `DBL_EPSILON`, that one included.
#[test]
fn the_smallest_weights_are_left_out() {
    for_each("the_smallest_weights_are_left_out", |device| {
        // 2^-52 of it are 256.
        let pixel = device.upload(&[2f64.powi(60)]).unwrap();
        let image = Image::new(&pixel, ImageLayout::new(1, 1, 1).unwrap()).unwrap();
        let (most, next) = (f64::EPSILON, f64::EPSILON.next_up());
        for (weight, expected) in
            [(most, 0.0), (-most, 0.0), (next, 256f64.next_up()), (-next, -256f64.next_up())]
        {
            let filter = Filter::new(1, 1, &[weight]).unwrap();
            let found = scipy::correlate(image, &filter, Border::Reflect).unwrap().to_vec().unwrap();
            assert_eq!(found, [expected], "{weight:e} on {device}");
        }
    });
}

/// A filter that reaches four image lengths and more beyond an image, reflected as often as it takes.
#[test]
fn filters_reach_many_image_lengths() {
    for_each("filters_reach_many_image_lengths", |device| {
        for (len, reach) in [(1, 7), (2, 8), (2, 9), (3, 13), (5, 24)] {
            let pixels: Vec<f64> = (0..len).map(|i| f64::from(3 * i + 1)).collect();
            let weights: Vec<f64> = (0..=2 * reach).map(|i| f64::from(i % 5 - 1)).collect();
            let buffer = device.upload(&pixels).unwrap();
            let image = Image::new(&buffer, ImageLayout::new(len as usize, 1, 1).unwrap()).unwrap();
            let filter = Filter::new(weights.len(), 1, &weights).unwrap();
            let found = scipy::correlate(image, &filter, Border::Reflect).unwrap().to_vec().unwrap();
            for (x, &found) in (0..len).zip(&found) {
                // d c b a | a b c d | d c b a, of small whole numbers, which every order adds up exactly.
                let reflected = |at: i32| {
                    let at = at.rem_euclid(2 * len);
                    pixels[(if at < len { at } else { 2 * len - 1 - at }) as usize]
                };
                let expected: f64 =
                    (-reach..=reach).zip(&weights).map(|(by, weight)| weight * reflected(x + by)).sum();
                assert_eq!(found, expected, "{x} of {len}, {reach} on {device}");
            }
        }
    });
}

#[test]
fn a_batch_of_no_images_is_filtered_to_none() {
    for_each("a_batch_of_no_images_is_filtered_to_none", |device| {
        let none = device.zeroed::<f32>(0).unwrap();
        let layout = ImageLayout::new(5, 4, 1).unwrap().with_batch(0, 20).unwrap();
        let image = Image::new(&none, layout).unwrap();
        let border = Border::Nearest;
        for filtered in [
            scipy::laplace(image, border),
            scipy::sobel(image, Axis::X, border),
            scipy::gaussian_filter(image, 1.0, 4.0, border),
            scipy::gaussian_filter(image, 0.0, 4.0, border),
            scipy::uniform_filter(image, 3, 2, border),
            scipy::correlate(image, &Filter::laplace(), border),
            scipy::correlate1d(image, &[1.0, 2.0], Axis::Y, border, 0),
        ] {
            assert!(filtered.unwrap().is_empty());
        }
    });
}
