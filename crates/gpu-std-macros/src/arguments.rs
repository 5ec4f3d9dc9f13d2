//! What stands in the parentheses of `#[kernel(…)]`.

use syn::parse::{Parse, ParseStream};
use syn::{Error, Expr, Ident, Result, Token, parenthesized};

/// `module = name, launch_bounds(threads, blocks), programmatic`, in any order.
#[derive(Default)]
pub struct Arguments {
    pub module: Option<Ident>,
    pub threads: Option<Expr>,
    pub blocks: Option<Expr>,
    pub programmatic: bool,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut arguments = Self::default();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            if key == "module" {
                if arguments.module.is_some() {
                    return Err(Error::new(key.span(), "`module` is given twice"));
                }
                input.parse::<Token![=]>()?;
                arguments.module = Some(input.parse()?);
            } else if key == "launch_bounds" {
                if arguments.threads.is_some() {
                    return Err(Error::new(key.span(), "`launch_bounds` is given twice"));
                }
                let bounds;
                parenthesized!(bounds in input);
                let list = bounds.parse_terminated(Expr::parse, Token![,])?;
                if list.is_empty() || list.len() > 2 {
                    let message = format!(
                        "`launch_bounds` takes the most threads of a block and, optionally, the blocks of a \
                         multiprocessor: 1 or 2 numbers, found {}",
                        list.len()
                    );
                    return Err(Error::new(key.span(), message));
                }
                let mut list = list.into_iter();
                arguments.threads = list.next();
                arguments.blocks = list.next();
            } else if key == "programmatic" {
                if arguments.programmatic {
                    return Err(Error::new(key.span(), "`programmatic` is given twice"));
                }
                arguments.programmatic = true;
            } else {
                let message = format!(
                    "unknown argument `{key}`; expected `module = …`, `launch_bounds(…)` or `programmatic`"
                );
                return Err(Error::new(key.span(), message));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(arguments)
    }
}
