//! Runs `image_filter` as a user does.

#[path = "../../tests/support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};

use image::RgbImage;
use support::{json, run, start};

const EXAMPLE: &str = "image_filter";

/// A folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("image-filter-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    folder
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of letters")
}

#[test]
fn a_folder_is_halved_file_by_file() {
    let (from, to) = (folder("from"), folder("to"));
    // Pairs of columns of 10 and 20: their means are 15 wherever two are taken together.
    RgbImage::from_fn(8, 4, |x, _| image::Rgb([10 + 10 * (x % 2) as u8; 3]))
        .save(from.join("a.png"))
        .unwrap();
    image::GrayImage::from_pixel(5, 3, image::Luma([77])).save(from.join("b.png")).unwrap();
    std::fs::write(from.join("notes.txt"), "no image").unwrap();
    let arguments =
        ["resize", "--device", "simulator", "--json", "--input", text(&from), "--output", text(&to)];
    let lines = json(EXAMPLE, &arguments);
    assert_eq!(lines.len(), 2);
    let halved = image::open(to.join("a-resize.png")).expect("it was written").into_rgb8();
    assert_eq!(halved.dimensions(), (4, 2));
    assert!(halved.into_raw().iter().all(|&value| value == 15));
    assert_eq!(
        image::open(to.join("b-resize.png")).expect("it was written").into_rgb8().dimensions(),
        (3, 2)
    );
    for line in &lines {
        let of = |key: &str| line[key].as_f64().expect(key);
        assert!(of("cpu_ms") > 0.0 && of("kernel_ms") > 0.0, "{line}");
        assert!((of("total_ms") - of("htod_ms") - of("kernel_ms") - of("dtoh_ms")).abs() < 1e-9, "{line}");
    }
    std::fs::remove_dir_all(from).expect("it is ours");
    std::fs::remove_dir_all(to).expect("it is ours");
}

#[test]
fn the_photograph_as_the_report_had_its_own() {
    let to = folder("report");
    let arguments =
        ["resize", "--width", "75", "--height", "50", "--report", "--device", "cpu", "--output", text(&to)];
    let table = run(EXAMPLE, &arguments);
    assert!(table.contains("750 × 499") && table.contains("HtoD"), "{table}");
    let small = image::open(to.join("raccoon-resize.png")).expect("it was written");
    assert_eq!((small.width(), small.height(), small.color().channel_count()), (75, 50, 1));
    std::fs::remove_dir_all(to).expect("it is ours");
}

/// What each filter makes of a step from black to white, by hand.
#[test]
fn filters_of_a_step() {
    let (from, to) = (folder("step"), folder("filtered"));
    RgbImage::from_fn(6, 4, |x, _| image::Rgb([if x < 3 { 10 } else { 100 }; 3]))
        .save(from.join("a.png"))
        .unwrap();
    // Of a row of the result.
    let rows: [(&[&str], [u8; 6]); 4] = [
        (&["mean", "--size", "3"], [10, 10, 40, 70, 100, 100]),
        (&["sharpen"], [10, 10, 0, 190, 100, 100]),
        (&["sobel"], [0, 0, 255, 255, 0, 0]),
        (&["gaussian", "--sigma", "0.2"], [10, 10, 10, 100, 100, 100]),
    ];
    for (filter, expected) in rows {
        for device in ["cpu", "simulator"] {
            let mut arguments = filter.to_vec();
            arguments.extend(["--device", device, "--json", "--input", text(&from), "--output", text(&to)]);
            assert_eq!(json(EXAMPLE, &arguments).len(), 1);
            let image =
                image::open(to.join(format!("a-{}.png", filter[0]))).expect("it was written").into_rgb8();
            for (x, _, pixel) in image.enumerate_pixels() {
                assert_eq!(pixel.0, [expected[x as usize]; 3], "{filter:?} at column {x} on {device}");
            }
        }
    }
    std::fs::remove_dir_all(from).expect("it is ours");
    std::fs::remove_dir_all(to).expect("it is ours");
}

#[test]
fn a_user_is_told_what_there_is() {
    let help = run(EXAMPLE, &["--help"]);
    for option in [
        "--input", "--output", "--device", "--report", "--json", "--border", "mean", "sharpen", "gaussian",
        "sobel", "resize",
    ] {
        assert!(help.contains(option), "{option} is missing from\n{help}");
    }
    assert!(!start(EXAMPLE, &["resize", "--width", "0"]).status.success());
    let output = start(EXAMPLE, &["resize", "--input", "no-such-file.png"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("no-such-file.png"));
}
