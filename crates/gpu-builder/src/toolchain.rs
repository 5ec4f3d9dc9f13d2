//! Finding the nightly that compiles for the GPU, and the sources of `core` it needs for that.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::process::{clean_command, output};
use crate::{Error, Result};

/// Which compiler it is: what `rustc -vV` prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compiler {
    /// `1.97.0-nightly`.
    pub release: String,
    /// The commit of the Rust repository.
    pub commit_hash: String,
    /// The day of that commit, `YYYY-MM-DD`; a nightly is named after the day that follows.
    pub commit_date: String,
    /// The version of its LLVM.
    pub llvm: String,
}

impl Compiler {
    /// Reads the output of `rustc -vV`.
    pub fn parse(text: &str) -> Self {
        let field = |name: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            value.unwrap_or("unknown").trim().to_string()
        };
        Self {
            release: field("release"),
            commit_hash: field("commit-hash"),
            commit_date: field("commit-date"),
            llvm: field("LLVM version"),
        }
    }

    /// Whether this is the compiler that rustup calls `nightly-YYYY-MM-DD`: it was made of the last commit of the
    /// day before.
    pub fn is_nightly_named(&self, name: &str) -> bool {
        let named = name.strip_prefix("nightly-").and_then(day_number);
        match (named, day_number(&self.commit_date)) {
            (Some(named), Some(commit)) => {
                self.release.contains("nightly") && (0..=1).contains(&(named - commit))
            }
            _ => false,
        }
    }
}

impl std::fmt::Display for Compiler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let hash = self.commit_hash.get(..9).unwrap_or(&self.commit_hash);
        write!(f, "{} ({hash} {})", self.release, self.commit_date)
    }
}

/// Days since 1970-01-01 of a `YYYY-MM-DD`; anything after it (a host triple) is ignored.
fn day_number(date: &str) -> Option<i64> {
    let mut parts = date.splitn(4, '-');
    let mut next = || parts.next()?.parse::<i64>().ok();
    let (year, month, day) = (next()?, next()?, next()?);
    // Years begin in March here, so that the leap day is the last one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(365 * year + leap_days + (153 * month + 2) / 5 + day - 719_469)
}

/// An installed toolchain.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// The name rustup knows it by.
    pub name: String,
    /// The folder with its `bin` and `lib`.
    pub sysroot: PathBuf,
    /// Its compiler.
    pub compiler: Compiler,
}

impl Toolchain {
    /// The toolchain `wanted`; where it is missing, the one called `nightly`, if it is the same compiler: by its
    /// date, or because its commit is `known_commit` (the one that the committed PTX was built with).
    ///
    /// # Errors
    /// [`Error::RustupMissing`], [`Error::ToolchainMissing`].
    pub fn find(wanted: &str, known_commit: Option<&str>) -> Result<Self> {
        if let Some(found) = Self::installed(wanted)? {
            return Ok(found);
        }
        let missing = |found: String| Error::ToolchainMissing { wanted: wanted.into(), found };
        if wanted == "nightly" {
            return Err(missing(String::new()));
        }
        let Some(nightly) = Self::installed("nightly")? else {
            return Err(missing(", and no `nightly` either".into()));
        };
        if nightly.compiler.is_nightly_named(wanted) || known_commit == Some(&nightly.compiler.commit_hash) {
            return Ok(nightly);
        }
        Err(missing(format!(", and the installed `nightly` is another compiler, {}", nightly.compiler)))
    }

    /// The toolchain of exactly this name, if it is installed.
    ///
    /// # Errors
    /// [`Error::RustupMissing`], or what kept its `rustc` from answering.
    pub fn installed(name: &str) -> Result<Option<Self>> {
        let rustup = rustup();
        let version = clean_command(&rustup).args(["run", name, "rustc", "-vV"]).output();
        let version = version
            .map_err(|error| Error::RustupMissing { why: format!("{}: {error}", rustup.display()) })?;
        if !version.status.success() {
            return Ok(None);
        }
        let sysroot = output(clean_command(&rustup).args(["run", name, "rustc", "--print", "sysroot"]))?;
        Ok(Some(Self {
            name: name.into(),
            sysroot: PathBuf::from(String::from_utf8_lossy(&sysroot.stdout).trim()),
            compiler: Compiler::parse(&String::from_utf8_lossy(&version.stdout)),
        }))
    }

    /// Its `cargo`, named directly: neither a rust-toolchain.toml nor the environment can choose another.
    pub fn cargo(&self) -> PathBuf {
        self.sysroot.join("bin").join(format!("cargo{}", std::env::consts::EXE_SUFFIX))
    }

    /// Its `rustc`.
    pub fn rustc(&self) -> PathBuf {
        self.sysroot.join("bin").join(format!("rustc{}", std::env::consts::EXE_SUFFIX))
    }

    /// The folder with the sources of the standard library.
    ///
    /// # Errors
    /// [`Error::RustSrcMissing`].
    pub fn library(&self) -> Result<PathBuf> {
        let library = self.sysroot.join("lib/rustlib/src/rust/library");
        if library.join("Cargo.lock").is_file() && library.join("core/src/lib.rs").is_file() {
            Ok(library)
        } else {
            Err(Error::RustSrcMissing { toolchain: self.name.clone(), path: library })
        }
    }
}

/// `rustup` on the PATH, or where its installer puts it.
fn rustup() -> PathBuf {
    let file = format!("rustup{}", std::env::consts::EXE_SUFFIX);
    let on_path = std::env::var_os("PATH").and_then(|path| {
        std::env::split_paths(&path).map(|folder| folder.join(&file)).find(|file| file.is_file())
    });
    on_path.unwrap_or_else(|| cargo_home().map_or(file.clone().into(), |home| home.join("bin").join(&file)))
}

/// Where cargo keeps what it downloads.
pub(crate) fn cargo_home() -> Option<PathBuf> {
    let set = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    set.or_else(|| std::env::home_dir().map(|home| Path::new(&home).join(".cargo")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSION: &str = "rustc 1.97.0-nightly (e50aa6fba 2026-05-19)\nbinary: rustc\n\
        commit-hash: e50aa6fba4e63ab34c72bf9acfd2c307c1155d1a\ncommit-date: 2026-05-19\n\
        host: x86_64-unknown-linux-gnu\nrelease: 1.97.0-nightly\nLLVM version: 22.1.4\n";

    #[test]
    fn reads_what_rustc_prints() {
        let compiler = Compiler::parse(VERSION);
        assert_eq!(compiler.release, "1.97.0-nightly");
        assert_eq!(compiler.commit_hash, "e50aa6fba4e63ab34c72bf9acfd2c307c1155d1a");
        assert_eq!(compiler.llvm, "22.1.4");
        assert_eq!(compiler.to_string(), "1.97.0-nightly (e50aa6fba 2026-05-19)");
    }

    #[test]
    fn a_nightly_is_named_after_the_day_behind_its_commit() {
        let compiler = Compiler::parse(VERSION);
        assert!(compiler.is_nightly_named("nightly-2026-05-20"));
        assert!(compiler.is_nightly_named("nightly-2026-05-20-x86_64-unknown-linux-gnu"));
        for other in ["nightly-2026-05-21", "nightly-2026-05-18", "nightly", "stable", "1.97.0"] {
            assert!(!compiler.is_nightly_named(other), "{other}");
        }
    }

    #[test]
    fn days_are_counted_across_months_years_and_leap_days() {
        assert_eq!(day_number("1970-01-01"), Some(0));
        assert_eq!(day_number("2000-03-01"), Some(11_017));
        let gap = |a, b| day_number(b).unwrap() - day_number(a).unwrap();
        assert_eq!(gap("2026-05-31", "2026-06-01"), 1);
        assert_eq!(gap("2025-12-31", "2026-01-01"), 1);
        assert_eq!(gap("2024-02-28", "2024-03-01"), 2);
        assert_eq!(day_number("2026-05"), None);
        assert_eq!(day_number("beta"), None);
    }

    #[test]
    fn a_missing_toolchain_says_how_to_get_it() {
        let error = Error::ToolchainMissing { wanted: "nightly-2026-05-20".into(), found: String::new() };
        assert!(error.to_string().contains("rustup toolchain install nightly-2026-05-20"));
        assert!(error.is_missing_tool());
    }
}
