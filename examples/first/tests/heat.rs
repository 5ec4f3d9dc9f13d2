//! Runs `heat` as a user does.

#[path = "../../tests/support/mod.rs"]
mod support;

use support::{json, run, start};

/// The simulator's pictures are the CPU's, to the bit; heat is not lost (its mean, of some thousand additions in
/// single precision each step, stays in its first four digits), and the hottest cell cools.
#[test]
fn the_devices_write_the_same_animation() {
    let folder = std::env::temp_dir().join(format!("heat-{}", std::process::id()));
    let mut films = Vec::new();
    for device in ["cpu", "simulator"] {
        let file = folder.join(device).with_extension("gif");
        let path = file.to_str().expect("a path of letters");
        let size = ["--width", "65", "--height", "40", "--frames", "4", "--steps", "13"];
        let lines = json("heat", &[&["--device", device, "--output", path, "--json"][..], &size].concat());
        assert_eq!(lines.len(), 4);
        let of = |frame: usize, name: &str| lines[frame][name].as_f64().expect(name);
        assert_eq!(of(3, "steps"), 39.0);
        assert!((of(3, "mean") / of(0, "mean") - 1.0).abs() < 1e-4, "{lines:?}");
        assert!(
            of(3, "largest") < of(0, "largest") && of(3, "change_max") < of(1, "change_max"),
            "{lines:?}"
        );
        films.push(std::fs::read(&file).expect("it was written"));
    }
    std::fs::remove_dir_all(&folder).expect("it is ours");
    assert!(films[0].starts_with(b"GIF89a"));
    assert!(films[0] == films[1]);
}

#[test]
fn a_folder_gets_pictures() {
    let folder = std::env::temp_dir().join(format!("heat-pictures-{}", std::process::id()));
    let path = folder.to_str().expect("a path of letters");
    let size = ["--width", "20", "--height", "10", "--frames", "2", "--edge", "periodic"];
    let text = run("heat", &[&["--output", path, "--device", "cpu"][..], &size].concat());
    assert!(text.contains("2 pictures of 20 × 10 cells"), "{text}");
    let files: Vec<_> = std::fs::read_dir(&folder).expect("it is there").collect();
    let first = image::open(folder.join("heat-00000.png")).expect("a picture");
    std::fs::remove_dir_all(&folder).expect("it is ours");
    assert_eq!((files.len(), first.width(), first.height()), (2, 20, 10));
}

#[test]
fn a_user_is_told_what_there_is() {
    let help = run("heat", &["--help"]);
    for option in ["--output", "--frames", "--steps", "--alpha", "--edge", "--device", "--json"] {
        assert!(help.contains(option), "{option} is missing from\n{help}");
    }
    let output = start("heat", &["--alpha", "inf", "--device", "cpu"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains("alpha is inf, which is not finite"), "{errors}");
}
