//! The PTX of both forms of a branch, listings 5.4 and 5.5, compared.

use gpu_calibrate_kernels as kernels;
use gpu_std::launch::KernelMeta;

/// A kernel's PTX, and what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The kernel.
    pub kernel: &'static str,
    /// The text from the entry on.
    pub text: String,
    /// Instructions in all, labels and declarations aside.
    pub instructions: usize,
    /// Those that branch.
    pub branches: usize,
    /// Those that access global memory.
    pub accesses: usize,
    /// Those that compute with floats.
    pub floats: usize,
}

/// The divergent form and the merged one. Without text where the program has no PTX.
pub fn listings() -> [Listing; 2] {
    [&kernels::calibrate_divergent::META, &kernels::calibrate_merged::META].map(listing)
}

fn listing(kernel: &'static KernelMeta) -> Listing {
    let ptx = kernel.images.first().map_or("", |image| image.ptx);
    let text = ptx.find(".visible").map_or("", |start| &ptx[start..]);
    let body = text.split_once('{').map_or("", |(_, body)| body);
    let lines = body
        .lines()
        .map(str::trim)
        .filter(|line| line.ends_with(';') && !line.starts_with('.') && !line.starts_with("//"));
    // A guard is no part of the instruction.
    let operations: Vec<&str> = lines
        .map(
            |line| {
                if line.starts_with('@') { line.split_once(' ').map_or("", |(_, rest)| rest) } else { line }
            },
        )
        .collect();
    let count = |what: fn(&str) -> bool| operations.iter().filter(|line| what(line)).count();
    Listing {
        kernel: kernel.name,
        instructions: operations.len(),
        branches: count(|line| line.starts_with("bra")),
        accesses: count(|line| line.contains(".global.b") || line.contains(".global.f")),
        floats: count(|line| line.contains(".f32")),
        text: text.to_owned(),
    }
}
