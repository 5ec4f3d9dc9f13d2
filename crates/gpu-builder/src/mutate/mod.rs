//! Do the tests notice? Breaks the kernels of a crate in one place at a time and runs the tests of that family.
//!
//! Every barrier, `sync_warp`, fence and wait is taken out, every order and scope weakened, every bound moved by one
//! ([`mutations`]), in a copy of the workspace. Who fails no test is a survivor: a test is missing, or the change
//! makes no difference. A comment in the line or before it that begins with `// Mutants:` says why that is so, and keeps
//! the line from being tried.
//!
//! All mutations are in one program, each behind a switch of the environment, and a mutant gets only those tests that
//! reach its place. What cannot be switched while a program runs, such as the length of an array, gets a build of
//! its own.

mod copy;
mod operands;
mod places;
mod plan;
mod programs;
mod scratch;
mod switches;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;

use copy::Copy;
pub use places::{Mutation, Operator, mutations};
use plan::Plan;

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
    /// No test comes to the place.
    Unreached,
}

impl Fate {
    /// Whether nobody noticed.
    pub fn is_survivor(self) -> bool {
        matches!(self, Self::Survived | Self::Unreached)
    }
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
    fast: bool,
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
            fast: false,
            folder: None,
            tests: Vec::new(),
        }
    }

    /// Only mutations whose description (`src/tile.rs:84:5: Barrier, …`) holds this; `Order|Scope` either of them. All
    /// of several filters count.
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

    /// How long a test may run. Otherwise: three times as long as unbroken, and five seconds.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Leaves out what needs a build of its own.
    #[must_use]
    pub fn fast(mut self, fast: bool) -> Self {
        self.fast = fast;
        self
    }

    /// The folder of the copy and its build outputs. Otherwise `mutants` in the workspace's target folder.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// What `cargo test` gets: which packages and tests. Otherwise the workspace's test programs that are called like
    /// the crate's folder, or those of the crate itself.
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
        let all = places(&plan)?;
        Ok(self.chosen(&all).into_iter().map(|number| all[number].clone()).collect())
    }

    /// Which of all are to be tried.
    fn chosen(&self, all: &[(PathBuf, Mutation)]) -> Vec<usize> {
        let wanted = |number: &usize| {
            let (file, mutation) = &all[*number];
            let text = describe(file, mutation);
            self.filter.iter().all(|parts| parts.split('|').any(|part| text.contains(part)))
        };
        let found: Vec<usize> = (0..all.len()).filter(wanted).collect();
        if found.len() <= self.limit {
            return found;
        }
        // As often as the whole part of number * limit / all grows.
        let share = |number: usize| number * self.limit / found.len();
        (0..found.len()).filter(|&n| share(n + 1) > share(n)).map(|n| found[n]).collect()
    }

    /// Tries them all; `each` hears how many there are and of each what became of it. They come in the order of
    /// places; `each` hears of those last that need a build of their own.
    ///
    /// # Errors
    /// As [`Mutator::list`]; [`Error::NoTests`]; [`Error::Command`] where the tests fail as they are.
    pub fn run(&self, mut each: impl FnMut(usize, Option<&Mutant>)) -> Result<Vec<Mutant>> {
        let plan = Plan::new(&self.krate)?;
        let all = places(&plan)?;
        let chosen = self.chosen(&all);
        let mut tests = if self.tests.is_empty() { plan.tests()? } else { self.tests.clone() };
        // What is behind another `--` is for the programs: which tests.
        let split = tests.iter().position(|word| word == "--").unwrap_or(tests.len());
        let choice: Vec<String> = tests.drain(split..).skip(1).collect();
        let folder = self.folder.clone().unwrap_or_else(|| plan.target.join("mutants"));
        let folder = std::path::absolute(&folder).map_err(Error::io(&folder))?;
        each(chosen.len(), None);
        let copy = Copy::new(&plan, &folder, &all, tests)?;
        let mut suite = copy.suite(&choice)?;
        let (quick, slow): (Vec<usize>, Vec<usize>) =
            chosen.into_iter().partition(|&number| copy.has_switch(number));
        let mut tried: Vec<(usize, Mutant)> = Vec::new();
        let mut told = |number: usize, fate, begin: Instant| {
            let (file, mutation) = all[number].clone();
            let mutant = Mutant { file, mutation, fate, seconds: begin.elapsed().as_secs_f64() };
            each(tried.len() + 1, Some(&mutant));
            tried.push((number, mutant));
        };
        for number in quick {
            let begin = Instant::now();
            let fate = match suite.reaching(number) {
                0 => Fate::Unreached,
                _ => suite.fate(Some(number), self.timeout)?,
            };
            told(number, fate, begin);
        }
        for number in slow.into_iter().filter(|_| !self.fast) {
            let begin = Instant::now();
            let fate = match copy.broken(number)? {
                Some(programs) => {
                    suite.replace(programs);
                    suite.fate(None, self.timeout)?
                }
                None => Fate::Unviable,
            };
            told(number, fate, begin);
        }
        tried.sort_by_key(|(number, _)| *number);
        Ok(tried.into_iter().map(|(_, mutant)| mutant).collect())
    }
}

/// All mutations of a crate, but those that a comment speaks of.
fn places(plan: &Plan) -> Result<Vec<(PathBuf, Mutation)>> {
    let mut files = Vec::new();
    sources(&plan.krate.join("src"), &mut files)?;
    files.sort();
    let mut places = Vec::new();
    for path in files {
        let source = std::fs::read_to_string(&path).map_err(Error::io(&path))?;
        let file = path.strip_prefix(&plan.workspace).unwrap_or(&path).to_path_buf();
        let found = mutations(&source).map_err(|why| Error::Source { path: path.clone(), why })?;
        let lines: Vec<&str> = source.lines().collect();
        let wanted = found.into_iter().filter(|mutation| !is_justified(&lines, mutation.line));
        places.extend(wanted.map(|mutation| (file.clone(), mutation)));
    }
    Ok(places)
}

/// The last lines of what a command wrote.
fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}

/// Whether the line, or comments right before it or before the expression that it continues, say why a change makes no
/// difference there.
fn is_justified(lines: &[&str], line: usize) -> bool {
    const MARK: &str = "// Mutants:";
    let is_comment = |line: &&&str| line.trim_start().starts_with("//");
    let indent = |line: &str| line.len() - line.trim_start().len();
    let own = lines[line - 1];
    let above = lines[..line - 1].iter().rev().take_while(is_comment);
    if std::iter::once(&own).chain(above).any(|line| line.contains(MARK)) {
        return true;
    }
    // The lines of `let all = a < b` and `&& c < d;` are one expression; what is in brackets is another.
    let outer = lines[..line - 1].iter().rposition(|other| !other.is_empty() && indent(other) < indent(own));
    outer.is_some_and(|outer| {
        let continues = !lines[outer].ends_with(['{', '(', '[', ';', ',', '|', '}']);
        continues && !is_comment(&&lines[outer]) && is_justified(lines, outer + 1)
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_says_why_a_line_is_left_alone() {
        let lines: Vec<&str> =
            "a\n// Mutants: the same sum.\n// And more.\nb\nc // Mutants: no.\nd\n".lines().collect();
        let justified: Vec<usize> = (1..=lines.len()).filter(|&line| is_justified(&lines, line)).collect();
        assert_eq!(justified, [2, 3, 4, 5]);
        let lines: Vec<&str> =
            "// Mutants: no.\nlet a = b < c\n    && d < e\n    && f;\nif a {\n    g < h;\n}"
                .lines()
                .collect();
        let justified: Vec<usize> = (1..=lines.len()).filter(|&line| is_justified(&lines, line)).collect();
        assert_eq!(justified, [1, 2, 3, 4]);
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
        assert!(matches!(Mutator::new("nobody").list(), Err(Error::NoSuchCrate { .. })));
    }
}
