//! Reads PTX text into its top-level items: directives, variables, functions and entries.
//!
//! Only what the compiler writes is understood, and of function bodies only the words: enough to rewrite headers, to
//! follow references and to look at the memory instructions.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use crate::{Error, Result};

/// What a top-level item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `.version`, `.target`, `.address_size`, `.file`, `.section`, `.alias`, …
    Directive,
    /// A variable of the module.
    Variable,
    /// A function without its body.
    Prototype,
    /// A function that kernels call.
    Function,
    /// A kernel.
    Entry,
}

/// One top-level item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What it is.
    pub kind: Kind,
    /// What it is called; of a directive, the directive itself.
    pub name: String,
    /// Its text, without comments and blank lines.
    pub text: String,
    /// Where it begins, from 1.
    pub line: usize,
}

/// One parameter of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u32,
}

/// The sizes of block that a kernel is compiled for; 0 where nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Bounds {
    /// The most threads of a block (`.maxntid`).
    pub max_threads: u32,
    /// The blocks that are to fit on a multiprocessor (`.minnctapersm`).
    pub min_blocks: u32,
}

/// A PTX text.
#[derive(Clone, Debug)]
pub struct Ptx {
    /// Its items in order.
    pub items: Vec<Item>,
}

impl Ptx {
    /// Reads a text; `name` is for errors.
    ///
    /// # Errors
    /// [`Error::Ptx`] where an item does not end.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let text = &without_comments(text);
        let mut items = Vec::new();
        let mut at = 0;
        while let Some(skip) = text[at..].find(|c: char| !c.is_whitespace()) {
            let start = at + skip;
            let line = 1 + text[..start].matches('\n').count();
            let (kind, end) = item(&text[start..]).ok_or_else(|| Error::Ptx {
                what: name.into(),
                line,
                why: "the text ends inside this item".into(),
            })?;
            at = start + end;
            let text = without_blank_lines(&text[start..at]);
            items.push(Item { kind, name: item_name(kind, &text), text, line });
        }
        Ok(Self { items })
    }

    /// The kernels, in order.
    pub fn entries(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| item.kind == Kind::Entry)
    }

    /// The version of PTX that it states, times ten.
    pub fn isa(&self) -> Option<u32> {
        let (major, minor) = self.directive(".version")?.split_once('.')?;
        Some(major.parse::<u32>().ok()? * 10 + minor.parse::<u32>().ok()?)
    }

    /// The target that it states: `sm_75`.
    pub fn target(&self) -> Option<&str> {
        self.directive(".target")
    }

    /// The assembler's optimisation level, from the comment `// -O1` at the head of a text; `None` where it says
    /// nothing.
    pub fn opt_level(text: &str) -> Option<u32> {
        let mut comments = text.lines().take_while(|line| line.starts_with("//"));
        comments.find_map(|line| line.strip_prefix("// -O")?.parse().ok())
    }

    fn directive(&self, name: &str) -> Option<&str> {
        let item = self.items.iter().find(|item| item.kind == Kind::Directive && item.name == name)?;
        Some(item.text[name.len()..].trim())
    }

    /// The items of each name, directives apart: what [`Ptx::reached`] follows references with.
    pub fn index(&self) -> HashMap<&str, Vec<usize>> {
        let mut index: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, item) in self.items.iter().enumerate().filter(|(_, item)| item.kind != Kind::Directive) {
            index.entry(&item.name).or_default().push(at);
        }
        index
    }

    /// The items that are reached from `root`, itself included, as indices into `items`, in order.
    pub fn reached(&self, root: &Item, index: &HashMap<&str, Vec<usize>>) -> Vec<usize> {
        let mut reached: BTreeSet<usize> = BTreeSet::new();
        let mut open = vec![root.name.as_str()];
        while let Some(name) = open.pop() {
            for &at in index.get(name).into_iter().flatten() {
                if reached.insert(at) {
                    open.extend(
                        words(&self.items[at].text).filter(|word| *word != name && index.contains_key(word)),
                    );
                }
            }
        }
        reached.into_iter().collect()
    }
}

impl Item {
    /// The text between the braces; empty where there are none.
    pub fn body(&self) -> &str {
        match (self.kind, self.params_range()) {
            (Kind::Function | Kind::Entry, params) => {
                let head = params.map_or(0, |range| range.end);
                self.text[head..].find('{').map_or("", |brace| &self.text[head + brace..])
            }
            _ => "",
        }
    }

    /// What stands between the parameters and the body: `.maxntid` and the like.
    pub fn performance_directives(&self) -> &str {
        let from = self.params_range().map_or(0, |range| range.end);
        let rest = &self.text[from..];
        rest[..rest.find('{').unwrap_or(rest.len())].trim()
    }

    /// The launch bounds that it states.
    pub fn bounds(&self) -> Bounds {
        let number = |name: &str| {
            let rest = &self.performance_directives().split_once(name)?.1;
            rest.trim_start().split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        Bounds {
            max_threads: number(".maxntid").unwrap_or(0),
            min_blocks: number(".minnctapersm").unwrap_or(0),
        }
    }

    /// The parameters of an entry.
    pub fn params(&self) -> Vec<Param> {
        let Some(range) = self.params_range() else { return Vec::new() };
        let list = &self.text[range.start + 1..range.end - 1];
        list.split(',').filter_map(param).collect()
    }

    /// The parentheses around the parameters, both included.
    pub(crate) fn params_range(&self) -> Option<Range<usize>> {
        let from = self.text.find(&self.name)? + self.name.len();
        let rest = self.text[from..].trim_start();
        if !rest.starts_with('(') {
            return None;
        }
        let start = self.text.len() - rest.len();
        Some(start..start + closing(&self.text[start..], '(', ')')?)
    }
}

/// The identifiers of a text: the words that may be names of items.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$')).filter(|word| !word.is_empty())
}

/// The kind of the item that a text begins with, and its length.
fn item(text: &str) -> Option<(Kind, usize)> {
    let first = text.split_whitespace().next()?;
    if matches!(first, ".version" | ".target" | ".address_size" | ".file" | ".loc") {
        return Some((Kind::Directive, text.find('\n').unwrap_or(text.len())));
    }
    if first == ".section" {
        let brace = text.find('{')?;
        return Some((Kind::Directive, brace + closing(&text[brace..], '{', '}')?));
    }
    let head = &text[..text.find(['(', '{', '=', ';'])?];
    let has = |word| head.split_whitespace().any(|other| other == word);
    let function = match (has(".entry"), has(".func")) {
        (true, _) => Some(Kind::Entry),
        (_, true) => Some(Kind::Function),
        _ => None,
    };
    let (mut depth, mut quoted) = (0usize, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '{' => depth += 1,
            ')' | '}' => {
                depth = depth.checked_sub(1)?;
                if c == '}' && depth == 0 && function.is_some() {
                    return Some((function?, at + 1));
                }
            }
            ';' if depth == 0 => {
                let variable = [".global", ".const", ".shared", ".local"].into_iter().any(has);
                return Some((
                    match function {
                        Some(_) => Kind::Prototype,
                        None if variable => Kind::Variable,
                        None => Kind::Directive,
                    },
                    at + 1,
                ));
            }
            _ => {}
        }
    }
    None
}

fn item_name(kind: Kind, text: &str) -> String {
    let name = match kind {
        Kind::Directive => text.split_whitespace().next(),
        Kind::Variable => {
            let head = text.split(['=', ';']).next().unwrap_or("");
            head.split_whitespace().next_back().and_then(|word| word.split('[').next())
        }
        Kind::Prototype | Kind::Function | Kind::Entry => {
            let after = text.split_once(".entry").or_else(|| text.split_once(".func"));
            let mut rest = after.map_or("", |(_, rest)| rest).trim_start();
            if rest.starts_with('(') {
                rest = rest[closing(rest, '(', ')').unwrap_or(0)..].trim_start();
            }
            words(rest).next()
        }
    };
    name.unwrap_or("").to_string()
}

/// The length of a text up to and with the bracket that closes its first one.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(at + 1);
            }
        }
    }
    None
}

fn param(text: &str) -> Option<Param> {
    let name = text.split_whitespace().next_back()?;
    let (name, count) = match name.split_once('[') {
        Some((name, count)) => (name, count.trim_end_matches(']').parse().ok()?),
        None => (name, 1),
    };
    let bits = |word: &str| word.strip_prefix(['.'])?.strip_prefix(['b', 'u', 's', 'f'])?.parse::<u32>().ok();
    let bits = text.split_whitespace().find_map(bits)?;
    Some(Param { name: name.into(), bytes: bits / 8 * count })
}

/// The text with every comment gone and every line where it was.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut quoted = false;
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('/', Some('/')) if !quoted => while chars.next_if(|c| *c != '\n').is_some() {},
            ('/', Some('*')) if !quoted => {
                chars.next();
                let mut last = ' ';
                for c in chars.by_ref() {
                    if c == '\n' {
                        out.push(c);
                    }
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
            }
            _ => {
                quoted ^= c == '"';
                if c != '\r' {
                    out.push(c);
                }
            }
        }
    }
    out
}

fn without_blank_lines(text: &str) -> String {
    let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
#[path = "ptx_tests.rs"]
mod tests;
