//! `check`: is the committed PTX what the sources give, and is it fit for the GPUs it is meant for?

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use crate::builder::{compile, core_hash};
use crate::edits::{self, Kept};
use crate::finish::MARKER;
use crate::kernel_crate::{GpuConfig, ImageSpec, KernelCrate};
use crate::manifest::{self, Manifest};
use crate::memory::{cut_floats, generic_accesses};
use crate::ptx::Ptx;
use crate::report::{Report, Verdict};
use crate::toolchain::Toolchain;
use crate::{Error, Result, assemble, digest};

/// The subject of outcomes that belong to no image.
pub(crate) const WHOLE: &str = "(kernel crate)";

/// What may not be missing. Without these, what needs it is skipped, counted and said loudly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Require {
    /// The PTX must be rebuilt and compared.
    pub nightly: bool,
    /// Every kernel must be assembled.
    pub ptxas: bool,
}

/// Checks the PTX of a kernel crate.
#[derive(Clone, Debug, Default)]
pub struct Checker {
    asked: Option<String>,
    ptx_dir: Option<PathBuf>,
    target_dir: Option<PathBuf>,
    kernels: Vec<String>,
    pub(crate) require: Require,
    pub(crate) assemble_all: bool,
    pub(crate) record: bool,
    hashes_only: bool,
    progress: bool,
}

/// One committed file.
pub(crate) struct Image<'a> {
    config: &'a GpuConfig,
    pub(crate) spec: ImageSpec,
    kernel: String,
    pub(crate) file: String,
    /// What the file holds: the text or edits.
    kept: String,
    /// Its text.
    pub(crate) text: String,
}

impl Image<'_> {
    /// The bytes of stack that its kernel may have.
    pub(crate) fn allowed_stack(&self) -> u32 {
        self.config.stack.get(&self.kernel).copied().unwrap_or(0)
    }
}

impl Checker {
    /// Checks the kernel crate in this folder or of this name; the only one of the workspace for `None`.
    pub fn new(folder_or_name: Option<&str>) -> Self {
        Self { asked: folder_or_name.map(Into::into), ..Self::default() }
    }

    /// Where the PTX is; `ptx` in the kernel crate's folder by default.
    #[must_use]
    pub fn ptx_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.ptx_dir = Some(folder.into());
        self
    }

    /// Where the nightly cargo keeps its intermediate files, as in [`Builder::target_dir`](crate::Builder::target_dir).
    #[must_use]
    pub fn target_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.target_dir = Some(folder.into());
        self
    }

    /// Checks only the kernel of this name, beside others that were named.
    #[must_use]
    pub fn kernel(mut self, name: impl Into<String>) -> Self {
        self.kernels.push(name.into());
        self
    }

    /// Fails where something is missing instead of skipping.
    #[must_use]
    pub fn require(mut self, require: Require) -> Self {
        self.require = require;
        self
    }

    /// Assembles every image, also those that the record has.
    #[must_use]
    pub fn assemble_all(mut self, on: bool) -> Self {
        self.assemble_all = on;
        self
    }

    /// Writes down what was assembled: `assembled.txt` beside the PTX, to be committed with it. A later check with the
    /// same ptxas assembles what it does not have and a tenth of what it has.
    #[must_use]
    pub fn record(mut self, on: bool) -> Self {
        self.record = on;
        self
    }

    /// Only compares the hashes of sources and PTX with those of the manifest: what has changed since the last build is
    /// told at once, without a compiler.
    #[must_use]
    pub fn hashes_only(mut self, on: bool) -> Self {
        self.hashes_only = on;
        self
    }

    /// Whether no kernel was named.
    pub(crate) fn is_of_all_kernels(&self) -> bool {
        self.kernels.is_empty()
    }

    /// Says on stderr what is being compiled.
    #[must_use]
    pub fn progress(mut self, on: bool) -> Self {
        self.progress = on;
        self
    }

    /// Runs every check; what fails is in the report, not an error.
    ///
    /// # Errors
    /// [`Error::NotBuilt`] where there is no manifest, and where a file cannot be read or cargo does not answer.
    pub fn run(&self) -> Result<Report> {
        let krate = KernelCrate::open(self.asked.as_deref())?;
        let folder = self.ptx_dir.clone().unwrap_or_else(|| krate.folder.join("ptx"));
        let manifest =
            Manifest::read(&folder)?.ok_or_else(|| Error::NotBuilt { path: folder.join(manifest::FILE) })?;
        let mut report = Report::default();
        hashes(&krate, &manifest, &folder, &mut report)?;
        if self.hashes_only {
            return Ok(report);
        }
        let mut images = images(&krate.config, &folder)?;
        if let Some(asked) =
            self.kernels.iter().find(|name| !images.iter().any(|image| image.kernel == **name))
        {
            return Err(Error::NoSuchKernel { asked: asked.clone(), krate: krate.name });
        }
        self.rebuild(&krate, &manifest, &images, &mut report)?;
        allowances(&krate.config, &images, &mut report);
        equal_kernels(&images, &mut report);
        images.retain(|image| self.kernels.is_empty() || self.kernels.contains(&image.kernel));
        for image in &images {
            text_checks(image, &mut report);
        }
        assemble::assemble(self, &images, &folder, &manifest.sources, &mut report)?;
        Ok(report)
    }

    /// The compiler still gives these texts.
    fn rebuild(
        &self,
        krate: &KernelCrate,
        manifest: &Manifest,
        images: &[Image<'_>],
        report: &mut Report,
    ) -> Result<()> {
        let toolchain = match self.rebuilding_toolchain(krate, manifest)? {
            Ok(toolchain) => toolchain,
            Err(why) => {
                report.warn(format!("the PTX was NOT rebuilt, only hashes were compared: {why}"));
                report.add(WHOLE, "rebuild", Verdict::missing(self.require.nightly, why));
                return Ok(());
            }
        };
        let target_dir = self.target_dir.clone().unwrap_or_else(|| krate.target_directory.join("nvptx"));
        report.note(format!("rebuilding with {} and comparing byte for byte", toolchain.compiler));
        let rebuilt = match compile(krate, &toolchain, &target_dir, &self.kernels, self.progress) {
            Ok(rebuilt) => rebuilt,
            Err(error @ (Error::Compile { .. } | Error::Ptx { .. } | Error::NoPtx { .. })) => {
                report.add(WHOLE, "rebuild", Verdict::Fail(error.to_string()));
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        report.add(WHOLE, "rebuild", Verdict::Pass);
        let again: BTreeMap<String, String> = edits::files(&rebuilt).into_iter().collect();
        for image in
            images.iter().filter(|image| self.kernels.is_empty() || self.kernels.contains(&image.kernel))
        {
            let verdict = match again.get(&image.file) {
                Some(text) => Verdict::check(*text == image.kept, || {
                    format!("{}; run: gpu-builder build", first_difference(&image.kept, text))
                }),
                None => Verdict::Fail("the sources have no such kernel; run: gpu-builder build".into()),
            };
            report.add(&image.file, "current", verdict);
        }
        for missing in again.keys().filter(|file| !images.iter().any(|image| image.file == **file)) {
            report.add(
                missing,
                "current",
                Verdict::Fail("the file is missing; run: gpu-builder build".into()),
            );
        }
        Ok(())
    }

    /// The compiler that the PTX was built with, with the same sources of `core`; or why it is not there.
    fn rebuilding_toolchain(
        &self,
        krate: &KernelCrate,
        manifest: &Manifest,
    ) -> Result<Result<Toolchain, String>> {
        let found = Toolchain::find(&krate.config.toolchain, Some(&manifest.compiler.commit_hash));
        let found = found.and_then(|toolchain| Ok((core_hash(&toolchain)?, toolchain)));
        let (core, toolchain) = match found {
            Ok(found) => found,
            Err(error) if error.is_missing_tool() => return Ok(Err(error.to_string())),
            Err(error) => return Err(error),
        };
        if toolchain.compiler != manifest.compiler {
            let (have, wanted) = (&toolchain.compiler, &manifest.compiler);
            return Ok(Err(format!("the PTX was built with {wanted}, and `{}` is {have}", toolchain.name)));
        }
        if core != manifest.core {
            let why =
                format!("the PTX was built with other sources of core than those of `{}`", toolchain.name);
            return Ok(Err(why));
        }
        Ok(Ok(toolchain))
    }
}

/// Sources, manifest and every text belong together.
fn hashes(krate: &KernelCrate, manifest: &Manifest, folder: &Path, report: &mut Report) -> Result<()> {
    let fresh = manifest.sources == digest::packages(&krate.sources)?;
    report.add(
        WHOLE,
        "sources",
        Verdict::check(fresh, || {
            format!("{} was made of other sources; run: gpu-builder build", manifest::FILE)
        }),
    );
    let (files, ptx) = digest::ptx(folder)?;
    report.add(
        WHOLE,
        "files",
        Verdict::check((files, &ptx) == (manifest.files, &manifest.ptx), || {
            format!(
                "the {files} PTX files are not the {} that {} knows: some were changed, added or removed after they \
                 were built; run: gpu-builder build",
                manifest.files,
                manifest::FILE
            )
        }),
    );
    Ok(())
}

/// The PTX files of a folder that an architecture of the kernel crate has, by kernel.
fn images<'a>(config: &'a GpuConfig, folder: &Path) -> Result<Vec<Image<'a>>> {
    let mut images = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(Error::io(folder))? {
        let path = entry.map_err(Error::io(folder))?.path();
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let of = |spec: &&ImageSpec| file.ends_with(&spec.file(""));
        let Some(spec) = config.images.iter().find(of) else { continue };
        let kernel = file[..file.len() - spec.file("").len()].to_string();
        let Kept { file: kept, text } = edits::read(folder, &kernel, spec, &config.images)?;
        images.push(Image { config, spec: *spec, kernel, file, kept, text });
    }
    images.sort_by(|a, b| (&a.kernel, a.spec.arch).cmp(&(&b.kernel, b.spec.arch)));
    Ok(images)
}

/// Every allowance in Cargo.toml is for a kernel that there is.
fn allowances(config: &GpuConfig, images: &[Image<'_>], report: &mut Report) {
    let gone = |name: &&String| !images.iter().any(|image| image.kernel == **name);
    let gone: Vec<_> = config.stack.keys().chain(&config.generic).filter(gone).cloned().collect();
    report.add(
        WHOLE,
        "allowances",
        Verdict::check(gone.is_empty(), || format!("Cargo.toml has some for no kernel: {}", gone.join(", "))),
    );
}

/// No two kernels are the same code under two names: users pay for each.
fn equal_kernels(images: &[Image<'_>], report: &mut Report) {
    let mut known: BTreeMap<String, &str> = BTreeMap::new();
    let mut equal = Vec::new();
    for image in images {
        match known.entry(image.text.replace(&image.kernel, "")) {
            Entry::Vacant(place) => {
                place.insert(&image.file);
            }
            Entry::Occupied(place) => equal.push(format!("{} is {} again", image.file, place.get())),
        }
    }
    report.add(WHOLE, "different", Verdict::check(equal.is_empty(), || equal.join("\n")));
}

/// Checks of the text alone.
fn text_checks(image: &Image<'_>, report: &mut Report) {
    let ptx = match Ptx::parse(&image.file, &image.text) {
        Ok(ptx) => ptx,
        Err(error) => return report.add(&image.file, "text", Verdict::Fail(error.to_string())),
    };
    let mut faults = Vec::new();
    if ptx.isa() != Some(image.spec.isa) || ptx.target() != Some(&image.spec.target()) {
        faults.push(format!(
            "expected .version {} (times ten) and .target {}",
            image.spec.isa,
            image.spec.target()
        ));
    }
    if let Some(marker) = ptx.items.iter().find(|item| item.name.starts_with(MARKER)) {
        faults.push(format!("the marker {} is still there", marker.name));
    }
    let entries: Vec<_> = ptx.entries().map(|entry| entry.name.as_str()).collect();
    if entries != [image.kernel.as_str()] {
        faults.push(format!("expected the kernel {}, found {}", image.kernel, entries.join(", ")));
    }
    report.add(&image.file, "text", Verdict::check(faults.is_empty(), || faults.join("\n")));

    let strict = ptx.entries().filter(|entry| !image.config.generic.contains(&entry.name));
    let mut faults = Vec::new();
    for entry in strict {
        for access in generic_accesses(&ptx, entry) {
            faults.push(format!(
                "{}: generic access `{}` in {}",
                entry.name, access.instruction, access.function
            ));
        }
    }
    for item in &ptx.items {
        let cut = cut_floats(item).into_iter();
        faults.extend(cut.map(|store| format!("{}: `{store}` stores a part of a float", item.name)));
    }
    report.add(&image.file, "memory", Verdict::check(faults.is_empty(), || faults.join("\n")));
}

fn first_difference(old: &str, new: &str) -> String {
    let line = old.lines().zip(new.lines()).position(|(old, new)| old != new);
    let line = line.unwrap_or_else(|| old.lines().count().min(new.lines().count()));
    let show = |text: &str| {
        text.lines().nth(line).map_or("nothing".to_string(), |text| format!("`{}`", text.trim()))
    };
    format!("stale: line {} is {}, the compiler gives {}", line + 1, show(old), show(new))
}

#[cfg(test)]
#[path = "check_tests.rs"]
pub(crate) mod tests;
