//! Do the tests notice? Breaks the kernels of a crate in one place at a time and runs the tests of that family.
//!
//! Every barrier, `sync_warp`, fence and wait is taken out, every order and scope weakened, every bound moved by one
//! ([`mutations`]), in a copy of the workspace. Who fails no test is a survivor: a test is missing, or the change
//! makes no difference. A comment in the line or before it that begins with `// Mutants:` says why that is so, and keeps
//! the line from being tried.

mod places;
mod scratch;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;

pub use places::{Mutation, Operator, mutations};
use scratch::{Ended, Scratch};

use crate::process::{clean_command, output};
use crate::{Error, Result};

/// What became of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// A test failed.
    Killed,
    /// The tests took too long.
    TimedOut,
    /// It does not compile.
    Unviable,
    /// No test failed.
    Survived,
}

/// A mutation that was tried.
#[derive(Clone, Debug, Serialize)]
pub struct Mutant {
    /// The file, from the workspace's root.
    pub file: PathBuf,
    /// What was done there.
    #[serde(flatten)]
    pub mutation: Mutation,
    /// What became of it.
    pub fate: Fate,
    /// How long that took.
    pub seconds: f64,
}

impl std::fmt::Display for Mutant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { file, mutation, fate, seconds } = self;
        write!(f, "{}: {fate:?} in {seconds:.1} s", describe(file, mutation))
    }
}

/// The place, and what is done there.
pub fn describe(file: &Path, mutation: &Mutation) -> String {
    let Mutation { line, column, operator, original, replacement, .. } = mutation;
    let (original, replacement) = (original.trim(), replacement.trim());
    let to = if replacement.is_empty() { "gone".to_string() } else { format!("to `{replacement}`") };
    format!("{}:{line}:{column}: {operator:?}, `{original}` {to}", file.display())
}

/// What is to be broken, and how it is tried.
#[derive(Clone, Debug)]
pub struct Mutator {
    krate: String,
    filter: Vec<String>,
    limit: usize,
    timeout: Option<Duration>,
    folder: Option<PathBuf>,
    tests: Vec<String>,
}

impl Mutator {
    /// The kernels of a crate: a folder, or a package of this workspace.
    pub fn new(krate: impl Into<String>) -> Self {
        Self {
            krate: krate.into(),
            filter: Vec::new(),
            limit: usize::MAX,
            timeout: None,
            folder: None,
            tests: Vec::new(),
        }
    }

    /// Only mutations whose description (`src/tile.rs:84:5: Barrier, …`) holds this. All of several count.
    #[must_use]
    pub fn filter(mut self, text: impl Into<String>) -> Self {
        self.filter.push(text.into());
        self
    }

    /// At most so many, spread evenly over all.
    #[must_use]
    pub fn limit(mut self, most: usize) -> Self {
        self.limit = most;
        self
    }

    /// How long the tests of a mutant may run. Otherwise: three times as long as unbroken, and ten seconds.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// The folder of the copy and its build outputs. Otherwise `mutants` in the workspace's target folder.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// What `cargo test` gets: which packages and tests. Otherwise the workspace's test programs that are called like
    /// the kernel crate's folder.
    #[must_use]
    pub fn tests(mut self, arguments: impl IntoIterator<Item = String>) -> Self {
        self.tests.extend(arguments);
        self
    }

    /// The mutations that would be tried, in the order of files and lines.
    ///
    /// # Errors
    /// [`Error::NoSuchCrate`], [`Error::Io`], [`Error::Source`].
    pub fn list(&self) -> Result<Vec<(PathBuf, Mutation)>> {
        let plan = Plan::new(&self.krate)?;
        self.places(&plan)
    }

    fn places(&self, plan: &Plan) -> Result<Vec<(PathBuf, Mutation)>> {
        let mut files = Vec::new();
        sources(&plan.krate.join("src"), &mut files)?;
        files.sort();
        let mut places = Vec::new();
        for path in files {
            let source = std::fs::read_to_string(&path).map_err(Error::io(&path))?;
            let file = path.strip_prefix(&plan.workspace).unwrap_or(&path).to_path_buf();
            let found = mutations(&source).map_err(|why| Error::Source { path: path.clone(), why })?;
            let lines: Vec<&str> = source.lines().collect();
            let wanted = |mutation: &Mutation| {
                let text = describe(&file, mutation);
                !is_justified(&lines, mutation.line) && self.filter.iter().all(|part| text.contains(part))
            };
            places.extend(found.into_iter().filter(wanted).map(|mutation| (file.clone(), mutation)));
        }
        let all = places.len();
        if all > self.limit {
            let mut number = 0;
            places.retain(|_| {
                number += 1;
                // As often as the whole part of number * limit / all grows.
                number * self.limit / all > (number - 1) * self.limit / all
            });
        }
        Ok(places)
    }

    /// Tries them all; `each` hears how many there are and of each what became of it.
    ///
    /// # Errors
    /// As [`Mutator::list`]; [`Error::NoTests`]; [`Error::Command`] where the tests fail as they are.
    pub fn run(&self, mut each: impl FnMut(usize, Option<&Mutant>)) -> Result<Vec<Mutant>> {
        let plan = Plan::new(&self.krate)?;
        let places = self.places(&plan)?;
        let tests = if self.tests.is_empty() { plan.tests()? } else { self.tests.clone() };
        let folder = self.folder.clone().unwrap_or_else(|| plan.target.join("mutants"));
        let folder = std::path::absolute(&folder).map_err(Error::io(&folder))?;
        let scratch = Scratch::new(&plan.workspace, &folder)?;
        let built: Vec<String> = ["--no-run".to_string()].into_iter().chain(tests.iter().cloned()).collect();
        each(places.len(), None);
        let unbroken = || -> Result<Duration> {
            let begin = Instant::now();
            let (ended, text) = scratch.cargo_test(&tests, Duration::MAX)?;
            if ended == Ended::Passed {
                return Ok(begin.elapsed());
            }
            Err(Error::Command {
                command: format!("cargo test {}", tests.join(" ")),
                status: "without a mutation".into(),
                stderr: tail(&text),
            })
        };
        let (ended, text) = scratch.cargo_test(&built, Duration::MAX)?;
        if ended != Ended::Passed {
            let command = format!("cargo test {}", built.join(" "));
            return Err(Error::Command { command, status: "without a mutation".into(), stderr: tail(&text) });
        }
        let limit = 3 * unbroken()? + Duration::from_secs(10);
        let limit = self.timeout.unwrap_or(limit);
        let mut mutants = Vec::new();
        for (file, mutation) in places {
            let source = std::fs::read_to_string(plan.workspace.join(&file))
                .map_err(Error::io(plan.workspace.join(&file)))?;
            let Mutation { range, replacement, .. } = &mutation;
            let broken = format!("{}{replacement}{}", &source[..range.start], &source[range.end..]);
            let begin = Instant::now();
            scratch.write(&file, &broken)?;
            let fate = match scratch.cargo_test(&built, Duration::MAX)?.0 {
                Ended::Passed => match scratch.cargo_test(&tests, limit)?.0 {
                    Ended::Passed => Fate::Survived,
                    Ended::Failed => Fate::Killed,
                    Ended::Stopped => Fate::TimedOut,
                },
                _ => Fate::Unviable,
            };
            scratch.write(&file, &source)?;
            let mutant = Mutant { file, mutation, fate, seconds: begin.elapsed().as_secs_f64() };
            each(mutants.len() + 1, Some(&mutant));
            mutants.push(mutant);
        }
        Ok(mutants)
    }
}

/// The last lines of what a command wrote.
fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}

/// Whether the line, or comments right before it, say why a change makes no difference there.
fn is_justified(lines: &[&str], line: usize) -> bool {
    const MARK: &str = "// Mutants:";
    let above = lines[..line - 1].iter().rev().take_while(|line| line.trim_start().starts_with("//"));
    std::iter::once(&lines[line - 1]).chain(above).any(|line| line.contains(MARK))
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).map_err(Error::io(folder))? {
        let path = entry.map_err(Error::io(folder))?.path();
        if path.is_dir() {
            sources(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// Where everything lies.
struct Plan {
    workspace: PathBuf,
    target: PathBuf,
    krate: PathBuf,
    /// Test programs, by package.
    programs: Vec<(String, String)>,
}

impl Plan {
    fn new(krate: &str) -> Result<Self> {
        let folder = Path::new(krate);
        let is_folder = folder.join("Cargo.toml").is_file();
        let mut command = clean_command("cargo");
        command.args(["metadata", "--no-deps", "--format-version", "1"]);
        if is_folder {
            command.current_dir(folder);
        }
        let text = output(&mut command)?.stdout;
        let what = "cargo metadata".to_string();
        let data: serde_json::Value =
            serde_json::from_slice(&text).map_err(|source| Error::Json { what, source })?;
        let string = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_string();
        let packages = data["packages"].as_array().cloned().unwrap_or_default();
        let root = |package: &serde_json::Value| {
            Path::new(&string(&package["manifest_path"])).parent().map(Path::to_path_buf)
        };
        let wanted = match is_folder {
            true => Some(folder.canonicalize().map_err(Error::io(folder))?),
            false => packages.iter().find(|package| package["name"] == krate).and_then(root),
        };
        let Some(krate) = wanted else {
            let names: Vec<String> = packages.iter().map(|package| string(&package["name"])).collect();
            return Err(Error::NoSuchCrate { asked: krate.into(), have: names.join(", ") });
        };
        let mut programs = Vec::new();
        for package in &packages {
            for target in package["targets"].as_array().into_iter().flatten() {
                if target["kind"][0] == "test" {
                    programs.push((string(&package["name"]), string(&target["name"])));
                }
            }
        }
        let path = |value: &serde_json::Value| PathBuf::from(string(value));
        Ok(Self {
            workspace: path(&data["workspace_root"]),
            target: path(&data["target_directory"]),
            krate,
            programs,
        })
    }

    fn tests(&self) -> Result<Vec<String>> {
        let family = self.krate.file_name().unwrap_or_default().to_string_lossy();
        let found = self.programs.iter().filter(|(_, program)| *program == family);
        let arguments: Vec<String> = found
            .flat_map(|(package, program)| ["-p".into(), package.clone(), "--test".into(), program.clone()])
            .collect();
        if arguments.is_empty() {
            return Err(Error::NoTests { krate: self.krate.clone(), family: family.into_owned() });
        }
        Ok(arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_says_why_a_line_is_left_alone() {
        let lines: Vec<&str> =
            "a\n// Mutants: the same sum.\n// And more.\nb\nc // Mutants: no.\nd\n".lines().collect();
        let justified: Vec<usize> = (1..=lines.len()).filter(|&line| is_justified(&lines, line)).collect();
        assert_eq!(justified, [2, 3, 4, 5]);
    }

    #[test]
    fn a_crate_of_the_workspace_has_its_places_and_its_tests() {
        let kernels = concat!(env!("CARGO_MANIFEST_DIR"), "/../../gpu-kernels/transpose");
        let mutator = Mutator::new(kernels);
        let all = mutator.list().expect("places");
        assert!(all.len() > 50, "{}", all.len());
        let barriers = mutator.clone().filter("tile.rs").filter("Barrier").list().expect("places");
        assert!(
            !barriers.is_empty() && barriers.iter().all(|(_, place)| place.operator == Operator::Barrier)
        );
        let few = mutator.clone().limit(10).list().expect("places");
        assert_eq!(few.len(), 10);
        assert!(few.iter().all(|place| all.contains(place)));
        let plan = Plan::new(kernels).expect("the crate");
        assert_eq!(plan.tests().expect("tests"), ["-p", "gpu-tests", "--test", "transpose"]);
        assert!(matches!(Mutator::new("nobody").list(), Err(Error::NoSuchCrate { .. })));
    }
}
