//! Hashes of texts and source trees.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::kernel_crate::SourcePackage;
use crate::{Error, Result};

/// SHA-256 in lower-case hexadecimal: what `sha256sum` prints.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The hash of some packages' sources: their Cargo.toml, build.rs and everything under src.
///
/// It is the hash of a list with one line a file, `<hash>  <package>/<path>`, sorted by path; line endings count as
/// `\n`. So it is the same on every machine, whatever git does to line endings and wherever the sources lie.
///
/// # Errors
/// [`Error::Io`].
pub fn packages(packages: &[SourcePackage]) -> Result<String> {
    let mut files = Vec::new();
    for SourcePackage { name, folder } in packages {
        for single in ["Cargo.toml", "build.rs"] {
            let path = folder.join(single);
            if path.is_file() {
                files.push((format!("{name}/{single}"), path));
            }
        }
        collect(&folder.join("src"), &format!("{name}/src"), &mut files)?;
    }
    list(files)
}

/// The hash of every file under a folder, made in the same way.
///
/// # Errors
/// [`Error::Io`].
pub fn tree(folder: &Path, name: &str) -> Result<String> {
    let mut files = Vec::new();
    collect(folder, name, &mut files)?;
    list(files)
}

/// The number and the hash of the PTX files in a folder, made in the same way.
///
/// # Errors
/// [`Error::Io`].
pub fn ptx(folder: &Path) -> Result<(usize, String)> {
    let mut files = Vec::new();
    if folder.is_dir() {
        collect(folder, "ptx", &mut files)?;
    }
    files.retain(|(name, _)| name.ends_with(".ptx"));
    Ok((files.len(), list(files)?))
}

/// All files under a folder, with their names below it.
fn collect(folder: &Path, name: &str, files: &mut Vec<(String, PathBuf)>) -> Result<()> {
    for entry in std::fs::read_dir(folder).map_err(Error::io(folder))? {
        let path = entry.map_err(Error::io(folder))?.path();
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{name}/{file}");
        if path.is_dir() {
            collect(&path, &name, files)?;
        } else {
            files.push((name, path));
        }
    }
    Ok(())
}

fn list(mut files: Vec<(String, PathBuf)>) -> Result<String> {
    files.sort();
    let mut lines = String::new();
    for (name, path) in files {
        let bytes = std::fs::read(&path).map_err(Error::io(&path))?;
        lines.push_str(&format!("{}  {name}\n", sha256(&normalised(bytes))));
    }
    Ok(sha256(lines.as_bytes()))
}

/// The bytes with `\r\n` as `\n`.
pub(crate) fn normalised(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut previous = 0;
    let mut kept = Vec::with_capacity(bytes.len());
    for byte in bytes.drain(..) {
        if byte == b'\n' && previous == b'\r' {
            kept.pop();
        }
        kept.push(byte);
        previous = byte;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_what_sha256sum_prints() {
        assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn line_endings_do_not_count_and_lone_carriage_returns_do() {
        assert_eq!(normalised(b"a\r\nb\n\r\r\nc\r".to_vec()), b"a\nb\n\r\nc\r");
    }

    #[test]
    fn a_tree_is_hashed_by_names_and_contents_wherever_it_lies() {
        let make = |name: &str, files: &[(&str, &str)]| {
            let folder =
                std::env::temp_dir().join(format!("gpu-builder-digest-{}-{name}", std::process::id()));
            for (file, text) in files {
                let path = folder.join(file);
                std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
                std::fs::write(path, text).expect("a file");
            }
            let hash = tree(&folder, "t").expect("a hash");
            std::fs::remove_dir_all(folder).expect("removed");
            hash
        };
        let first = make("a", &[("x.rs", "1\n"), ("sub/y.rs", "2\n")]);
        assert_eq!(first, make("b", &[("sub/y.rs", "2\r\n"), ("x.rs", "1\n")]));
        assert_ne!(first, make("c", &[("x.rs", "1\n"), ("sub/y.rs", "3\n")]));
        assert_ne!(first, make("d", &[("x.rs", "1\n"), ("sub/z.rs", "2\n")]));
    }
}
