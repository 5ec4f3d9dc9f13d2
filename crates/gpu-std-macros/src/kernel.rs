//! `#[kernel]`.

use crate::arguments::Arguments;
use crate::branches;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Error, FnArg, ItemFn, Pat, PatIdent, Result, ReturnType, Safety, Signature, Type};

/// The entry for the GPU, and the function and its launcher for the host.
pub fn expand(arguments: Arguments, mut function: ItemFn) -> Result<TokenStream> {
    let parameters = parameters(&function.sig)?;
    branches::record(&mut function.block);
    let device = device(&arguments, &function, &parameters);
    let host = host(&arguments, &function, &parameters);
    Ok(quote!(#device #host))
}

/// One parameter: its name, whether it is `mut`, its type.
struct Parameter {
    name: Ident,
    mutable: Option<syn::Token![mut]>,
    ty: Type,
}

// Refuses what a kernel cannot be, at the token that makes it so, and takes the parameters apart.
fn parameters(signature: &Signature) -> Result<Vec<Parameter>> {
    if let Some(token) = &signature.asyncness {
        return Err(Error::new_spanned(token, "a kernel cannot be `async`"));
    }
    if let Some(token) = &signature.constness {
        return Err(Error::new_spanned(token, "a kernel cannot be `const`"));
    }
    if let Safety::Unsafe(token) = &signature.safety {
        return Err(Error::new_spanned(token, "a kernel is not `unsafe`: its launch is"));
    }
    if let Some(token) = &signature.abi {
        return Err(Error::new_spanned(token, "a kernel's ABI is given by `#[kernel]`"));
    }
    if !signature.generics.params.is_empty() {
        let message =
            "a kernel cannot be generic: write a generic `#[device]` function and a kernel for each type";
        return Err(Error::new_spanned(&signature.generics, message));
    }
    if let ReturnType::Type(_, ty) = &signature.output
        && !matches!(&**ty, Type::Tuple(tuple) if tuple.elems.is_empty())
    {
        return Err(Error::new_spanned(ty, "a kernel returns nothing: write results through a `GlobalMut`"));
    }
    signature.inputs.iter().map(parameter).collect()
}

fn parameter(argument: &FnArg) -> Result<Parameter> {
    let typed = match argument {
        FnArg::Receiver(receiver) => return Err(Error::new_spanned(receiver, "a kernel is not a method")),
        FnArg::Typed(typed) => typed,
    };
    match &*typed.ty {
        Type::Reference(ty) => {
            let message =
                "a kernel takes no references: pass arrays as `Global` or `GlobalMut`, tables as `Constant`";
            return Err(Error::new_spanned(ty, message));
        }
        Type::Ptr(ty) => {
            return Err(Error::new_spanned(ty, "a kernel takes no pointers: pass a `Global` or `GlobalMut`"));
        }
        Type::ImplTrait(ty) => return Err(Error::new_spanned(ty, "a kernel cannot be generic")),
        _ => {}
    }
    match &*typed.pat {
        Pat::Ident(PatIdent { by_ref: None, subpat: None, ident, mutability, .. }) => {
            Ok(Parameter { name: ident.clone(), mutable: *mutability, ty: (*typed.ty).clone() })
        }
        pattern => Err(Error::new_spanned(pattern, "a kernel's parameter needs a plain name")),
    }
}

// What belongs to the item as a whole (`cfg`, `allow`, …) goes onto everything that is made of it, but not the docs.
fn without_docs(attributes: &[Attribute]) -> Vec<&Attribute> {
    attributes.iter().filter(|attribute| !attribute.path().is_ident("doc")).collect()
}

/// The names of the kernels that gpu-builder was asked for, with commas between; unset for all.
const ONLY: &str = "GPU_BUILDER_KERNELS";

/// The folder with the PTX, where a build script compiles it: `cargo:rustc-env=GPU_PTX_DIR=…`.
const FOLDER: &str = "GPU_PTX_DIR";

/// The name of the PTX entry.
fn entry_name(arguments: &Arguments, function: &ItemFn) -> Ident {
    let name = &function.sig.ident;
    match &arguments.prefix {
        Some(prefix) => format_ident!("{}_{}", prefix, name),
        None => name.clone(),
    }
}

/// `extern "ptx-kernel"` for the architectures that it is compiled for.
fn device(arguments: &Arguments, function: &ItemFn, parameters: &[Parameter]) -> TokenStream {
    let name = &entry_name(arguments, function);
    let asked = |only: String| only.split(',').any(|asked| name == asked);
    if arguments.images.is_empty() || !std::env::var(ONLY).map_or(true, asked) {
        return TokenStream::new();
    }
    let targets = arguments.images.iter().map(|architecture| architecture.target());
    let attributes = without_docs(&function.attrs);
    let body = &function.block;
    let (bounds, opt_level, cluster) = (bounds(arguments), arguments.opt_level, arguments.cluster);
    let marker = format_ident!("__launch_bounds_{}", name);
    let entries: Vec<_> = (0..parameters.len()).map(|index| format_ident!("entry_{}", index)).collect();
    let types: Vec<_> = parameters.iter().map(|parameter| &parameter.ty).collect();
    let declared = parameters.iter().map(|Parameter { name, mutable, ty }| quote!(#mutable #name: #ty));
    // LLVM names an entry's parameters after the entry and their position.
    let symbols: Vec<_> = (0..parameters.len()).map(|index| format!("{name}_param_{index}")).collect();
    quote! {
        #(#attributes)*
        #[cfg(all(target_arch = "nvptx64", any(#(image = #targets),*)))]
        const _: () = {
            #[unsafe(no_mangle)]
            #[allow(non_upper_case_globals)]
            pub static #marker: [u32; 4] = {
                let [threads, blocks] = #bounds;
                [threads, blocks, #opt_level, #cluster]
            };

            #[inline(always)]
            fn __kernel_body(#(#declared),*) #body

            ::gpu_std::__private::entry!(
                #name,
                (#(#entries: <#types as ::gpu_std::parameter::Parameter>::Entry),*),
                {
                    // SAFETY: each address is that of the parameter beside it.
                    unsafe {
                        __kernel_body(#(<#types as ::gpu_std::parameter::Parameter>::from_entry(
                            #entries,
                            ::gpu_std::__private::parameter_address!(#symbols),
                        )),*)
                    }
                }
            );
        };
    }
}

/// `[threads, blocks]`, 0 for what was not given.
fn bounds(arguments: &Arguments) -> TokenStream {
    let number = |bound: &Option<syn::Expr>| match bound {
        Some(bound) => quote!(#bound),
        None => quote!(0),
    };
    let (threads, blocks) = (number(&arguments.threads), number(&arguments.blocks));
    quote!([#threads, #blocks])
}

/// The function itself, run by the simulator, and a type of the same name: a `Kernel` with `META` and `launch`.
fn host(arguments: &Arguments, function: &ItemFn, parameters: &[Parameter]) -> TokenStream {
    let ItemFn { attrs, vis, sig, block, .. } = function;
    let name = &sig.ident;
    let text = entry_name(arguments, function).to_string();
    let attributes = without_docs(attrs);
    let folder = match std::env::var_os(FOLDER) {
        Some(_) => quote!(::core::env!(#FOLDER), "/"),
        None => quote!(::core::env!("CARGO_MANIFEST_DIR"), "/ptx/"),
    };
    let images = arguments.images.iter().map(|architecture| {
        let (arch, exact) = (architecture.number, architecture.exact);
        let file = format!("{text}.{}.ptx", architecture.target());
        quote!(::gpu_std::launch::Image {
            arch: #arch,
            exact: #exact,
            ptx: ::gpu_std::__private::ptx!(::core::concat!(#folder, #file)),
        })
    });
    let bounds = bounds(arguments);
    let (programmatic, cluster) = (arguments.programmatic, arguments.cluster.max(1));
    let names: Vec<_> = parameters.iter().map(|parameter| &parameter.name).collect();
    let types: Vec<_> = parameters.iter().map(|parameter| &parameter.ty).collect();
    // Hygienic, so that a kernel's own parameter may have the same name.
    let target = Ident::new("target", Span::mixed_site());
    let config = Ident::new("config", Span::mixed_site());
    // A type that is no parameter is reported where it stands in the kernel's signature.
    let checks = types.iter().map(|ty| quote_spanned!(ty.span()=> parameter::<#ty>();));
    let docs = format!("The launcher of the kernel `{text}`.");
    let line = quote_spanned!(name.span()=> ::core::line!());
    // `meta` hands out a static of its own: targets may tell kernels apart by its address.
    quote! {
        #(#attrs)*
        // Compiled where it is first used, so that nobody pays for kernels that are not.
        #[inline]
        #[cfg(not(target_arch = "nvptx64"))]
        #[allow(clippy::too_many_arguments, dead_code)]
        #vis #sig #block

        // A type rather than a module: it sees what the kernel's signature sees, inside a function too.
        #[doc = #docs]
        #(#attributes)*
        #[cfg(not(target_arch = "nvptx64"))]
        #[allow(non_camel_case_types)]
        #vis enum #name {}

        #(#attributes)*
        #[cfg(not(target_arch = "nvptx64"))]
        impl #name {
            /// What is known of the kernel before it is launched.
            pub const META: ::gpu_std::launch::KernelMeta = ::gpu_std::launch::KernelMeta {
                name: #text,
                images: &[#(#images),*],
                parameters: &[#(<#types as ::gpu_std::parameter::Parameter>::BYTES),*],
                file: ::core::file!(),
                line: #line,
                max_threads: if Self::BOUNDS[0] == 0 { 1024 } else { Self::BOUNDS[0] },
                min_blocks: Self::BOUNDS[1],
                cluster: #cluster,
                programmatic: #programmatic,
            };

            const BOUNDS: [u32; 2] = #bounds;

            #[allow(dead_code)]
            const PARAMETERS: () = {
                const fn parameter<T: ::gpu_std::parameter::Parameter>() {}
                #(#checks)*
            };

            /// Launches the kernel on a CUDA stream or the simulator: [`Kernel::launch_on`] with one argument after
            /// the other.
            ///
            /// [`Kernel::launch_on`]: ::gpu_std::launch::Kernel::launch_on
            ///
            /// # Errors
            /// Those of the target.
            ///
            /// # Safety
            /// Until the kernel has ended, every accessor among the arguments must address memory of the target that is
            /// valid for all the accesses the kernel makes through it with this configuration, and nothing else may
            /// write what the kernel reads or writes.
            #[allow(clippy::too_many_arguments)]
            pub unsafe fn launch<L: ::gpu_std::launch::LaunchTarget>(
                #target: &L,
                #config: ::gpu_std::launch::LaunchConfig,
                #(#names: #types),*
            ) -> ::core::result::Result<(), L::Error> {
                // SAFETY: the caller promises it.
                unsafe { <Self as ::gpu_std::launch::Kernel>::launch_on(#target, #config, (#(#names,)*)) }
            }
        }

        #(#attributes)*
        #[cfg(not(target_arch = "nvptx64"))]
        // SAFETY: bytes, thread and META are those of the one kernel, and the bytes those of its parameters in order.
        unsafe impl ::gpu_std::launch::Kernel for #name {
            type Arguments = (#(#types,)*);

            const META: ::gpu_std::launch::KernelMeta = #name::META;

            fn meta() -> &'static ::gpu_std::launch::KernelMeta {
                static META: ::gpu_std::launch::KernelMeta = #name::META;
                &META
            }

            unsafe fn launch_on<L: ::gpu_std::launch::LaunchTarget>(
                #target: &L,
                #config: ::gpu_std::launch::LaunchConfig,
                (#(#names,)*): Self::Arguments,
            ) -> ::core::result::Result<(), L::Error> {
                let arguments = [#(::gpu_std::launch::Arg::new(&#names)),*];
                let thread = ::gpu_std::__private::thread!(#name(#(#names),*));
                let invocation = ::gpu_std::launch::Invocation {
                    kernel: <Self as ::gpu_std::launch::Kernel>::meta(),
                    config: #config,
                    args: &arguments,
                    thread: &thread,
                };
                // SAFETY: the caller promises it.
                unsafe { ::gpu_std::launch::LaunchTarget::launch(#target, &invocation) }
            }
        }
    }
}
