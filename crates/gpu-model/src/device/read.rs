//! Reads a description, with the line of whatever is wrong in it.

use std::cell::RefCell;
use std::collections::BTreeSet;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Atomics, Bus, Calibration, Device, Issue, Latency, LaunchCost, Limits, Memory, Tensor};
use crate::error::{Error, Result};
use crate::units::{Fraction, ParseError, Quantity, parse};

/// The line, counted from 1, of a byte of the text.
fn line_of(text: &str, byte: usize) -> usize {
    1 + text.as_bytes().iter().take(byte).filter(|&&one| one == b'\n').count()
}

/// A table of the description, and which of its fields were asked for.
struct Section<'a> {
    text: &'a str,
    /// With a dot behind it; empty at the top.
    name: String,
    /// Where it begins.
    line: usize,
    table: &'a DeTable<'a>,
    asked: RefCell<BTreeSet<&'static str>>,
}

impl<'a> Section<'a> {
    fn value(&self, field: &'static str) -> Option<(&'a Spanned<DeValue<'a>>, usize)> {
        self.asked.borrow_mut().insert(field);
        let value = self.table.get(field)?;
        Some((value, line_of(self.text, value.span().start)))
    }

    fn path(&self, field: &str) -> String {
        format!("{}{field}", self.name)
    }

    fn missing(&self, field: &str) -> Error {
        Error::MissingField { field: self.path(field), line: self.line }
    }

    fn wrong(&self, field: &str, line: usize, value: &Spanned<DeValue<'_>>, expected: String) -> Error {
        let found = self.text[value.span()].trim_matches('"').to_owned();
        Error::WrongUnit { field: self.path(field), line, found, expected }
    }

    fn section(&self, field: &'static str) -> Result<Option<Section<'a>>> {
        let Some((value, line)) = self.value(field) else { return Ok(None) };
        let Some(table) = value.get_ref().as_table() else {
            return Err(self.wrong(field, line, value, format!("a section, [{field}]")));
        };
        let asked = RefCell::default();
        Ok(Some(Section { text: self.text, name: format!("{field}."), line, table, asked }))
    }

    fn required_section(&self, field: &'static str) -> Result<Section<'a>> {
        self.section(field)?.ok_or_else(|| self.missing(field))
    }

    fn text(&self, field: &'static str) -> Result<String> {
        let (value, line) = self.value(field).ok_or_else(|| self.missing(field))?;
        let text = value.get_ref().as_str().filter(|text| !text.is_empty());
        text.map(str::to_owned).ok_or_else(|| self.wrong(field, line, value, "a text".to_owned()))
    }

    fn count(&self, field: &'static str) -> Result<u32> {
        let (value, line) = self.value(field).ok_or_else(|| self.missing(field))?;
        let number = value.get_ref().as_integer().filter(|number| number.radix() == 10);
        // Digits may be grouped by underscores.
        let number = number.and_then(|number| number.as_str().replace('_', "").parse::<i64>().ok());
        let number =
            number.ok_or_else(|| self.wrong(field, line, value, "a whole number without unit".to_owned()))?;
        if number <= 0 {
            let field = self.path(field);
            return Err(Error::NotPositiveAt { field, line, value: number as f64 });
        }
        u32::try_from(number).map_err(|_| self.wrong(field, line, value, "less than 2^32".to_owned()))
    }

    fn optional_quantity<Q: Quantity>(&self, field: &'static str) -> Result<Option<Q>> {
        let Some((value, line)) = self.value(field) else { return Ok(None) };
        let units = Q::UNITS.iter().map(|(unit, _)| *unit).collect::<Vec<_>>().join(", ");
        let expected = || format!("a text: a number, a space, and one of {units}");
        let parsed = value.get_ref().as_str().ok_or(ParseError::NotANumber).and_then(parse::<Q>);
        let (quantity, number) = parsed.map_err(|_| self.wrong(field, line, value, expected()))?;
        if !(number > 0.0 && number.is_finite()) {
            return Err(Error::NotPositiveAt { field: self.path(field), line, value: number });
        }
        Ok(Some(quantity))
    }

    fn quantity<Q: Quantity>(&self, field: &'static str) -> Result<Q> {
        self.optional_quantity(field)?.ok_or_else(|| self.missing(field))
    }

    /// A percentage: not above 100.
    fn percentage(&self, field: &'static str) -> Result<Fraction> {
        let fraction: Fraction = self.quantity(field)?;
        match self.value(field) {
            Some((value, line)) if fraction.0 > 1.0 => {
                Err(self.wrong(field, line, value, "at most 100 %".to_owned()))
            }
            _ => Ok(fraction),
        }
    }

    /// Fails where the first of two fields, which were read, is larger than the second.
    fn ordered(&self, fields: [&'static str; 2], [value, other_value]: [f64; 2]) -> Result<()> {
        if value <= other_value {
            return Ok(());
        }
        let line = self.value(fields[0]).map_or(self.line, |(_, line)| line);
        let [field, other] = fields.map(|field| self.path(field));
        Err(Error::ContradictionAt { field, line, value, other, other_value })
    }

    /// Fails if there is a field that nobody asked for: a name that is not spelt right would go unseen.
    fn finish(&self) -> Result<()> {
        let asked = self.asked.borrow();
        let unknown = self.table.iter().find(|(key, _)| !asked.contains(key.get_ref().as_ref()));
        unknown.map_or(Ok(()), |(key, _)| {
            let line = line_of(self.text, key.span().start);
            Err(Error::UnknownField { field: self.path(key.get_ref()), line })
        })
    }
}

/// Reads an optional section and sees to it that nothing is left over in it.
fn optional<T>(
    top: &Section<'_>,
    field: &'static str,
    read: impl FnOnce(&Section<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let Some(section) = top.section(field)? else { return Ok(None) };
    let value = read(&section)?;
    section.finish()?;
    Ok(Some(value))
}

pub(super) fn device(text: &str) -> Result<Device> {
    let syntax = |error: toml::de::Error| Error::Syntax {
        line: error.span().map_or(1, |span| line_of(text, span.start)),
        why: error.message().to_owned(),
    };
    let parsed = DeTable::parse(text).map_err(syntax)?;
    let top =
        Section { text, name: String::new(), line: 1, table: parsed.get_ref(), asked: RefCell::default() };

    let processor = top.required_section("multiprocessor")?;
    let memory = top.required_section("memory")?;
    let limits = top.required_section("limits")?;
    let device = Device {
        name: top.text("name")?,
        capability: capability(&top)?,
        source: top.text("source")?,
        multiprocessors: processor.count("count")?,
        lanes: processor.count("lanes")?,
        double_lanes: processor.count("double_lanes")?,
        warp: processor.count("warp")?,
        clock: processor.quantity("clock")?,
        memory: Memory {
            size: memory.quantity("size")?,
            bandwidth: memory.quantity("bandwidth")?,
            clock: memory.quantity("clock")?,
            line: memory.quantity("line")?,
            sector: memory.quantity("sector")?,
            l2: memory.optional_quantity("l2")?,
        },
        limits: Limits {
            threads_per_block: limits.count("threads_per_block")?,
            warps: limits.count("warps")?,
            blocks: limits.count("blocks")?,
            registers: limits.count("registers")?,
            shared: limits.quantity("shared")?,
        },
        latency: optional(&top, "latency", |section| {
            Ok(Latency {
                global: section.quantity("global")?,
                shared: section.quantity("shared")?,
                cache: section.quantity("cache")?,
                source: section.text("source")?,
            })
        })?,
        issue: optional(&top, "issue", |section| {
            Ok(Issue {
                single: section.quantity("single")?,
                double: section.quantity("double")?,
                pipeline_depth: section.count("pipeline_depth")?,
                source: section.text("source")?,
            })
        })?,
        bus: optional(&top, "bus", |section| {
            Ok(Bus {
                peak: section.quantity("peak")?,
                pageable_to_device: section.percentage("pageable_to_device")?,
                pageable_to_host: section.percentage("pageable_to_host")?,
                pinned_to_device: section.percentage("pinned_to_device")?,
                pinned_to_host: section.percentage("pinned_to_host")?,
                within_device: section.optional_quantity("within_device")?,
                source: section.text("source")?,
            })
        })?,
        launch: optional(&top, "launch", |section| {
            Ok(LaunchCost { overhead: section.quantity("overhead")?, source: section.text("source")? })
        })?,
        atomics: optional(&top, "atomics", |section| {
            Ok(Atomics {
                base: section.quantity("base")?,
                per_thread: section.quantity("per_thread")?,
                source: section.text("source")?,
            })
        })?,
        tensor: optional(&top, "tensor", |section| {
            Ok(Tensor {
                peak: section.quantity("peak")?,
                warpgroups: section.percentage("warpgroups")?,
                warps: section.percentage("warps")?,
                source: section.text("source")?,
            })
        })?,
        waves: optional(&top, "waves", |section| {
            let waves = Calibration {
                launch: section.quantity("launch")?,
                launch_dependent: section.quantity("launch_dependent")?,
                gap: section.quantity("gap")?,
                gap_dependent: section.quantity("gap_dependent")?,
                blocks: section.quantity("blocks")?,
                blocks_dependent: section.quantity("blocks_dependent")?,
                turnover: section.quantity("turnover")?,
                turnover_warp: section.quantity("turnover_warp")?,
                read: section.percentage("read")?,
                write: section.percentage("write")?,
                copy: section.percentage("copy")?,
                stores: section.quantity("stores")?,
                store: section.quantity("store")?,
                l2: section.quantity("l2")?,
                l2_unit: section.quantity("l2_unit")?,
                memory_latency: section.quantity("memory_latency")?,
                memory_loaded: section.quantity("memory_loaded")?,
                l2_latency: section.quantity("l2_latency")?,
                l2_loaded: section.quantity("l2_loaded")?,
                shared_latency: section.quantity("shared_latency")?,
                shuffle: section.quantity("shuffle")?,
                barrier: section.quantity("barrier")?,
                barrier_warp: section.quantity("barrier_warp")?,
                source: section.text("source")?,
            };
            // What waits beside others does not wait less.
            let memory = [waves.memory_latency.0, waves.memory_loaded.0];
            section.ordered(["memory_latency", "memory_loaded"], memory)?;
            section.ordered(["l2_latency", "l2_loaded"], [waves.l2_latency.0, waves.l2_loaded.0])?;
            section.ordered(["l2_unit", "l2"], [waves.l2_unit.0, waves.l2.0])?;
            Ok(waves)
        })?,
    };
    [&top, &processor, &memory, &limits].into_iter().try_for_each(Section::finish)?;

    let resident = f64::from(device.limits.warps) * f64::from(device.warp);
    let threads = f64::from(device.limits.threads_per_block);
    limits.ordered(["threads_per_block", "warps"], [threads, resident])?;
    processor.ordered(["double_lanes", "lanes"], [device.double_lanes, device.lanes].map(f64::from))?;
    memory.ordered(["sector", "line"], [device.memory.sector.0, device.memory.line.0])?;
    Ok(device)
}

/// `"2.0"`, a text: as a number 1.10 would be 1.1.
fn capability(top: &Section<'_>) -> Result<(u32, u32)> {
    let text = top.text("capability")?;
    let parts =
        text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    parts.ok_or_else(|| {
        let (value, line) = top.value("capability").expect("it was read above");
        top.wrong("capability", line, value, "a text like 2.0".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const C2070: &str = include_str!("../../devices/c2070.toml");

    /// The description with one text in it replaced, and the line where that stood.
    fn changed(from: &str, to: &str) -> (Result<Device>, usize) {
        assert_eq!(C2070.matches(from).count(), 1, "{from}");
        let line = line_of(C2070, C2070.find(from).expect("found above"));
        (device(&C2070.replace(from, to)), line)
    }

    #[test]
    fn every_description_reads() {
        for name in Device::names() {
            let device = Device::by_name(name).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(!device.name.is_empty() && !device.source.is_empty(), "{name}");
        }
    }

    /// Data sheets print peaks too, rounded; the fields have to give them: C2070 1.03 and 0.515 TFLOP/s, V100 at the
    /// 1.38 GHz of the card that was measured 14.1, H100 66.9 and 33.5.
    #[test]
    fn peaks_are_those_of_the_data_sheets() {
        for (name, single, double) in
            [("c2070", 1.03e12, 515e9), ("v100", 14.1e12, 7.07e12), ("h100", 66.9e12, 33.5e12)]
        {
            let device = Device::by_name(name).expect("it is described");
            // Three digits are printed: half of the last one of 1.03 is 0.5 %.
            assert!((device.peak_single().0 / single - 1.0).abs() < 5e-3, "{name}");
            assert!((device.peak_double().0 / double - 1.0).abs() < 5e-3, "{name}");
        }
    }

    #[test]
    fn a_wrong_unit_names_field_and_line() {
        let (result, at) = changed("\"144 GB/s\"", "\"144 GB\"");
        let Err(Error::WrongUnit { field, line, found, .. }) = result else { panic!("{result:?}") };
        assert_eq!((field.as_str(), line, found.as_str()), ("memory.bandwidth", at, "144 GB"));
        let (result, at) = changed("\"600 cycles\"", "600");
        let Err(Error::WrongUnit { field, line, found, .. }) = result else { panic!("{result:?}") };
        assert_eq!((field.as_str(), line, found.as_str()), ("latency.global", at, "600"));
        let (result, at) = changed("count = 14", "count = \"14 SM\"");
        let Err(Error::WrongUnit { field, line, .. }) = result else { panic!("{result:?}") };
        assert_eq!((field.as_str(), line), ("multiprocessor.count", at));
        let (result, _) = changed("\"2.0\"", "\"two\"");
        assert!(matches!(result, Err(Error::WrongUnit { .. })), "{result:?}");
    }

    #[test]
    fn a_missing_field_names_its_section() {
        let (result, _) = changed("bandwidth = \"144 GB/s\"\n", "");
        let heading = line_of(C2070, C2070.find("[memory]").expect("a section"));
        assert_eq!(result, Err(Error::MissingField { field: "memory.bandwidth".to_owned(), line: heading }));
        let (result, _) = changed("[limits]", "[limit]");
        assert_eq!(result, Err(Error::MissingField { field: "limits".to_owned(), line: 1 }));
    }

    #[test]
    fn an_unknown_field_names_its_line() {
        let (result, at) = changed("shared = \"48 KiB\"", "shared = \"48 KiB\"\nsharde = \"16 KiB\"");
        assert_eq!(result, Err(Error::UnknownField { field: "limits.sharde".to_owned(), line: at + 1 }));
    }

    #[test]
    fn zero_and_less_are_refused() {
        for value in ["0 GHz", "-1.15 GHz", "inf GHz", "NaN GHz"] {
            let (result, at) = changed("\"1.15 GHz\"", &format!("\"{value}\""));
            let Err(Error::NotPositiveAt { field, line, .. }) = result else { panic!("{result:?}") };
            assert_eq!((field.as_str(), line), ("multiprocessor.clock", at));
        }
        for value in ["0", "-3"] {
            let (result, at) = changed("warps = 48", &format!("warps = {value}"));
            let value = value.parse().expect("a number");
            assert_eq!(
                result,
                Err(Error::NotPositiveAt { field: "limits.warps".to_owned(), line: at, value })
            );
        }
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        // 48 warps of 32 are 1536 threads: a block of 2048 could never run.
        let (result, at) = changed("threads_per_block = 1024", "threads_per_block = 2048");
        let (field, other) = ("limits.threads_per_block".to_owned(), "limits.warps".to_owned());
        let error = Error::ContradictionAt { field, line: at, value: 2048.0, other, other_value: 1536.0 };
        assert_eq!(result, Err(error));
        let (result, at) = changed("double_lanes = 16", "double_lanes = 64");
        let Err(Error::ContradictionAt { line, .. }) = result else { panic!("{result:?}") };
        assert_eq!(line, at);
        let (result, _) = changed("pinned_to_host = \"75 %\"", "pinned_to_host = \"175 %\"");
        assert!(matches!(result, Err(Error::WrongUnit { .. })), "{result:?}");
        // With everybody waiting the memory would answer sooner than with one.
        let h200 = Device::description("h200").expect("it is described");
        let result = device(&h200.replace("\"1491 cycles\"", "\"491 cycles\""));
        let Err(Error::ContradictionAt { field, line, .. }) = result else { panic!("{result:?}") };
        let at = h200.find("memory_latency").expect("it was measured");
        assert_eq!((field.as_str(), line), ("waves.memory_latency", line_of(h200, at)));
    }

    #[test]
    fn what_is_no_toml_names_the_line() {
        let (result, at) = changed("count = 14", "count 14");
        let Err(Error::Syntax { line, .. }) = result else { panic!("{result:?}") };
        assert_eq!(line, at);
    }

    #[test]
    fn what_no_source_gives_is_said() {
        let v100 = Device::by_name("v100").expect("it is described");
        let asked = v100.latency();
        assert_eq!(
            asked,
            Err(Error::NotGiven { device: "Tesla V100 PCIe 16GB".to_owned(), field: "latency" })
        );
    }
}
