//! Runs `texture_resize` as a user does.

mod support;

use support::{json, run, start};

const EXAMPLE: &str = "texture_resize";

#[test]
fn both_ways_are_within_the_bound_and_the_picture_is_written() {
    let folder = std::env::temp_dir().join(format!("texture-resize-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let path = folder.to_str().expect("a path of letters");
    let lines = json(
        EXAMPLE,
        &["--device", "simulator", "--width", "97", "--height", "61", "--json", "--output", path],
    );
    assert_eq!(lines.len(), 2);
    for line in &lines {
        let of = |key: &str| line[key].as_f64().expect(key);
        assert!(of("texture_ms") > 0.0 && of("plain_ms") > 0.0 && of("worst") <= of("bound"), "{line}");
        // Eight bits show in the linear one.
        assert_eq!(of("worst") > 0.01, line["filter"] == "linear", "{line}");
    }
    let scaled = image::open(folder.join("raccoon-texture.png")).expect("it was written");
    assert_eq!((scaled.width(), scaled.height()), (97, 61));
    std::fs::remove_dir_all(folder).expect("it is ours");
}

#[test]
fn a_user_is_told_what_there_is() {
    let help = run(EXAMPLE, &["--help"]);
    for option in ["--output", "--device", "--width", "--height", "--json"] {
        assert!(help.contains(option), "{option} is missing from\n{help}");
    }
    assert!(!start(EXAMPLE, &["no-such-file.png"]).status.success());
}
