//! Runs `gallery` as a user does.

mod support;

use image::{Rgb, RgbImage};
use support::{json, run, start};

/// Of a photograph of 80 × 60 in parts of 40 rows: 53, 30 and 53 columns, and plates of 14 × 18; 12 between them, 40
/// below.
#[test]
fn the_devices_make_the_same_picture() {
    let folder = std::env::temp_dir().join(format!("gallery-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder of ours");
    let photo = folder.join("photo.png");
    let pixel = |x: u32, y: u32| Rgb([3 * x as u8, 4 * y as u8, (x + y) as u8]);
    RgbImage::from_fn(80, 60, pixel).save(&photo).expect("it is written");
    let mut pictures = Vec::new();
    for device in ["cpu", "simulator"] {
        let file = folder.join(device).with_extension("png");
        let paths = [&photo, &file].map(|path| path.to_str().expect("a path of letters"));
        let size = ["--height", "40", "--sigma", "1.5", "--steps", "11", "--json"];
        let lines =
            json("gallery", &[&[paths[0], "--output", paths[1], "--device", device][..], &size].concat());
        assert_eq!((lines.len(), lines[0]["checked"].as_bool()), (1, Some(true)));
        pictures.push(image::open(&file).expect("a picture").to_rgb8());
    }
    std::fs::remove_dir_all(&folder).expect("it is ours");
    assert_eq!(pictures[0].dimensions(), (53 + 30 + 53 + 18 + 3 * 12, 40 + 40));
    assert!(pictures[0] == pictures[1]);
    // The second part is the first with rows and columns exchanged, but for the places of its pixels in the photograph.
    let (photo, transposed) = (pictures[0].get_pixel(52, 0), pictures[0].get_pixel(53 + 12, 39));
    assert!(photo.0.iter().zip(transposed.0).all(|(a, b)| a.abs_diff(b) < 8), "{photo:?} {transposed:?}");
}

#[test]
fn a_user_is_told_what_there_is() {
    let help = run("gallery", &["--help"]);
    for option in ["--output", "--height", "--sigma", "--steps", "--device", "--json"] {
        assert!(help.contains(option), "{option} is missing from\n{help}");
    }
    let output = start("gallery", &["no-such-file.jpg", "--device", "cpu"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains("no-such-file.jpg: "), "{errors}");
}
