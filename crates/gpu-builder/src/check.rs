//! `check`: is the committed PTX what the sources give, and is it fit for the GPUs it is meant for?

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::builder::{compile, core_hash};
use crate::finish::MARKER;
use crate::kernel_crate::{ImageSpec, KernelCrate, ModuleSpec};
use crate::manifest::{self, ImageRecord, Manifest};
use crate::memory::{cut_floats, generic_accesses};
use crate::ptx::Ptx;
use crate::ptxas::Usage;
use crate::report::{Report, Verdict};
use crate::toolchain::Toolchain;
use crate::tools::{Assembled, Ptxas, Scratch, in_parallel};
use crate::{Error, Result, digest, modules_rs};

/// The architectures that PTX is assembled for, where it may run.
const ARCHITECTURES: [u32; 5] = [75, 80, 90, 100, 120];

/// The subject of outcomes that belong to no image.
const WHOLE: &str = "(kernel crate)";

/// What may not be missing. Without these, what needs it is skipped, counted and said loudly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Require {
    /// The PTX must be rebuilt and compared.
    pub nightly: bool,
    /// Every module must be assembled.
    pub ptxas: bool,
}

/// Checks the PTX of a kernel crate.
#[derive(Clone, Debug, Default)]
pub struct Checker {
    asked: Option<String>,
    ptx_dir: Option<PathBuf>,
    target_dir: Option<PathBuf>,
    modules: Vec<String>,
    require: Require,
    progress: bool,
}

/// One committed image.
struct Image<'a> {
    module: &'a ModuleSpec,
    spec: ImageSpec,
    file: String,
    path: PathBuf,
    /// Its text, line endings as `\n`; `None` where the file is missing.
    text: Option<String>,
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

    /// Checks only this module, beside others that were named.
    #[must_use]
    pub fn module(mut self, name: impl Into<String>) -> Self {
        self.modules.push(name.into());
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
        let modules = krate.modules(&self.modules)?;
        let folder = self.ptx_dir.clone().unwrap_or_else(|| krate.folder.join("ptx"));
        let manifest =
            Manifest::read(&folder)?.ok_or_else(|| Error::NotBuilt { path: folder.join(manifest::FILE) })?;
        let mut images = Vec::new();
        for module in &modules {
            for spec in &module.images {
                let file = spec.file(&module.name);
                let path = folder.join(&file);
                let text = read(&path)?;
                images.push(Image { module, spec: *spec, file, path, text });
            }
        }

        let mut report = Report::default();
        self.up_to_date(&krate, &modules, &manifest, &folder, &images, &mut report)?;
        for image in &images {
            text_checks(image, manifest.images.iter().find(|record| record.file == image.file), &mut report);
        }
        self.assemble(&images, &mut report)?;
        Ok(report)
    }

    /// Sources, manifest, modules.rs and every text belong together, and the compiler still gives these texts.
    fn up_to_date(
        &self,
        krate: &KernelCrate,
        modules: &[&ModuleSpec],
        manifest: &Manifest,
        folder: &Path,
        images: &[Image<'_>],
        report: &mut Report,
    ) -> Result<()> {
        let sources = digest::packages(&krate.sources)?;
        let fresh = manifest.sources == sources;
        report.add(
            WHOLE,
            "sources",
            Verdict::check(fresh, || {
                format!("{} was made of other sources; run: gpu-builder build", manifest::FILE)
            }),
        );
        let expected = modules_rs::text(&manifest.images);
        let right = read(&folder.join("modules.rs"))?.is_some_and(|text| text == expected);
        report.add(
            WHOLE,
            "modules.rs",
            Verdict::check(right, || {
                "it does not list the images of the manifest; run: gpu-builder build".into()
            }),
        );

        let rebuilt = match self.rebuilding_toolchain(krate, manifest)? {
            Ok(toolchain) => {
                let target_dir =
                    self.target_dir.clone().unwrap_or_else(|| krate.target_directory.join("nvptx"));
                report.note(format!("rebuilding with {} and comparing byte for byte", toolchain.compiler));
                match compile(krate, &toolchain, &target_dir, modules, self.progress) {
                    Ok(rebuilt) => {
                        report.add(WHOLE, "rebuild", Verdict::Pass);
                        Some(rebuilt)
                    }
                    Err(error @ (Error::Compile { .. } | Error::Ptx { .. } | Error::NoPtx { .. })) => {
                        report.add(WHOLE, "rebuild", Verdict::Fail(error.to_string()));
                        None
                    }
                    Err(error) => return Err(error),
                }
            }
            Err(why) => {
                report.warn(format!("the PTX was NOT rebuilt, only hashes were compared: {why}"));
                report.add(WHOLE, "rebuild", Verdict::missing(self.require.nightly, why));
                None
            }
        };
        for image in images {
            let record = manifest.images.iter().find(|record| record.file == image.file);
            let verdict = match (&image.text, record) {
                (None, _) => Verdict::Fail("the file is missing; run: gpu-builder build".into()),
                (_, None) => Verdict::Fail("it is not in the manifest; run: gpu-builder build".into()),
                (Some(text), Some(record)) if digest::sha256(text.as_bytes()) != record.sha256 => {
                    Verdict::Fail("it was changed after it was built; run: gpu-builder build".into())
                }
                (Some(text), Some(_)) => {
                    let again = rebuilt.iter().flatten().find(|new| new.spec.file(&new.module) == image.file);
                    match again {
                        Some(new) => Verdict::check(new.finished.text == *text, || {
                            format!("{}; run: gpu-builder build", first_difference(text, &new.finished.text))
                        }),
                        None => {
                            Verdict::check(fresh, || "older than the sources; run: gpu-builder build".into())
                        }
                    }
                }
            };
            report.add(&image.file, "current", verdict);
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
            image.text.as_ref().map(|_| ptxas.assemble(&image.path, target, &cubin)).transpose()
        });
        let mut stacks: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for ((image, target), result) in work.iter().zip(results) {
            let verdict = match result? {
                None => Verdict::Fail("the file is missing".into()),
                Some(Assembled::No(why)) => Verdict::Fail(why.trim().to_string()),
                Some(Assembled::UnknownTarget) => {
                    let why = format!("ptxas {} does not know {target}", ptxas.release());
                    report.warn(format!("{} was not assembled: {why}", image.file));
                    Verdict::missing(self.require.ptxas, why)
                }
                Some(Assembled::Yes(usage)) => {
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

/// Checks of the text alone.
fn text_checks(image: &Image<'_>, record: Option<&ImageRecord>, report: &mut Report) {
    let Some(text) = &image.text else { return };
    let ptx = match Ptx::parse(&image.file, text) {
        Ok(ptx) => ptx,
        Err(error) => return report.add(&image.file, "bounds", Verdict::Fail(error.to_string())),
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
    let entries: BTreeMap<_, _> = ptx.entries().map(|entry| (entry.name.clone(), entry.bounds())).collect();
    if let Some(record) = record.filter(|record| record.entries != entries) {
        faults.push(format!("kernels and launch bounds: manifest {:?}, PTX {entries:?}", record.entries));
    }
    for name in image.module.stack.keys().chain(&image.module.generic) {
        if !entries.contains_key(name) {
            faults.push(format!(
                "Cargo.toml makes an allowance for `{name}`, which is no kernel of this module"
            ));
        }
    }
    report.add(&image.file, "bounds", Verdict::check(faults.is_empty(), || faults.join("\n")));

    let strict = ptx.entries().filter(|entry| !image.module.generic.contains(&entry.name));
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

/// Kernels with more stack or spills than their allowance.
fn excess_stack(image: &Image<'_>, target: &str, usage: &Usage) -> Vec<String> {
    let allowed = |name: &str| image.module.stack.get(name).copied().unwrap_or(0);
    // A function that was not inlined counts with every kernel; the largest allowance holds for it.
    let largest = image.module.stack.values().copied().max().unwrap_or(0);
    let kernels = usage.kernels.iter().map(|(name, used)| (name, used, allowed(name)));
    let all = kernels.chain(usage.functions.iter().map(|(name, used)| (name, used, largest)));
    all.filter(|(_, used, allowed)| used.stack.max(used.spill_stores).max(used.spill_loads) > *allowed)
        .map(|(name, used, allowed)| {
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

fn read(path: &Path) -> Result<Option<String>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&digest::normalised(bytes)).into_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io(path)(error)),
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
