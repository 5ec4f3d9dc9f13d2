//! Where a source can be broken, and how: barriers, fences and waits that go, orders and scopes that become weaker,
//! bounds that move by one.
//!
//! Tokens are looked at, not syntax trees: most kernels are the bodies of macros, which have none. What only a tree
//! would tell is taken from the way rustfmt writes: a comparison has spaces around it, a list of generic arguments
//! has none.

use std::ops::Range;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use serde::Serialize;

use super::operands::{bytes_of, operands, statement_start};
use super::switches::Switch;

/// One way to break a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mutation {
    /// The bytes that are replaced.
    #[serde(skip)]
    pub range: Range<usize>,
    /// From one.
    pub line: usize,
    /// In characters, from one.
    pub column: usize,
    /// What is done.
    pub operator: Operator,
    /// What stands there.
    pub original: String,
    /// What takes its place.
    pub replacement: String,
    /// How both can be in one program.
    #[serde(skip)]
    pub(super) switch: Option<Switch>,
    /// Whether it stands in the body of a `macro_rules!`.
    #[serde(skip)]
    pub(super) in_macro: bool,
}

/// A kind of mutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operator {
    /// A barrier of a block or a warp goes.
    Barrier,
    /// A fence goes.
    Fence,
    /// A wait, for copies or for the kernel before, goes.
    Wait,
    /// An order becomes weaker.
    Order,
    /// A scope becomes narrower.
    Scope,
    /// A comparison takes in the bound, or leaves it out.
    Bound,
    /// A one is not added, or not taken away.
    One,
    /// A range takes in its end, or leaves it out.
    Range,
}

/// Functions whose calls may go, which return nothing.
const CALLS: [(&str, Operator); 15] = [
    ("sync_threads", Operator::Barrier),
    ("sync_warp", Operator::Barrier),
    ("block_fence", Operator::Fence),
    ("device_fence", Operator::Fence),
    ("system_fence", Operator::Fence),
    ("fence", Operator::Fence),
    ("fence_init", Operator::Fence),
    ("fence_proxy", Operator::Fence),
    ("wait", Operator::Wait),
    ("commit", Operator::Wait),
    ("grid_dependency_synchronize", Operator::Wait),
    ("wait_all", Operator::Wait),
    ("commit_stores", Operator::Wait),
    ("wait_stores", Operator::Wait),
    ("wait_stores_read", Operator::Wait),
];

/// The same of `cluster`, whose names alone say too little.
const OF_CLUSTERS: [(&str, Operator); 2] = [("sync", Operator::Barrier), ("arrive", Operator::Barrier)];

/// Methods of barriers in memory.
const METHODS: [(&str, Operator); 6] = [
    ("wait", Operator::Wait),
    ("wait_cluster", Operator::Wait),
    ("arrive", Operator::Barrier),
    ("arrive_at", Operator::Barrier),
    ("arrive_expect", Operator::Barrier),
    ("free_at", Operator::Barrier),
];

/// Everything that can be broken in a source, in its order. Attributes, documentation and what is compiled for tests
/// only are left out.
///
/// # Errors
/// What keeps the source from being read as tokens.
pub fn mutations(source: &str) -> Result<Vec<Mutation>, String> {
    let tokens: TokenStream = source.parse().map_err(|error| format!("{error}"))?;
    let mut finder = Finder { source, found: Vec::new(), in_macro: false };
    finder.walk(&tokens.into_iter().collect::<Vec<_>>(), Delimiter::None);
    finder.found.sort_by_key(|mutation| mutation.range.start);
    Ok(finder.found)
}

struct Finder<'a> {
    source: &'a str,
    found: Vec<Mutation>,
    in_macro: bool,
}

pub(super) fn ident(token: Option<&TokenTree>) -> Option<String> {
    match token {
        Some(TokenTree::Ident(ident)) => Some(ident.to_string()),
        _ => None,
    }
}

pub(super) fn is_punct(token: Option<&TokenTree>, punct: char) -> bool {
    matches!(token, Some(TokenTree::Punct(p)) if p.as_char() == punct)
}

/// Whether the two tokens at `at` are `::`.
pub(super) fn is_path(tokens: &[TokenTree], at: usize) -> bool {
    is_punct(tokens.get(at), ':') && is_punct(tokens.get(at + 1), ':')
}

pub(super) fn is_group(token: Option<&TokenTree>, delimiter: Delimiter) -> bool {
    matches!(token, Some(TokenTree::Group(group)) if group.delimiter() == delimiter)
}

pub(super) fn bytes(token: &TokenTree) -> Range<usize> {
    token.span().byte_range()
}

impl Finder<'_> {
    /// Tokens between `group`'s delimiters.
    fn walk(&mut self, tokens: &[TokenTree], group: Delimiter) {
        let mut at = 0;
        while at < tokens.len() {
            if is_punct(tokens.get(at), '#') {
                let bracket = at + if is_punct(tokens.get(at + 1), '!') { 2 } else { 1 };
                if let Some(TokenTree::Group(group)) = tokens.get(bracket)
                    && group.delimiter() == Delimiter::Bracket
                {
                    at = bracket + 1;
                    // `cfg(test)`, and `cfg(all(test, …))`.
                    let attribute = group.stream().to_string().replace(' ', "");
                    if attribute == "cfg(test)" || attribute.starts_with("cfg(all(test,") {
                        at = self.behind_item(tokens, at);
                    }
                    continue;
                }
            }
            self.call(tokens, at);
            self.method(tokens, at, group);
            self.constant(tokens, at);
            self.comparison(tokens, at);
            self.one(tokens, at);
            self.range(tokens, at);
            if let TokenTree::Group(group) = &tokens[at] {
                let outer = self.in_macro;
                self.in_macro |=
                    at >= 3 && ident(tokens.get(at - 3)).is_some_and(|word| word == "macro_rules");
                self.walk(&group.stream().into_iter().collect::<Vec<_>>(), group.delimiter());
                self.in_macro = outer;
            }
            at += 1;
        }
    }

    /// The first token behind an item: behind its braces or semicolon.
    fn behind_item(&self, tokens: &[TokenTree], from: usize) -> usize {
        let ends = |at: &usize| is_punct(tokens.get(*at), ';') || is_group(tokens.get(*at), Delimiter::Brace);
        (from..tokens.len()).find(ends).map_or(tokens.len(), |at| at + 1)
    }

    fn add(&mut self, range: Range<usize>, operator: Operator, replacement: &str, switch: Option<Switch>) {
        let before = &self.source[..range.start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        self.found.push(Mutation {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            operator,
            original: self.source[range.clone()].to_string(),
            replacement: replacement.to_string(),
            range,
            switch,
            in_macro: self.in_macro,
        });
    }

    /// A call of one of `CALLS`, with the path before its name.
    fn call(&mut self, tokens: &[TokenTree], at: usize) {
        let Some(name) = ident(tokens.get(at)) else { return };
        let of_cluster = at >= 3
            && is_path(tokens, at - 2)
            && ident(tokens.get(at - 3)).is_some_and(|path| path == "cluster");
        let others = OF_CLUSTERS.iter().filter(|_| of_cluster);
        let Some(&(_, operator)) = CALLS.iter().chain(others).find(|(call, _)| *call == name) else { return };
        let mut end = at + 1;
        if is_path(tokens, end) && is_punct(tokens.get(end + 2), '<') {
            let closes = |at: &usize| is_punct(tokens.get(*at), '>');
            let Some(close) = (end + 3..tokens.len()).find(closes) else { return };
            end = close + 1;
        }
        let behind = tokens.get(end + 1);
        let stands_alone = behind.is_none() || is_punct(behind, ';') || is_punct(behind, ',');
        if !is_group(tokens.get(end), Delimiter::Parenthesis) || !stands_alone {
            return;
        }
        let mut start = at;
        while start >= 3 && is_path(tokens, start - 2) && ident(tokens.get(start - 3)).is_some() {
            start -= 3;
        }
        if start > 0 && is_punct(tokens.get(start - 1), '$') {
            start -= 1;
        }
        let before = start.checked_sub(1).and_then(|before| tokens.get(before));
        if is_punct(before, '.') || ident(before).is_some_and(|word| word == "fn") {
            return;
        }
        let range = bytes(&tokens[start]).start..bytes(&tokens[end]).end;
        self.add(range, operator, "()", Some(Switch::Call));
    }

    /// `….wait(…);` as a statement of its own.
    fn method(&mut self, tokens: &[TokenTree], at: usize, group: Delimiter) {
        let Some(name) = ident(tokens.get(at + 1)) else { return };
        let Some(&(_, operator)) = METHODS.iter().find(|(method, _)| *method == name) else { return };
        let behind = tokens.get(at + 3);
        let stands_alone =
            behind.is_none() && group == Delimiter::Brace || is_punct(behind, ';') || is_punct(behind, ',');
        let is_call = is_punct(tokens.get(at), '.') && is_group(tokens.get(at + 2), Delimiter::Parenthesis);
        if !is_call || !stands_alone {
            return;
        }
        if let Some(start) = statement_start(tokens, at, group) {
            let range = bytes(&tokens[start]).start..bytes(&tokens[at + 2]).end;
            self.add(range, operator, "()", Some(Switch::Call));
        }
    }

    /// `Ordering::…` and `Scope::…`.
    fn constant(&mut self, tokens: &[TokenTree], at: usize) {
        let Some(kind) = ident(tokens.get(at)) else { return };
        if !is_path(tokens, at + 1) {
            return;
        }
        let Some(variant) = ident(tokens.get(at + 3)) else { return };
        let (operator, weaker): (_, &[&str]) = match (kind.as_str(), variant.as_str()) {
            ("Ordering", "AcqRel") => (Operator::Order, &["Acquire", "Release", "Relaxed"]),
            ("Ordering", "Acquire" | "Release") => (Operator::Order, &["Relaxed"]),
            ("Scope", "Device" | "System") => (Operator::Scope, &["Block"]),
            _ => return,
        };
        // An arm of a match is no use.
        if is_punct(tokens.get(at + 4), '=') && is_punct(tokens.get(at + 5), '>') {
            return;
        }
        let mut start = at;
        while start >= 3 && is_path(tokens, start - 2) && ident(tokens.get(start - 3)).is_some() {
            start -= 3;
        }
        let whole = bytes(&tokens[start]).start..bytes(&tokens[at + 3]).end;
        for weaker in weaker {
            let switch = Switch::Constant(whole.clone());
            self.add(bytes(&tokens[at + 3]), operator, weaker, Some(switch));
        }
    }

    fn comparison(&mut self, tokens: &[TokenTree], at: usize) {
        let (less, greater) = (is_punct(tokens.get(at), '<'), is_punct(tokens.get(at), '>'));
        if !less && !greater {
            return;
        }
        let start = bytes(&tokens[at]).start;
        let or_equal = self.source[start + 1..].starts_with('=');
        let end = start + 1 + usize::from(or_equal);
        let spaced =
            self.source[..start].ends_with([' ', '\n']) && self.source[end..].starts_with([' ', '\n']);
        // Behind a comma the sign ends a list of several lines.
        let ends_list = at > 0 && is_punct(tokens.get(at - 1), ',');
        if spaced && !ends_list {
            let sign = if less { "<" } else { ">" };
            let other = if or_equal { sign.to_string() } else { format!("{sign}=") };
            let found = operands(self.source, tokens, at, 1 + usize::from(or_equal));
            let whole =
                |(left, right): (Range<usize>, Range<usize>)| bytes_of(tokens, &(left.start..right.end));
            self.add(start..end, Operator::Bound, &other, found.map(whole).map(Switch::Compare));
        }
    }

    /// `+ 1` and `- 1` behind something.
    fn one(&mut self, tokens: &[TokenTree], at: usize) {
        if !is_punct(tokens.get(at), '+') && !is_punct(tokens.get(at), '-') {
            return;
        }
        let is_one = matches!(tokens.get(at + 1), Some(TokenTree::Literal(l)) if l.to_string() == "1");
        let operand = at > 0
            && match &tokens[at - 1] {
                TokenTree::Ident(word) => word != "return" && word != "in",
                TokenTree::Literal(_) => true,
                TokenTree::Group(group) => group.delimiter() != Delimiter::Brace,
                TokenTree::Punct(_) => false,
            };
        // `1.` and what is behind it would be another number.
        if is_one && operand && !is_punct(tokens.get(at + 2), '.') {
            let start = bytes(&tokens[at]).start;
            let start = self.source[..start].trim_end().len();
            let literal = bytes(&tokens[at + 1]);
            self.add(start..literal.end, Operator::One, "", Some(Switch::One(literal)));
        }
    }

    /// `a..b` and `a..=b`, not `..rest` of a structure or pattern.
    fn range(&mut self, tokens: &[TokenTree], at: usize) {
        let dots = is_punct(tokens.get(at), '.') && is_punct(tokens.get(at + 1), '.');
        if !dots || at == 0 || matches!(&tokens[at - 1], TokenTree::Punct(_)) {
            return;
        }
        let start = bytes(&tokens[at]).start;
        if bytes(&tokens[at + 1]).start != start + 1 {
            return;
        }
        let closed = is_punct(tokens.get(at + 2), '=');
        let to = tokens.get(at + if closed { 3 } else { 2 });
        let to_number = matches!(to, Some(TokenTree::Ident(_) | TokenTree::Literal(_)))
            || is_group(to, Delimiter::Parenthesis)
            || is_punct(to, '$');
        if to_number {
            let (end, other) = if closed { (start + 3, "..") } else { (start + 2, "..=") };
            let found = operands(self.source, tokens, at, if closed { 3 } else { 2 });
            let whole =
                |(left, right): (Range<usize>, Range<usize>)| bytes_of(tokens, &(left.start..right.end));
            self.add(start..end, Operator::Range, other, found.map(whole).map(Switch::Range));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(source: &str) -> Vec<String> {
        mutations(source)
            .expect("tokens")
            .into_iter()
            .map(|Mutation { range, replacement, original, .. }| {
                assert_eq!(&source[range.clone()], original);
                format!("{}{replacement}{}", &source[..range.start], &source[range.end..])
            })
            .collect()
    }

    #[test]
    fn barriers_fences_and_waits_go_with_their_paths() {
        assert_eq!(changed("fn f() { thread::sync_threads(); }"), ["fn f() { (); }"]);
        assert_eq!(changed("fn f() { warp::sync_warp(mask(3)); }"), ["fn f() { (); }"]);
        assert_eq!(changed("fn f() { $crate::thread::device_fence() }"), ["fn f() { () }"]);
        assert_eq!(changed("m! { (a) => { async_copy::wait::<1>(); } }"), ["m! { (a) => { (); } }"]);
        assert_eq!(changed("match k { 0 => fence(o, s), _ => {} }"), ["match k { 0 => (), _ => {} }"]);
        assert_eq!(
            changed("fn f() { fence_init(); cluster::sync() }"),
            ["fn f() { (); cluster::sync() }", "fn f() { fence_init(); () }"]
        );
        assert_eq!(changed("fn f() { a; ring.empty().wait(p ^ 1); }"), ["fn f() { a; (); }"]);
        assert_eq!(changed("fn f() { if a { b } self.full[0].arrive() }"), ["fn f() { if a { b } () }"]);
        assert_eq!(
            changed("match k { 0 => full.arrive_expect(4), _ => {} }"),
            ["match k { 0 => (), _ => {} }"]
        );
        let none = [
            "pub fn sync_threads() {}",
            "use thread::{sync_threads, device_fence};",
            "fn f() { let n = states.wait(); f(states.wait()); states.wait() + 2; }",
            "fn f() { thread::sync(); }",
            "fn f() { let n = wait(3) + 2; }",
        ];
        for source in none {
            assert_eq!(changed(source), [""; 0], "{source}");
        }
    }

    #[test]
    fn orders_and_scopes_become_weaker_one_at_a_time() {
        assert_eq!(
            changed("a.fetch_add(2, Ordering::AcqRel, Scope::Device)"),
            [
                "a.fetch_add(2, Ordering::Acquire, Scope::Device)",
                "a.fetch_add(2, Ordering::Release, Scope::Device)",
                "a.fetch_add(2, Ordering::Relaxed, Scope::Device)",
                "a.fetch_add(2, Ordering::AcqRel, Scope::Block)",
            ]
        );
        assert_eq!(changed("load(Ordering::Acquire)"), ["load(Ordering::Relaxed)"]);
        assert_eq!(changed("load(Ordering::Relaxed, Scope::Block)"), [""; 0]);
        assert_eq!(changed("match o { Ordering::Acquire => 2 }"), [""; 0]);
    }

    #[test]
    fn bounds_move_by_one_and_generic_arguments_stay() {
        assert_eq!(changed("if a < b {}"), ["if a <= b {}"]);
        assert_eq!(changed("a >= b && c > d"), ["a > b && c > d", "a >= b && c >= d"]);
        assert_eq!(changed("a\n    <= b"), ["a\n    < b"]);
        assert_eq!(changed("fn f<T: A<u32>>(x: Global<u32>) -> Shared<T> { x << 2 >> 3 }"), [""; 0]);
        assert_eq!(changed("trait A:\n    B<\n    C: D<E = F>,\n>\n{\n}"), [""; 0]);
        assert_eq!(changed("x + 1"), ["x"]);
        assert_eq!(changed("y[(n - 1) / 2]"), ["y[(n) / 2]"]);
        assert_eq!(changed("f(-1, x + 10, [1, -1], x + 1.5, return -1)"), [""; 0]);
        assert_eq!(changed("for i in 0..n {}"), ["for i in 0..=n {}"]);
        assert_eq!(changed("a[1..=3]"), ["a[1..3]"]);
        assert_eq!(changed("S { a, ..s }; [a, ..]; &x[2..]"), [""; 0]);
    }

    #[test]
    fn attributes_documentation_and_tests_stay() {
        let source = "/// a < b\n#[kernel(x = 3 + 1)]\nfn f() {}\n\
            #[cfg(test)]\nmod tests { fn g() { a < b; } }\nfn h() { c < d; }\n\
            #[cfg(all(test, not(any)))]\nmod more { fn g() { a < b; } }";
        assert_eq!(changed(source).len(), 1);
        let place = &mutations(source).expect("tokens")[0];
        assert_eq!((place.line, place.column, place.operator), (6, 12, Operator::Bound));
        assert!(mutations("fn (").is_err());
    }
}
