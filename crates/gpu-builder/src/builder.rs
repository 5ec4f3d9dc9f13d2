//! `build`: from a kernel crate to its PTX, `modules.rs` and manifest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::compile::{Compilation, RUNNING, recorded_flags};
use crate::digest;
use crate::finish::{Finished, finish};
use crate::kernel_crate::{ImageSpec, KernelCrate, ModuleSpec};
use crate::manifest::{self, ImageRecord, Manifest};
use crate::toolchain::Toolchain;
use crate::{Error, Result, modules_rs};

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
    modules: Vec<String>,
    rerun_if_changed: bool,
    progress: bool,
}

/// What a build left.
#[derive(Clone, Debug)]
pub struct Built {
    /// The folder with the PTX, `modules.rs` and `manifest.json`.
    pub out_dir: PathBuf,
    /// The manifest.
    pub manifest: Manifest,
    /// The files whose contents changed.
    pub changed: Vec<String>,
    /// Modules that were not rebuilt although the sources have changed since: `check` calls them stale.
    pub outdated: Vec<String>,
}

/// PTX that was just compiled.
pub(crate) struct Image {
    pub module: String,
    pub spec: ImageSpec,
    pub finished: Finished,
}

impl Image {
    fn record(&self) -> ImageRecord {
        ImageRecord {
            file: self.spec.file(&self.module),
            module: self.module.clone(),
            arch: self.spec.arch,
            exact: self.spec.exact,
            isa: self.spec.isa,
            sha256: digest::sha256(self.finished.text.as_bytes()),
            entries: self.finished.entries.clone(),
        }
    }
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

    /// Builds only this module, beside others that were named; the files of the rest stay as they are.
    #[must_use]
    pub fn module(mut self, name: impl Into<String>) -> Self {
        self.modules.push(name.into());
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
    /// `OUT_DIR/nvptx` and `cargo:rerun-if-changed` lines. Building the PTX runs that script once more, for the GPU:
    /// then there is nothing to do, and this gives `None`.
    ///
    /// # Errors
    /// As [`Builder::build`]; [`Error::NoBuildScript`] elsewhere.
    pub fn build_in_script(self) -> Result<Option<Built>> {
        if std::env::var_os(RUNNING).is_some() {
            return Ok(None);
        }
        let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or(Error::NoBuildScript)?);
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
        let modules = krate.modules(&self.modules)?;
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
        let images = compile(&krate, &toolchain, &target_dir, &modules, self.progress)?;

        let unchanged =
            before.as_ref().is_some_and(|b| b.sources == sources && b.compiler == toolchain.compiler);
        let mut records = Vec::new();
        let mut outdated = Vec::new();
        for module in &krate.config.modules {
            for spec in &module.images {
                let file = spec.file(&module.name);
                let new = images.iter().find(|image| image.module == module.name && image.spec == *spec);
                let old = before.iter().flat_map(|b| &b.images).find(|record| record.file == file);
                match (new, old) {
                    (Some(image), _) => records.push(image.record()),
                    (None, Some(record)) if out_dir.join(&file).is_file() => {
                        records.push(record.clone());
                        if !unchanged && !outdated.contains(&module.name) {
                            outdated.push(module.name.clone());
                        }
                    }
                    _ => {}
                }
            }
        }
        let (sources, compiler, core) = match before {
            // Some of the PTX is older than the sources: the manifest must not say otherwise.
            Some(before) if !outdated.is_empty() => (before.sources, before.compiler, before.core),
            _ => (sources, toolchain.compiler.clone(), core),
        };
        let manifest = Manifest {
            crate_name: krate.name.clone(),
            compiler,
            core,
            sources,
            packages: krate.sources.iter().map(|package| package.name.clone()).collect(),
            flags: recorded_flags(),
            images: records,
        };

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
        for image in &images {
            write(image.spec.file(&image.module), &image.finished.text)?;
        }
        write("modules.rs".into(), &modules_rs::text(&manifest.images))?;
        write(manifest::FILE.into(), &manifest.to_text())?;
        if self.modules.is_empty() {
            remove_leftovers(&out_dir, &manifest, &mut changed)?;
        }
        Ok(Built { out_dir, manifest, changed, outdated })
    }

    fn find_toolchain(&self, krate: &KernelCrate, before: Option<&Manifest>) -> Result<Toolchain> {
        match &self.toolchain {
            Some(name) => Toolchain::installed(name)?
                .ok_or_else(|| Error::ToolchainMissing { wanted: name.clone(), found: String::new() }),
            None => Toolchain::find(&krate.config.toolchain, before.map(|b| b.compiler.commit_hash.as_str())),
        }
    }
}

/// What is left to compile for one target.
struct Queue<'a> {
    images: Vec<(&'a ModuleSpec, ImageSpec)>,
    begun: bool,
}

/// A thread that has nothing left helps with another's target if so many images wait there: it must compile `core` for
/// itself first, which takes as long as some ten of them.
const WORTH_HELPING: usize = 10;

/// Compiles every image of some modules, on all cores: each thread one target after the other, in folders of its own.
pub(crate) fn compile(
    krate: &KernelCrate,
    toolchain: &Toolchain,
    target_dir: &Path,
    modules: &[&ModuleSpec],
    progress: bool,
) -> Result<Vec<Image>> {
    toolchain.library()?;
    let mut targets: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for module in modules {
        for spec in &module.images {
            targets.entry((spec.arch, spec.exact, spec.isa)).or_default().push((*module, *spec));
        }
    }
    // Taken from the end: the first module is the first to be compiled.
    let in_turn = |images: Vec<_>| Queue { images: images.into_iter().rev().collect(), begun: false };
    let queues: Vec<Queue<'_>> = targets.into_values().map(in_turn).collect();
    let queues = Mutex::new(queues);
    let lock = || queues.lock().unwrap_or_else(PoisonError::into_inner);
    // A queue that nobody has begun, else the longest.
    let choose = || {
        let mut queues = lock();
        let longest = queues
            .iter()
            .enumerate()
            .filter(|(_, queue)| queue.images.len() > if queue.begun { WORTH_HELPING } else { 0 })
            .max_by_key(|(_, queue)| (!queue.begun, queue.images.len()))
            .map(|(number, _)| number);
        longest.inspect(|&number| queues[number].begun = true)
    };
    let work = |worker: usize| -> Result<Vec<Image>> {
        let mut done = Vec::new();
        while let Some(queue) = choose() {
            let mut compilation = None;
            while let Some((module, spec)) = { lock()[queue].images.pop() } {
                let compilation = match &compilation {
                    Some(compilation) => compilation,
                    None => {
                        let folder = format!("{}-ptx{}-{worker}", spec.target(), spec.isa);
                        let new = Compilation::new(krate, toolchain, &target_dir.join(folder))?;
                        compilation.insert(new)
                    }
                };
                done.push(image(compilation, krate, module, spec, progress)?);
            }
        }
        Ok(done)
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let stop = |result: Result<Vec<Image>>| {
            result.inspect_err(|_| lock().iter_mut().for_each(|queue| queue.images.clear()))
        };
        let threads: Vec<_> = (0..workers).map(|worker| scope.spawn(move || stop(work(worker)))).collect();
        let mut images = Vec::new();
        for thread in threads {
            images.extend(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(images)
    })
}

/// Compiles one image.
fn image(
    compilation: &Compilation<'_>,
    krate: &KernelCrate,
    module: &ModuleSpec,
    spec: ImageSpec,
    progress: bool,
) -> Result<Image> {
    let start = std::time::Instant::now();
    let raw = compilation.ptx(&module.name, &spec)?;
    let finished = finish(&krate.name, &module.name, &spec, &raw)?;
    if progress {
        let (file, seconds) = (spec.file(&module.name), start.elapsed().as_secs_f64());
        eprintln!(
            "compiled {file}: {} kernels, {} KB, {seconds:.1} s",
            finished.entries.len(),
            finished.text.len() / 1024
        );
    }
    Ok(Image { module: module.name.clone(), spec, finished })
}

/// The hash of a toolchain's `library/core`.
pub(crate) fn core_hash(toolchain: &Toolchain) -> Result<String> {
    digest::tree(&toolchain.library()?.join("core"), "core")
}

/// Removes PTX of modules that are no longer there.
fn remove_leftovers(out_dir: &Path, manifest: &Manifest, changed: &mut Vec<String>) -> Result<()> {
    for entry in std::fs::read_dir(out_dir).map_err(Error::io(out_dir))? {
        let entry = entry.map_err(Error::io(out_dir))?;
        let file = entry.file_name().to_string_lossy().into_owned();
        let ours =
            std::fs::read_to_string(entry.path()).is_ok_and(|text| text.contains("Written by gpu-builder"));
        if file.ends_with(".ptx") && ours && !manifest.images.iter().any(|image| image.file == file) {
            std::fs::remove_file(entry.path()).map_err(Error::io(entry.path()))?;
            changed.push(file);
        }
    }
    Ok(())
}
