//! Whoever adds a primitive adds all of it: kernel, PTX, crate, tests, benchmark, documentation.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace's root").to_path_buf()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The families of kernels: the folders of gpu-kernels.
fn families() -> Vec<String> {
    let entries = std::fs::read_dir(root().join("gpu-kernels")).expect("gpu-kernels");
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    assert!(names.len() >= 2, "found only {names:?}");
    names
}

/// The primitives are the families that have a crate of their own. What another crate offers, it depends on.
fn primitives() -> Vec<String> {
    let (own, others): (Vec<_>, Vec<_>) =
        families().into_iter().partition(|name| root().join(format!("crates/gpu-{name}")).is_dir());
    for family in others {
        let uses = |name: &str| {
            read(&format!("crates/gpu-{name}/Cargo.toml")).contains(&format!("gpu-{family}-kernels"))
        };
        // gpu-model is no primitive: it has kernels to measure a device with.
        assert!(
            own.iter().any(|name| uses(name)) || uses("model"),
            "no crate offers the kernels of gpu-kernels/{family}"
        );
    }
    own
}

/// The files of a folder and of the folders in it.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn every_primitive_has_all_its_places() {
    let readme = read("README.md");
    let mut missing = Vec::new();
    for name in primitives() {
        for file in [
            "README.md",
            "src/lib.rs",
            "src/api.rs",
            "src/plan.rs",
            "src/launch.rs",
            "src/reference.rs",
            "src/error.rs",
        ] {
            let path = format!("crates/gpu-{name}/{file}");
            let folder = path.replace(".rs", "/mod.rs");
            if !root().join(&path).exists() && !root().join(folder).exists() {
                missing.push(path);
            }
        }
        for path in [format!("tests/tests/{name}/main.rs"), format!("benches/src/suite/{name}.rs")] {
            if !root().join(&path).exists() {
                missing.push(path);
            }
        }
        if !readme.contains(&format!("| [gpu-{name}](crates/gpu-{name}) |")) {
            missing.push(format!("a row for gpu-{name} in README.md"));
        }
        if !root().join(format!("gpu-kernels/{name}/ptx/manifest.json")).exists() {
            missing.push(format!("the PTX of gpu-kernels/{name}"));
        }
    }
    assert!(missing.is_empty(), "missing:\n{}", missing.join("\n"));
}

#[test]
fn only_launch_files_of_primitive_crates_hold_unsafe_code() {
    for name in primitives() {
        for path in files_below(&root().join(format!("crates/gpu-{name}/src"))) {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            let has_unsafe = code.clone().any(|line| line.contains("unsafe {") || line.contains("unsafe fn"));
            let is_launch = path.ends_with("launch.rs");
            assert_eq!(has_unsafe, is_launch, "{}: unsafe code belongs into launch.rs", path.display());
        }
    }
    for name in families() {
        for path in files_below(&root().join(format!("gpu-kernels/{name}/src"))) {
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(!text.contains("unsafe"), "{}: kernels hold no unsafe code", path.display());
        }
    }
}

/// The code at the top of README.md is a project that CI runs.
#[test]
fn the_readme_shows_the_outside_project() {
    let (readme, program) = (read("README.md"), read("examples/outside/src/main.rs"));
    let (_, program) = program.split_once("\n\n").expect("documentation, then code");
    let shown = readme.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next());
    assert_eq!(shown, Some(program), "README.md and examples/outside/src/main.rs differ");
}

#[test]
fn every_example_is_in_the_readme() {
    let (readme, manifest) = (read("README.md"), read("examples/Cargo.toml"));
    let examples =
        manifest.split("[[example]]\nname = \"").skip(1).map(|rest| rest.split('"').next().unwrap());
    let missing: Vec<_> = examples.filter(|name| !readme.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "README.md has no {}", missing.join(", "));
}

/// What README.md links to or shows is there.
#[test]
fn links_of_the_readmes_lead_somewhere() {
    for file in ["README.md", "benches/results/README.md", "CONTRIBUTING.md"] {
        let text = read(file);
        let folder = root().join(file).parent().unwrap().to_path_buf();
        for link in text.split("](").skip(1).map(|rest| rest.split([')', '#']).next().unwrap()) {
            assert!(link.contains("://") || link.is_empty() || folder.join(link).exists(), "{file}: {link}");
        }
    }
}
