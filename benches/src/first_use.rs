//! The first use of every kernel: how long the driver takes to compile its PTX.
//!
//! A kernel is the unit of loading, so this is what a program waits for when it calls one for the first time, and no
//! more. The PTX is read from the kernel crates' folders, of each kernel the image that the device would take; the
//! driver's cache of compiled kernels is off.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use gpu_core::Device;
use gpu_std::launch::{Image, KernelMeta};
use serde::Serialize;

use crate::error::Error;
use crate::report::Provenance;
use crate::table::{Align, Table};

/// The driver's variable that switches its cache off; it is read when the driver is initialised.
pub const NO_CACHE: (&str, &str) = ("CUDA_CACHE_DISABLE", "1");

/// What is asked of the milliseconds of all kernels: the median, the 90th percentile, the worst.
pub const LIMITS_MS: [f64; 3] = [40.0, 120.0, 400.0];

/// A kernel with its images, as they lie in a folder.
#[derive(Debug)]
pub struct Found {
    /// The folder of its crate below `gpu-kernels`: `reduce`.
    pub family: String,
    /// What the driver is asked for.
    pub kernel: &'static KernelMeta,
}

/// The kernels of all families below `gpu-kernels`.
///
/// # Errors
/// Where a folder or file cannot be read, or there is no PTX.
pub fn find(kernels: &Path) -> Result<Vec<Found>, Error> {
    let mut images: BTreeMap<(String, String), Vec<Image>> = BTreeMap::new();
    for folder in folders(kernels)? {
        let family = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for file in folders(&folder.join("ptx"))? {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if let Some((kernel, arch, exact)) = parts(&name) {
                // For as long as the process lives, as those in a program are.
                let ptx: &'static str = Box::leak(std::fs::read_to_string(&file)?.into_boxed_str());
                images.entry((family.clone(), kernel)).or_default().push(Image { arch, exact, ptx });
            }
        }
    }
    if images.is_empty() {
        return Err(std::io::Error::other(format!("no PTX below {}", kernels.display())).into());
    }
    Ok(images
        .into_iter()
        .map(|((family, kernel), images)| Found { family, kernel: meta(kernel, images) })
        .collect())
}

fn folders(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let named =
        |error: std::io::Error| std::io::Error::new(error.kind(), format!("{}: {error}", folder.display()));
    let entries = std::fs::read_dir(folder).map_err(named)?;
    let mut paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    Ok(paths)
}

/// `sum_f32.sm_90a.ptx` as kernel, architecture and whether it is exact.
fn parts(file: &str) -> Option<(String, u32, bool)> {
    let (kernel, target) = file.strip_suffix(".ptx")?.rsplit_once(".sm_")?;
    let digits = target.strip_suffix('a').unwrap_or(target);
    Some((kernel.into(), digits.parse().ok()?, digits != target))
}

fn meta(name: String, images: Vec<Image>) -> &'static KernelMeta {
    let name: &'static str = Box::leak(name.into_boxed_str());
    let parameters = images.first().map(|image| parameters(name, image.ptx)).unwrap_or_default();
    Box::leak(Box::new(KernelMeta {
        name,
        images: Box::leak(images.into_boxed_slice()),
        parameters: Box::leak(parameters.into_boxed_slice()),
        file: file!(),
        line: line!(),
        max_threads: 1024,
        min_blocks: 0,
        cluster: 1,
        programmatic: false,
    }))
}

/// The sizes of the parameters of an entry, in bytes; those of one that is not understood are not what gpu-core reads
/// either.
fn parameters(name: &str, ptx: &str) -> Vec<usize> {
    let parsed = gpu_builder::ptx::Ptx::parse(name, ptx);
    let entry = |ptx: gpu_builder::ptx::Ptx| ptx.entries().next().map(gpu_builder::ptx::Item::params);
    let params = parsed.ok().and_then(entry).unwrap_or_default();
    params.iter().map(|param| param.bytes as usize).collect()
}

/// The first use of one kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FirstUse {
    /// The kernel.
    pub kernel: &'static str,
    /// Its family.
    pub family: String,
    /// The bytes of the PTX that the driver compiled.
    pub bytes: usize,
    /// How long that took, loading included: the median of [`PASSES`].
    pub milliseconds: f64,
    /// Device, driver, commit, date.
    #[serde(flatten)]
    pub provenance: Provenance,
}

/// How often all kernels are loaded, one after the other: what else the machine did while one was compiled is then
/// not in its median. (Of two runs on one H200 a tenth of the kernels differed by more than 20 %.)
pub const PASSES: usize = 3;

/// Loads every kernel in each of [`PASSES`]; `done` is told of each.
///
/// # Errors
/// Those of the device, for the first kernel that it does not load.
pub fn measure(
    device: &Device,
    found: &[Found],
    provenance: &Provenance,
    done: impl Fn(),
) -> Result<Vec<FirstUse>, Error> {
    let properties = device.properties()?;
    let mut times = vec![[0.0; PASSES]; found.len()];
    for pass in 0..PASSES {
        for (Found { kernel, .. }, times) in found.iter().zip(&mut times) {
            // At an address of its own, by which a context knows what it has loaded.
            let kernel: &'static KernelMeta = Box::leak(Box::new(**kernel));
            let start = Instant::now();
            device.kernel_resources(kernel)?;
            times[pass] = start.elapsed().as_secs_f64() * 1e3;
            done();
        }
    }
    let used = |(Found { family, kernel }, mut times): (&Found, [f64; PASSES])| {
        times.sort_by(f64::total_cmp);
        let image = gpu_core::ptx::choose(kernel, properties.capability, properties.driver_version.0)?;
        Ok(FirstUse {
            kernel: kernel.name,
            family: family.clone(),
            bytes: kernel.text(image).map_or(0, |text| text.len()),
            milliseconds: times[PASSES / 2],
            provenance: provenance.clone(),
        })
    };
    found.iter().zip(times).map(used).collect()
}

/// The median, the 90th percentile and the worst.
fn spread(uses: &[&FirstUse]) -> Option<[f64; 3]> {
    let mut times: Vec<f64> = uses.iter().map(|one| one.milliseconds).collect();
    times.sort_by(f64::total_cmp);
    let last = *times.last()?;
    Some([times[times.len() / 2], times[times.len() * 9 / 10], last])
}

/// A table by family, of all in its last line, and whether that keeps [`LIMITS_MS`].
pub fn summary(uses: &[FirstUse]) -> (String, bool) {
    let mut table = Table::new(&[
        ("family", Align::Left),
        ("kernels", Align::Right),
        ("KB of PTX", Align::Right),
        ("median ms", Align::Right),
        ("90 % ms", Align::Right),
        ("worst ms", Align::Right),
        ("which", Align::Left),
    ]);
    let mut families: BTreeMap<&str, Vec<&FirstUse>> = BTreeMap::new();
    for one in uses {
        families.entry(&one.family).or_default().push(one);
    }
    let all: Vec<&FirstUse> = uses.iter().collect();
    let mut keeps = false;
    for (family, uses) in families.into_iter().chain([("all", all)]) {
        let Some(spread) = spread(&uses) else { continue };
        let worst = uses.iter().max_by(|a, b| a.milliseconds.total_cmp(&b.milliseconds));
        let kilobytes = uses.iter().map(|one| one.bytes).sum::<usize>() / 1024;
        let [median, most, last] = spread.map(|time| format!("{time:.0}"));
        let which = worst.map_or("", |worst| worst.kernel).to_string();
        table.row([family.into(), uses.len().to_string(), kilobytes.to_string(), median, most, last, which]);
        keeps = spread.iter().zip(LIMITS_MS).all(|(time, limit)| *time <= limit);
    }
    let [median, most, last] = LIMITS_MS;
    (format!("{table}limits: median {median:.0}, 90 % {most:.0}, worst {last:.0} ms\n"), keeps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_taken_apart() {
        assert_eq!(parts("sum_f32.sm_75.ptx"), Some(("sum_f32".into(), 75, false)));
        assert_eq!(parts("gemm.sm_90a.ptx"), Some(("gemm".into(), 90, true)));
        assert_eq!(parts("manifest.json"), None);
        assert_eq!(parts("sum.sm_x.ptx"), None);
    }

    #[test]
    fn every_kernel_of_the_workspace_is_found_with_its_parameters() {
        let found =
            find(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../gpu-kernels")).expect("the workspace's PTX");
        let sum = found.iter().find(|found| found.kernel.name == "sum_f32").expect("the sum of f32");
        assert_eq!((sum.family.as_str(), sum.kernel.images.len()), ("reduce", 2));
        assert_eq!(sum.kernel.parameters, gpu_reduce::kernels::sum_f32::META.parameters);
        assert!(find(Path::new("no/such/folder")).is_err());
    }

    #[test]
    fn limits_are_of_all_kernels() {
        let provenance =
            Provenance { device: "d".into(), driver: "1".into(), commit: "c".into(), date: "2026".into() };
        let of = |family: &str, milliseconds: f64| FirstUse {
            kernel: "k",
            family: family.into(),
            bytes: 2048,
            milliseconds,
            provenance: provenance.clone(),
        };
        let (text, keeps) = summary(&[of("a", 10.0), of("a", 20.0), of("b", 300.0)]);
        assert!(!keeps, "the 90th percentile is 300 ms");
        assert!(text.contains("all") && text.contains("300"), "{text}");
        let fast: Vec<_> = (0..20).map(|i| of("a", f64::from(i))).chain([of("b", 399.0)]).collect();
        assert!(summary(&fast).1);
        assert!(!summary(&[]).1, "nothing measured keeps nothing");
    }
}
