//! The attributes of `gpu-std`: `#[kernel]`, `#[device]` and `#[derive(Parameter)]`. Use them through `gpu_std`.

mod arguments;
mod branches;
mod device;
mod kernel;
mod parameter;

use proc_macro::TokenStream;

/// Makes a function a kernel.
///
/// `#[kernel(images = sm_75_90, launch_bounds(256, 4))]`: every part is optional, each bound a constant
/// `u32` expression, the second one optional.
///
/// - `images` names the architectures that gpu-builder compiles it for, in one word: `sm_75_90` for the compute
///   capabilities 7.5 and 9.0, each with all later ones; `sm_90a` for exactly 9.0. On the GPU's target the entry is
///   there under `cfg(image = "sm_75")` and `cfg(image = "sm_90")`; for the host its PTX is taken from
///   `ptx/<entry>.sm_75.ptx` of the kernel crate, or of the folder that the environment variable `GPU_PTX_DIR` names
///   to the compiler. Without `images` the kernel runs in the simulator only.
/// - `prefix = segments` names the entry `segments_f` where the function is `f`: entries of one crate need different
///   names.
/// - `launch_bounds(threads, blocks)`: the most threads of a block, and how many blocks should fit on a multiprocessor.
/// - `cluster = 2`: blocks come in clusters of so many neighbours in x, 8 at most (`gpu_std::cluster`); of capability
///   9.0 and later.
/// - `opt_level = 1`: what the driver's assembler is to spend on it, from 1 to 3; where it is not given, the driver's
///   own level, its highest. A kernel that is as fast with 1 is there a tenth to a fifth sooner when it is used for
///   the first time: measure both.
/// - `programmatic`: see `gpu_std::launch::KernelMeta`.
///
/// On the host a kernel `f` gives the function `f` (one thread of it) and a type `f`: a `gpu_std::launch::Kernel`, with
/// the constant `META` and `unsafe fn launch(target, config, …)` taking `f`'s arguments.
///
/// A kernel takes values (`gpu_std::parameter::Parameter`) and returns nothing; it is not generic, `async`, `const`,
/// `unsafe` or `extern`. Its branches and loops are recorded in the simulator at their own lines, as in `#[device]`.
#[proc_macro_attribute]
pub fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let result = syn::parse(arguments)
        .and_then(|arguments| syn::parse(item).and_then(|function| kernel::expand(arguments, function)));
    result.unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Marks a function that kernels call: inlined on the GPU, its branches recorded in the simulator.
///
/// It may be generic, a method or an associated function. A `const fn` is left as it is, apart from inlining: the
/// simulator sees no branches of it.
#[proc_macro_attribute]
pub fn device(arguments: TokenStream, item: TokenStream) -> TokenStream {
    device::expand(arguments.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a `#[repr(C)]` struct of numbers a kernel parameter.
#[proc_macro_derive(Parameter)]
pub fn parameter(item: TokenStream) -> TokenStream {
    syn::parse(item).and_then(parameter::expand).unwrap_or_else(syn::Error::into_compile_error).into()
}
