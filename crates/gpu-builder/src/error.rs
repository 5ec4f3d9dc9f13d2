//! What can go wrong, each with the command that mends it where there is one.

use std::path::PathBuf;

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a kernel crate could not be built, checked or inspected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// `rustup`, through which toolchains are found, is not there.
    #[error("rustup was not found: {why}\n  mend it: install it from https://rustup.rs")]
    RustupMissing {
        /// What the attempt to start it gave.
        why: String,
    },
    /// The nightly that the kernel crate asks for is not installed.
    #[error("the toolchain `{wanted}` is not installed{found}\n  mend it: rustup toolchain install {wanted}")]
    ToolchainMissing {
        /// The toolchain asked for.
        wanted: String,
        /// What is there instead, as the rest of a sentence; may be empty.
        found: String,
    },
    /// The toolchain is there, but not the sources of `core` that it must compile for the GPU.
    #[error(
        "the toolchain `{toolchain}` has no sources of core at {path}\n  \
         mend it: rustup component add rust-src --toolchain {toolchain}"
    )]
    RustSrcMissing {
        /// The toolchain.
        toolchain: String,
        /// Where they were looked for.
        path: PathBuf,
    },
    /// A tool of the CUDA toolkit is not there.
    #[error(
        "`{tool}` was not found in {searched}\n  \
         mend it: install a CUDA toolkit, or name the folder that holds bin/{tool} in CUDA_TOOLS"
    )]
    ToolMissing {
        /// `ptxas` or `nvdisasm`.
        tool: &'static str,
        /// The places that were searched.
        searched: String,
    },
    /// There is no such crate.
    #[error("`{asked}` is neither a folder with a Cargo.toml nor a package of this workspace ({have})")]
    NoSuchCrate {
        /// What was asked for.
        asked: String,
        /// The packages that are there.
        have: String,
    },
    /// The crate does not say what is to be compiled.
    #[error(
        "{manifest} has no [package.metadata.gpu]\n  \
         mend it: add one with a toolchain and images"
    )]
    NoMetadata {
        /// The crate's Cargo.toml.
        manifest: PathBuf,
    },
    /// `[package.metadata.gpu]` is not what it should be.
    #[error("[package.metadata.gpu] in {manifest}: {why}")]
    BadMetadata {
        /// The crate's Cargo.toml.
        manifest: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// There is no such kernel in the kernel crate.
    #[error(
        "there is no kernel `{asked}` in {krate}: is its `#[kernel(images = …)]` in a file of the crate?"
    )]
    NoSuchKernel {
        /// What was asked for.
        asked: String,
        /// The kernel crate.
        krate: String,
    },
    /// The kernel crate has no kernel for an architecture that its Cargo.toml names.
    #[error(
        "{krate} has no kernel for {target}: name it in `#[kernel(images = …)]`, or not in [package.metadata.gpu]"
    )]
    NoKernel {
        /// The kernel crate.
        krate: String,
        /// `sm_75`, `sm_90a`.
        target: String,
    },
    /// Nothing was built yet.
    #[error("{path} is not there\n  mend it: gpu-builder build")]
    NotBuilt {
        /// The file that is missing.
        path: PathBuf,
    },
    /// A build script of the kernel crate builds the kernel crate, which runs the build script.
    #[error(
        "Builder::build was called from a build script that it runs itself\n  \
         mend it: call Builder::build_in_script there"
    )]
    Recursive,
    /// `OUT_DIR` is not set: this is no build script.
    #[error(
        "OUT_DIR is not set: Builder::build_in_script is for build scripts\n  mend it: call Builder::build"
    )]
    NoBuildScript,
    /// The compiler refused the kernels.
    #[error("compiling {krate} for {target} failed ({status})\n{stderr}")]
    Compile {
        /// The kernel crate.
        krate: String,
        /// `sm_75`, `sm_90a`.
        target: String,
        /// How the compiler ended.
        status: String,
        /// What it said.
        stderr: String,
    },
    /// The compiler ended well but left no PTX.
    #[error("the compiler left no {file} under {folder}")]
    NoPtx {
        /// The file that was expected.
        file: String,
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// The PTX is not what this crate understands.
    #[error("PTX of {what}, line {line}: {why}")]
    Ptx {
        /// The crate or file.
        what: String,
        /// The line, from 1; 0 where no single line is to blame.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// A line of the record of what was assembled is none.
    #[error("{path} has the line `{line}`\n  mend it: gpu-builder check --record, after removing the file")]
    Record {
        /// The record.
        path: PathBuf,
        /// The line.
        line: String,
    },
    /// A source cannot be read as Rust.
    #[error("{path}: {why}")]
    Source {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// There are no tests that are called like a kernel crate.
    #[error(
        "no test program of the workspace of {krate} is called `{family}`\n  \
         mend it: say what cargo test is to run, as `-- -p my-crate`"
    )]
    NoTests {
        /// The kernel crate's folder.
        krate: PathBuf,
        /// The name that was looked for.
        family: String,
    },
    /// Another program failed.
    #[error("`{command}` failed ({status})\n{stderr}")]
    Command {
        /// The command line.
        command: String,
        /// How it ended.
        status: String,
        /// What it said.
        stderr: String,
    },
    /// A file or folder could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// A JSON text is not what it should be.
    #[error("{what}: {source}")]
    Json {
        /// The file or command it came from.
        what: String,
        /// The reason.
        source: serde_json::Error,
    },
}

impl Error {
    /// Whether something must be installed first: the CLI then ends with 3 instead of 1.
    pub fn is_missing_tool(&self) -> bool {
        matches!(
            self,
            Self::RustupMissing { .. }
                | Self::ToolchainMissing { .. }
                | Self::RustSrcMissing { .. }
                | Self::ToolMissing { .. }
        )
    }

    /// For `map_err` on file operations.
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
