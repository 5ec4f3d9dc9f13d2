//! `manifest.json`: what the committed PTX was made of, and with what.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::kernel_crate::ImageSpec;
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
    /// The architectures, in the order of the kernel crate's Cargo.toml.
    pub images: Vec<ImageSpec>,
    /// How many PTX files there are.
    pub files: usize,
    /// The hash of the PTX files: that of a list with a line for each, as of `sources`.
    pub ptx: String,
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
        let manifest = Manifest {
            crate_name: "k".into(),
            compiler: Compiler::parse("release: 1.97.0-nightly\ncommit-hash: abc\ncommit-date: 2026-05-19\n"),
            core: "c".into(),
            sources: "s".into(),
            packages: vec!["k".into()],
            flags: vec!["--release".into()],
            images: vec![ImageSpec { arch: 75, exact: false, isa: 74 }],
            files: 3,
            ptx: "h".into(),
        };
        let text = manifest.to_text();
        let keys = [
            "\"crate\"",
            "\"compiler\"",
            "\"core\"",
            "\"sources\"",
            "\"flags\"",
            "\"images\"",
            "\"files\"",
            "\"ptx\"",
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
