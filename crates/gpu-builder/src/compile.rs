//! Runs the nightly cargo that turns a kernel crate into PTX, for one architecture.
//!
//! The flags are the same for everyone, and nothing of the outside reaches the code: no RUSTFLAGS, no wrapper, no
//! profile of the workspace, no path. The same compiler therefore gives the same text byte for byte, from any folder.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::kernel_crate::{ImageSpec, KernelCrate, SourcePackage};
use crate::process::{clean_command, output};
use crate::toolchain::{Toolchain, cargo_home};
use crate::{Error, Result};

/// The compiler's target for GPUs of NVIDIA.
const TARGET: &str = "nvptx64-nvidia-cuda";

/// Set while the nightly cargo runs: a build script that it starts must not start it again.
pub(crate) const RUNNING: &str = "GPU_BUILDER_RUNNING";

/// Names the kernels that `#[kernel]` is to emit, with commas between; unset for all.
const KERNELS: &str = "GPU_BUILDER_KERNELS";

/// Arguments of cargo; recorded in the manifest.
pub(crate) const CARGO_ARGS: [&str; 7] = [
    "rustc",
    "--release",
    "--lib",
    "--crate-type=cdylib",
    "--target=nvptx64-nvidia-cuda",
    "-Zbuild-std=core",
    "--quiet",
];

/// Arguments of the kernel crate's own rustc, beside the image's cfg; recorded in the manifest.
///
/// No linker is needed: the text that is kept is the assembly. Loops over arrays of accumulators must be unrolled far
/// beyond LLVM's default threshold, or the arrays land in local memory.
pub(crate) const RUSTC_ARGS: [&str; 3] =
    ["-Clinker=true", "--emit=asm", "-Cllvm-args=-unroll-threshold=20000"];

/// The release profile; recorded in the manifest. As variables they outrank every profile in a Cargo.toml.
pub(crate) const PROFILE: [(&str, &str); 9] = [
    ("CODEGEN_UNITS", "1"),
    ("DEBUG", "false"),
    ("DEBUG_ASSERTIONS", "false"),
    ("INCREMENTAL", "false"),
    ("LTO", "fat"),
    ("OPT_LEVEL", "3"),
    ("OVERFLOW_CHECKS", "false"),
    ("PANIC", "abort"),
    ("STRIP", "none"),
];

/// What the manifest says of the flags.
pub(crate) fn recorded_flags() -> Vec<String> {
    let profile = PROFILE.iter().map(|(name, value)| format!("{}={value}", name.to_lowercase()));
    CARGO_ARGS.iter().chain(&RUSTC_ARGS).map(|flag| flag.to_string()).chain(profile).collect()
}

/// A kernel crate about to be compiled. Holds a lock on the target folder while it lives, so that two builders do not
/// take each other's output.
pub(crate) struct Compilation<'a> {
    krate: &'a KernelCrate,
    toolchain: &'a Toolchain,
    target_dir: PathBuf,
    _lock: std::fs::File,
}

impl<'a> Compilation<'a> {
    /// Waits until no other builder works in `target_dir`.
    pub fn new(krate: &'a KernelCrate, toolchain: &'a Toolchain, target_dir: &Path) -> Result<Self> {
        std::fs::create_dir_all(target_dir).map_err(Error::io(target_dir))?;
        let target_dir = target_dir.canonicalize().map_err(Error::io(target_dir))?;
        let path = target_dir.join(".gpu-builder-lock");
        let lock = std::fs::File::create(&path).map_err(Error::io(&path))?;
        lock.lock().map_err(Error::io(&path))?;
        Ok(Self { krate, toolchain, target_dir, _lock: lock })
    }

    /// The compiler's PTX of these kernels, of all where none is named.
    pub fn ptx(&self, kernels: &[String], image: &ImageSpec) -> Result<String> {
        // cargo does not see which kernels are asked for: a text of others would pass for fresh.
        let stem = self.krate.name.replace('-', "_");
        let folder = self.target_dir.join(TARGET).join("release");
        output(self.cargo(image).args([
            "clean",
            "--release",
            "--quiet",
            "--target",
            TARGET,
            "-p",
            &self.krate.name,
        ]))?;
        for stale in texts(&folder, &stem) {
            std::fs::remove_file(&stale).map_err(Error::io(&stale))?;
        }
        let mut command = self.cargo(image);
        command.args(CARGO_ARGS).args(["--package", &self.krate.name]);
        command.arg("--").arg("--cfg").arg(format!("image=\"{}\"", image.target())).args(RUSTC_ARGS);
        match kernels {
            [] => command.env_remove(KERNELS),
            kernels => command.env(KERNELS, kernels.join(",")),
        };
        output(&mut command).map_err(|error| match error {
            Error::Command { status, stderr, .. } => {
                Error::Compile { krate: self.krate.name.clone(), target: image.target(), status, stderr }
            }
            other => other,
        })?;
        match texts(&folder, &stem).as_slice() {
            [text] => std::fs::read_to_string(text).map_err(Error::io(text)),
            _ => Err(Error::NoPtx { file: format!("{stem}.s"), folder }),
        }
    }

    /// The nightly cargo with everything that decides over the code.
    fn cargo(&self, image: &ImageSpec) -> Command {
        let mut command = clean_command(self.toolchain.cargo());
        command.current_dir(&self.krate.folder);
        command.env("RUSTC", self.toolchain.rustc());
        command.env("CARGO_ENCODED_RUSTFLAGS", self.rustflags(image));
        command.env("CARGO_TARGET_DIR", &self.target_dir).env("CARGO_BUILD_BUILD_DIR", &self.target_dir);
        command.env("CARGO_INCREMENTAL", "0").env(RUNNING, "1");
        // Empty means none, and outranks a wrapper in a config.toml.
        command.env("RUSTC_WRAPPER", "").env("RUSTC_WORKSPACE_WRAPPER", "");
        for (name, value) in PROFILE {
            command.env(format!("CARGO_PROFILE_RELEASE_{name}"), value);
        }
        command
    }

    /// Flags of every crate that is compiled for the GPU, `core` included: the target, so that all of them may be
    /// inlined into each other, and names for the folders, so that no path is left in the code. Given through this
    /// variable they replace those of every config.toml. They are the same for every crate of a workspace, whose own
    /// folders need no name beside the workspace's: `core` and what the crates share is then compiled once for an
    /// architecture and not again for each crate.
    fn rustflags(&self, image: &ImageSpec) -> OsString {
        let mut flags =
            OsString::from(format!("-Ctarget-cpu={}\x1f-Ctarget-feature=+ptx{}", image.target(), image.isa));
        let mut remap = |from: &Path, to: &str| {
            flags.push("\x1f--remap-path-prefix=");
            flags.push(from);
            flags.push("=/");
            flags.push(to);
        };
        remap(&self.toolchain.sysroot, "rust");
        if let Some(home) = cargo_home() {
            remap(&home, "cargo");
        }
        remap(&self.krate.workspace, "workspace");
        let outside = |package: &&SourcePackage| !package.folder.starts_with(&self.krate.workspace);
        for package in self.krate.sources.iter().filter(outside) {
            remap(&package.folder, &package.name);
        }
        flags
    }
}

/// The assembly texts of a crate under a folder, in whatever layout cargo keeps them.
fn texts(folder: &Path, stem: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return found };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(texts(&path, stem));
        } else if let Some(name) = name.strip_suffix(".s")
            && name.strip_prefix(stem).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        {
            found.push(path);
        }
    }
    found
}
