//! `inspect`: what every kernel takes of the GPU, and what it is made of.

use std::fmt;
use std::path::PathBuf;
use std::process::Command;

use serde::Serialize;

use crate::kernel_crate::{ImageSpec, KernelCrate, ModuleSpec};
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
    modules: Vec<String>,
    arch: Option<u32>,
}

/// One kernel on one architecture.
#[derive(Clone, Debug, Serialize)]
pub struct Inspected {
    /// The kernel.
    pub kernel: String,
    /// Its module.
    pub module: String,
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
    /// The kernels, in the order of modules and PTX.
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

    /// Inspects only this module, beside others that were named.
    #[must_use]
    pub fn module(mut self, name: impl Into<String>) -> Self {
        self.modules.push(name.into());
        self
    }

    /// Assembles for this compute capability (times ten), of each module the image that a GPU of it would load;
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
        let modules = krate.modules(&self.modules)?;
        let work: Vec<_> = modules.iter().flat_map(|module| self.images(module)).collect();
        let inspect = |(module, spec, target): &(&ModuleSpec, ImageSpec, String)| -> Result<Vec<Inspected>> {
            let path = folder.join(spec.file(&module.name));
            let text = match std::fs::read_to_string(&path) {
                Ok(text) => text,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    return Err(Error::NotBuilt { path });
                }
                Err(error) => return Err(Error::io(path)(error)),
            };
            let ptx = Ptx::parse(&module.name, &text)?;
            let cubin = scratch.file(&format!("{}.{}.{target}.cubin", module.name, spec.target()));
            let usage = match ptxas.assemble(&path, target, &cubin)? {
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
                module: module.name.clone(),
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

    /// The images of a module to look at, and what to assemble each for.
    fn images<'a>(&self, module: &'a ModuleSpec) -> Vec<(&'a ModuleSpec, ImageSpec, String)> {
        let Some(arch) = self.arch else {
            return module.images.iter().map(|spec| (module, *spec, spec.target())).collect();
        };
        let runs = |spec: &&ImageSpec| if spec.exact { spec.arch == arch } else { spec.arch <= arch };
        let best = module.images.iter().filter(runs).max_by_key(|spec| (spec.arch, spec.exact));
        let target = |spec: &ImageSpec| if spec.exact { spec.target() } else { format!("sm_{arch}") };
        best.map(|spec| (module, *spec, target(spec))).into_iter().collect()
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
        let module = ModuleSpec {
            name: "m".into(),
            images: vec![image(75, false), image(80, false), image(90, true)],
            stack: Default::default(),
            generic: Vec::new(),
        };
        let chosen = |arch: Option<u32>| {
            let inspector = Inspector { arch, ..Inspector::default() };
            let images =
                inspector.images(&module).into_iter().map(|(_, spec, target)| (spec.target(), target));
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
