//! `assembled.txt`: which images ptxas has assembled already.
//!
//! Assembling every image for every architecture it may run on takes minutes of a processor, and nearly all images are
//! those of the commit before. A line stands for one text and all its targets, and the whole for one version of ptxas:
//! whatever else is there is assembled again, and a part of what the record has as well.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::{Error, Result, digest};

/// The file's name, in the folder of the PTX.
pub const FILE: &str = "assembled.txt";

/// What the first line says before the version of ptxas.
const HEAD: &str = "# gpu-builder check --record: file, hash of targets and text, bytes of stack; ptxas ";

/// One of so many is assembled although the record has it.
const SAMPLED: usize = 10;

/// Digits of a hash that are kept: 64 bits tell two texts apart, and nobody gains by forging what a build would show.
const DIGITS: usize = 16;

/// What was assembled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    ptxas: String,
    /// By file: the hash of targets and text, and the most bytes of stack or spills of any function on any target.
    lines: BTreeMap<String, (String, u32)>,
}

impl Record {
    /// An empty one.
    pub fn new(ptxas: &str) -> Self {
        Self { ptxas: ptxas.into(), lines: BTreeMap::new() }
    }

    /// Reads that of a folder; an empty one where there is none, or one of another version of ptxas.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Record`] for a line that is none.
    pub fn read(folder: &Path, ptxas: &str) -> Result<Self> {
        let path = folder.join(FILE);
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text, ptxas)
                .map_err(|line| Error::Record { path, line: line.chars().take(80).collect() }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::new(ptxas)),
            Err(error) => Err(Error::io(path)(error)),
        }
    }

    /// Of the text of a file; the line that is none.
    fn parse(text: &str, ptxas: &str) -> std::result::Result<Self, String> {
        let mut record = Self::new(ptxas);
        let mut lines = text.lines();
        let head = lines.next().unwrap_or_default();
        let of = head.strip_prefix(HEAD).ok_or_else(|| head.to_string())?;
        for line in lines {
            let mut words = line.split(' ');
            let (Some(file), Some(hash), Some(stack), None) =
                (words.next(), words.next(), words.next().and_then(|bytes| bytes.parse().ok()), words.next())
            else {
                return Err(line.into());
            };
            record.lines.insert(file.into(), (hash.into(), stack));
        }
        Ok(if of == ptxas { record } else { Self::new(ptxas) })
    }

    /// The text of the file, sorted.
    pub fn to_text(&self) -> String {
        let mut text = format!("{HEAD}{}\n", self.ptxas);
        for (file, (hash, stack)) in &self.lines {
            writeln!(text, "{file} {hash} {stack}").expect("a string takes all");
        }
        text
    }

    /// The bytes of stack that this text took on these targets, if it was assembled for them.
    pub fn stack(&self, file: &str, targets: &[String], text: &str) -> Option<u32> {
        let (hash, stack) = self.lines.get(file)?;
        (*hash == key(targets, text)).then_some(*stack)
    }

    /// Writes down that this text was assembled for these targets.
    pub fn insert(&mut self, file: &str, targets: &[String], text: &str, stack: u32) {
        self.lines.insert(file.into(), (key(targets, text), stack));
    }

    /// Forgets the files that do not satisfy the condition.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.lines.retain(|file, _| keep(file));
    }

    /// Which of `pairs`, each a file and a target that the record has, are to be assembled all the same: a tenth,
    /// another one for other sources and for another record.
    pub fn sample(&self, sources: &str, pairs: &[(&str, &str)]) -> Vec<bool> {
        let seed = digest::sha256(format!("{sources}\n{}", self.to_text()).as_bytes());
        let mut order: Vec<(String, usize)> = pairs
            .iter()
            .enumerate()
            .map(|(at, (file, target))| (digest::sha256(format!("{seed} {file} {target}").as_bytes()), at))
            .collect();
        order.sort();
        let mut chosen = vec![false; pairs.len()];
        for (_, at) in &order[..pairs.len().div_ceil(SAMPLED)] {
            chosen[*at] = true;
        }
        chosen
    }
}

fn key(targets: &[String], text: &str) -> String {
    let mut hash = digest::sha256(format!("{}\n{text}", targets.join(" ")).as_bytes());
    hash.truncate(DIGITS);
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    fn record() -> Record {
        let mut record = Record::new("13.0.88");
        record.insert("b.sm_75.ptx", &targets(&["sm_75", "sm_80"]), "text", 64);
        record.insert("a.sm_75.ptx", &targets(&["sm_75"]), "other", 0);
        record
    }

    #[test]
    fn a_line_holds_for_its_text_its_targets_and_its_ptxas_alone() {
        let text = record().to_text();
        let read = |ptxas: &str| Record::parse(&text, ptxas).expect("it is what was written");
        let (same, both) = (read("13.0.88"), targets(&["sm_75", "sm_80"]));
        assert_eq!(same, record());
        assert_eq!(same.stack("b.sm_75.ptx", &both, "text"), Some(64));
        assert_eq!(same.stack("b.sm_75.ptx", &both, "text\n"), None);
        assert_eq!(same.stack("b.sm_75.ptx", &both[..1], "text"), None);
        assert_eq!(same.stack("a.sm_75.ptx", &both, "text"), None);
        assert_eq!(same.stack("c.sm_75.ptx", &both, "text"), None);
        assert_eq!(read("13.1.0"), Record::new("13.1.0"));
    }

    #[test]
    fn what_is_not_a_record_is_no_empty_one() {
        for broken in
            ["", "no head\n", &(record().to_text() + "a.sm_75.ptx 0123\n"), &format!("{HEAD}1\nk 0 x\n")]
        {
            assert!(Record::parse(broken, "1").is_err(), "{broken}");
        }
        let nowhere = std::env::temp_dir().join("gpu-builder-no-such-folder");
        assert_eq!(Record::read(&nowhere, "1").expect("none is empty"), Record::new("1"));
    }

    #[test]
    fn a_tenth_is_sampled_another_one_for_other_sources_and_records() {
        let names: Vec<String> = (0..201).map(|number| format!("k{number}.sm_75.ptx")).collect();
        let pairs: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "sm_90")).collect();
        let of = |record: &Record, sources: &str| record.sample(sources, &pairs);
        let first = of(&record(), "s");
        assert_eq!(first.iter().filter(|chosen| **chosen).count(), 21);
        assert_eq!(first, of(&record(), "s"));
        assert_ne!(first, of(&record(), "t"));
        assert_ne!(first, of(&Record::new("13.0.88"), "s"));
        assert_eq!(record().sample("s", &pairs[..1]), [true]);
        assert!(record().sample("s", &[]).is_empty());
        // Every pair has its turn: none is left out by 100 sources with a probability of 201 * 0.9^100, 1 in 190.
        // The sources are always these, so it cannot fail by chance.
        let mut ever = vec![false; pairs.len()];
        for sources in 0..100 {
            let chosen = of(&record(), &sources.to_string());
            ever.iter_mut().zip(chosen).for_each(|(ever, now)| *ever |= now);
        }
        assert!(ever.iter().all(|ever| *ever));
    }
}
