//! The rewriting of branches and loops, so that the simulator sees which way each thread went.
//!
//! Every token written here carries the span of the user's `if`, `while`, `for`, `loop` or `match`: the hooks are
//! `#[track_caller]`, and the location they report is that span. A span made by the macro would report the attribute's
//! line instead.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprForLoop, ExprIf, ExprMatch, ExprWhile, Item, Stmt, Type, parse_quote_spanned};

/// Rewrites the branches of a function's body.
pub fn record(body: &mut Block) {
    Recorder.visit_block_mut(body);
}

struct Recorder;

impl VisitMut for Recorder {
    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        // Evaluated by the compiler: nothing there is a branch of a thread.
        if matches!(expression, Expr::Const(_)) {
            return;
        }
        visit_mut::visit_expr_mut(self, expression);
        match expression {
            Expr::If(branch) => record_if(branch),
            Expr::Match(choice) => record_match(choice),
            Expr::Loop(repeat) => {
                let tick = tick(repeat.loop_token.span());
                repeat.body.stmts.insert(0, tick);
            }
            Expr::While(_) | Expr::ForLoop(_) => {
                let taken = std::mem::replace(expression, Expr::Verbatim(TokenStream::new()));
                *expression = match taken {
                    Expr::While(repeat) => record_while(repeat),
                    Expr::ForLoop(repeat) => record_for(repeat),
                    other => other,
                };
            }
            _ => {}
        }
    }

    // Items inside a body are functions of their own; types hold only constants.
    fn visit_item_mut(&mut self, _: &mut Item) {}
    fn visit_type_mut(&mut self, _: &mut Type) {}
    fn visit_generic_argument_mut(&mut self, _: &mut syn::GenericArgument) {}
    fn visit_pat_mut(&mut self, _: &mut syn::Pat) {}

    // The length of `[x; N]` is a constant.
    fn visit_expr_repeat_mut(&mut self, repeat: &mut syn::ExprRepeat) {
        self.visit_expr_mut(&mut repeat.expr);
    }
}

fn arm(span: Span, number: usize) -> Stmt {
    let number = u32::try_from(number).expect("fewer arms than 2^32");
    syn::parse2(quote_spanned!(span=> ::gpu_std::branch::arm(#number);)).expect("a statement")
}

fn tick(span: Span) -> Stmt {
    syn::parse2(quote_spanned!(span=> ::gpu_std::branch::tick();)).expect("a statement")
}

// `let` may stand anywhere in a chain of `&&`; such a condition cannot be an argument.
fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        Expr::Paren(inner) => has_let(&inner.expr),
        Expr::Group(inner) => has_let(&inner.expr),
        _ => false,
    }
}

fn hooked(span: Span, condition: &Expr) -> Expr {
    syn::parse2(quote_spanned!(span=> ::gpu_std::branch::condition(#condition))).expect("an expression")
}

fn record_if(branch: &mut ExprIf) {
    let span = branch.if_token.span();
    if !has_let(&branch.cond) {
        *branch.cond = hooked(span, &branch.cond);
        return;
    }
    branch.then_branch.stmts.insert(0, arm(span, 1));
    let missed = arm(span, 0);
    match &mut branch.else_branch {
        Some((_, other)) => {
            let before = std::mem::replace(&mut **other, Expr::Verbatim(TokenStream::new()));
            **other = match before {
                Expr::Block(mut block) if block.label.is_none() => {
                    block.block.stmts.insert(0, missed);
                    Expr::Block(block)
                }
                before => parse_quote_spanned!(span=> { #missed #before }),
            };
        }
        None => {
            let otherwise: Expr = parse_quote_spanned!(span=> { #missed });
            branch.else_branch = Some((syn::Token![else](span), Box::new(otherwise)));
        }
    }
}

fn record_match(choice: &mut ExprMatch) {
    if choice.arms.len() < 2 {
        return;
    }
    let span = choice.match_token.span();
    for (number, taken) in choice.arms.iter_mut().enumerate() {
        let mark = arm(span, number);
        let body = &taken.body;
        *taken.body = syn::parse2(quote_spanned!(span=> { #mark #body })).expect("a block");
    }
}

fn record_while(mut repeat: ExprWhile) -> Expr {
    let span = repeat.while_token.span();
    if !has_let(&repeat.cond) {
        *repeat.cond = hooked(span, &repeat.cond);
        repeat.body.stmts.insert(0, tick(span));
        return Expr::While(repeat);
    }
    // There is no place in a `while let` that is reached exactly when it ends, so it becomes a loop with a break.
    let ExprWhile { attrs, label, cond, mut body, .. } = repeat;
    body.stmts.insert(0, tick(span));
    body.stmts.insert(0, arm(span, 1));
    let missed = arm(span, 0);
    syn::parse2(quote_spanned!(span=> #(#attrs)* #label loop { if #cond #body else { #missed break; } }))
        .expect("a loop")
}

fn record_for(repeat: ExprForLoop) -> Expr {
    let span = repeat.for_token.span();
    let ExprForLoop { attrs, label, pat, expr, mut body, .. } = repeat;
    body.stmts.insert(0, tick(span));
    // What `for` means, with the hook around `next`. Its name is the macro's own, so that the body cannot see it.
    let iterator = syn::Ident::new("iterator", Span::mixed_site());
    syn::parse2(quote_spanned!(span=>
        match ::core::iter::IntoIterator::into_iter(#expr) {
            #[allow(clippy::redundant_pattern_matching)]
            mut #iterator => #(#attrs)* #label while let ::core::option::Option::Some(#pat) =
                ::gpu_std::branch::next(&mut #iterator) #body
        }
    ))
    .expect("a loop")
}
