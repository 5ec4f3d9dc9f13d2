//! What stands in the parentheses of `#[kernel(…)]`.

use syn::parse::{Parse, ParseStream};
use syn::{Error, Expr, Ident, LitInt, Result, Token, parenthesized};

/// `images = sm_75_90, prefix = name, launch_bounds(threads, blocks), cluster = 2, opt_level = 1, programmatic`, in any
/// order.
#[derive(Default)]
pub struct Arguments {
    /// The architectures that it is compiled for; none for a kernel that only the simulator runs.
    pub images: Vec<Architecture>,
    /// What stands before the function's name in that of the entry.
    pub prefix: Option<Ident>,
    pub threads: Option<Expr>,
    pub blocks: Option<Expr>,
    /// Blocks of a cluster, 1 to 8; 0 where not given.
    pub cluster: u32,
    /// The assembler's optimisation level, 1 to 3; 0 where not given.
    pub opt_level: u32,
    pub programmatic: bool,
}

/// `75` or, where code runs on exactly that capability, `90a`.
pub struct Architecture {
    pub number: u32,
    pub exact: bool,
}

impl Architecture {
    /// As the compiler names it: `sm_75`, `sm_90a`.
    pub fn target(&self) -> String {
        format!("sm_{}{}", self.number, if self.exact { "a" } else { "" })
    }
}

/// `sm_75_90a`: one word, so that a `macro_rules!` macro can hand it on as an identifier.
fn architectures(word: &Ident) -> Result<Vec<Architecture>> {
    let text = word.to_string();
    let parse = |part: &str| {
        let digits = part.strip_suffix('a').unwrap_or(part);
        Some(Architecture { number: digits.parse().ok()?, exact: digits != part })
    };
    let list: Option<Vec<_>> = text.strip_prefix("sm_").and_then(|list| list.split('_').map(parse).collect());
    match list {
        Some(list) if list.is_sorted_by(|a, b| (a.number, a.exact) < (b.number, b.exact)) => Ok(list),
        _ => {
            let message =
                format!("expected compute capabilities in ascending order, as `sm_75_90a`, found `{text}`");
            Err(Error::new(word.span(), message))
        }
    }
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut arguments = Self::default();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            if key == "images" {
                if !arguments.images.is_empty() {
                    return Err(Error::new(key.span(), "`images` is given twice"));
                }
                input.parse::<Token![=]>()?;
                arguments.images = architectures(&input.parse()?)?;
            } else if key == "prefix" {
                if arguments.prefix.is_some() {
                    return Err(Error::new(key.span(), "`prefix` is given twice"));
                }
                input.parse::<Token![=]>()?;
                arguments.prefix = Some(input.parse()?);
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
            } else if key == "cluster" {
                if arguments.cluster != 0 {
                    return Err(Error::new(key.span(), "`cluster` is given twice"));
                }
                input.parse::<Token![=]>()?;
                let blocks: LitInt = input.parse()?;
                arguments.cluster = blocks.base10_parse()?;
                if !(1..=8).contains(&arguments.cluster) {
                    return Err(Error::new(
                        blocks.span(),
                        format!("`cluster` is 1 to 8 blocks, found {blocks}"),
                    ));
                }
            } else if key == "opt_level" {
                if arguments.opt_level != 0 {
                    return Err(Error::new(key.span(), "`opt_level` is given twice"));
                }
                input.parse::<Token![=]>()?;
                let level: LitInt = input.parse()?;
                arguments.opt_level = level.base10_parse()?;
                if !(1..=3).contains(&arguments.opt_level) {
                    return Err(Error::new(level.span(), format!("`opt_level` is 1, 2 or 3, found {level}")));
                }
            } else if key == "programmatic" {
                if arguments.programmatic {
                    return Err(Error::new(key.span(), "`programmatic` is given twice"));
                }
                arguments.programmatic = true;
            } else {
                let message = format!(
                    "unknown argument `{key}`; expected `images = …`, `prefix = …`, `launch_bounds(…)`, `cluster = …`, \
                     `opt_level = …` or `programmatic`"
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
