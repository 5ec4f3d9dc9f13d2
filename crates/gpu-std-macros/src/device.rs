//! `#[device]`.

use crate::branches;
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, Error, ImplItemFn, ItemFn, Result, Signature, TraitItemFn, parse_quote};

/// Inlining and recording for a function, a method, or a trait's provided method.
pub fn expand(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    if !arguments.is_empty() {
        return Err(Error::new_spanned(arguments, "`#[device]` takes no arguments"));
    }
    if let Ok(mut function) = syn::parse2::<ItemFn>(item.clone()) {
        check(&function.sig)?;
        if function.sig.constness.is_none() {
            branches::record(&mut function.block);
        }
        inline(&mut function.attrs);
        return Ok(function.into_token_stream());
    }
    if let Ok(mut method) = syn::parse2::<ImplItemFn>(item.clone()) {
        check(&method.sig)?;
        if method.sig.constness.is_none() {
            branches::record(&mut method.block);
        }
        inline(&mut method.attrs);
        return Ok(method.into_token_stream());
    }
    if let Ok(mut method) = syn::parse2::<TraitItemFn>(item.clone()) {
        check(&method.sig)?;
        let Some(body) = &mut method.default else {
            return Err(Error::new_spanned(
                method,
                "`#[device]` needs a body; put it on the implementations",
            ));
        };
        branches::record(body);
        inline(&mut method.attrs);
        return Ok(method.into_token_stream());
    }
    // Whatever it is, rustc says best what is wrong with it if it is not even a function.
    let item = syn::parse2::<syn::Item>(item)?;
    Err(Error::new_spanned(item, "`#[device]` stands on functions"))
}

fn check(signature: &Signature) -> Result<()> {
    if let Some(token) = &signature.asyncness {
        return Err(Error::new_spanned(token, "a device function cannot be `async`"));
    }
    Ok(())
}

// A call on the GPU would put arguments and accumulator arrays into local memory, and hide from LLVM which memory an
// accessor points to.
fn inline(attributes: &mut Vec<Attribute>) {
    if attributes.iter().any(|attribute| attribute.path().is_ident("inline")) {
        return;
    }
    attributes.push(parse_quote!(#[cfg_attr(target_arch = "nvptx64", inline(always))]));
    attributes.push(parse_quote!(#[cfg_attr(not(target_arch = "nvptx64"), inline)]));
}
