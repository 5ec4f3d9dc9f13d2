//! Which PTX image of a kernel a device runs, and whether it is the kernel's at all.

use std::borrow::Cow;

use gpu_std::launch::{Image, KernelMeta};

use crate::capability::Capability;
use crate::error::{Error, Result};

/// The CUDA version (as `cuDriverGetVersion` writes it) whose driver was the first to take PTX `isa` (times ten).
///
/// A version newer than the table is taken to belong to the CUDA major four above its own, as 8 and 9 do.
pub fn driver_for_isa(isa: u32) -> u32 {
    match isa {
        ..=59 => 8000,
        60..=62 => 9000 + (isa - 60) * 10,
        63..=65 => 10000 + (isa - 63) * 10,
        66..=78 => 11000 + isa.saturating_sub(70) * 10,
        79..=85 => 12000 + isa.saturating_sub(80) * 10,
        // CUDA 12.6 brought no new PTX.
        86..=89 => 12070 + (isa - 86) * 10,
        _ => (isa / 10 + 4) * 1000 + isa % 10 * 10,
    }
}

/// What an image was compiled for: `sm_75`, `sm_90a`.
pub(crate) fn target(image: &Image) -> String {
    format!("sm_{}{}", image.arch, if image.exact { "a" } else { "" })
}

/// The best image for a device: the largest architecture that runs there and that the driver can compile.
///
/// An image marked exact (`sm_90a`) runs on its own capability only, and is preferred to the plain one of the same
/// number; any other runs on every later capability too.
///
/// # Errors
/// [`Error::NoKernelImage`] where none runs on the capability, [`Error::DriverTooOld`] where some would but the
/// driver takes none of them, [`Error::BadImage`] where an image does not say its version.
pub fn choose(kernel: &KernelMeta, capability: Capability, driver: u32) -> Result<&'static Image> {
    let arch = capability.arch();
    let runs = |image: &&Image| if image.exact { image.arch == arch } else { image.arch <= arch };
    let mut oldest: Option<u32> = None;
    let mut best: Option<&'static Image> = None;
    for image in kernel.images.iter().filter(runs) {
        let isa = image.isa().ok_or_else(|| bad(kernel, image, "states no version"))?;
        oldest = Some(oldest.map_or(isa, |oldest| oldest.min(isa)));
        let is_better = best.is_none_or(|best| (image.arch, image.exact) > (best.arch, best.exact));
        if is_better && driver_for_isa(isa) <= driver {
            best = Some(image);
        }
    }
    match (best, oldest) {
        (Some(best), _) => Ok(best),
        (None, Some(needs_isa)) => Err(Error::DriverTooOld {
            kernel: kernel.name.into(),
            needs_isa,
            needs_driver: driver_for_isa(needs_isa),
            driver,
        }),
        (None, None) => Err(Error::NoKernelImage {
            kernel: kernel.name.into(),
            capability,
            have: match kernel.images {
                [] => "none".into(),
                images => images.iter().map(target).collect::<Vec<_>>().join(", "),
            },
        }),
    }
}

fn bad(kernel: &KernelMeta, image: &Image, why: impl Into<String>) -> Error {
    Error::BadImage { kernel: kernel.name.into(), target: target(image), why: why.into() }
}

/// The image's text, if it is the kernel's: it has an entry of its name, with parameters of its sizes, and is whole.
/// The driver would say "named symbol not found" or "invalid PTX" and name neither, and of other parameters nothing at
/// all.
///
/// # Errors
/// [`Error::BadImage`].
#[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "only a driver looks kernels up"))]
pub(crate) fn expect_kernel(kernel: &KernelMeta, image: &Image) -> Result<Cow<'static, str>> {
    let ptx =
        kernel.text(image).ok_or_else(|| bad(kernel, image, "has edits that do not fit what they edit"))?;
    let of_name = |rest: &&str| {
        rest.trim_start().strip_prefix(kernel.name).is_some_and(|rest| rest.trim_start().starts_with('('))
    };
    let entry = ptx.split(".entry").skip(1).find(of_name);
    let entry = entry.ok_or_else(|| bad(kernel, image, "has no entry of this name"))?;
    let cut_off = || bad(kernel, image, "is cut off");
    let parameters = entry.split_once('(').and_then(|(_, rest)| rest.split_once(')')).ok_or_else(cut_off)?.0;
    if !ptx.trim_end().ends_with('}') {
        return Err(cut_off());
    }
    let sizes = parameters.split(',').filter(|parameter| !parameter.trim().is_empty());
    let sizes: Option<Vec<usize>> = sizes.map(size_of_parameter).collect();
    if sizes.as_deref() != Some(kernel.parameters) {
        let why = format!(
            "takes parameters of {} bytes, not of {:?}",
            sizes.map_or("unknown".into(), |sizes| format!("{sizes:?}")),
            kernel.parameters
        );
        return Err(bad(kernel, image, why));
    }
    Ok(ptx)
}

/// The bytes of `.param .b64 a` and of `.param .align 8 .b8 b[24]`.
fn size_of_parameter(text: &str) -> Option<usize> {
    let bits =
        |word: &str| word.strip_prefix(['.'])?.strip_prefix(['b', 'u', 's', 'f'])?.parse::<usize>().ok();
    let bytes = text.split_whitespace().find_map(bits)? / 8;
    match text.split_once('[') {
        Some((_, count)) => Some(bytes * count.trim_end().strip_suffix(']')?.parse::<usize>().ok()?),
        None => Some(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = ".version 7.4\n.target sm_75\n.visible .entry scale_f32(\n.param .b64 scale_f32_param_0,\n.param .b32 b,\n\
                       .param .align 8 .b8 c[24]\n)\n{ call other; }\n";

    const fn kernel(
        name: &'static str,
        images: &'static [Image],
        parameters: &'static [usize],
    ) -> KernelMeta {
        KernelMeta {
            name,
            images,
            parameters,
            file: "f.rs",
            line: 1,
            max_threads: 1024,
            min_blocks: 0,
            cluster: 1,
            programmatic: false,
        }
    }

    fn refusal(name: &'static str, parameters: &'static [usize], ptx: &'static str) -> String {
        let image = Image { arch: 75, exact: false, ptx };
        expect_kernel(&kernel(name, &[], parameters), &image)
            .map_or_else(|error| error.to_string(), |_| String::new())
    }

    #[test]
    fn an_image_of_another_kernel_is_refused() {
        assert_eq!(refusal("scale_f32", &[8, 4, 24], PTX), "");
        for missing in ["scale", "scale_f3", "scale_f32x", "other", "f32"] {
            let text = refusal(missing, &[8, 4, 24], PTX);
            assert!(text.contains(missing) && text.contains("sm_75 has no entry of this name"), "{text}");
            assert!(text.contains("gpu-builder build"), "{text}");
        }
        assert_eq!(refusal("none", &[], ".visible .entry none()\n{\n}\n"), "");
    }

    #[test]
    fn an_image_older_than_its_kernel_is_refused() {
        for other in [&[8, 4][..], &[8, 4, 16], &[8, 8, 24], &[8, 4, 24, 4]] {
            let text = refusal("scale_f32", other, PTX);
            assert!(
                text.contains("takes parameters of [8, 4, 24] bytes") && text.contains(&format!("{other:?}")),
                "{text}"
            );
        }
    }

    #[test]
    fn an_image_that_is_cut_off_is_refused() {
        let middle = &PTX[..PTX.find("b64").expect("a parameter")];
        assert!(refusal("scale_f32", &[8, 4, 24], middle).contains("is cut off"));
        assert!(refusal("scale_f32", &[8, 4, 24], &PTX[..PTX.len() - 3]).contains("is cut off"));
        assert!(refusal("scale_f32", &[8, 4, 24], "").contains("no entry"));
    }

    #[test]
    fn an_image_may_be_edits_of_another() {
        const EDITS: &str = "// Edits of sm_75:\nd1 2\na2 2\n.version 7.8\n.target sm_90\n";
        static IMAGES: [Image; 2] = [image(75, false, PTX), image(90, false, EDITS)];
        let kernel = kernel("scale_f32", &IMAGES, &[8, 4, 24]);
        let text = expect_kernel(&kernel, &IMAGES[1]).unwrap();
        assert_eq!(*text, PTX.replace("7.4", "7.8").replace("sm_75", "sm_90"));
        assert_eq!(IMAGES[1].isa(), Some(78));
        let cut_off = image(90, false, &EDITS[..EDITS.len() - 16]);
        assert!(
            expect_kernel(&kernel, &cut_off).unwrap_err().to_string().contains("has edits that do not fit")
        );
    }

    const fn image(arch: u32, exact: bool, ptx: &'static str) -> Image {
        Image { arch, exact, ptx }
    }

    static KERNEL: KernelMeta = kernel(
        "k",
        &[
            image(75, false, ".version 7.4"),
            image(90, true, ".version 8.0"),
            image(80, false, "// k\n.version 7.4\n"),
        ],
        &[],
    );

    fn chosen(major: u32, minor: u32, driver: u32) -> (u32, bool) {
        let image = choose(&KERNEL, Capability::new(major, minor), driver).unwrap();
        (image.arch, image.exact)
    }

    #[test]
    fn the_largest_that_runs_is_chosen() {
        assert_eq!(chosen(7, 5, 12000), (75, false));
        assert_eq!(chosen(8, 0, 12000), (80, false));
        assert_eq!(chosen(8, 6, 12000), (80, false));
        assert_eq!(chosen(9, 0, 12000), (90, true));
        assert_eq!(chosen(10, 0, 13000), (80, false), "sm_90a runs on 9.0 and nowhere else");
        assert_eq!(chosen(12, 1, 13000), (80, false));
    }

    #[test]
    fn an_older_driver_gets_an_older_image() {
        assert_eq!(chosen(9, 0, 11080), (80, false), "PTX 8.0 is CUDA 12's");
    }

    #[test]
    fn a_driver_older_than_every_image_is_refused_with_both_versions() {
        match choose(&KERNEL, Capability::new(9, 0), 11030) {
            Err(Error::DriverTooOld { needs_isa, needs_driver, driver, .. }) => {
                assert_eq!((needs_isa, needs_driver, driver), (74, 11040, 11030));
            }
            other => panic!("{other:?}"),
        }
        let text = choose(&KERNEL, Capability::new(9, 0), 11030).unwrap_err().to_string();
        assert!(
            text.contains("PTX 7.4") && text.contains("CUDA 11.4") && text.contains("CUDA 11.3"),
            "{text}"
        );
    }

    #[test]
    fn a_device_older_than_every_image_is_refused() {
        match choose(&KERNEL, Capability::new(7, 0), 13000) {
            Err(Error::NoKernelImage { have, .. }) => assert_eq!(have, "sm_75, sm_90a, sm_80"),
            other => panic!("{other:?}"),
        }
        match choose(&kernel("k", &[], &[]), Capability::new(9, 0), 13000) {
            Err(Error::NoKernelImage { have, .. }) => assert_eq!(have, "none"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_image_without_a_version_is_refused() {
        let kernel = kernel("k", &[Image { arch: 75, exact: false, ptx: "" }], &[]);
        assert!(matches!(choose(&kernel, Capability::new(9, 0), 13000), Err(Error::BadImage { .. })));
    }

    #[test]
    fn ptx_versions_belong_to_cuda_versions() {
        for (isa, driver) in [
            (60, 9000),
            (65, 10020),
            (70, 11000),
            (74, 11040),
            (78, 11080),
            (80, 12000),
            (85, 12050),
            (86, 12070),
            (87, 12080),
            (88, 12090),
            (90, 13000),
            (91, 13010),
        ] {
            assert_eq!(driver_for_isa(isa), driver, "{isa}");
        }
    }
}
