//! `build`: from a kernel crate to its PTX and manifest.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::compile::{Compilation, RUNNING, recorded_flags};
use crate::finish::{Finished, HEADER, finish};
use crate::kernel_crate::{ImageSpec, KernelCrate};
use crate::manifest::{self, Manifest};
use crate::toolchain::Toolchain;
use crate::tools::in_parallel;
use crate::{Error, Result, digest, edits};

/// Compiles a kernel crate.
///
/// From the build script of a crate that ships PTX of a kernel crate:
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let out = std::path::PathBuf::from(std::env::var("OUT_DIR")?);
/// gpu_builder::Builder::new("kernels").out_dir(&out).target_dir(out.join("nvptx")).rerun_if_changed(true).build()?;
/// # Ok(())
/// # }
/// ```
///
/// From the build script of the kernel crate itself: [`Builder::build_in_script`].
#[derive(Clone, Debug, Default)]
pub struct Builder {
    asked: Option<String>,
    out_dir: Option<PathBuf>,
    target_dir: Option<PathBuf>,
    toolchain: Option<String>,
    kernels: Vec<String>,
    rerun_if_changed: bool,
    progress: bool,
}

/// What a build left.
#[derive(Clone, Debug)]
pub struct Built {
    /// The folder with the PTX and `manifest.json`.
    pub out_dir: PathBuf,
    /// The manifest.
    pub manifest: Manifest,
    /// The files whose contents changed.
    pub changed: Vec<String>,
    /// Whether kernels were left as they are although the sources have changed since: `check` calls them stale.
    pub outdated: bool,
}

/// PTX that was just compiled.
pub(crate) struct Image {
    pub spec: ImageSpec,
    pub kernels: Vec<Finished>,
}

impl Builder {
    /// Builds the kernel crate in this folder, or the one of this name in the workspace around the current folder.
    pub fn new(folder_or_name: impl AsRef<Path>) -> Self {
        let asked = folder_or_name.as_ref().to_string_lossy().into_owned();
        Self { asked: Some(asked), ..Self::default() }
    }

    /// Builds the only kernel crate of the workspace around the current folder.
    pub fn only_one() -> Self {
        Self::default()
    }

    /// Where the results go; `ptx` in the kernel crate's folder by default. A build script passes its `OUT_DIR`.
    #[must_use]
    pub fn out_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out_dir = Some(folder.into());
        self
    }

    /// Where the nightly cargo keeps its intermediate files: `nvptx` in the workspace's target folder by default.
    /// It must not be the target folder of a cargo that waits for this build.
    #[must_use]
    pub fn target_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.target_dir = Some(folder.into());
        self
    }

    /// Uses this toolchain, whatever the kernel crate asks for.
    #[must_use]
    pub fn toolchain(mut self, name: impl Into<String>) -> Self {
        self.toolchain = Some(name.into());
        self
    }

    /// Builds only the kernel of this name, beside others that were named; the files of the rest stay as they are.
    #[must_use]
    pub fn kernel(mut self, name: impl Into<String>) -> Self {
        self.kernels.push(name.into());
        self
    }

    /// Prints `cargo:rerun-if-changed` for every source folder, for cargo to read from a build script.
    #[must_use]
    pub fn rerun_if_changed(mut self, on: bool) -> Self {
        self.rerun_if_changed = on;
        self
    }

    /// Says on stderr what is being compiled, and how long it took.
    #[must_use]
    pub fn progress(mut self, on: bool) -> Self {
        self.progress = on;
        self
    }

    /// [`Builder::build`] for the build script of the kernel crate itself: into `OUT_DIR`, with intermediate files in
    /// `OUT_DIR/nvptx`, `cargo:rerun-if-changed` lines, and `GPU_PTX_DIR` set for the crate, so that `#[kernel]`
    /// looks for the PTX there. Building the PTX runs that script once more, for the GPU: then there is nothing to
    /// do, and this gives `None`.
    ///
    /// # Errors
    /// As [`Builder::build`]; [`Error::NoBuildScript`] elsewhere.
    pub fn build_in_script(self) -> Result<Option<Built>> {
        if std::env::var_os(RUNNING).is_some() {
            return Ok(None);
        }
        let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or(Error::NoBuildScript)?);
        println!("cargo:rustc-env=GPU_PTX_DIR={}", out.display());
        self.target_dir(out.join("nvptx")).out_dir(out).rerun_if_changed(true).build().map(Some)
    }

    /// Compiles, and writes what has changed.
    ///
    /// # Errors
    /// [`Error::is_missing_tool`] ones where the nightly or its sources of `core` are missing; [`Error::Compile`] with
    /// the compiler's messages; [`Error::Ptx`] where the PTX is not what was asked for. Nothing is written then.
    pub fn build(&self) -> Result<Built> {
        if std::env::var_os(RUNNING).is_some() {
            return Err(Error::Recursive);
        }
        let krate = KernelCrate::open(self.asked.as_deref())?;
        if self.rerun_if_changed {
            for package in &krate.sources {
                println!("cargo:rerun-if-changed={}", package.folder.join("src").display());
                println!("cargo:rerun-if-changed={}", package.folder.join("Cargo.toml").display());
            }
        }
        let out_dir = self.out_dir.clone().unwrap_or_else(|| krate.folder.join("ptx"));
        // An unreadable manifest is what a build mends.
        let before = Manifest::read(&out_dir).ok().flatten();
        let toolchain = self.find_toolchain(&krate, before.as_ref())?;
        let core = core_hash(&toolchain)?;
        let sources = digest::packages(&krate.sources)?;
        let target_dir = self.target_dir.clone().unwrap_or_else(|| krate.target_directory.join("nvptx"));
        let images = compile(&krate, &toolchain, &target_dir, &self.kernels, self.progress)?;
        self.expect_kernels(&krate, &images)?;

        std::fs::create_dir_all(&out_dir).map_err(Error::io(&out_dir))?;
        let mut changed = Vec::new();
        let mut write = |file: String, text: &str| -> Result<()> {
            let path = out_dir.join(&file);
            if std::fs::read(&path).ok().as_deref() != Some(text.as_bytes()) {
                std::fs::write(&path, text).map_err(Error::io(&path))?;
                changed.push(file);
            }
            Ok(())
        };
        for (file, text) in edits::files(&images) {
            write(file, &text)?;
        }
        // Some of the PTX may be older than the sources: the manifest must not say otherwise.
        let older = before.filter(|b| {
            !self.kernels.is_empty()
                && (b.sources != sources || b.compiler != toolchain.compiler || b.core != core)
        });
        let outdated = older.is_some();
        let (sources, compiler, core) = match older {
            Some(older) => (older.sources, older.compiler, older.core),
            None => (sources, toolchain.compiler.clone(), core),
        };
        if self.kernels.is_empty() {
            remove_leftovers(&out_dir, &images, &mut changed)?;
        }
        let (files, ptx) = digest::ptx(&out_dir)?;
        let manifest = Manifest {
            crate_name: krate.name.clone(),
            compiler,
            core,
            sources,
            packages: krate.sources.iter().map(|package| package.name.clone()).collect(),
            flags: recorded_flags(),
            images: krate.config.images.clone(),
            files,
            ptx,
        };
        let text = manifest.to_text();
        let path = out_dir.join(manifest::FILE);
        if std::fs::read(&path).ok().as_deref() != Some(text.as_bytes()) {
            std::fs::write(&path, text).map_err(Error::io(&path))?;
            changed.push(manifest::FILE.into());
        }
        Ok(Built { out_dir, manifest, changed, outdated })
    }

    /// Every kernel that was asked for is there, or else some for each architecture.
    fn expect_kernels(&self, krate: &KernelCrate, images: &[Image]) -> Result<()> {
        for asked in &self.kernels {
            if !images.iter().flat_map(|image| &image.kernels).any(|kernel| kernel.kernel == *asked) {
                return Err(Error::NoSuchKernel { asked: asked.clone(), krate: krate.name.clone() });
            }
        }
        match images.iter().find(|image| image.kernels.is_empty()) {
            Some(image) if self.kernels.is_empty() => {
                Err(Error::NoKernel { krate: krate.name.clone(), target: image.spec.target() })
            }
            _ => Ok(()),
        }
    }

    fn find_toolchain(&self, krate: &KernelCrate, before: Option<&Manifest>) -> Result<Toolchain> {
        match &self.toolchain {
            Some(name) => Toolchain::installed(name)?
                .ok_or_else(|| Error::ToolchainMissing { wanted: name.clone(), found: String::new() }),
            None => Toolchain::find(&krate.config.toolchain, before.map(|b| b.compiler.commit_hash.as_str())),
        }
    }
}

/// Compiles the kernels of these names, all where none is given, for every architecture: each in a folder of its own,
/// beside each other.
pub(crate) fn compile(
    krate: &KernelCrate,
    toolchain: &Toolchain,
    target_dir: &Path,
    kernels: &[String],
    progress: bool,
) -> Result<Vec<Image>> {
    toolchain.library()?;
    let one = |spec: &ImageSpec| -> Result<Image> {
        let start = std::time::Instant::now();
        let folder = format!("{}-ptx{}", spec.target(), spec.isa);
        let compilation = Compilation::new(krate, toolchain, &target_dir.join(folder))?;
        let kernels = finish(&krate.name, spec, &compilation.ptx(kernels, spec)?)?;
        if progress {
            let kilobytes = kernels.iter().map(|kernel| kernel.text.len()).sum::<usize>() / 1024;
            let (seconds, count) = (start.elapsed().as_secs_f64(), kernels.len());
            eprintln!(
                "compiled {} for {}: {count} kernels, {kilobytes} KB, {seconds:.1} s",
                krate.name,
                spec.target()
            );
        }
        Ok(Image { spec: *spec, kernels })
    };
    in_parallel(&krate.config.images, one).into_iter().collect()
}

/// The hash of a toolchain's `library/core`.
pub(crate) fn core_hash(toolchain: &Toolchain) -> Result<String> {
    digest::tree(&toolchain.library()?.join("core"), "core")
}

/// Removes PTX of kernels that are no longer there.
fn remove_leftovers(out_dir: &Path, images: &[Image], changed: &mut Vec<String>) -> Result<()> {
    let files = |image: &Image| {
        image.kernels.iter().map(|kernel| image.spec.file(&kernel.kernel)).collect::<Vec<_>>()
    };
    let files: BTreeSet<String> = images.iter().flat_map(files).collect();
    for entry in std::fs::read_dir(out_dir).map_err(Error::io(out_dir))? {
        let entry = entry.map_err(Error::io(out_dir))?;
        let file = entry.file_name().to_string_lossy().into_owned();
        let ours = || std::fs::read_to_string(entry.path()).is_ok_and(|text| text.starts_with(HEADER));
        if file.ends_with(".ptx") && !files.contains(&file) && ours() {
            std::fs::remove_file(entry.path()).map_err(Error::io(entry.path()))?;
            changed.push(file);
        }
    }
    Ok(())
}
