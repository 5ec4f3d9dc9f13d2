//! Which PTX image of a module a device runs.

use gpu_std::launch::{Image, Module};

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

/// The best image for a device: the largest architecture that runs there and that the driver can compile.
///
/// An image marked exact (`sm_90a`) runs on its own capability only, and is preferred to the plain one of the same
/// number; any other runs on every later capability too.
///
/// # Errors
/// [`Error::NoKernelImage`] where none runs on the capability, [`Error::DriverTooOld`] where some would but the
/// driver takes none of them.
pub fn choose(module: &Module, capability: Capability, driver: u32) -> Result<&'static Image> {
    let arch = capability.arch();
    let runs = |image: &&Image| if image.exact { image.arch == arch } else { image.arch <= arch };
    let runnable = || module.images.iter().filter(runs);
    if let Some(best) = runnable()
        .filter(|image| driver_for_isa(image.isa) <= driver)
        .max_by_key(|image| (image.arch, image.exact))
    {
        return Ok(best);
    }
    match runnable().map(|image| image.isa).min() {
        Some(needs_isa) => Err(Error::DriverTooOld {
            module: module.name.into(),
            needs_isa,
            needs_driver: driver_for_isa(needs_isa),
            driver,
        }),
        None => Err(Error::NoKernelImage {
            module: module.name.into(),
            capability,
            have: if module.images.is_empty() {
                "none".into()
            } else {
                let names = module
                    .images
                    .iter()
                    .map(|image| format!("sm_{}{}", image.arch, if image.exact { "a" } else { "" }));
                names.collect::<Vec<_>>().join(", ")
            },
        }),
    }
}

/// The image, if the kernel is in it.
///
/// # Errors
/// [`Error::NoSuchKernel`].
#[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "only a driver looks kernels up"))]
pub(crate) fn expect_kernel(module: &Module, image: &Image, kernel: &str) -> Result<()> {
    let is_name =
        |rest: &str| rest.strip_prefix(kernel).is_some_and(|rest| rest.trim_start().starts_with('('));
    if image.ptx.split(".entry").skip(1).any(|rest| is_name(rest.trim_start())) {
        return Ok(());
    }
    Err(Error::NoSuchKernel { module: module.name.into(), kernel: kernel.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_the_module_lacks_is_told_from_one_it_has() {
        let image = Image {
            arch: 75,
            exact: false,
            isa: 74,
            ptx: ".visible .entry scale_f32(\n.param .u64 a)\n{ call other; }\n.visible .entry  scale_f64 (\n)",
        };
        let module = Module { name: "scale", images: &[] };
        expect_kernel(&module, &image, "scale_f32").unwrap();
        expect_kernel(&module, &image, "scale_f64").unwrap();
        for missing in ["scale", "scale_f3", "scale_f32x", "other", "f32"] {
            let error = expect_kernel(&module, &image, missing).unwrap_err();
            assert!(
                matches!(&error, Error::NoSuchKernel { module, kernel } if module == "scale" && kernel == missing),
                "{error}"
            );
        }
    }

    const fn image(arch: u32, exact: bool, isa: u32) -> Image {
        Image { arch, exact, isa, ptx: "" }
    }

    static MODULE: Module =
        Module { name: "m", images: &[image(75, false, 74), image(90, true, 80), image(80, false, 74)] };

    fn chosen(major: u32, minor: u32, driver: u32) -> (u32, bool) {
        let image = choose(&MODULE, Capability::new(major, minor), driver).unwrap();
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
        match choose(&MODULE, Capability::new(9, 0), 11030) {
            Err(Error::DriverTooOld { needs_isa, needs_driver, driver, .. }) => {
                assert_eq!((needs_isa, needs_driver, driver), (74, 11040, 11030));
            }
            other => panic!("{other:?}"),
        }
        let text = choose(&MODULE, Capability::new(9, 0), 11030).unwrap_err().to_string();
        assert!(
            text.contains("PTX 7.4") && text.contains("CUDA 11.4") && text.contains("CUDA 11.3"),
            "{text}"
        );
    }

    #[test]
    fn a_device_older_than_every_image_is_refused() {
        match choose(&MODULE, Capability::new(7, 0), 13000) {
            Err(Error::NoKernelImage { have, .. }) => assert_eq!(have, "sm_75, sm_90a, sm_80"),
            other => panic!("{other:?}"),
        }
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
