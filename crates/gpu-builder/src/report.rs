//! What a check found: outcomes, a table of them, and the counts.

use std::fmt;

use serde::Serialize;

use crate::table::Table;

/// How one check ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", content = "why", rename_all = "snake_case")]
pub enum Verdict {
    /// As it should be.
    Pass,
    /// Not as it should be.
    Fail(String),
    /// Could not be looked at.
    Skip(String),
}

impl Verdict {
    /// Passes if `good`.
    pub(crate) fn check(good: bool, why: impl FnOnce() -> String) -> Self {
        if good { Self::Pass } else { Self::Fail(why()) }
    }

    /// Something that the check needs is not there: a failure where it is required.
    pub(crate) fn missing(required: bool, why: String) -> Self {
        if required { Self::Fail(format!("required, and missing: {why}")) } else { Self::Skip(why) }
    }
}

/// One check of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The file, or that it is about the whole crate.
    pub subject: String,
    /// What was checked: `current`, `bounds`, `memory`, `stack`, a target, …
    pub check: String,
    /// How it ended.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// All that was found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// In the order in which it was checked.
    pub outcomes: Vec<Outcome>,
    /// What must not be overlooked.
    pub warnings: Vec<String>,
    /// With what it was checked.
    pub notes: Vec<String>,
}

impl Report {
    pub(crate) fn add(&mut self, subject: &str, check: &str, verdict: Verdict) {
        self.outcomes.push(Outcome { subject: subject.into(), check: check.into(), verdict });
    }

    pub(crate) fn warn(&mut self, text: String) {
        self.warnings.push(text);
    }

    pub(crate) fn note(&mut self, text: String) {
        self.notes.push(text);
    }

    /// How many checks passed.
    pub fn passed(&self) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Pass).count()
    }

    /// How many failed.
    pub fn failed(&self) -> usize {
        self.outcomes.iter().filter(|outcome| matches!(outcome.verdict, Verdict::Fail(_))).count()
    }

    /// How many could not be made.
    pub fn skipped(&self) -> usize {
        self.outcomes.iter().filter(|outcome| matches!(outcome.verdict, Verdict::Skip(_))).count()
    }
}

/// A table of the files with a failure or a skip, how many others passed all checks, the failures in full, and the
/// counts in the last line.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for note in &self.notes {
            writeln!(f, "{note}")?;
        }
        // Checks of the whole crate first, in a table of their own: they have other columns.
        for whole in [true, false] {
            let outcomes =
                || self.outcomes.iter().filter(move |outcome| outcome.subject.starts_with('(') == whole);
            let mut checks: Vec<&str> = Vec::new();
            let mut subjects: Vec<&str> = Vec::new();
            for outcome in outcomes() {
                if !checks.contains(&outcome.check.as_str()) {
                    checks.push(&outcome.check);
                }
                if !subjects.contains(&outcome.subject.as_str()) {
                    subjects.push(&outcome.subject);
                }
            }
            if !whole {
                let all = subjects.len();
                let passed = |subject: &str| {
                    outcomes()
                        .filter(|o| o.subject == subject)
                        .all(|outcome| outcome.verdict == Verdict::Pass)
                };
                subjects.retain(|subject| !passed(subject));
                if all > subjects.len() {
                    checks.sort_by_key(|check| column(check));
                    writeln!(f, "\n{} files passed: {}", all - subjects.len(), checks.join(", "))?;
                }
            }
            if subjects.is_empty() {
                continue;
            }
            checks.sort_by_key(|check| column(check));
            let mut table = Table::new([""].into_iter().chain(checks.iter().copied()), checks.len() + 1);
            for subject in subjects {
                let cell = |check: &&str| {
                    let found =
                        outcomes().find(|outcome| outcome.subject == subject && outcome.check == *check);
                    match found.map(|outcome| &outcome.verdict) {
                        Some(Verdict::Pass) => "ok",
                        Some(Verdict::Fail(_)) => "FAILED",
                        Some(Verdict::Skip(_)) => "skipped",
                        None => "-",
                    }
                };
                table.row([subject].into_iter().chain(checks.iter().map(cell)));
            }
            write!(f, "\n{table}")?;
        }
        writeln!(f)?;
        for outcome in &self.outcomes {
            if let Verdict::Fail(why) = &outcome.verdict {
                writeln!(
                    f,
                    "FAILED {}, {}: {}",
                    outcome.subject,
                    outcome.check,
                    why.replace('\n', "\n    ")
                )?;
            }
        }
        for warning in &self.warnings {
            writeln!(f, "WARNING: {warning}")?;
        }
        writeln!(f, "{} passed, {} failed, {} skipped", self.passed(), self.failed(), self.skipped())
    }
}

/// Where a check's column stands: targets by number behind the others, the stack last.
fn column(check: &str) -> u32 {
    match check.strip_prefix("sm_") {
        Some(arch) => {
            2 * arch.trim_end_matches('a').parse::<u32>().unwrap_or(9999) + u32::from(arch.ends_with('a'))
        }
        None if check == "stack" => u32::MAX,
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_a_table_the_failures_and_the_counts() {
        let mut report = Report::default();
        report.add("(kernel crate)", "sources", Verdict::Pass);
        report.add("a.ptx", "current", Verdict::Pass);
        report.add("a.ptx", "sm_100", Verdict::Skip("no ptxas".into()));
        report.add("a.ptx", "sm_75", Verdict::Pass);
        report.add("b.ptx", "current", Verdict::Fail("stale".into()));
        report.add("b.ptx", "stack", Verdict::Pass);
        report.add("c.ptx", "current", Verdict::Pass);
        report.warn("look here".into());
        let text = report.to_string();
        assert!(text.contains("       current  sm_75  sm_100   stack\n"), "{text}");
        assert!(text.contains("a.ptx  ok       ok     skipped  -\n"), "{text}");
        assert!(text.contains("b.ptx  FAILED   -      -        ok\n"), "{text}");
        assert!(text.contains("FAILED b.ptx, current: stale\nWARNING: look here\n"), "{text}");
        assert!(
            text.contains("1 files passed: current, sm_75, sm_100, stack\n") && !text.contains("c.ptx"),
            "{text}"
        );
        assert!(text.ends_with("5 passed, 1 failed, 1 skipped\n"), "{text}");
    }

    #[test]
    fn what_is_required_fails_when_it_is_missing() {
        assert!(matches!(Verdict::missing(true, "x".into()), Verdict::Fail(_)));
        assert!(matches!(Verdict::missing(false, "x".into()), Verdict::Skip(_)));
    }

    #[test]
    fn is_plain_in_json() {
        let mut report = Report::default();
        report.add("a.ptx", "current", Verdict::Fail("stale".into()));
        let json = serde_json::to_value(&report.outcomes).expect("json");
        let expected = serde_json::json!([{ "subject": "a.ptx", "check": "current", "verdict": "fail", "why": "stale" }]);
        assert_eq!(json, expected);
    }
}
