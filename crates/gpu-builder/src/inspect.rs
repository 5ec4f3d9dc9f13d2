//! `inspect`: what every kernel takes of the GPU, and what it is made of.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::process::Command;

use serde::Serialize;

use crate::edits;
use crate::kernel_crate::{ImageSpec, KernelCrate};
use crate::process::output;
use crate::ptx::{Bounds, Ptx};
use crate::ptxas::Resources;
use crate::sass::{self, Class, Mix};
use crate::table::Table;
use crate::tools::{Assembled, Ptxas, Scratch, find, in_parallel};
use crate::{Error, Result};

/// Inspects the PTX of a kernel crate.
#[derive(Clone, Debug, Default)]
pub struct Inspector {
    asked: Option<String>,
    ptx_dir: Option<PathBuf>,
    kernels: Vec<String>,
    arch: Option<u32>,
}

/// One kernel on one architecture.
#[derive(Clone, Debug, Serialize)]
pub struct Inspected {
    /// The kernel.
    pub kernel: String,
    /// The architecture it was assembled for: `sm_90`.
    pub target: String,
    /// The launch bounds.
    #[serde(flatten)]
    pub bounds: Bounds,
    /// Bytes of parameters.
    pub param_bytes: u32,
    /// Registers, stack, spills, shared memory.
    #[serde(flatten)]
    pub resources: Resources,
    /// Its machine instructions.
    pub instructions: Mix,
}

/// All kernels; displayed as two tables.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Inspection {
    /// The kernels, by name.
    pub kernels: Vec<Inspected>,
}

impl Inspector {
    /// Inspects the kernel crate in this folder or of this name; the only one of the workspace for `None`.
    pub fn new(folder_or_name: Option<&str>) -> Self {
        Self { asked: folder_or_name.map(Into::into), ..Self::default() }
    }

    /// Where the PTX is; `ptx` in the kernel crate's folder by default.
    #[must_use]
    pub fn ptx_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.ptx_dir = Some(folder.into());
        self
    }

    /// Inspects only the kernel of this name, beside others that were named.
    #[must_use]
    pub fn kernel(mut self, name: impl Into<String>) -> Self {
        self.kernels.push(name.into());
        self
    }

    /// Assembles for this compute capability (times ten), of each kernel the image that a GPU of it would load;
    /// every image for its own architecture by default.
    #[must_use]
    pub fn arch(mut self, arch: u32) -> Self {
        self.arch = Some(arch);
        self
    }

    /// Assembles, disassembles and counts.
    ///
    /// # Errors
    /// [`Error::ToolMissing`] for ptxas or nvdisasm, [`Error::NotBuilt`], [`Error::Command`] where the PTX does not
    /// assemble.
    pub fn run(&self) -> Result<Inspection> {
        let krate = KernelCrate::open(self.asked.as_deref())?;
        let folder = self.ptx_dir.clone().unwrap_or_else(|| krate.folder.join("ptx"));
        let (ptxas, nvdisasm, scratch) = (Ptxas::find()?, find("nvdisasm")?, Scratch::new()?);
        let work = self.work(&krate, &folder)?;
        let inspect = |(kernel, spec, target): &(String, ImageSpec, String)| -> Result<Vec<Inspected>> {
            let path = folder.join(spec.file(kernel));
            let text = edits::read(&folder, kernel, spec, &krate.config.images)?.text;
            let name = format!("{kernel}.{}.{target}", spec.target());
            let whole = scratch.text(&name, &text)?;
            let ptx = Ptx::parse(kernel, &text)?;
            let cubin = scratch.file(&format!("{name}.cubin"));
            let usage = match ptxas.assemble(&whole, target, &cubin)? {
                Assembled::Yes(usage) => usage,
                Assembled::No(stderr) => return Err(assembling(&path, target, stderr)),
                Assembled::UnknownTarget => {
                    let why = format!("ptxas {} does not know {target}", ptxas.release());
                    return Err(assembling(&path, target, why));
                }
            };
            let listing = output(Command::new(&nvdisasm).arg("-c").arg(&cubin))?;
            let mut mixes = sass::parse(&String::from_utf8_lossy(&listing.stdout));
            let kernel = |entry: &crate::ptx::Item| Inspected {
                kernel: entry.name.clone(),
                target: target.clone(),
                bounds: entry.bounds(),
                param_bytes: entry.params().iter().map(|param| param.bytes).sum(),
                resources: usage.kernels.get(&entry.name).copied().unwrap_or_default(),
                instructions: mixes.remove(&entry.name).unwrap_or_default(),
            };
            Ok(ptx.entries().map(kernel).collect())
        };
        let kernels = in_parallel(&work, inspect).into_iter().collect::<Result<Vec<_>>>()?;
        Ok(Inspection { kernels: kernels.into_iter().flatten().collect() })
    }

    /// The kernels of the folder that were asked for, with the images to look at and what to assemble each for.
    fn work(
        &self,
        krate: &KernelCrate,
        folder: &std::path::Path,
    ) -> Result<Vec<(String, ImageSpec, String)>> {
        let mut kernels: BTreeMap<String, Vec<ImageSpec>> = BTreeMap::new();
        for spec in &krate.config.images {
            let files = std::fs::read_dir(folder).map_err(|_| Error::NotBuilt { path: folder.into() })?;
            for file in files.flatten() {
                let file = file.file_name().to_string_lossy().into_owned();
                if let Some(kernel) = file.strip_suffix(&spec.file("")) {
                    kernels.entry(kernel.into()).or_default().push(*spec);
                }
            }
        }
        if let Some(asked) = self.kernels.iter().find(|name| !kernels.contains_key(*name)) {
            return Err(Error::NoSuchKernel { asked: asked.clone(), krate: krate.name.clone() });
        }
        kernels.retain(|name, _| self.kernels.is_empty() || self.kernels.contains(name));
        let images = |(name, specs): (String, Vec<ImageSpec>)| {
            self.images(&specs)
                .into_iter()
                .map(move |(spec, target)| (name.clone(), spec, target))
                .collect::<Vec<_>>()
        };
        Ok(kernels.into_iter().flat_map(images).collect())
    }

    /// The images to look at, and what to assemble each for.
    fn images(&self, specs: &[ImageSpec]) -> Vec<(ImageSpec, String)> {
        let Some(arch) = self.arch else {
            return specs.iter().map(|spec| (*spec, spec.target())).collect();
        };
        let runs = |spec: &&ImageSpec| if spec.exact { spec.arch == arch } else { spec.arch <= arch };
        let best = specs.iter().filter(runs).max_by_key(|spec| (spec.arch, spec.exact));
        let target = |spec: &ImageSpec| if spec.exact { spec.target() } else { format!("sm_{arch}") };
        best.map(|spec| (*spec, target(spec))).into_iter().collect()
    }
}

fn assembling(path: &std::path::Path, target: &str, stderr: String) -> Error {
    Error::Command {
        command: format!("ptxas {} for {target}", path.display()),
        status: "refused".into(),
        stderr,
    }
}

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headings = [
            "kernel", "target", "threads", "blocks", "params", "regs", "stack", "spill st", "spill ld",
            "shared", "barriers",
        ];
        let mut table = Table::new(headings, 2);
        for k in &self.kernels {
            let r = &k.resources;
            let numbers = [
                k.bounds.max_threads,
                k.bounds.min_blocks,
                k.param_bytes,
                r.registers,
                r.stack,
                r.spill_stores,
                r.spill_loads,
                r.shared,
                r.barriers,
            ];
            let numbers = numbers.iter().map(u32::to_string);
            table.row([k.kernel.clone(), k.target.clone()].into_iter().chain(numbers));
        }
        writeln!(
            f,
            "Resources: threads and blocks are launch bounds (0: none); params, stack, spills and shared in bytes\n"
        )?;
        writeln!(f, "{table}")?;

        let mut classes: Vec<Class> =
            self.kernels.iter().flat_map(|k| k.instructions.classes.keys().copied()).collect();
        classes.sort();
        classes.dedup();
        let labels = classes.iter().map(|class| class.label());
        let mut table =
            Table::new(["kernel", "target", "total"].into_iter().chain(labels).chain(["128-bit global"]), 2);
        for k in &self.kernels {
            let count = |class| k.instructions.classes.get(class).copied().unwrap_or(0).to_string();
            let first = [k.kernel.clone(), k.target.clone(), k.instructions.total.to_string()];
            let last = [k.instructions.global_128.to_string()];
            table.row(first.into_iter().chain(classes.iter().map(count)).chain(last));
        }
        write!(f, "Machine instructions, as they stand in the code (not as they are executed)\n\n{table}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_architecture_gets_the_image_that_it_would_load() {
        let image = |arch, exact| ImageSpec { arch, exact, isa: 80 };
        let specs = [image(75, false), image(80, false), image(90, true)];
        let chosen = |arch: Option<u32>| {
            let inspector = Inspector { arch, ..Inspector::default() };
            let images = inspector.images(&specs).into_iter().map(|(spec, target)| (spec.target(), target));
            images.map(|(image, target)| format!("{image}>{target}")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(chosen(None), "sm_75>sm_75 sm_80>sm_80 sm_90a>sm_90a");
        assert_eq!(chosen(Some(75)), "sm_75>sm_75");
        assert_eq!(chosen(Some(86)), "sm_80>sm_86");
        assert_eq!(chosen(Some(90)), "sm_90a>sm_90a");
        assert_eq!(chosen(Some(100)), "sm_80>sm_100");
        assert_eq!(chosen(Some(70)), "");
    }
}
