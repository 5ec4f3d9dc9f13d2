//! Runs `conjugate_gradient` as a user does.

mod support;

use support::{json, run, start};

/// Preconditioners are worth it, and the simulator's steps are the CPU's to the bit.
#[test]
fn all_devices_take_the_same_steps() {
    let mut of_devices = Vec::new();
    for device in ["cpu", "simulator"] {
        let lines = json("conjugate_gradient", &["--device", device, "--size", "7", "--json"]);
        let names: Vec<_> = lines.iter().map(|line| line["preconditioner"].clone()).collect();
        assert_eq!(names, ["none", "jacobi", "ic0"]);
        for line in &lines {
            assert_eq!(line["rows"], 343);
            assert_eq!(line["entries"], 7 * 343 - 6 * 49);
            let residuals = line["residuals"].as_array().expect("residuals");
            assert_eq!(residuals.len() as u64, line["steps"].as_u64().expect("steps") + 1);
            assert!(residuals.last().and_then(|last| last.as_f64()) <= Some(1e-10));
            assert!(line["residual"].as_f64() <= Some(1e-9), "{line}");
        }
        let steps = |of: usize| lines[of]["steps"].as_u64().expect("steps");
        assert!(steps(2) * 3 < steps(0) * 2, "IC(0) takes {} steps of {}", steps(2), steps(0));
        // Three indices that add up to 0, …, 18.
        assert_eq!(lines[2]["levels"], 19);
        of_devices.push(lines.iter().map(|line| line["residuals"].clone()).collect::<Vec<_>>());
    }
    assert_eq!(of_devices[0], of_devices[1]);
}

#[test]
fn jacobi_helps_where_the_cube_is_not_all_the_same() {
    let options = ["--device", "cpu", "--size", "12", "--contrast", "1000", "--json"];
    let lines = json("conjugate_gradient", &options);
    let steps = |of: usize| lines[of]["steps"].as_u64().expect("steps");
    assert!(steps(2) < steps(1) && steps(1) < steps(0), "{} {} {}", steps(0), steps(1), steps(2));
}

#[test]
fn convergence_is_drawn() {
    let file = std::env::temp_dir().join(format!("conjugate_gradient-{}.png", std::process::id()));
    let path = file.to_str().expect("a path of letters");
    let text = run(
        "conjugate_gradient",
        &["--device", "cpu", "--size", "12", "--plot", path, "--tolerance", "1e-6"],
    );
    let picture = image::open(&file).expect("a picture");
    std::fs::remove_file(&file).expect("it is ours");
    assert_eq!((picture.width(), picture.height()), (1000, 600));
    assert!(text.contains("1728 unknowns") && text.contains("IC(0)") && text.contains("34 levels"), "{text}");
}

#[test]
fn a_user_is_told_what_there_is() {
    let help = run("conjugate_gradient", &["--help"]);
    for option in
        ["--size", "--contrast", "--preconditioner", "--tolerance", "--steps", "--plot", "--device", "--json"]
    {
        assert!(help.contains(option), "{option} is missing from\n{help}");
    }
    for (arguments, expected) in [
        (["--tolerance", "0"], "the tolerance is 0: it is between 0 and 1"),
        (["--steps", "2"], "after 2 steps the residual is"),
        (["--contrast", "0"], "the contrast is 0: it is positive and finite"),
    ] {
        let output =
            start("conjugate_gradient", &[&["--device", "cpu", "--size", "9"][..], &arguments].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains(expected), "{errors}");
    }
}
