//! What the fixture kernels become: the PTX text, read instruction by instruction.
//!
//! Needs the nightly toolchain that the kernels are pinned to, with rust-src: another compiler may write other PTX that
//! is as right. Without it each test says so, counts as skipped and passes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

static SKIPPED: AtomicUsize = AtomicUsize::new(0);

/// The fixtures' PTX for one architecture; `None`, with the reason printed, where it cannot be compiled.
fn module(arch: u32, isa: u32) -> Option<&'static str> {
    static MODULES: [OnceLock<Result<String, String>>; 3] = [const { OnceLock::new() }; 3];
    let compiled = MODULES[usize::from(arch >= 80) + usize::from(arch >= 90)].get_or_init(|| {
        nightly()?;
        // The compiler is there: from here on a failure is a failure.
        Ok(compile(arch, isa))
    });
    match compiled {
        Ok(ptx) => Some(ptx),
        Err(why) => {
            let count = SKIPPED.fetch_add(1, Ordering::Relaxed) + 1;
            eprintln!("SKIPPED ({count} PTX tests so far): {why}");
            None
        }
    }
}

/// The day of the pinned compiler's last commit; rustup names its nightlies by the day after.
const PINNED: &str = "commit-date: 2026-05-19";

/// Whether the pinned compiler is installed as `nightly`, with the sources of core.
fn nightly() -> Result<(), String> {
    let why = "needs nightly-2026-05-20 as nightly: \
               rustup toolchain install nightly-2026-05-20 --component rust-src";
    let ask = |what: &[&str]| {
        let output =
            Command::new("rustc").arg("+nightly").args(what).env("RUSTUP_AUTO_INSTALL", "0").output();
        output.ok().filter(|output| output.status.success()).ok_or_else(|| why.to_owned())
    };
    let version = ask(&["-vV"])?;
    if !String::from_utf8_lossy(&version.stdout).contains(PINNED) {
        return Err(why.to_owned());
    }
    ask(&["--print", "sysroot"])?;
    let core = sysroot().join("lib/rustlib/src/rust/library/core/src/lib.rs");
    if core.is_file() { Ok(()) } else { Err(why.to_owned()) }
}

/// gpu-builder's profile, all of it, as a manifest records it, in variables: what is compiled with another is not
/// shared.
fn profile() -> Vec<(String, String)> {
    let manifest = root().join("gpu-kernels/calibrate/ptx/manifest.json");
    let text = std::fs::read_to_string(&manifest).expect("a manifest");
    let flags = text.lines().map(|line| line.trim().trim_end_matches(',').trim_matches('"'));
    let settings = flags.filter(|flag| !flag.starts_with('-')).filter_map(|flag| flag.split_once('='));
    let profile: Vec<_> = settings
        .map(|(name, value)| (format!("CARGO_PROFILE_RELEASE_{}", name.to_uppercase()), value.to_owned()))
        .collect();
    assert!(!profile.is_empty(), "{} has no profile", manifest.display());
    profile
}

/// Where that compiler lies.
fn sysroot() -> PathBuf {
    let mut command = Command::new("rustc");
    command.args(["+nightly", "--print", "sysroot"]).env("RUSTUP_AUTO_INSTALL", "0");
    let output = command.output().expect("rustc runs");
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
}

/// Where cargo keeps what it downloads.
fn cargo_home() -> PathBuf {
    let set = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    set.unwrap_or_else(|| std::env::home_dir().expect("a home").join(".cargo"))
}

/// The workspace's folder.
fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the workspace")
}

fn compile(arch: u32, isa: u32) -> String {
    // What 9.0 has of its own is for exactly that.
    let arch = if arch == 90 { "90a".to_owned() } else { arch.to_string() };
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx-fixtures");
    // Where gpu-builder compiles this workspace's kernels, with its flags: the target for every crate, so that all of
    // them may be inlined into each other, and no path in the code; what makes a text is for the fixtures alone: of
    // `core` only bitcode is made then. Whoever comes first compiles `core`, 18 seconds of each architecture, and the
    // other finds it there: cargo lets one in at a time.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target folder");
    let target = target.join(format!("nvptx/sm_{arch}-ptx{isa}"));
    let (workspace, home) = (root(), cargo_home());
    let names = [(&sysroot(), "rust"), (&home, "cargo"), (&workspace, "workspace")];
    let names = names.map(|(folder, name)| format!("--remap-path-prefix={}=/{name}", folder.display()));
    let flags = [format!("-Ctarget-cpu=sm_{arch}"), format!("-Ctarget-feature=+ptx{isa}")];
    let flags: Vec<String> = flags.into_iter().chain(names).collect();
    let output = Command::new("cargo")
        .args(["+nightly", "rustc", "--release", "--lib", "--target=nvptx64-nvidia-cuda", "-Zbuild-std=core"])
        .args(["--", "--cfg", &format!("image=\"sm_{arch}\"")])
        .args(["-Clinker=true", "--emit=asm", "-Cllvm-args=-unroll-threshold=20000"])
        .current_dir(&fixtures)
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"))
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_INCREMENTAL", "0")
        .envs(profile())
        // Those of the toolchain that runs this test.
        .env_remove("RUSTC")
        .env_remove("RUSTDOC")
        .env_remove("RUSTUP_TOOLCHAIN")
        .env_remove("CARGO")
        .env_remove("RUSTFLAGS")
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let ptx = target.join("nvptx64-nvidia-cuda/release/deps/ptx_fixtures.s");
    std::fs::read_to_string(&ptx).unwrap_or_else(|error| panic!("{}: {error}", ptx.display()))
}

/// The instructions of one entry, in order, each with single spaces.
fn entry(ptx: &str, name: &str) -> Vec<String> {
    let head = format!(".entry {name}(");
    let start = ptx.find(&head).unwrap_or_else(|| panic!("no entry {name}"));
    let body = &ptx[start..];
    let body = &body[..body.find("\n}").expect("an entry ends")];
    let lines = body
        .lines()
        .map(str::trim)
        .filter(|line| line.ends_with(';') || line.ends_with(':') || line.ends_with('}'));
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

fn count(lines: &[String], what: &str) -> usize {
    lines.iter().filter(|line| line.contains(what)).count()
}

fn position(lines: &[String], what: &str) -> usize {
    let at = lines.iter().position(|line| line.contains(what));
    at.unwrap_or_else(|| panic!("no {what} in\n{}", lines.join("\n")))
}

/// Each of these, exactly so often.
fn expect(ptx: &str, name: &str, counts: &[(&str, usize)]) {
    let lines = entry(ptx, name);
    for &(what, expected) in counts {
        assert_eq!(count(&lines, what), expected, "`{what}` in {name}:\n{}", lines.join("\n"));
    }
}

/// Generic accesses (`ld.b32` without a space) and local memory are slow; no fixture may have one.
fn no_generic_or_local(ptx: &str) {
    for line in ptx.lines().map(str::trim) {
        let instruction = line.split_whitespace().next().unwrap_or("");
        let mut parts = instruction.split('.');
        if matches!(parts.next(), Some("ld" | "st" | "atom" | "red")) {
            let spaces = ["global", "shared", "param"];
            assert!(parts.any(|part| spaces.contains(&part)), "an access without its space: {line}");
        }
        assert!(!line.starts_with(".local"), "a stack frame: {line}");
        assert!(!instruction.starts_with("call"), "a call: {line}");
    }
}

#[test]
fn every_access_names_its_space() {
    for (arch, isa) in [(75, 74), (80, 74)] {
        let Some(ptx) = module(arch, isa) else { return };
        assert!(ptx.contains(&format!(".target sm_{arch}")));
        assert!(ptx.contains(&format!(".version {}.{}", isa / 10, isa % 10)));
        no_generic_or_local(ptx);
    }
}

#[test]
fn cooperative_operations_stay_where_they_were_written() {
    let Some(ptx) = module(75, 74) else { return };
    for (name, what) in [("guard_barrier_guard", "bar.sync"), ("guard_sync_warp_guard", "bar.warp.sync")] {
        let lines = entry(ptx, name);
        assert_eq!(count(&lines, what), 1, "{}", lines.join("\n"));
        let stores: Vec<usize> = (0..lines.len()).filter(|&i| lines[i].contains("st.global")).collect();
        let barrier = position(&lines, what);
        assert!(stores.len() == 2 && stores[0] < barrier && barrier < stores[1], "{}", lines.join("\n"));
    }
    // Where the branches meet: a label stands between the guarded load and the shuffle, and a branch after it.
    let lines = entry(ptx, "shuffle_after_branch");
    assert_eq!(count(&lines, "shfl.sync"), 1);
    let (load, shuffle) = (position(&lines, "ld.global"), position(&lines, "shfl.sync"));
    assert!(
        load < shuffle && lines[load..shuffle].iter().any(|line| line.ends_with(':')),
        "{}",
        lines.join("\n")
    );
    assert!(lines[shuffle..].iter().any(|line| line.contains("bra")));
    // Votes come before the branch that alone uses them.
    let lines = entry(ptx, "vote_before_branch");
    let branch = position(&lines, "bra ");
    for vote in ["vote.sync.ballot", "vote.sync.any", "vote.sync.all"] {
        assert_eq!(count(&lines, vote), 1);
        assert!(position(&lines, vote) < branch, "{}", lines.join("\n"));
    }
    expect(ptx, "barrier_results", &[("bar.red.popc", 1), ("bar.red.and", 1), ("bar.red.or", 1)]);
    expect(
        ptx,
        "shuffles",
        &[
            ("shfl.sync.up.b32 %r5|%p1", 1),
            ("shfl.sync.down", 1),
            ("shfl.sync.idx", 1),
            ("shfl.sync.bfly", 2),
        ],
    );
}

#[test]
fn reductions_use_the_instruction_where_there_is_one() {
    let Some(ptx) = module(75, 74) else { return };
    expect(
        ptx,
        "reductions",
        &[("shfl.sync.bfly", 10), ("redux", 0), ("match.any.sync.b64", 1), ("activemask", 1)],
    );
    let Some(ptx) = module(80, 74) else { return };
    expect(ptx, "reductions", &[("shfl.sync", 0), ("redux.sync.add", 1), ("redux.sync.max.s32", 1)]);
}

#[test]
fn vectors_are_one_access() {
    let Some(ptx) = module(75, 74) else { return };
    // (kernel, width of the access in bits)
    let kernels = [
        ("vector_f32x4", 128),
        ("vector_f64x2", 128),
        ("vector_u8x16", 128),
        ("vector_u16x8", 128),
        ("vector_f32x2", 64),
        ("vector_u8x4", 32),
        ("vector_u16x2", 32),
    ];
    for (name, bits) in kernels {
        let lines = entry(ptx, name);
        for access in ["ld.global", "st.global"] {
            assert_eq!(count(&lines, access), 1, "{}", lines.join("\n"));
            let instruction = lines[position(&lines, access)].split(' ').next().unwrap_or("").to_owned();
            let width = |part: &str| part.trim_start_matches(|c: char| c.is_alphabetic()).parse::<u32>().ok();
            let total: u32 = instruction.split('.').skip(2).filter_map(width).product();
            assert_eq!(total, bits, "{instruction} in {name}");
        }
    }
    expect(ptx, "vector_arithmetic", &[("ld.global.v4.b32", 1), ("st.global.v4.b32", 1), ("fma.rn.f32", 1)]);
    let widths = [
        ("ld.global.b8", 1),
        ("st.global.b8", 1),
        ("ld.global.b16", 1),
        ("ld.global.b32", 1),
        ("ld.global.b64", 1),
    ];
    expect(ptx, "scalars", &widths);
}

#[test]
fn cache_hints_are_kept() {
    let Some(ptx) = module(75, 74) else { return };
    let hints = [
        ("ld.global.nc.b32", 1),
        ("ld.global.nc.L1::no_allocate.b32", 1),
        ("ld.global.nc.v4.b32", 1),
        ("ld.global.nc.L1::no_allocate.v4.b32", 1),
        ("st.global.cs.b32", 1),
        ("st.global.cs.v4.b32", 1),
        ("ld.global.nc.u8", 1),
        ("st.global.cs.u8", 1),
        ("ld.volatile.global.b8", 1),
        ("st.volatile.global.b8", 1),
    ];
    expect(ptx, "cache_hints", &hints);
}

#[test]
fn independent_loads_are_issued_before_their_first_use() {
    let Some(ptx) = module(75, 74) else { return };
    for name in ["eight_loads", "eight_loads_read_only", "eight_loads_streaming"] {
        let lines = entry(ptx, name);
        let loads: Vec<usize> = (0..lines.len()).filter(|&i| lines[i].starts_with("ld.global")).collect();
        assert_eq!(loads.len(), 8, "{}", lines.join("\n"));
        assert!(loads.iter().all(|&i| lines[i].contains(".v4.b32")));
        assert_eq!(count(&lines, "add.rn.f32"), 32);
    }
    // Plain loads are LLVM's to schedule: all eight come first. (Where the hint is assembly, ptxas does it.)
    let lines = entry(ptx, "eight_loads");
    let last = lines.iter().rposition(|line| line.starts_with("ld.global")).expect("loads");
    assert!(last < position(&lines, "add.rn.f32"), "{}", lines.join("\n"));
}

#[test]
fn shared_memory_is_addressed_as_such() {
    let Some(ptx) = module(75, 74) else { return };
    assert!(ptx.contains(".extern .shared .align 16 .b8 gpu_launch_sized_workgroup_mem[];"));
    // 16 bytes there and back in one access each; offsets of arrays are in the instruction.
    let lines = entry(ptx, "shared_arrays");
    assert_eq!(count(&lines, "st.shared.v"), 1, "{}", lines.join("\n"));
    assert_eq!(count(&lines, "ld.shared.v4.b32"), 1, "{}", lines.join("\n"));
    assert_eq!(count(&lines, "+2048]"), 2, "{}", lines.join("\n"));
    assert_eq!(count(&lines, "bar.sync"), 1);
}

#[test]
fn atomics_have_their_order_scope_and_space() {
    let Some(ptx) = module(75, 74) else { return };
    let instructions = [
        "atom.relaxed.cta.shared.add.u32",
        "atom.relaxed.cta.shared.inc.u32",
        "atom.relaxed.gpu.global.add.u32",
        "atom.acq_rel.gpu.global.add.u32",
        "atom.acquire.sys.global.exch.b32",
        "atom.release.cta.global.cas.b32",
        "ld.acquire.gpu.global.b32",
        "ld.relaxed.gpu.global.b32",
        "st.release.gpu.global.b32",
        "st.relaxed.sys.global.b32",
        "atom.relaxed.gpu.global.max.u64",
        "ld.acquire.gpu.global.b64",
        "st.relaxed.gpu.global.b64",
        "atom.relaxed.gpu.global.or.b64",
        "atom.relaxed.gpu.global.add.f32",
        "atom.relaxed.gpu.global.min.s32",
        "atom.relaxed.gpu.global.add.f64",
        "fence.acq_rel.cta",
        "fence.acq_rel.gpu",
        "fence.acq_rel.sys",
    ];
    expect(ptx, "atomics", &instructions.map(|instruction| (instruction, 1)));
    let lines = entry(ptx, "atomics");
    assert_eq!(count(&lines, "atom."), 11, "{}", lines.join("\n"));
}

#[test]
fn tables_stay_in_the_constant_bank() {
    let Some(ptx) = module(75, 74) else { return };
    let lines = entry(ptx, "constant_table");
    // By name, never copied: 25 entries in order, one at a run-time index, and a byte.
    assert_eq!(count(&lines, ", constant_table_param_0;"), 1);
    assert_eq!(count(&lines, "ld.param.b32 %r"), 26 + 3, "{}", lines.join("\n"));
    assert_eq!(count(&lines, "ld.param.u8"), 1);
    assert!(ptx.contains(".param .align 4 .b8 constant_table_param_0[100]"));
}

#[test]
fn clocks_and_floats() {
    let Some(ptx) = module(75, 74) else { return };
    let lines = entry(ptx, "clocks");
    let clocks: Vec<usize> = (0..lines.len()).filter(|&i| lines[i].contains("%clock64")).collect();
    assert_eq!(clocks.len(), 2, "{}", lines.join("\n"));
    // What is timed stays between the two.
    assert!(
        lines[clocks[0]..clocks[1]].iter().any(|line| line.starts_with("ld.global")),
        "{}",
        lines.join("\n")
    );
    assert_eq!((count(&lines, "%globaltimer"), count(&lines, "nanosleep")), (1, 1));
    let operations = [
        ("min.f32", 1),
        ("max.f32", 1),
        ("sqrt.rn.f32", 1),
        ("mul.rn.f32", 1),
        ("add.rn.f32", 1),
        ("min.f64", 1),
        ("fma.rn.f64", 1),
        ("fma.rn.f32", 0),
        ("div.rn.f32", 1),
        ("bra", 0),
    ];
    expect(ptx, "floats", &operations);
}

#[test]
fn branch_hooks_and_launch_bounds() {
    let Some(ptx) = module(75, 74) else { return };
    expect(ptx, "branches", &[("call", 0), ("ld.local", 0)]);
    assert!(
        ptx.contains(".global .align 4 .b8 __launch_bounds_eight_loads[16] = {0, 1, 0, 0, 4, 0, 0, 0, 2};")
    );
    assert!(ptx.contains(".global .align 4 .b8 __launch_bounds_shared_arrays[16] = {128};"));
}

#[test]
fn asynchronous_copies() {
    let Some(ptx) = module(80, 74) else { return };
    let lines = entry(ptx, "asynchronous");
    for (what, expected) in [
        ("cp.async.cg.shared.global", 1),
        ("cp.async.ca.shared.global", 2),
        ("cp.async.commit_group", 2),
        ("cp.async.wait_group 1", 1),
        ("cp.async.wait_group 0", 1),
    ] {
        assert_eq!(count(&lines, what), expected, "{what}:\n{}", lines.join("\n"));
    }
    // No read of shared memory before its wait.
    let reads: Vec<usize> = (0..lines.len()).filter(|&i| lines[i].contains("ld.shared")).collect();
    assert_eq!(reads.len(), 2, "{}", lines.join("\n"));
    assert!(position(&lines, "wait_group 1") < reads[0]);
    let last = position(&lines, "wait_group 0");
    assert!(reads[0] < last && last < reads[1], "{}", lines.join("\n"));
    let Some(ptx) = module(75, 74) else { return };
    assert!(!ptx.contains("cp.async"), "cp.async in an image for sm_75");
}

/// Before sm_90 by the smaller operation, each once and all before the branch that uses the result.
#[test]
fn clusters_and_copies_out_of_shared_memory() {
    let Some(ptx) = module(90, 80) else { return };
    let lines = entry(ptx, "guard_cluster_guard");
    let stores: Vec<usize> = (0..lines.len()).filter(|&i| lines[i].contains("st.global")).collect();
    let (arrive, wait) = (
        position(&lines, "barrier.cluster.arrive.aligned"),
        position(&lines, "barrier.cluster.wait.aligned"),
    );
    assert_eq!(count(&lines, "barrier.cluster"), 2, "{}", lines.join("\n"));
    assert!(
        stores.len() == 2 && stores[0] < arrive && arrive < wait && wait < stores[1],
        "{}",
        lines.join("\n")
    );
    expect(
        ptx,
        "cluster_memory",
        &[
            ("%cluster_ctarank", 1),
            ("mapa.shared::cluster.u32", 2),
            ("ld.shared::cluster.b32", 1),
            ("ld.shared::cluster.v2.b64", 1),
            ("st.shared::cluster.b32", 1),
            ("st.shared::cluster.v2.b64", 1),
            ("mbarrier.arrive.release.cluster.shared::cluster.b64", 1),
            ("mbarrier.arrive.release.cta.shared::cluster.b64", 1),
            ("mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64", 1),
        ],
    );
    expect(
        ptx,
        "boxes_of_a_cluster",
        &[
            (
                "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster",
                1,
            ),
            ("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group", 1),
            ("cp.async.bulk.commit_group", 1),
            ("cp.async.bulk.wait_group.read 1;", 1),
            ("cp.async.bulk.wait_group 0;", 1),
            ("stmatrix.sync.aligned.m8n8.x4.shared.b16", 1),
            ("fence.proxy.async.shared::cta", 1),
        ],
    );
    assert!(
        ptx.contains(".b8 __launch_bounds_boxes_of_a_cluster[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};")
    );
}

#[test]
fn products_of_a_warp() {
    let Some(ptx) = module(80, 74) else { return };
    let lines = entry(ptx, "mma_after_branch");
    assert_eq!(count(&lines, "mma.sync.aligned.m8n8k4.row.col.f64"), 8, "{}", lines.join("\n"));
    let places: Vec<usize> = (0..lines.len()).filter(|&i| lines[i].contains("mma.sync")).collect();
    let (first, last) = (places[0], places[7]);
    // The branch around the load has come to its end, and the one around the store has not begun.
    let load = position(&lines, "ld.global");
    assert!(lines[load..first].iter().any(|line| line.ends_with(':')), "{}", lines.join("\n"));
    assert!(lines[first..last].iter().all(|line| !line.contains("bra")), "{}", lines.join("\n"));
    assert!(lines[last..].iter().any(|line| line.contains("bra")), "{}", lines.join("\n"));
}

/// One instruction for each read, with the handle as it came, and none for one whose value nobody uses.
#[test]
fn reads_of_textures() {
    let Some(ptx) = module(75, 74) else { return };
    let reads = [
        ("tex.1d.v4.f32.f32", 1),
        ("tex.2d.v4.u32.f32", 1),
        ("tex.3d.v4.f32.f32", 1),
        ("tex.", 3),
        ("ld.param.b64", 2),
    ];
    expect(ptx, "textures", &reads);
}
