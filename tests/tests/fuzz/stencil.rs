//! Correlations and convolutions of images.

use gpu_stencil::{Border, Filter, Image, ImageLayout, ImageMut, convolve_into, correlate_into};
use proptest::prelude::*;

use super::{Guarded, Place, fuzz, place, wrong};

#[derive(Clone, Debug)]
struct Case {
    place: Place,
    shape: (usize, usize, usize),
    gap: usize,
    filter: (usize, usize),
    origin: (isize, isize),
    border: usize,
    convolve: bool,
    wrong: [isize; 2],
}

/// The place that stands for one outside of `0..n`; `None` where the border has a value of its own.
fn inside(at: isize, n: isize, border: usize) -> Option<isize> {
    match border {
        _ if (0..n).contains(&at) => Some(at),
        0 => {
            let at = at.rem_euclid(2 * n);
            Some(at.min(2 * n - 1 - at))
        }
        1 if n == 1 => Some(0),
        1 => {
            let at = at.rem_euclid(2 * n - 2);
            Some(at.min(2 * n - 2 - at))
        }
        2 => Some(at.clamp(0, n - 1)),
        3 => Some(at.rem_euclid(n)),
        _ => None,
    }
}

fn check(case: &Case) {
    let Case { place, shape: (width, height, channels), gap, filter, origin, convolve, wrong, .. } = *case;
    let border = match case.border {
        0 => Border::Reflect,
        1 => Border::Mirror,
        2 => Border::Nearest,
        3 => Border::Wrap,
        4 => Border::Constant(3.0),
        _ => Border::Valid,
    };
    let device = place.device();
    let stream = device.stream().expect("a stream");
    let layout = match ImageLayout::new(width, height, channels) {
        Ok(layout) => layout.with_pitch(width * channels + gap).expect("a row fits"),
        Err(error) => return assert_eq!(width * height * channels, 0, "{error}"),
    };
    // Whole numbers: sums of products are exact in any order.
    let small = |bits: u64| (bits % 17) as f32 - 8.0;
    let values = place.values(place.offsets.0 + layout.span(), small);
    let weights = Place { seed: !place.seed, ..place }.values(filter.0 * filter.1, small);
    let filter_of =
        Filter::new(filter.0, filter.1, &weights).and_then(|filter| filter.with_origin(origin.0, origin.1));
    let Ok(filter_of) = filter_of else {
        let fits = |extent: usize, origin: isize| {
            extent > 0 && (-(extent as isize / 2)..=(extent as isize - 1) / 2).contains(&origin)
        };
        return assert!(!fits(filter.0, origin.0) || !fits(filter.1, origin.1));
    };
    let valid = case.border == 5;
    let less =
        |extent: usize, filter: usize| if valid { (extent + 1).saturating_sub(filter) } else { extent };
    let extents = (less(width, filter.0), less(height, filter.1));
    let Ok(to) = ImageLayout::new(
        extents.0.saturating_add_signed(wrong[0]).max(1),
        extents.1.saturating_add_signed(wrong[1]).max(1),
        channels,
    ) else {
        return;
    };
    let input = device.upload(&values).expect("memory");
    let mut output = Guarded::new(&device, place.offsets.1, to.span(), |i| i as f32 + 0.5);
    let range = output.range();
    let image = Image::new(input.slice(place.offsets.0..), layout).expect("it has room");
    let target = ImageMut::new(output.buffer.slice_mut(range), to).expect("it has room");
    let run = if convolve { convolve_into } else { correlate_into };
    let result = run(&stream, image, &filter_of, border, target);
    stream.synchronize().expect("no fault");
    assert_eq!(input.to_vec().expect("its values"), values);
    if result.is_err() {
        let fits = extents.0 > 0 && extents.1 > 0 && (to.width(), to.height()) == extents;
        assert!(!fits, "{result:?}");
        return output.check(None);
    }
    let before = |extent: usize, origin: isize| match (valid, convolve) {
        (true, _) => 0,
        (_, true) => (extent as isize - 1) / 2 - origin,
        _ => extent as isize / 2 + origin,
    };
    let (left, above) = (before(filter.0, origin.0), before(filter.1, origin.1));
    let mut expected = Vec::new();
    for (y, x, channel) in (0..to.height())
        .flat_map(|y| (0..to.width()).flat_map(move |x| (0..channels).map(move |c| (y, x, c))))
    {
        let mut sum = 0.0;
        for j in 0..filter.1 {
            for i in 0..filter.0 {
                let weight = if convolve { weights.len() - 1 - (j * filter.0 + i) } else { j * filter.0 + i };
                let (px, py) = (x as isize + i as isize - left, y as isize + j as isize - above);
                let at =
                    inside(px, width as isize, case.border).zip(inside(py, height as isize, case.border));
                let value = at.map_or(3.0, |(px, py)| {
                    values[place.offsets.0 + layout.index(0, py as usize, px as usize, channel)]
                });
                sum += weights[weight] * value;
            }
        }
        expected.push(sum);
    }
    output.check(Some(&expected));
}

#[test]
fn images() {
    let extent = || prop_oneof![3 => 0usize..12, 2 => 12usize..70, 1 => 60usize..140];
    let shape = (extent(), prop_oneof![3 => 0usize..12, 1 => 12usize..40], 0usize..4);
    let of_filter = || prop_oneof![3 => 0usize..6, 1 => 6usize..12];
    let origin = || prop_oneof![3 => Just(0isize), 1 => -3isize..4];
    let cases = (
        place(),
        shape,
        prop_oneof![Just(0usize), 1usize..9],
        (of_filter(), of_filter()),
        (origin(), origin()),
        0usize..6,
        any::<bool>(),
        [wrong(), wrong()],
    );
    let cases = cases.prop_map(|(place, shape, gap, filter, origin, border, convolve, wrong)| Case {
        place,
        shape,
        gap,
        filter,
        origin,
        border,
        convolve,
        wrong,
    });
    fuzz("stencil", cases, check);
}
