//! The copy of the workspace with all mutations of a crate in it, and without those that do not compile that way.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::plan::Plan;
use super::programs::{Built, Program, Spot, Suite, build};
use super::scratch::Scratch;
use super::switches::{Switched, module, switched};
use super::{Mutation, tail};
use crate::{Error, Result};

pub(super) struct Copy<'a> {
    scratch: Scratch,
    mutations: &'a [(PathBuf, Mutation)],
    /// The crate's `lib.rs`, where the module of the switches is.
    root: PathBuf,
    /// Every source with mutations, and `root`: as it is, and with switches.
    sources: BTreeMap<PathBuf, (String, Switched)>,
    /// What cannot be switched.
    without: BTreeSet<usize>,
    /// What `cargo test` gets.
    arguments: Vec<String>,
    programs: Vec<Program>,
}

impl<'a> Copy<'a> {
    /// Copies, and builds with as many switches as compile.
    pub(super) fn new(
        plan: &Plan,
        folder: &Path,
        mutations: &'a [(PathBuf, Mutation)],
        arguments: Vec<String>,
    ) -> Result<Self> {
        let root = plan.krate.join("src/lib.rs");
        let root = root.strip_prefix(&plan.workspace).unwrap_or(&root).to_path_buf();
        let mut sources = BTreeMap::new();
        for file in mutations.iter().map(|(file, _)| file).chain([&root]) {
            let path = plan.workspace.join(file);
            let source = std::fs::read_to_string(&path).map_err(Error::io(path))?;
            let unchanged = switched(&source, &[]);
            sources.insert(file.clone(), (source, unchanged));
        }
        let without = (0..mutations.len()).filter(|&number| mutations[number].1.switch.is_none()).collect();
        let scratch = Scratch::new(&plan.workspace, folder)?;
        let programs = Vec::new();
        let mut copy = Self { scratch, mutations, root, sources, without, arguments, programs };
        for file in copy.sources.keys().cloned().collect::<Vec<_>>() {
            copy.switch(&file)?;
        }
        loop {
            match build(&copy.scratch, &copy.arguments)? {
                Built::Programs(programs) => {
                    copy.programs = programs;
                    return Ok(copy);
                }
                Built::Errors(errors, text) => copy.drop_blamed(&errors, &text)?,
            }
        }
    }

    /// Runs the tests as they are.
    pub(super) fn suite(&self, choice: &[String]) -> Result<Suite> {
        Suite::new(self.programs.clone(), choice, &self.scratch)
    }

    pub(super) fn has_switch(&self, number: usize) -> bool {
        !self.without.contains(&number)
    }

    /// The programs with this one mutation, or nothing where it does not compile.
    pub(super) fn broken(&self, number: usize) -> Result<Option<Vec<Program>>> {
        let (file, Mutation { range, replacement, .. }) = &self.mutations[number];
        let (source, switched) = &self.sources[file];
        let broken = format!("{}{replacement}{}", &source[..range.start], &source[range.end..]);
        self.write(file, &broken)?;
        let built = build(&self.scratch, &self.arguments)?;
        self.write(file, &switched.text)?;
        match built {
            Built::Programs(programs) => Ok(Some(programs)),
            Built::Errors(..) => Ok(None),
        }
    }

    /// Writes a source with its switches.
    fn switch(&mut self, file: &Path) -> Result<()> {
        let Some((source, text)) = self.sources.get_mut(file) else { return Ok(()) };
        let of_file = self.mutations.iter().enumerate().filter(|(_, (other, _))| other == file);
        let wanted = of_file.filter(|(number, _)| !self.without.contains(number));
        let wanted: Vec<(usize, &Mutation)> =
            wanted.map(|(number, (_, mutation))| (number, mutation)).collect();
        *text = switched(source, &wanted);
        let text = text.text.clone();
        self.write(file, &text)
    }

    fn write(&self, file: &Path, text: &str) -> Result<()> {
        let module = if file == self.root { module(self.mutations.len()) } else { String::new() };
        self.scratch.write(file, &format!("{text}{module}"))
    }

    /// Takes out the switches that errors are about.
    fn drop_blamed(&mut self, errors: &[Vec<Spot>], text: &str) -> Result<()> {
        let mut blamed = BTreeSet::new();
        for spots in errors {
            blamed.extend(self.blamed(spots, Switched::blamed));
        }
        // What is near is guilty only where no error says more.
        if blamed.is_empty() {
            let near = errors.iter().flat_map(|spots| self.blamed(spots, Switched::in_lines));
            blamed.extend(near);
        }
        if blamed.is_empty() {
            blamed.extend(errors.iter().flat_map(|spots| self.blamed(spots, |source, _| source.all())));
        }
        if blamed.is_empty() {
            return Err(Error::Command {
                command: format!("cargo test --no-run {}", self.arguments.join(" ")),
                status: "without a mutation".into(),
                stderr: tail(text),
            });
        }
        let files: BTreeSet<PathBuf> =
            blamed.iter().map(|&number| self.mutations[number].0.clone()).collect();
        self.without.extend(blamed);
        files.iter().try_for_each(|file| self.switch(file))
    }

    /// What the first of some places says that says anything.
    fn blamed<'s>(
        &'s self,
        spots: &'s [Spot],
        ask: impl Fn(&'s Switched, &'s std::ops::Range<usize>) -> Vec<usize>,
    ) -> Vec<usize> {
        let of = |spot: &'s Spot| self.sources.get(&spot.file).map(|(_, source)| ask(source, &spot.bytes));
        spots.iter().filter_map(of).find(|found| !found.is_empty()).unwrap_or_default()
    }
}
