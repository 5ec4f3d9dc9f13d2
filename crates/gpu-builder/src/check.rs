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
use crate::ptxas::Usage;
use crate::report::{Report, Verdict};
use crate::toolchain::Toolchain;
use crate::tools::{Assembled, Ptxas, Scratch, in_parallel};
use crate::{Error, Result, digest};

/// The architectures that PTX is assembled for, where it may run.
const ARCHITECTURES: [u32; 5] = [75, 80, 90, 100, 120];

/// The subject of outcomes that belong to no image.
const WHOLE: &str = "(kernel crate)";

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
    require: Require,
    progress: bool,
}

/// One committed file.
struct Image<'a> {
    config: &'a GpuConfig,
    spec: ImageSpec,
    kernel: String,
    file: String,
    /// What the file holds: the text or edits.
    kept: String,
    /// Its text.
    text: String,
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
        let mut images = images(&krate.config, &folder)?;
        if let Some(asked) =
            self.kernels.iter().find(|name| !images.iter().any(|image| image.kernel == **name))
        {
            return Err(Error::NoSuchKernel { asked: asked.clone(), krate: krate.name });
        }
        let mut report = Report::default();
        self.up_to_date(&krate, &manifest, &folder, &images, &mut report)?;
        allowances(&krate.config, &images, &mut report);
        equal_kernels(&images, &mut report);
        images.retain(|image| self.kernels.is_empty() || self.kernels.contains(&image.kernel));
        for image in &images {
            text_checks(image, &mut report);
        }
        self.assemble(&images, &mut report)?;
        Ok(report)
    }

    /// Sources, manifest and every text belong together, and the compiler still gives these texts.
    fn up_to_date(
        &self,
        krate: &KernelCrate,
        manifest: &Manifest,
        folder: &Path,
        images: &[Image<'_>],
        report: &mut Report,
    ) -> Result<()> {
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
                    "the {files} PTX files are not the {} that {} knows: some were changed, added or removed after they were built; \
                     run: gpu-builder build",
                    manifest.files,
                    manifest::FILE
                )
            }),
        );

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

    /// Every image assembles for every architecture it is meant for, with no stack beyond what is allowed.
    fn assemble(&self, images: &[Image<'_>], report: &mut Report) -> Result<()> {
        let work: Vec<(&Image<'_>, String)> = images
            .iter()
            .flat_map(|image| targets(&image.spec).into_iter().map(move |target| (image, target)))
            .collect();
        let ptxas = match Ptxas::find() {
            Ok(ptxas) => ptxas,
            Err(error) if error.is_missing_tool() => {
                report.warn(format!("nothing was assembled: {error}"));
                for (image, target) in &work {
                    report.add(&image.file, target, Verdict::missing(self.require.ptxas, "no ptxas".into()));
                }
                for image in images {
                    report.add(&image.file, "stack", Verdict::missing(self.require.ptxas, "no ptxas".into()));
                }
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        report.note(format!("assembling with ptxas {}", ptxas.release()));
        let scratch = Scratch::new()?;
        let results = in_parallel(&work, |(image, target)| {
            let cubin = scratch.file(&format!("{}.{target}.cubin", image.file));
            ptxas.assemble(&scratch.text(&format!("{}.{target}", image.file), &image.text)?, target, &cubin)
        });
        let mut stacks: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for ((image, target), result) in work.iter().zip(results) {
            let verdict = match result? {
                Assembled::No(why) => Verdict::Fail(why.trim().to_string()),
                Assembled::UnknownTarget => {
                    let why = format!("ptxas {} does not know {target}", ptxas.release());
                    report.warn(format!("{} was not assembled: {why}", image.file));
                    Verdict::missing(self.require.ptxas, why)
                }
                Assembled::Yes(usage) => {
                    *seen.entry(&image.file).or_default() += 1;
                    stacks.entry(&image.file).or_default().extend(excess_stack(image, target, &usage));
                    Verdict::Pass
                }
            };
            report.add(&image.file, target, verdict);
        }
        for image in images {
            let excess = stacks.get(image.file.as_str()).map(|excess| excess.join("\n")).unwrap_or_default();
            let verdict = match seen.get(image.file.as_str()) {
                None => Verdict::Skip("it was not assembled".into()),
                Some(_) => Verdict::check(excess.is_empty(), || excess),
            };
            report.add(&image.file, "stack", verdict);
        }
        Ok(())
    }
}

/// The targets that an image must assemble for: its own, and every later one unless it is exact.
pub fn targets(spec: &ImageSpec) -> Vec<String> {
    if spec.exact {
        return vec![spec.target()];
    }
    let mut architectures: Vec<u32> = ARCHITECTURES.into_iter().filter(|arch| *arch > spec.arch).collect();
    architectures.insert(0, spec.arch);
    architectures.into_iter().map(|arch| format!("sm_{arch}")).collect()
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

/// Functions with more stack or spills than the kernel's allowance.
fn excess_stack(image: &Image<'_>, target: &str, usage: &Usage) -> Vec<String> {
    let allowed = image.config.stack.get(&image.kernel).copied().unwrap_or(0);
    usage
        .kernels
        .iter()
        .chain(&usage.functions)
        .filter(|(_, used)| used.stack.max(used.spill_stores).max(used.spill_loads) > allowed)
        .map(|(name, used)| {
            format!(
                "{name} on {target}: {} bytes of stack, {} spilled, {} loaded back; {allowed} allowed",
                used.stack, used.spill_stores, used.spill_loads
            )
        })
        .collect()
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
mod tests;
