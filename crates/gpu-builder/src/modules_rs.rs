//! Writes `modules.rs`: the Rust side of the PTX, included by the kernel crate when it is compiled for the host.

use crate::manifest::ImageRecord;

/// The text: a static `gpu_std::launch::Module` for every module, with its images in the order of the records.
pub(crate) fn text(images: &[ImageRecord]) -> String {
    let mut text = String::from("// Written by gpu-builder; do not edit.\n");
    let mut names: Vec<&str> = images.iter().map(|image| image.module.as_str()).collect();
    names.dedup();
    for name in names {
        let images: Vec<_> = images.iter().filter(|image| image.module == name).collect();
        let kernels: Vec<_> = images[0].entries.keys().map(|kernel| format!("`{kernel}`")).collect();
        text.push_str(&format!(
            "\n/// Module `{name}`: {}.\npub static {}: ::gpu_std::launch::Module = ::gpu_std::launch::Module {{\n    \
             name: \"{name}\",\n    images: &[\n",
            kernels.join(", "),
            name.to_uppercase(),
        ));
        for image in images {
            text.push_str(&format!(
                "        ::gpu_std::launch::Image {{\n            arch: {},\n            exact: {},\n            \
                 isa: {},\n            ptx: include_str!(\"{}\"),\n        }},\n",
                image.arch, image.exact, image.isa, image.file
            ));
        }
        text.push_str("    ],\n};\n");
    }
    text
}
