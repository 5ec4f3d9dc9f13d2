//! `#[derive(Parameter)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Result};

/// Both traits for a struct of numbers, with the checks that make them sound.
pub fn expand(input: DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(name, "only structs can be kernel parameters"));
    };
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(&input.generics, "a parameter struct cannot be generic"));
    }
    let mut is_c = false;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            is_c |= meta.path.is_ident("C") || meta.path.is_ident("transparent");
            if meta.input.peek(syn::token::Paren) {
                let inside;
                syn::parenthesized!(inside in meta.input);
                inside.parse::<TokenStream>()?;
            }
            Ok(())
        })?;
    }
    if !is_c {
        return Err(Error::new_spanned(
            name,
            "a parameter struct must be `#[repr(C)]`, the same on host and GPU",
        ));
    }
    let fields = match &data.fields {
        Fields::Named(fields) => fields.named.iter().collect::<Vec<_>>(),
        Fields::Unnamed(fields) => fields.unnamed.iter().collect(),
        Fields::Unit => return Err(Error::new_spanned(name, "a parameter struct needs a field")),
    };
    let checks = fields.iter().map(|field| {
        let field_type = &field.ty;
        quote::quote_spanned!(field_type.span()=> plain::<#field_type>();)
    });
    Ok(quote! {
        const _: () = {
            const fn plain<T: ::gpu_std::parameter::Plain>() {}
            const fn check() {
                #(#checks)*
            }
            check();
            ::core::assert!(
                ::core::mem::align_of::<#name>() <= 16,
                "a parameter struct is aligned to at most 16 bytes"
            );
            // SAFETY: `#[repr(C)]`, and every field is plain: checked above.
            unsafe impl ::gpu_std::parameter::Plain for #name {}
            // SAFETY: the same struct on both sides, aligned to at most 16 bytes.
            unsafe impl ::gpu_std::parameter::Parameter for #name {
                ::gpu_std::__by_value!();
            }
        };
    })
}
