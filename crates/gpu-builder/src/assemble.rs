//! The part of `check` that runs ptxas: does every image assemble for every architecture it is meant for, with no stack
//! beyond what is allowed?

use std::collections::BTreeMap;
use std::path::Path;

use crate::check::{Checker, Image, WHOLE};
use crate::kernel_crate::ImageSpec;
use crate::ptxas::Usage;
use crate::record::{self, Record};
use crate::report::{Report, Verdict};
use crate::tools::{Assembled, Ptxas, Scratch, in_parallel};
use crate::{Error, Result};

/// The architectures that PTX is assembled for, where it may run.
const ARCHITECTURES: [u32; 5] = [75, 80, 90, 100, 120];

/// An image and what is to be done with it.
struct Work<'a> {
    image: &'a Image<'a>,
    targets: Vec<String>,
    /// The bytes of stack in the record, where it is trusted.
    known: Option<u32>,
    /// What ptxas said, by target.
    said: BTreeMap<String, Assembled>,
}

/// Assembles what the record does not have and a part of what it has.
///
/// # Errors
/// What kept ptxas from starting or a file from being read or written; [`Error::ToolMissing`] where a record is to be
/// written without ptxas.
pub(crate) fn assemble(
    checker: &Checker,
    images: &[Image<'_>],
    folder: &Path,
    sources: &str,
    report: &mut Report,
) -> Result<()> {
    let ptxas = match Ptxas::find() {
        Ok(ptxas) => ptxas,
        Err(error) if error.is_missing_tool() && !checker.record => {
            report.warn(format!("nothing was assembled: {error}"));
            let missing = || Verdict::missing(checker.require.ptxas, "no ptxas".into());
            for image in images {
                for target in targets(&image.spec) {
                    report.add(&image.file, &target, missing());
                }
            }
            images.iter().for_each(|image| report.add(&image.file, "stack", missing()));
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let record = Record::read(folder, ptxas.version())?;
    let trusted = |image: &Image<'_>, targets: &[String]| {
        let stack = record.stack(&image.file, targets, &image.text)?;
        // What is beyond the allowance is assembled again: then the message can say where.
        (!checker.assemble_all && stack <= image.allowed_stack()).then_some(stack)
    };
    let mut all: Vec<Work<'_>> = images
        .iter()
        .map(|image| {
            let targets = targets(&image.spec);
            Work { image, known: trusted(image, &targets), targets, said: BTreeMap::new() }
        })
        .collect();
    let from_record = run(&ptxas, &record, sources, &mut all, report)?;
    for work in &all {
        verdicts(checker, &ptxas, work, report);
    }
    if from_record {
        let lies = all.iter().filter_map(Work::lie).collect::<Vec<_>>();
        report.add(
            WHOLE,
            record::FILE,
            Verdict::check(lies.is_empty(), || {
                format!("{}; run: gpu-builder check --all --record", lies.join("\n"))
            }),
        );
    }
    if checker.record {
        write(record, &all, folder, checker.is_of_all_kernels(), report)?;
    }
    Ok(())
}

/// Runs ptxas for all that is not known and a sample of what is; whether anything was known.
fn run(
    ptxas: &Ptxas,
    record: &Record,
    sources: &str,
    all: &mut [Work<'_>],
    report: &mut Report,
) -> Result<bool> {
    let of = |known: bool| {
        let some = all.iter().enumerate().filter(move |(_, work)| work.known.is_some() == known);
        some.flat_map(|(at, work)| work.targets.iter().map(move |target| (at, target.clone())))
            .collect::<Vec<_>>()
    };
    let (mut todo, known) = (of(false), of(true));
    let names: Vec<_> =
        known.iter().map(|(at, target)| (all[*at].image.file.as_str(), target.as_str())).collect();
    let chosen = record.sample(sources, &names);
    let sample = || known.iter().zip(&chosen).filter(|(_, chosen)| **chosen).map(|(pair, _)| pair.clone());
    report.note(format!(
        "assembling with ptxas {}: {} that have no record and a sample of {}; {} more are taken from {}",
        ptxas.version(),
        todo.len(),
        sample().count(),
        known.len() - sample().count(),
        record::FILE
    ));
    todo.extend(sample());
    let scratch = Scratch::new()?;
    let results = in_parallel(&todo, |(at, target)| {
        let image = all[*at].image;
        let cubin = scratch.file(&format!("{}.{target}.cubin", image.file));
        ptxas.assemble(&scratch.text(&format!("{}.{target}", image.file), &image.text)?, target, &cubin)
    });
    for ((at, target), result) in todo.into_iter().zip(results) {
        all[at].said.insert(target, result?);
    }
    Ok(!known.is_empty())
}

/// What is to be reported of an image.
fn verdicts(checker: &Checker, ptxas: &Ptxas, work: &Work<'_>, report: &mut Report) {
    let file = &work.image.file;
    let mut excess = Vec::new();
    let mut seen = work.known.is_some();
    for target in &work.targets {
        let verdict = match work.said.get(target) {
            Some(Assembled::No(why)) => Verdict::Fail(why.trim().to_string()),
            Some(Assembled::UnknownTarget) => {
                let why = format!("ptxas {} does not know {target}", ptxas.release());
                report.warn(format!("{file} was not assembled: {why}"));
                Verdict::missing(checker.require.ptxas, why)
            }
            Some(Assembled::Yes(usage)) => {
                seen = true;
                excess.extend(excess_stack(work.image, target, usage));
                Verdict::Pass
            }
            // It was taken from the record.
            None => Verdict::Pass,
        };
        report.add(file, target, verdict);
    }
    let verdict = match seen {
        false => Verdict::Skip("it was not assembled".into()),
        true => Verdict::check(excess.is_empty(), || excess.join("\n")),
    };
    report.add(file, "stack", verdict);
}

impl Work<'_> {
    /// Where ptxas says something else than the record.
    fn lie(&self) -> Option<String> {
        let known = self.known?;
        let (target, said) = self.said.iter().find(|(_, said)| match said {
            Assembled::Yes(usage) => most_stack(usage) > known,
            Assembled::No(_) | Assembled::UnknownTarget => true,
        })?;
        let said = match said {
            Assembled::Yes(usage) => format!("takes {} bytes of stack", most_stack(usage)),
            Assembled::No(_) | Assembled::UnknownTarget => "does not assemble".into(),
        };
        Some(format!("{} has {known} bytes of stack there, and {said} for {target}", self.image.file))
    }

    /// The most bytes of stack, if it is known that the image assembles for every target.
    fn assembled(&self) -> Option<u32> {
        if self.lie().is_some() {
            return None;
        }
        let of = |target: &String| match self.said.get(target)? {
            Assembled::Yes(usage) => Some(most_stack(usage)),
            Assembled::No(_) | Assembled::UnknownTarget => None,
        };
        let stacks = self.targets.iter().map(of).collect::<Option<Vec<u32>>>();
        self.known.or_else(|| stacks.and_then(|stacks| stacks.into_iter().max()))
    }
}

/// Writes the record anew: what is known now, and the lines of kernels that were not looked at.
fn write(
    mut record: Record,
    all: &[Work<'_>],
    folder: &Path,
    of_all_kernels: bool,
    report: &mut Report,
) -> Result<()> {
    record.retain(|file| !of_all_kernels && !all.iter().any(|work| work.image.file == file));
    let mut count = 0;
    for work in all {
        if let Some(stack) = work.assembled() {
            record.insert(&work.image.file, &work.targets, &work.image.text, stack);
            count += 1;
        }
    }
    let path = folder.join(record::FILE);
    let text = record.to_text();
    if std::fs::read(&path).ok().as_deref() != Some(text.as_bytes()) {
        std::fs::write(&path, text).map_err(Error::io(&path))?;
    }
    report.note(format!("{} has {count} of these {} images", record::FILE, all.len()));
    Ok(())
}

/// The targets that an image must assemble for: its own, and every later one unless it is exact.
pub fn targets(spec: &ImageSpec) -> Vec<String> {
    if spec.exact {
        return vec![spec.target()];
    }
    let mut architectures: Vec<u32> = ARCHITECTURES.into_iter().filter(|arch| *arch > spec.arch).collect();
    architectures.insert(0, spec.arch);
    architectures.into_iter().map(|arch| format!("sm_{arch}")).collect()
}

/// The most bytes of stack or spills of any function.
fn most_stack(usage: &Usage) -> u32 {
    let all = usage.kernels.values().chain(usage.functions.values());
    all.map(|used| used.stack.max(used.spill_stores).max(used.spill_loads)).max().unwrap_or(0)
}

/// Functions with more stack or spills than the kernel's allowance.
pub(crate) fn excess_stack(image: &Image<'_>, target: &str, usage: &Usage) -> Vec<String> {
    let allowed = image.allowed_stack();
    usage
        .kernels
        .iter()
        .chain(&usage.functions)
        .filter(|(_, used)| used.stack.max(used.spill_stores).max(used.spill_loads) > allowed)
        .map(|(name, used)| {
            format!(
                "{name} on {target}: {} bytes of stack, {} spilled, {} loaded back; {allowed} allowed",
                used.stack, used.spill_stores, used.spill_loads
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptxas::Resources;

    fn yes(stack: u32) -> Assembled {
        let used = Resources { stack, ..Resources::default() };
        Assembled::Yes(Usage { kernels: [("k".to_string(), used)].into(), functions: BTreeMap::new() })
    }

    /// What is wrong with a record of so many bytes, and what would be written down.
    fn judged(known: Option<u32>, said: &[(&str, Assembled)]) -> (Option<String>, Option<u32>) {
        let config = crate::check::tests::config(&[], &[]);
        let image = crate::check::tests::image(&config, "k", "");
        let said = said.iter().map(|(target, said)| (target.to_string(), said.clone())).collect();
        let work = Work { image: &image, targets: vec!["sm_75".into(), "sm_80".into()], known, said };
        (work.lie(), work.assembled())
    }

    #[test]
    fn what_ptxas_says_otherwise_is_a_lie_of_the_record() {
        let lie = |known, said| judged(known, &[("sm_80", said)]).0;
        assert_eq!(lie(Some(8), yes(8)), None);
        assert_eq!(lie(Some(8), yes(0)), None, "another target may have more");
        assert_eq!(lie(None, Assembled::No("why".into())), None, "there is no record");
        let more = lie(Some(0), yes(8)).expect("more than it says");
        assert_eq!(more, "k.sm_75.ptx has 0 bytes of stack there, and takes 8 bytes of stack for sm_80");
        assert!(
            lie(Some(0), Assembled::No("why".into()))
                .expect("a lie")
                .ends_with("does not assemble for sm_80")
        );
        assert!(lie(Some(0), Assembled::UnknownTarget).is_some());
    }

    #[test]
    fn only_what_is_known_of_every_target_is_written_down() {
        let written = |known, said: &[(&str, Assembled)]| judged(known, said).1;
        assert_eq!(written(None, &[("sm_75", yes(8)), ("sm_80", yes(16))]), Some(16));
        assert_eq!(written(None, &[("sm_75", yes(8))]), None);
        assert_eq!(written(None, &[("sm_75", yes(8)), ("sm_80", Assembled::UnknownTarget)]), None);
        assert_eq!(written(None, &[("sm_75", yes(8)), ("sm_80", Assembled::No("why".into()))]), None);
        assert_eq!(written(Some(16), &[("sm_75", yes(8))]), Some(16));
        assert_eq!(written(Some(0), &[("sm_75", yes(8))]), None, "a lie");
    }
}
