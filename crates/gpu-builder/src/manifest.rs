//! `manifest.json`: what the committed PTX was made of, and with what.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::ptx::Bounds;
use crate::toolchain::Compiler;
use crate::{Error, Result};

/// The file's name.
pub const FILE: &str = "manifest.json";

/// What the PTX of a kernel crate was made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The kernel crate.
    #[serde(rename = "crate")]
    pub crate_name: String,
    /// The compiler.
    pub compiler: Compiler,
    /// The hash of the sources of `core` (`library/core`) it was used with.
    pub core: String,
    /// The hash of the kernel sources: the kernel crate and the packages it reaches by path.
    pub sources: String,
    /// The packages in `sources`.
    pub packages: Vec<String>,
    /// How cargo and the compiler were called.
    pub flags: Vec<String>,
    /// The PTX files, in the order of the kernel crate's Cargo.toml.
    pub images: Vec<ImageRecord>,
}

/// One PTX file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageRecord {
    /// Its name.
    pub file: String,
    /// The module it is an image of.
    pub module: String,
    /// The compute capability, times ten.
    pub arch: u32,
    /// Whether it runs on exactly that capability.
    pub exact: bool,
    /// The version of PTX, times ten.
    pub isa: u32,
    /// Its hash, line endings as `\n`.
    pub sha256: String,
    /// Its kernels with the launch bounds that the source gives them.
    pub entries: BTreeMap<String, Bounds>,
}

impl Manifest {
    /// Reads the manifest in a folder; `None` where there is none.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Json`].
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(FILE);
        match std::fs::read(&path) {
            Ok(text) => {
                let parsed = serde_json::from_slice(&text);
                parsed.map(Some).map_err(|source| Error::Json { what: path.display().to_string(), source })
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(path)(error)),
        }
    }

    /// The text of the file: keys in the order of the fields, a newline at the end.
    pub fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).expect("a manifest has string keys only") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_written_in_a_fixed_order_and_read_back() {
        let bounds = Bounds { max_threads: 256, min_blocks: 4 };
        let manifest = Manifest {
            crate_name: "k".into(),
            compiler: Compiler::parse("release: 1.97.0-nightly\ncommit-hash: abc\ncommit-date: 2026-05-19\n"),
            core: "c".into(),
            sources: "s".into(),
            packages: vec!["k".into()],
            flags: vec!["--release".into()],
            images: vec![ImageRecord {
                file: "m.sm_75.ptx".into(),
                module: "m".into(),
                arch: 75,
                exact: false,
                isa: 74,
                sha256: "h".into(),
                entries: [("b".to_string(), bounds), ("a".to_string(), Bounds::default())].into(),
            }],
        };
        let text = manifest.to_text();
        let keys = [
            "\"crate\"",
            "\"compiler\"",
            "\"core\"",
            "\"sources\"",
            "\"flags\"",
            "\"images\"",
            "\"a\"",
            "\"b\"",
        ];
        let places: Vec<_> = keys.iter().map(|key| text.find(key).expect(key)).collect();
        assert!(places.is_sorted(), "{text}");
        assert!(text.ends_with("}\n"));
        assert_eq!(serde_json::from_str::<Manifest>(&text).expect("it parses"), manifest);
    }

    #[test]
    fn no_manifest_is_none_and_a_broken_one_an_error() {
        let folder = std::env::temp_dir().join(format!("gpu-builder-manifest-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        assert!(Manifest::read(&folder).expect("no file").is_none());
        std::fs::write(folder.join(FILE), "{").expect("written");
        assert!(matches!(Manifest::read(&folder), Err(Error::Json { .. })));
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
