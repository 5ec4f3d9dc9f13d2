//! Images as they are kept: whole, or as edits to another one of the same kernel.

use std::fmt::Write;
use std::path::Path;

use gpu_std::edits::{HEAD, apply, edited};
use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::builder::Image;
use crate::kernel_crate::ImageSpec;
use crate::{Error, Result, digest};

/// The PTX files of these images and what they hold: an image as edits to that for the oldest architecture where that
/// is less than half of its text.
pub fn files(images: &[Image]) -> Vec<(String, String)> {
    let base = |name: &str| {
        let of_name = images.iter().flat_map(|image| {
            image.kernels.iter().filter(|kernel| kernel.kernel == name).map(|kernel| (&image.spec, kernel))
        });
        of_name.min_by_key(|(spec, _)| spec.arch)
    };
    let mut files = Vec::new();
    for image in images {
        for kernel in &image.kernels {
            let edits = base(&kernel.kernel)
                .filter(|(spec, _)| spec.arch < image.spec.arch)
                .map(|(spec, base)| edits(spec, &base.text, &kernel.text))
                .filter(|edits| 2 * edits.len() < kernel.text.len());
            files.push((image.spec.file(&kernel.kernel), edits.unwrap_or_else(|| kernel.text.clone())));
        }
    }
    files
}

/// What makes `text` of `base`, which is for `spec`.
fn edits(spec: &ImageSpec, base: &str, text: &str) -> String {
    // The version is stated by each image, the same one or not: by it a driver's image is chosen, before it has a text.
    let old: Vec<&str> =
        base.lines().map(|line| if line.starts_with(".version") { "" } else { line }).collect();
    let new: Vec<&str> = text.lines().collect();
    let mut edits = String::new();
    // What can be known of an image without its base: who wrote it, and the optimisation level.
    for comment in new.iter().take_while(|line| line.starts_with("//")) {
        edits.push_str(comment);
        edits.push('\n');
    }
    let mut line = |text: std::fmt::Arguments<'_>| writeln!(edits, "{text}").expect("a string takes all");
    line(format_args!("{HEAD}{}:", spec.arch));
    for step in capture_diff_slices(Algorithm::Myers, &old, &new) {
        let (tag, of_old, of_new) = step.as_tag_tuple();
        if matches!(tag, DiffTag::Delete | DiffTag::Replace) {
            line(format_args!("d{} {}", of_old.start + 1, of_old.len()));
        }
        if matches!(tag, DiffTag::Insert | DiffTag::Replace) {
            line(format_args!("a{} {}", of_old.end, of_new.len()));
            for added in &new[of_new] {
                line(format_args!("{added}"));
            }
        }
    }
    edits
}

/// A PTX file.
pub struct Kept {
    /// What it holds, line endings as `\n`.
    pub file: String,
    /// The PTX.
    pub text: String,
}

/// Reads a kernel's image of these that a crate has.
///
/// # Errors
/// [`Error::Io`]; [`Error::Ptx`] where it is edits that do not fit.
pub fn read(folder: &Path, kernel: &str, image: &ImageSpec, images: &[ImageSpec]) -> Result<Kept> {
    let lines = |spec: &ImageSpec| -> Result<String> {
        let path = folder.join(spec.file(kernel));
        let bytes = std::fs::read(&path).map_err(Error::io(&path))?;
        Ok(String::from_utf8_lossy(&digest::normalised(bytes)).into_owned())
    };
    let file = lines(image)?;
    let Some(arch) = edited(&file) else { return Ok(Kept { text: file.clone(), file }) };
    let bad = || Error::Ptx {
        what: image.file(kernel),
        line: 0,
        why: format!("has edits that do not fit sm_{arch}"),
    };
    let base = images.iter().find(|spec| spec.arch == arch && *spec != image).ok_or_else(bad)?;
    let text = apply(&lines(base)?, &file).ok_or_else(bad)?;
    Ok(Kept { file, text })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finish::Finished;
    use crate::ptx::Bounds;

    fn image(arch: u32, text: &str) -> Image {
        let kernel = Finished { kernel: "k".into(), text: text.into(), bounds: Bounds::default() };
        Image { spec: ImageSpec { arch, exact: false, isa: 74 }, kernels: vec![kernel] }
    }

    #[test]
    fn like_images_are_edits_and_others_whole() {
        let body: String = (0..99).map(|line| format!("add.s32 r1,r1,{line};\n")).collect();
        let first = format!("// Written\n// -O1\n\n.version 7.4\n.target sm_75\n{{\n{body}}}\n");
        let wait =
            first.replace("75", "90").replace("{\n", "{\nwait;\n").replace("r1,40;\n", "r1,40;\ngo;\n");
        let other = first.replace("add.s32", "sub.s32");
        let files = files(&[image(75, &first), image(80, &other), image(90, &wait)]);
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["k.sm_75.ptx", "k.sm_80.ptx", "k.sm_90.ptx"]);
        assert_eq!((&files[0].1, &files[1].1), (&first, &other));
        let head = "// Written\n// -O1\n// Edits of sm_75:\nd4 2\na5 2\n.version 7.4\n.target sm_90\n";
        assert!(files[2].1.starts_with(head), "{}", files[2].1);
        assert_eq!(apply(&first, &files[2].1), Some(wait));
    }
}
