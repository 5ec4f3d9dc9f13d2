//! A kernel crate: where it lies, what it depends on, and what its `[package.metadata.gpu]` asks for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::process::{clean_command, output};
use crate::{Error, Result};

/// One architecture that kernels are compiled for, and in which version of PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageSpec {
    /// The compute capability, times ten: 75, 80, 90.
    pub arch: u32,
    /// Whether the code runs on exactly that capability (`sm_90a`) and not on later ones.
    #[serde(default)]
    pub exact: bool,
    /// The version of PTX, times ten: 74 is `.version 7.4`. It fixes the oldest driver.
    pub isa: u32,
}

impl ImageSpec {
    /// `sm_75`, `sm_90a`: as the compiler and ptxas name it.
    pub fn target(&self) -> String {
        format!("sm_{}{}", self.arch, if self.exact { "a" } else { "" })
    }

    /// The file that a kernel's PTX is written to.
    pub fn file(&self, kernel: &str) -> String {
        format!("{kernel}.{}.ptx", self.target())
    }
}

/// `[package.metadata.gpu]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuConfig {
    /// The toolchain that compiles the kernels, pinned by date.
    pub toolchain: String,
    /// The architectures that `#[kernel(images = …)]` may name.
    pub images: Vec<ImageSpec>,
    /// Bytes of stack frame that a kernel may have; 0 for those not named.
    #[serde(default)]
    pub stack: BTreeMap<String, u32>,
    /// Kernels that may access memory through generic addresses.
    #[serde(default)]
    pub generic: Vec<String>,
}

impl GpuConfig {
    /// The first thing that is wrong with it.
    fn fault(&self) -> Option<String> {
        if self.images.is_empty() {
            return Some("it has no images".into());
        }
        for (at, image) in self.images.iter().enumerate() {
            if self.images[..at].iter().any(|other| other.target() == image.target()) {
                return Some(format!("there are two images for {}", image.target()));
            }
            if !(20..1000).contains(&image.arch) || !(60..1000).contains(&image.isa) {
                return Some(format!(
                    "arch {} and isa {} are versions times ten, as 75 and 74",
                    image.arch, image.isa
                ));
            }
        }
        None
    }
}

/// A package whose sources end up in the PTX.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourcePackage {
    /// Its name.
    pub name: String,
    /// The folder with its Cargo.toml.
    pub folder: PathBuf,
}

/// A crate with kernels.
#[derive(Clone, Debug)]
pub struct KernelCrate {
    /// The package's name.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// The root of its workspace.
    pub workspace: PathBuf,
    /// The target folder of its workspace.
    pub target_directory: PathBuf,
    /// What is to be built.
    pub config: GpuConfig,
    /// The kernel crate and every package it reaches by path on the GPU's target, sorted by name.
    pub sources: Vec<SourcePackage>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_root: PathBuf,
    target_directory: PathBuf,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    #[serde(default)]
    metadata: serde_json::Value,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
    target: Option<String>,
    path: Option<PathBuf>,
}

impl Package {
    fn gpu(&self) -> Option<&serde_json::Value> {
        self.metadata.get("gpu")
    }
}

impl KernelCrate {
    /// Opens a kernel crate: by its folder, by its package name in the workspace around the current folder, or,
    /// where nothing is asked for, the only package there that has `[package.metadata.gpu]`.
    ///
    /// # Errors
    /// [`Error::NoSuchCrate`], [`Error::NoMetadata`], [`Error::BadMetadata`], or what cargo had to say.
    pub fn open(asked: Option<&str>) -> Result<Self> {
        let folder = asked.map(Path::new).filter(|path| path.join("Cargo.toml").is_file());
        let metadata = read_metadata(folder)?;
        let package = match (folder, asked) {
            (Some(folder), _) => {
                let wanted = folder.join("Cargo.toml").canonicalize().map_err(Error::io(folder))?;
                metadata
                    .packages
                    .iter()
                    .find(|p| p.manifest_path.canonicalize().is_ok_and(|path| path == wanted))
            }
            (None, Some(name)) => metadata.packages.iter().find(|package| package.name == name),
            (None, None) => {
                let mut kernels = metadata.packages.iter().filter(|package| package.gpu().is_some());
                kernels.next().filter(|_| kernels.next().is_none())
            }
        };
        let package =
            package.ok_or_else(|| no_such_crate(asked.unwrap_or("(the only kernel crate)"), &metadata))?;
        let manifest = package.manifest_path.clone();
        let gpu = package.gpu().ok_or_else(|| Error::NoMetadata { manifest: manifest.clone() })?;
        let bad = |why: String| Error::BadMetadata { manifest: manifest.clone(), why };
        let config = GpuConfig::deserialize(gpu).map_err(|error| bad(error.to_string()))?;
        if let Some(why) = config.fault() {
            return Err(bad(why));
        }
        Ok(Self {
            name: package.name.clone(),
            folder: parent(&manifest),
            workspace: metadata.workspace_root.clone(),
            target_directory: metadata.target_directory.clone(),
            sources: source_packages(package, &metadata)?,
            config,
        })
    }

    /// The packages of the workspace around the current folder that have `[package.metadata.gpu]`, by name.
    ///
    /// # Errors
    /// [`Error::NoSuchCrate`] where there is none, or what cargo had to say.
    pub fn all() -> Result<Vec<String>> {
        let metadata = read_metadata(None)?;
        let kernels = metadata.packages.iter().filter(|package| package.gpu().is_some());
        let mut names: Vec<String> = kernels.map(|package| package.name.clone()).collect();
        names.sort();
        if names.is_empty() {
            return Err(no_such_crate("(kernel crates)", &metadata));
        }
        Ok(names)
    }
}

fn no_such_crate(asked: &str, metadata: &Metadata) -> Error {
    let have = metadata.packages.iter().map(|package| package.name.as_str()).collect::<Vec<_>>().join(", ");
    Error::NoSuchCrate { asked: asked.into(), have }
}

/// `cargo metadata` without dependencies: it resolves nothing and needs no network.
fn read_metadata(folder: Option<&Path>) -> Result<Metadata> {
    // Inside `cargo run` or a build script CARGO names the cargo that is running already.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = clean_command(cargo);
    command.args(["metadata", "--format-version", "1", "--no-deps"]);
    if let Some(target) = std::env::var_os("CARGO_TARGET_DIR") {
        command.env("CARGO_TARGET_DIR", target);
    }
    if let Some(folder) = folder {
        command.arg("--manifest-path").arg(folder.join("Cargo.toml"));
    }
    let text = output(&mut command)?;
    serde_json::from_slice(&text.stdout)
        .map_err(|source| Error::Json { what: "cargo metadata".into(), source })
}

/// The package and all that it depends on by path when it is compiled for the GPU.
///
/// A dependency is left out when its condition is `cfg(not(target_arch = "nvptx64"))`; any other condition is taken
/// to hold, which at worst calls PTX stale that is not.
fn source_packages(root: &Package, metadata: &Metadata) -> Result<Vec<SourcePackage>> {
    let mut found = vec![SourcePackage { name: root.name.clone(), folder: parent(&root.manifest_path) }];
    let mut open: Vec<(PathBuf, String)> = on_gpu(root);
    while let Some((folder, name)) = open.pop() {
        if found.iter().any(|package| package.folder == folder) {
            continue;
        }
        let here = metadata.packages.iter().find(|package| parent(&package.manifest_path) == folder);
        open.extend(match here {
            Some(package) => on_gpu(package),
            None => {
                let outside = read_metadata(Some(&folder))?;
                let package = outside.packages.iter().find(|package| package.name == name);
                package.map(on_gpu).unwrap_or_default()
            }
        });
        found.push(SourcePackage { name, folder });
    }
    found.sort();
    Ok(found)
}

fn on_gpu(package: &Package) -> Vec<(PathBuf, String)> {
    let wanted = |dependency: &&Dependency| {
        let target = dependency.target.as_deref().unwrap_or("").replace(' ', "");
        dependency.kind.as_deref() != Some("dev") && target != "cfg(not(target_arch=\"nvptx64\"))"
    };
    let by_path = |dependency: &Dependency| Some((dependency.path.clone()?, dependency.name.clone()));
    package.dependencies.iter().filter(wanted).filter_map(by_path).collect()
}

fn parent(manifest: &Path) -> PathBuf {
    manifest.parent().expect("a manifest lies in a folder").to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(json: serde_json::Value) -> GpuConfig {
        GpuConfig::deserialize(json).expect("a well-formed configuration")
    }

    #[test]
    fn names_targets_and_files() {
        let exact = ImageSpec { arch: 90, exact: true, isa: 80 };
        assert_eq!(exact.target(), "sm_90a");
        assert_eq!(ImageSpec { arch: 75, exact: false, isa: 74 }.file("sum_f32"), "sum_f32.sm_75.ptx");
    }

    #[test]
    fn reads_the_contract() {
        let config = config(serde_json::json!({ "toolchain": "nightly-2026-05-20",
            "images": [{ "arch": 90, "exact": true, "isa": 80 }], "stack": { "tile": 64 }, "generic": ["copy"] }));
        assert_eq!(config.fault(), None);
        assert_eq!((config.stack["tile"], config.generic.as_slice()), (64, &["copy".to_string()][..]));
        assert_eq!(config.images, [ImageSpec { arch: 90, exact: true, isa: 80 }]);
    }

    #[test]
    fn says_what_is_wrong() {
        let image = serde_json::json!({ "arch": 75, "isa": 74 });
        let fault = |images: serde_json::Value| {
            config(serde_json::json!({ "toolchain": "nightly", "images": images }))
                .fault()
                .unwrap_or_default()
        };
        assert!(fault(serde_json::json!([])).contains("no images"));
        assert!(fault(serde_json::json!([image, image])).contains("two images"));
        assert!(fault(serde_json::json!([{ "arch": 8, "isa": 74 }])).contains("times ten"));
        let unknown = serde_json::json!({ "toolchain": "nightly", "images": [image], "modul": [] });
        assert!(GpuConfig::deserialize(unknown).is_err());
    }
}
