//! Runs `triangular_levels` as a user does.

mod support;

use gpu_examples::structures::TABLES;
use support::{json, run, start};

#[test]
fn levels_are_what_the_structures_have() {
    for device in ["cpu", "simulator"] {
        let matrices = ["poisson2:12", "poisson3:5", "band:300:4", "random:500:1500"];
        let options = ["--device", device, "--runs", "2", "--json"];
        let lines = json("triangular_levels", &[&matrices[..], &options].concat());
        let levels: Vec<_> = lines.iter().map(|line| line["levels"].as_u64().expect("levels")).collect();
        // Indices that add up to 0, …, 22 and to 0, …, 12; a row a level.
        assert_eq!(levels[..3], [23, 13, 300]);
        for (line, matrix) in lines.iter().zip(matrices) {
            assert_eq!(line["matrix"], matrix);
            let profile = line["profile"].as_array().expect("a profile");
            assert_eq!(profile.len() as u64, line["levels"].as_u64().expect("levels"));
            let rows: u64 = profile.iter().map(|rows| rows.as_u64().expect("rows")).sum();
            assert_eq!(Some(rows), line["rows"].as_u64());
            let steps = line["steps"].as_array().expect("steps");
            assert_eq!(steps.len(), 6);
            assert!(steps.iter().all(|step| step["sequential"]["mean"].as_f64() >= Some(0.0)));
            assert!(steps.iter().filter(|step| step["parallel"].is_null()).count() == 1);
        }
    }
}

#[test]
fn tables_have_the_sizes_of_the_literature_up_to_a_limit() {
    let millions = TABLES.map(|(rows, entries)| (f64::from(rows) / 1e6, entries as f64 / 1e6));
    let published =
        [(0.1, 3.2), (0.1, 1.0), (1.0, 64.0), (5.0, 79.0), (16.0, 47.0), (36.0, 74.0), (55.0, 113.0)];
    assert_eq!(millions, published, "rows and entries");
    let options = ["--tables", "--entries", "1000000", "--device", "cpu", "--runs", "1", "--json"];
    let lines = json("triangular_levels", &options);
    assert_eq!(lines.len(), 1, "only one table is as small");
    assert_eq!(lines[0]["matrix"], "random:100000:1000000");
    assert_eq!(lines[0]["rows"], 100_000);
    // What is drawn twice in a row is one entry.
    let entries = lines[0]["entries"].as_u64().expect("entries");
    assert!((990_000..=1_000_000).contains(&entries), "{entries} entries");
}

#[test]
fn files_are_read_and_profiles_drawn() {
    let folder = std::env::temp_dir().join(format!("triangular_levels-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (matrix, picture) = (folder.join("three.mtx"), folder.join("levels.png"));
    let text = "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2\n2 1 -1\n2 2 2\n3 3 2\n";
    std::fs::write(&matrix, text).expect("a file");
    let paths = [&matrix, &picture].map(|path| path.to_str().expect("a path of letters"));
    let printed = run("triangular_levels", &[paths[0], "--plot", paths[1], "--device", "cpu", "--runs", "1"]);
    assert!(printed.contains("three.mtx: 3 rows, 4 entries, 2 levels of 1.5 rows"), "{printed}");
    let drawn = image::open(&picture).expect("a picture");
    std::fs::write(&matrix, text.replace("3 3 2", "3 4 2")).expect("a file");
    let output = start("triangular_levels", &[paths[0], "--device", "cpu"]);
    std::fs::remove_dir_all(&folder).expect("it is ours");
    assert_eq!((drawn.width(), drawn.height()), (1000, 300));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains("three.mtx: line 6: column 4 of 3"), "{errors}");
}

#[test]
fn a_user_is_told_what_there_is() {
    let help = run("triangular_levels", &["--help"]);
    for option in ["poisson3:EDGE", "--tables", "--runs", "--plot", "--device", "--json"] {
        assert!(help.contains(option), "{option} is missing from\n{help}");
    }
    let output = start("triangular_levels", &["cube:3", "--device", "cpu"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains("cube:3: it is one of poisson2:EDGE"), "{errors}");
}
