//! Which pixel is the nearest: the exact one everywhere, and OpenCV's but for some of the ties
//! (`data/opencv_nearest.py`).

use gpu_core::Device;
use gpu_stencil::resize::{Interpolation, resize};
use gpu_stencil::{Image, ImageLayout};
use gpu_tests::backends::for_each;

const GOLDEN: &str = include_str!("../data/opencv_nearest.txt");
/// Extents are 1 to this.
const MOST: usize = 59;
/// A row's part of a pixel that says where it is.
const ROW: u16 = 64;

/// The pixels along x and y that an image of `from` gives one of `to`, both as (width, height).
fn nearest(device: &Device, from: (usize, usize), to: (usize, usize)) -> [Vec<usize>; 2] {
    let row = |y: usize| (0..from.0).map(move |x| y as u16 * ROW + x as u16);
    let pixels = device.upload(&(0..from.1).flat_map(row).collect::<Vec<u16>>()).unwrap();
    let image = Image::new(&pixels, ImageLayout::new(from.0, from.1, 1).unwrap()).unwrap();
    let output = resize(image, to.0, to.1, Interpolation::Nearest).unwrap().to_vec().unwrap();
    let x: Vec<usize> = output[..to.0].iter().map(|pixel| (pixel % ROW) as usize).collect();
    let y: Vec<usize> = output.iter().step_by(to.0).map(|pixel| (pixel / ROW) as usize).collect();
    for (at, &pixel) in output.iter().enumerate() {
        let place = (y[at / to.0], x[at % to.0]);
        assert_eq!(((pixel / ROW) as usize, (pixel % ROW) as usize), place, "{from:?} to {to:?} [{at}]");
    }
    [x, y]
}

/// That of zlib, and Python's `zlib.crc32`.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
    })
}

/// Of 104,430 pixels of both, 731 are others, each at a tie, where OpenCV takes the one before.
#[test]
fn the_nearest_pixel_is_opencvs_but_at_ties() {
    assert_eq!(crc32(b"123456789"), 0xcbf4_3926, "the checksum's own test");
    let numbers = |line: &str| line.split(' ').map(|word| word.parse().unwrap()).collect::<Vec<usize>>();
    let mut lines = GOLDEN.lines().filter(|line| !line.starts_with('#')).map(numbers);
    let head = lines.next().expect("a line of counts");
    assert_eq!(head[..2], [104_430, 731], "what the documentation says");
    let others: Vec<Vec<usize>> = lines.collect();
    for_each("the_nearest_pixel_is_opencvs_but_at_ties", |device| {
        let mut theirs = vec![vec![Vec::new(); MOST]; MOST];
        for width in 1..=MOST {
            for columns in 1..=MOST {
                // Every pair of extents once along x and once along y.
                let (height, rows) = (MOST + 1 - width, MOST + 1 - columns);
                let [x, y] = nearest(device, (width, height), (columns, rows));
                for (pixels, from, to) in [(&x, width, columns), (&y, height, rows)] {
                    let exact: Vec<usize> = (0..to).map(|o| (2 * o + 1) * from / (2 * to)).collect();
                    assert_eq!(pixels, &exact, "{from} to {to} on {}", device.name());
                }
                theirs[width - 1][columns - 1] = x;
            }
        }
        let mut count = 0;
        for line in &others {
            let [from, to, outputs @ ..] = &line[..] else { panic!("{line:?}") };
            for output in outputs {
                assert_eq!((2 * output + 1) * from % (2 * to), 0, "no tie: {output} of {from} to {to}");
                theirs[from - 1][to - 1][*output] -= 1;
                count += 1;
            }
        }
        let all: Vec<u8> = theirs.into_iter().flatten().flatten().map(|pixel| pixel as u8).collect();
        assert_eq!((all.len(), count, crc32(&all) as usize), (head[0], head[1], head[2]));
        println!("{count} of {} pixels are not OpenCV's on {}", all.len(), device.name());
    });
}
