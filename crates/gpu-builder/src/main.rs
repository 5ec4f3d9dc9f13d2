//! The command line of gpu-builder.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use gpu_builder::mutate::{Fate, Mutant, Mutator};
use gpu_builder::{Builder, Checker, Error, Inspector, KernelCrate, Require};
use indicatif::{ProgressBar, ProgressStyle};

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
    /// Compile the kernels and write PTX and manifest.json
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
    /// elsewhere. Without ptxas nothing is assembled; with the one of a recorded run, what that run has not and a tenth
    /// of what it has. What is skipped is said and counted.
    Check {
        #[command(flatten)]
        common: Common,
        /// What may not be missing, for CI
        #[arg(long, value_delimiter = ',', value_name = "WHAT")]
        require: Vec<Needed>,
        /// Assemble also what is in the record
        #[arg(long)]
        all: bool,
        /// Write down what was assembled, in assembled.txt beside the PTX
        #[arg(long)]
        record: bool,
        /// Only compare hashes of sources and PTX with the manifest's: seconds, and no compiler
        #[arg(long, conflicts_with_all = ["require", "all", "record", "kernel"])]
        hashes: bool,
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
    /// Break the kernels in one place at a time and see whether a test fails
    ///
    /// Takes out barriers, fences and waits, weakens orders and scopes and moves bounds by one, in a copy of the
    /// workspace, and runs the tests of that family there, on the CPU and in the simulator. Lists those that no test
    /// noticed. A comment `// Mutants: …` in or before a line says why a change makes no difference there.
    Mutate {
        /// The crate: a folder, or a package of this workspace
        #[arg(long = "crate", value_name = "CRATE")]
        krate: String,
        /// Only places whose line of the list holds this text, or one of `A|B`; all of several count
        #[arg(long, value_name = "TEXT")]
        filter: Vec<String>,
        /// At most so many, spread evenly
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        /// Seconds that a test may run [default: three times as long as unbroken, and 5]
        #[arg(long, value_name = "SECONDS")]
        timeout: Option<u64>,
        /// Leave out what needs a build of its own
        #[arg(long)]
        fast: bool,
        /// Only say what would be tried
        #[arg(long)]
        list: bool,
        /// Folder of the copy and of what is built there [default: mutants in the workspace's target folder]
        #[arg(long, value_name = "DIR")]
        target_dir: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// What `cargo test` is to run [default: test programs that are called like the crate's folder, or its own]
        #[arg(last = true, value_name = "CARGO TEST ARGUMENTS")]
        tests: Vec<String>,
    },
}

#[derive(Args)]
struct Common {
    /// A kernel crate: a folder, or a package of this workspace; may be given several times [default: all packages with
    /// package.metadata.gpu]
    #[arg(long = "crate", value_name = "CRATE")]
    crates: Vec<String>,
    /// Only this kernel, of one crate; may be given several times
    #[arg(long, value_name = "NAME")]
    kernel: Vec<String>,
    /// Folder of the PTX, of one crate [default: ptx in the kernel crate's folder]
    #[arg(long, value_name = "DIR")]
    ptx_dir: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Needed {
    /// ptxas, to assemble every kernel
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

/// The kernel crates that were asked for, or all.
fn crates(common: &Common) -> Result<Vec<String>, Error> {
    let crates = if common.crates.is_empty() { KernelCrate::all()? } else { common.crates.clone() };
    let one = if !common.kernel.is_empty() { "--kernel" } else { "--ptx-dir" };
    if crates.len() > 1 && (!common.kernel.is_empty() || common.ptx_dir.is_some()) {
        let mut cli = Cli::command();
        let why = format!("{one} is of one kernel crate: name it with --crate ({})", crates.join(", "));
        cli.error(ErrorKind::ArgumentConflict, why).exit();
    }
    Ok(crates)
}

fn run(action: Action) -> Result<ExitCode, Error> {
    let mut failed = 0;
    let mut json = Vec::new();
    let is_json = match &action {
        Action::Build { common, .. } | Action::Check { common, .. } | Action::Inspect { common, .. } => {
            common.json
        }
        Action::Mutate { json, .. } => *json,
    };
    match action {
        Action::Build { common, toolchain, target_dir } => {
            for krate in crates(&common)? {
                let builder = Builder::new(&krate).progress(true);
                let builder = common.kernel.iter().fold(builder, Builder::kernel);
                let builder = common.ptx_dir.iter().fold(builder, Builder::out_dir);
                let builder = toolchain.iter().fold(builder, Builder::toolchain);
                let built = target_dir.iter().fold(builder, Builder::target_dir).build()?;
                if is_json {
                    json.push(serde_json::json!({
                        "out_dir": built.out_dir, "changed": built.changed, "outdated": built.outdated,
                        "manifest": built.manifest,
                    }));
                    continue;
                }
                if built.outdated {
                    eprintln!(
                        "WARNING: other kernels of {krate} are older than the sources; run gpu-builder build for all"
                    );
                }
                let changed = match built.changed.as_slice() {
                    [] => "nothing changed".to_string(),
                    changed if changed.len() <= 8 => format!("wrote {}", changed.join(", ")),
                    changed => format!("wrote {} and {} more", changed[..3].join(", "), changed.len() - 3),
                };
                let (files, compiler) = (built.manifest.files, &built.manifest.compiler);
                println!("{}: {files} files with {compiler}; {changed}", built.out_dir.display());
            }
        }
        Action::Check { common, require, all, record, hashes, target_dir } => {
            let require = Require {
                nightly: require.contains(&Needed::Nightly),
                ptxas: require.contains(&Needed::Ptxas),
            };
            for krate in crates(&common)? {
                let checker = Checker::new(Some(&krate)).require(require).progress(true);
                let checker = checker.assemble_all(all).record(record).hashes_only(hashes);
                let checker = common.kernel.iter().fold(checker, Checker::kernel);
                let checker = common.ptx_dir.iter().fold(checker, Checker::ptx_dir);
                let report = target_dir.iter().fold(checker, Checker::target_dir).run()?;
                failed += report.failed();
                if is_json {
                    json.push(serde_json::json!({
                        "crate": krate, "passed": report.passed(), "failed": report.failed(),
                        "skipped": report.skipped(), "report": report,
                    }));
                } else {
                    println!("{krate}: {report}");
                }
            }
        }
        Action::Inspect { common, arch } => {
            for krate in crates(&common)? {
                let inspector = common.kernel.iter().fold(Inspector::new(Some(&krate)), Inspector::kernel);
                let inspector = common.ptx_dir.iter().fold(inspector, Inspector::ptx_dir);
                let inspection = arch.into_iter().fold(inspector, Inspector::arch).run()?;
                if is_json {
                    json.push(serde_json::json!({ "crate": krate, "kernels": inspection }));
                } else {
                    println!("{krate}\n\n{inspection}");
                }
            }
        }
        Action::Mutate { krate, filter, limit, timeout, fast, list, target_dir, json: _, tests } => {
            let mutator =
                filter.into_iter().fold(Mutator::new(&krate), Mutator::filter).tests(tests).fast(fast);
            let mutator = limit.into_iter().fold(mutator, Mutator::limit);
            let mutator = timeout.map(Duration::from_secs).into_iter().fold(mutator, Mutator::timeout);
            let mutator = target_dir.into_iter().fold(mutator, Mutator::folder);
            if list {
                list_places(&mutator, is_json)?;
            } else {
                failed += mutate(&mutator, is_json)?;
            }
        }
    }
    if is_json && !json.is_empty() {
        println!("{:#}", serde_json::Value::Array(json));
    }
    Ok(ExitCode::from(u8::from(failed > 0)))
}

fn list_places(mutator: &Mutator, json: bool) -> Result<(), Error> {
    let places = mutator.list()?;
    if json {
        let place = |(file, mutation)| serde_json::json!({ "file": file, "mutation": mutation });
        println!("{:#}", serde_json::Value::Array(places.iter().map(|(f, m)| place((f, m))).collect()));
        return Ok(());
    }
    for (file, mutation) in &places {
        println!("{}", gpu_builder::mutate::describe(file, mutation));
    }
    println!("{} places", places.len());
    Ok(())
}

/// Tries all; returns how many survived.
fn mutate(mutator: &Mutator, json: bool) -> Result<usize, Error> {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} (left: {eta}) {msg}");
    let bar = ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let mutants = mutator.run(|number, mutant| match mutant {
        None => {
            bar.set_length(number as u64);
            bar.set_message("the tests as they are");
            bar.tick();
        }
        Some(mutant) => {
            bar.set_position(number as u64);
            bar.set_message(mutant.to_string());
            if bar.is_hidden() {
                // A log has all of them.
                eprintln!("{mutant}");
            } else if mutant.fate.is_survivor() {
                bar.println(mutant.to_string());
            }
        }
    })?;
    bar.finish_and_clear();
    let of = |fate| mutants.iter().filter(move |mutant| mutant.fate == fate);
    let survivors: Vec<&Mutant> = mutants.iter().filter(|mutant| mutant.fate.is_survivor()).collect();
    if json {
        println!("{:#}", serde_json::json!({ "mutants": mutants, "survived": survivors.len() }));
    } else {
        for mutant in survivors.iter().copied().chain(of(Fate::TimedOut)) {
            println!("{mutant}");
        }
        let count = |fate| of(fate).count();
        let (killed, late, unviable) = (count(Fate::Killed), count(Fate::TimedOut), count(Fate::Unviable));
        println!(
            "{} mutants: {killed} killed, {late} killed by time, {unviable} do not compile, {} survived, {} of them \
             where no test comes",
            mutants.len(),
            survivors.len(),
            count(Fate::Unreached),
        );
    }
    Ok(survivors.len())
}
