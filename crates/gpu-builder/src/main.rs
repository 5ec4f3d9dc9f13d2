//! The command line of gpu-builder.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};
use gpu_builder::{Builder, Checker, Error, Inspector, Require};

/// Compiles Rust kernel crates to PTX, and checks and inspects what came out.
///
/// Exit codes: 0 all is well; 1 a build or a check failed; 2 wrong usage; 3 something must be installed first (the
/// message says with which command).
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Compile the kernels and write PTX, modules.rs and manifest.json
    ///
    /// Needs the nightly that the kernel crate names, with rust-src.
    Build {
        #[command(flatten)]
        common: Common,
        /// Use this toolchain instead of the one the kernel crate names
        #[arg(long, value_name = "NAME")]
        toolchain: Option<String>,
        /// Folder for the nightly cargo's intermediate files [default: nvptx in the workspace's target folder]
        #[arg(long, value_name = "DIR")]
        target_dir: Option<PathBuf>,
    },
    /// Check that the PTX is current, assembles, and keeps to the rules
    ///
    /// Rebuilds and compares byte for byte where the compiler of the manifest is installed, and compares hashes
    /// elsewhere. Without ptxas nothing is assembled. What is skipped is said and counted.
    Check {
        #[command(flatten)]
        common: Common,
        /// What may not be missing, for CI
        #[arg(long, value_delimiter = ',', value_name = "WHAT")]
        require: Vec<Needed>,
        /// Folder for the nightly cargo's intermediate files [default: nvptx in the workspace's target folder]
        #[arg(long, value_name = "DIR")]
        target_dir: Option<PathBuf>,
    },
    /// Show registers, stack, spills, shared memory and instructions of every kernel
    ///
    /// Needs ptxas and nvdisasm, but no GPU.
    Inspect {
        #[command(flatten)]
        common: Common,
        /// Assemble for this compute capability, as 90 for 9.0 [default: each image's own]
        #[arg(long)]
        arch: Option<u32>,
    },
}

#[derive(Args)]
struct Common {
    /// The kernel crate: a folder, or a package of this workspace [default: the only one with package.metadata.gpu]
    #[arg(long = "crate", value_name = "CRATE")]
    krate: Option<String>,
    /// Only this module; may be given several times
    #[arg(long, value_name = "NAME")]
    module: Vec<String>,
    /// Folder of the PTX [default: ptx in the kernel crate's folder]
    #[arg(long, value_name = "DIR")]
    ptx_dir: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Needed {
    /// ptxas, to assemble every module
    Ptxas,
    /// The nightly with rust-src, to rebuild and compare
    Nightly,
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(if error.is_missing_tool() { 3 } else { 1 })
        }
    }
}

fn run(action: Action) -> Result<ExitCode, Error> {
    match action {
        Action::Build { common, toolchain, target_dir } => {
            let builder = common.krate.as_ref().map_or_else(Builder::only_one, Builder::new).progress(true);
            let builder = common.module.iter().fold(builder, Builder::module);
            let builder = common.ptx_dir.into_iter().fold(builder, Builder::out_dir);
            let builder = toolchain.into_iter().fold(builder, Builder::toolchain);
            let built = target_dir.into_iter().fold(builder, Builder::target_dir).build()?;
            if common.json {
                let value = serde_json::json!({
                    "out_dir": built.out_dir, "changed": built.changed, "outdated": built.outdated,
                    "manifest": built.manifest,
                });
                print_json(&value);
                return Ok(ExitCode::SUCCESS);
            }
            if let Some((first, others)) = built.outdated.split_first() {
                let modules = match others.len() {
                    0 => format!("module `{first}` is"),
                    others => format!("module `{first}` and {others} more are"),
                };
                eprintln!("WARNING: {modules} older than the sources; run gpu-builder build for all modules");
            }
            let changed = match built.changed.as_slice() {
                [] => "nothing changed".to_string(),
                changed => format!("wrote {}", changed.join(", ")),
            };
            println!(
                "{}: {} images with {}; {changed}",
                built.out_dir.display(),
                built.manifest.images.len(),
                built.manifest.compiler
            );
            Ok(ExitCode::SUCCESS)
        }
        Action::Check { common, require, target_dir } => {
            let require = Require {
                nightly: require.contains(&Needed::Nightly),
                ptxas: require.contains(&Needed::Ptxas),
            };
            let checker = Checker::new(common.krate.as_deref()).require(require).progress(true);
            let checker = common.module.iter().fold(checker, Checker::module);
            let checker = common.ptx_dir.into_iter().fold(checker, Checker::ptx_dir);
            let report = target_dir.into_iter().fold(checker, Checker::target_dir).run()?;
            if common.json {
                print_json(&serde_json::json!({
                    "passed": report.passed(), "failed": report.failed(), "skipped": report.skipped(), "report": report,
                }));
            } else {
                print!("{report}");
            }
            Ok(ExitCode::from(u8::from(report.failed() > 0)))
        }
        Action::Inspect { common, arch } => {
            let inspector =
                common.module.iter().fold(Inspector::new(common.krate.as_deref()), Inspector::module);
            let inspector = common.ptx_dir.into_iter().fold(inspector, Inspector::ptx_dir);
            let inspection = arch.into_iter().fold(inspector, Inspector::arch).run()?;
            if common.json {
                print_json(&serde_json::json!(inspection));
            } else {
                print!("{inspection}");
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn print_json(value: &serde_json::Value) {
    println!("{value:#}");
}
