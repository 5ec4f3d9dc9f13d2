//! The command line of `bench-gpu`.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

/// Exit code when a result was wrong or a measurement failed.
pub const EXIT_FAILED: u8 = 1;
/// Exit code when no GPU is there and none was renounced with `--device`. (2 is a wrong command line.)
pub const EXIT_NO_GPU: u8 = 3;

/// Measures the primitives on a GPU: single launches and batches of launches, beside a copy of the same bytes.
///
/// Exit codes: 0 all was measured and right, 1 a result was wrong or a measurement failed, 2 wrong arguments,
/// 3 there is no GPU.
#[derive(Clone, Debug, Parser)]
#[command(name = "bench-gpu", version)]
pub struct Args {
    /// Measure only the cases whose name (see --list) contains this; may be given several times. Some cases take so
    /// long that they are measured only where a filter asks for them
    #[arg(long, value_name = "TEXT")]
    pub filter: Vec<String>,

    /// Write one JSON object a line for every result to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Small sizes and few repetitions: to see that everything works, not for figures
    #[arg(long)]
    pub quick: bool,

    /// Take but two inputs in turn, so that small ones are in the caches; else as many as caches do not hold
    #[arg(long)]
    pub warm: bool,

    /// Print the names of the cases and exit
    #[arg(long)]
    pub list: bool,

    /// Where to run; on the CPU and in the simulator with --quick's sizes, timed by the wall clock
    #[arg(long, value_enum, default_value_t = Target::Cuda)]
    pub device: Target,

    /// Which of several GPUs, counted from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub ordinal: u32,

    /// The commit to note with the results, where the one found is not right
    #[arg(long, value_name = "HASH")]
    pub commit: Option<String>,

    /// What else the program does.
    #[command(subcommand)]
    pub hidden: Option<Hidden>,
}

/// The backends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Target {
    /// An NVIDIA GPU.
    Cuda,
    /// The SIMT simulator.
    Simulator,
    /// The rayon reference.
    Cpu,
}

impl Target {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::Simulator => "simulator",
            Self::Cpu => "cpu",
        }
    }
}

/// Subcommands for the program's own use.
#[derive(Clone, Debug, Subcommand)]
pub enum Hidden {
    /// Time the first result of a fresh process and print it as JSON.
    #[command(hide = true)]
    FirstResult {
        /// Elements to sum.
        #[arg(long)]
        len: usize,
    },
}

impl Args {
    /// Whether the small sizes are wanted: they were asked for, or the device is not a GPU.
    pub fn quick_sizes(&self) -> bool {
        self.quick || self.device != Target::Cuda
    }

    /// Whether a case of this name is to be measured.
    pub fn selects(&self, name: &str) -> bool {
        self.filter.is_empty() || self.filter.iter().any(|text| name.contains(text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_is_well_formed_and_hides_its_own_subcommand() {
        Args::command().debug_assert();
        let help = Args::command().render_help().to_string();
        for option in ["--filter", "--json", "--quick", "--warm", "--list", "--device", "--commit"] {
            assert!(help.contains(option), "{option} is missing from\n{help}");
        }
        assert!(!help.contains("first-result"), "{help}");
    }

    #[test]
    fn filters_are_alternatives() {
        let args =
            Args::try_parse_from(["bench-gpu", "--filter", "sum/", "--filter", "4096"]).expect("valid");
        assert!(args.selects("sum/f32/1024") && args.selects("copy/f32/4096x4096"));
        assert!(!args.selects("copy/f32/1024"));
        assert!(Args::try_parse_from(["bench-gpu"]).expect("valid").selects("anything"));
    }

    #[test]
    fn only_a_gpu_gets_the_full_sizes() {
        let quick = |words: &[&str]| Args::try_parse_from(words).expect("valid").quick_sizes();
        assert!(!quick(&["bench-gpu"]));
        assert!(quick(&["bench-gpu", "--quick"]));
        assert!(quick(&["bench-gpu", "--device", "simulator"]));
        assert!(quick(&["bench-gpu", "--device", "cpu"]));
    }
}
