//! Builds the fixture with the real compiler, from two folders and in a hostile environment, and runs the command on
//! what came out. Without the nightly it says that it was skipped.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Past the capture of the test harness: a skip must be seen.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// A copy of the fixture. The folder stays the same from run to run, so that `core` is compiled once.
fn copy(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixture");
    std::fs::create_dir_all(folder.join("src")).expect("a folder");
    for file in ["Cargo.toml", "src/lib.rs"] {
        std::fs::copy(fixture.join(file), folder.join(file)).expect("a copy");
    }
    let _ = std::fs::remove_dir_all(folder.join("ptx"));
    folder
}

fn gpu_builder(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpu-builder"));
    command.current_dir(folder).args(arguments).env_remove("CARGO_TARGET_DIR");
    command
}

#[track_caller]
fn run(mut command: Command, code: i32) -> String {
    let Output { status, stdout, stderr } = command.output().expect("it starts");
    let text = String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
    assert_eq!(status.code(), Some(code), "{command:?}\n{text}");
    text
}

fn read(folder: &Path, file: &str) -> String {
    std::fs::read_to_string(folder.join("ptx").join(file)).expect(file)
}

fn have_nightly() -> bool {
    let found =
        gpu_builder::Toolchain::find("nightly-2026-05-20", None).and_then(|toolchain| toolchain.library());
    match found {
        Ok(_) => true,
        Err(error) if error.is_missing_tool() => {
            say(&format!("SKIPPED: building the fixture kernels: {error}"));
            false
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn builds_the_same_from_any_path_and_tells_when_it_is_stale() {
    if !have_nightly() {
        return;
    }
    let plain = copy("plain");
    run(gpu_builder(&plain, &["build"]), 0);

    // Everything that could leak in: another path, flags, profiles, wrappers and a pinned stable toolchain.
    let hostile = copy("a folder with spaces/deeper");
    std::fs::create_dir_all(hostile.join(".cargo")).expect("a folder");
    let config = "[build]\nrustflags = [\"--cfg\", \"leak\", \"-Copt-level=0\"]\nrustc-wrapper = \"/nonexistent/wrapper\"\n\
                  target-dir = \"elsewhere\"\n[profile.release]\nlto = \"off\"\ndebug = 2\ncodegen-units = 16\n";
    std::fs::write(hostile.join(".cargo/config.toml"), config).expect("written");
    std::fs::write(hostile.join("rust-toolchain.toml"), "[toolchain]\nchannel = \"stable\"\n")
        .expect("written");
    // The source hash must not see line endings either.
    let source = std::fs::read_to_string(hostile.join("src/lib.rs")).expect("the source");
    std::fs::write(hostile.join("src/lib.rs"), source.replace('\n', "\r\n")).expect("written");
    let mut command = gpu_builder(&hostile, &["build", "--target-dir", "own target"]);
    command.env("RUSTFLAGS", "-Cdebuginfo=2").env("CARGO_ENCODED_RUSTFLAGS", "-Cdebuginfo=2");
    command
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
        .env("RUSTC_WORKSPACE_WRAPPER", "/nonexistent/wrapper");
    run(command, 0);

    for file in ["scale_f32.sm_75.ptx", "gather.sm_75.ptx", "manifest.json"] {
        assert!(read(&plain, file) == read(&hostile, file), "{file} differs between two folders");
    }
    let scale = read(&plain, "scale_f32.sm_75.ptx");
    assert!(scale.contains(")\n.maxntid 256\n.minnctapersm 4\n{"), "{scale}");
    assert!(scale.starts_with("// By gpu-builder\n// -O1\n"), "{scale}");
    assert!(scale.contains("ld.global.b32") && scale.contains("st.global.b32"), "{scale}");
    assert!(scale.contains("iterate"), "the function that is not inlined is still called");
    let gather = read(&plain, "gather.sm_75.ptx");
    for path in ["/lib.rs", env!("CARGO_TARGET_TMPDIR"), "LLVM", "__launch_bounds_"] {
        assert!(!scale.contains(path) && !gather.contains(path), "{path} is left in the PTX");
    }

    // Building again changes nothing.
    assert!(run(gpu_builder(&plain, &["build"]), 0).contains("nothing changed"));
    let text = run(gpu_builder(&plain, &["build", "--kernel", "sale_f32"]), 1);
    assert!(text.contains("there is no kernel `sale_f32` in fixture-kernels"), "{text}");

    let text = run(gpu_builder(&plain, &["check", "--require", "nightly"]), 0);
    assert!(text.contains("comparing byte for byte") && text.contains(" 0 failed"), "{text}");

    records_what_was_assembled(&plain);

    // Without a toolchain only hashes are compared, which is said, counted, and a failure where it is required.
    let alone = |arguments: &[&str]| {
        let mut command = gpu_builder(&plain, arguments);
        let nowhere = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nowhere");
        command.env("PATH", "").env("CARGO_HOME", nowhere).env("CARGO", env!("CARGO"));
        command
    };
    let text = run(alone(&["check"]), 0);
    assert!(text.contains("WARNING: the PTX was NOT rebuilt, only hashes were compared"), "{text}");
    assert!(!text.contains(" 0 skipped"), "{text}");
    assert!(run(alone(&["check", "--require", "nightly"]), 1).contains("required, and missing"));
    // That nothing else was looked at is no failure where that was asked for.
    let text = run(alone(&["check", "--hashes"]), 0);
    assert!(text.contains("2 passed, 0 failed, 0 skipped"), "{text}");
    assert!(run(alone(&["build"]), 3).contains("https://rustup.rs"));

    // Sources that changed make it stale for both ways of looking.
    let edited = std::fs::read_to_string(plain.join("src/lib.rs"))
        .expect("the source")
        .replace("* factor", "+ factor");
    std::fs::write(plain.join("src/lib.rs"), edited).expect("written");
    assert!(run(alone(&["check"]), 1).contains("made of other sources"));
    assert!(run(alone(&["check", "--hashes"]), 1).contains("made of other sources"));
    assert!(run(gpu_builder(&plain, &["check"]), 1).contains("stale: line "));
    run(gpu_builder(&plain, &["build"]), 0);
    run(gpu_builder(&plain, &["check"]), 0);

    // PTX that someone touched, added or removed.
    let file = plain.join("ptx/scale_f32.sm_75.ptx");
    let text = std::fs::read_to_string(&file).expect("PTX");
    std::fs::write(&file, text.replace("mul.rn.f32", "mul.rz.f32")).expect("written");
    assert!(run(alone(&["check", "--hashes"]), 1).contains("some were changed, added or removed"));
    assert!(run(alone(&["check"]), 1).contains("some were changed, added or removed"));
    assert!(run(gpu_builder(&plain, &["check"]), 1).contains("stale: line "));
    std::fs::write(&file, &text).expect("written");
    std::fs::write(plain.join("ptx/more.sm_75.ptx"), &text).expect("written");
    let said = run(gpu_builder(&plain, &["check"]), 1);
    assert!(said.contains("the sources have no such kernel") && said.contains("found scale_f32"), "{said}");
    std::fs::remove_file(&file).expect("removed");
    assert!(run(gpu_builder(&plain, &["check"]), 1).contains("the file is missing"));
    run(gpu_builder(&plain, &["build"]), 0);
    assert!(
        !plain.join("ptx/more.sm_75.ptx").exists() && file.exists(),
        "a build leaves what the sources say"
    );

    // A kernel that does not compile: the compiler's message, and nothing written.
    let before = read(&plain, "manifest.json");
    std::fs::write(plain.join("src/lib.rs"), "#![no_std]\nfn broken( {}\n").expect("written");
    assert!(run(gpu_builder(&plain, &["build"]), 1).contains("compiling fixture-kernels for sm_75 failed"));
    assert_eq!(read(&plain, "manifest.json"), before);
}

/// A record is believed for its texts, its targets and its ptxas, but for a sample.
fn records_what_was_assembled(folder: &Path) {
    let record = folder.join("ptx/assembled.txt");
    if let Err(error) = gpu_builder::tools::find("ptxas") {
        say(&format!("SKIPPED: assembling the fixture kernels: {error}"));
        assert!(run(gpu_builder(folder, &["check", "--record"]), 3).contains("ptxas"));
        return;
    }
    let check = |arguments: &[&str]| run(gpu_builder(folder, &[&["check"][..], arguments].concat()), 0);
    let (images, pairs) = (2, 10);
    assert!(check(&[]).contains(&format!("{pairs} that have no record and a sample of 0; 0 more")));
    assert!(!record.exists());
    assert!(check(&["--record"]).contains(&format!("has {images} of these {images} images")));
    let text = std::fs::read_to_string(&record).expect("a record");
    assert_eq!(text.lines().count(), 1 + images, "{text}");
    let said = check(&["--record"]);
    assert!(
        said.contains("0 that have no record and a sample of 1; 9 more are taken from assembled.txt"),
        "{said}"
    );
    assert_eq!(std::fs::read_to_string(&record).expect("a record"), text, "nothing is new");
    assert!(check(&["--all"]).contains(&format!("{pairs} that have no record and a sample of 0; 0 more")));

    // Of another text, and of another ptxas.
    let other = text.replacen(".ptx ", ".ptx f", 1);
    std::fs::write(&record, &other).expect("written");
    let said = check(&["--kernel", "gather"]);
    assert!(said.contains("5 that have no record and a sample of 0; 0 more"), "{said}");
    assert!(check(&["--record"]).contains("5 that have no record and a sample of 1; 4 more"));
    assert_eq!(std::fs::read_to_string(&record).expect("a record"), text, "it is mended");
    std::fs::write(&record, text.replacen("; ptxas ", "; ptxas 1", 1)).expect("written");
    assert!(check(&[]).contains(&format!("{pairs} that have no record")));
    std::fs::write(&record, "a line\n").expect("written");
    assert!(run(gpu_builder(folder, &["check"]), 1).contains("has the line `a line`"));
    std::fs::remove_file(&record).expect("removed");
}

#[test]
fn errors_say_what_to_do() {
    let folder = copy("errors");
    assert!(run(gpu_builder(&folder, &["check"]), 1).contains("gpu-builder build"));
    assert!(
        run(gpu_builder(&folder, &["build", "--crate", "other"]), 1).contains("`other` is neither a folder")
    );
    assert!(run(gpu_builder(&folder, &["check", "--require", "gpu"]), 2).contains("ptxas, nightly"));

    let manifest = folder.join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest).expect("the manifest");
    std::fs::write(&manifest, text.replace("nightly-2026-05-20", "nightly-2001-01-01")).expect("written");
    let said = run(gpu_builder(&folder, &["build"]), 3);
    let mended = ["rustup toolchain install nightly-2001-01-01", "https://rustup.rs"];
    assert!(mended.iter().any(|command| said.contains(command)), "{said}");

    std::fs::write(&manifest, text.replace("isa = 74", "isaa = 74")).expect("written");
    assert!(run(gpu_builder(&folder, &["build"]), 1).contains("[package.metadata.gpu] in"));
    std::fs::write(&manifest, text.split("[package.metadata.gpu]").next().expect("the head"))
        .expect("written");
    assert!(
        run(gpu_builder(&folder, &["build", "--crate", "."]), 1).contains("has no [package.metadata.gpu]")
    );
}
