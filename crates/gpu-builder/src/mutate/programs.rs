//! Test programs: built by cargo, started one test at a time.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::scratch::{Ended, Scratch, run};
use super::switches::{CHOSEN, REACHED};
use super::{Fate, tail};
use crate::process::{clean_command, output};
use crate::{Error, Result};

/// Where a compiler's error is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// From the workspace's root.
    pub(super) file: PathBuf,
    pub(super) bytes: Range<usize>,
}

/// What a build gave.
pub(super) enum Built {
    Programs(Vec<Program>),
    /// For each error where it is: the place itself, then the macros' calls that led there. And all as text.
    Errors(Vec<Vec<Spot>>, String),
}

/// A test program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    executable: PathBuf,
    /// Of its package, where cargo would start it.
    folder: PathBuf,
}

/// Builds what `cargo test` would run with these arguments.
pub(super) fn build(scratch: &Scratch, arguments: &[String]) -> Result<Built> {
    let (mut programs, mut errors, mut text) = (Vec::new(), Vec::new(), String::new());
    let (ended, lines) = scratch.build(arguments)?;
    for line in lines.lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            text.push_str(line);
            text.push('\n');
            continue;
        };
        if let Some(executable) = message["executable"].as_str()
            && message["profile"]["test"] == true
        {
            let manifest = Path::new(message["manifest_path"].as_str().unwrap_or_default());
            let folder = manifest.parent().map(Path::to_path_buf).unwrap_or_default();
            programs.push(Program { executable: executable.into(), folder });
        }
        let message = &message["message"];
        if message["level"] == "error" {
            text.push_str(message["rendered"].as_str().unwrap_or_default());
            errors.push(spots(message));
        }
    }
    match ended {
        Ended::Passed => Ok(Built::Programs(programs)),
        _ => Ok(Built::Errors(errors, text)),
    }
}

fn spots(message: &Value) -> Vec<Spot> {
    let mut found = Vec::new();
    let spans = message["spans"].as_array().into_iter().flatten();
    for span in spans.filter(|span| span["is_primary"] == true) {
        let mut span = span;
        while let Some(file) = span["file_name"].as_str() {
            let byte = |name: &str| span[name].as_u64().and_then(|at| usize::try_from(at).ok()).unwrap_or(0);
            found.push(Spot { file: file.into(), bytes: byte("byte_start")..byte("byte_end") });
            span = &span["expansion"]["span"];
        }
    }
    found
}

/// A test, or a program that cannot say which it has.
struct Test {
    program: usize,
    name: Option<String>,
    seconds: f64,
    reached: BTreeSet<usize>,
    kills: u32,
    tries: u32,
}

impl Test {
    /// Who often finds something in little time comes first.
    fn rank(&self) -> f64 {
        f64::from(self.kills + 1) / f64::from(self.tries + 2) / (self.seconds + 0.02)
    }
}

/// The tests of some programs.
pub(super) struct Suite {
    programs: Vec<Program>,
    tests: Vec<Test>,
}

impl Suite {
    /// Asks the programs for their tests and runs each once, to see how long it takes and what it reaches.
    pub(super) fn new(programs: Vec<Program>, choice: &[String], scratch: &Scratch) -> Result<Self> {
        let mut suite = Self { programs, tests: Vec::new() };
        for (number, program) in suite.programs.iter().enumerate() {
            let mut command = clean_command(&program.executable);
            command.args(["--list", "--format", "terse"]).args(choice).current_dir(&program.folder);
            let text =
                output(&mut command).map(|listed| String::from_utf8_lossy(&listed.stdout).into_owned());
            let names: Vec<Option<String>> = match text {
                Ok(text) => {
                    let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
                    names.map(|name| Some(name.to_string())).collect()
                }
                Err(_) => vec![None],
            };
            suite.tests.extend(names.into_iter().map(|name| Test {
                program: number,
                name,
                seconds: 0.0,
                reached: BTreeSet::new(),
                kills: 0,
                tries: 0,
            }));
        }
        let file = scratch.file("reached.txt");
        for number in 0..suite.tests.len() {
            // Not there where nothing was reached.
            let _ = std::fs::remove_file(&file);
            let mut command = suite.command(number);
            command.env(REACHED, &file);
            let begin = Instant::now();
            let (ended, text) = scratch.run(command, Duration::MAX)?;
            if ended != Ended::Passed {
                let command = suite.tests[number].name.clone().unwrap_or_default();
                return Err(Error::Command {
                    command,
                    status: "without a mutation".into(),
                    stderr: tail(&text),
                });
            }
            suite.tests[number].seconds = begin.elapsed().as_secs_f64();
            let reached = std::fs::read_to_string(&file).unwrap_or_default();
            suite.tests[number].reached = reached.lines().filter_map(|line| line.parse().ok()).collect();
        }
        Ok(suite)
    }

    /// The same tests of programs that were built again.
    pub(super) fn replace(&mut self, programs: Vec<Program>) {
        self.programs = programs;
    }

    fn command(&self, test: usize) -> Command {
        let Test { program, name, .. } = &self.tests[test];
        let Program { executable, folder } = &self.programs[*program];
        let mut command = clean_command(executable);
        command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder);
        // The simulator is meant, also where there is a GPU; and a failed case is enough, it need not be the least.
        command.env("CUDA_VISIBLE_DEVICES", "").env("PROPTEST_MAX_SHRINK_ITERS", "0");
        if let Some(name) = name {
            command.args([name.as_str(), "--exact", "--test-threads=1"]);
        }
        command
    }

    /// How many tests reach a switch.
    pub(super) fn reaching(&self, switch: usize) -> usize {
        self.tests.iter().filter(|test| test.reached.contains(&switch)).count()
    }

    /// Runs the tests that reach a switch, or all, until one fails. `limit` is for one test; otherwise three times as
    /// long as it took unbroken, and five seconds.
    pub(super) fn fate(&mut self, switch: Option<usize>, limit: Option<Duration>) -> Result<Fate> {
        let reaches = |test: &usize| switch.is_none_or(|switch| self.tests[*test].reached.contains(&switch));
        let mut order: Vec<usize> = (0..self.tests.len()).filter(reaches).collect();
        order.sort_by(|&a, &b| self.tests[b].rank().total_cmp(&self.tests[a].rank()));
        for number in order {
            let mut command = self.command(number);
            if let Some(switch) = switch {
                command.env(CHOSEN, switch.to_string());
            }
            let own = Duration::from_secs_f64(3.0 * self.tests[number].seconds + 5.0);
            let ended = run(command, limit.unwrap_or(own))?;
            let test = &mut self.tests[number];
            test.tries += 1;
            test.kills += u32::from(ended != Ended::Passed);
            match ended {
                Ended::Passed => {}
                Ended::Failed => return Ok(Fate::Killed),
                Ended::Stopped => return Ok(Fate::TimedOut),
            }
        }
        Ok(Fate::Survived)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_where_it_stands_and_where_macros_were_called() {
        let message = serde_json::json!({
            "level": "error",
            "spans": [
                { "is_primary": false, "file_name": "c.rs", "byte_start": 1, "byte_end": 2 },
                { "is_primary": true, "file_name": "a.rs", "byte_start": 3, "byte_end": 9, "expansion": {
                    "span": { "is_primary": false, "file_name": "b.rs", "byte_start": 4, "byte_end": 5 } } },
            ],
        });
        let spot = |file: &str, bytes| Spot { file: file.into(), bytes };
        assert_eq!(spots(&message), [spot("a.rs", 3..9), spot("b.rs", 4..5)]);
        assert_eq!(spots(&serde_json::json!({ "level": "error", "spans": [] })), []);
    }

    #[test]
    fn a_quick_test_comes_first_and_one_that_never_kills_goes_back() {
        let test = |seconds, kills, tries| Test {
            program: 0,
            name: None,
            seconds,
            reached: BTreeSet::new(),
            kills,
            tries,
        };
        assert!(test(0.1, 0, 0).rank() > test(1.0, 0, 0).rank());
        assert!(test(0.1, 0, 50).rank() < test(0.5, 40, 50).rank());
    }
}
