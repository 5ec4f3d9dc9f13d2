//! Where the operands of a comparison or of a range begin and end, read off tokens.
//!
//! Arithmetic binds closer than both; `&&`, `||`, assignments and the words of statements do not, and end an operand
//! like a comma does. What cannot be told is not answered: that place is then tried by a build of its own.

use std::ops::Range;

use proc_macro2::{Delimiter, Punct, Spacing, TokenTree};

use super::places::{bytes, ident, is_group, is_path, is_punct};

/// Words that no operand goes across.
const WORDS: [&str; 11] =
    ["if", "while", "return", "match", "in", "else", "break", "continue", "let", "move", "loop"];

enum Step {
    /// The token is of the operand.
    Inside,
    /// The operand ends here; so many tokens are of what ends it.
    Border,
    /// It cannot be told.
    Unclear,
}

/// The tokens left of `at` and those right of `at + sign` that are compared, or between which a range lies.
pub(super) fn operands(
    source: &str,
    tokens: &[TokenTree],
    at: usize,
    sign: usize,
) -> Option<(Range<usize>, Range<usize>)> {
    let angles = in_angles(source, tokens);
    let mut start = at;
    while start > 0 {
        match step(tokens, &angles, start - 1) {
            Step::Inside => start -= 1,
            Step::Border => break,
            Step::Unclear => return None,
        }
    }
    // A closure's parameters.
    if is_punct(tokens.get(start), '|') {
        start = (start + 1..at).find(|&token| is_punct(tokens.get(token), '|'))? + 1;
    }
    let mut end = at + sign;
    while end < tokens.len() {
        match step(tokens, &angles, end) {
            Step::Inside => end += 1,
            Step::Border => break,
            Step::Unclear => return None,
        }
    }
    (start < at && end > at + sign).then_some((start..at, at + sign..end))
}

/// The bytes of some tokens.
pub(super) fn bytes_of(tokens: &[TokenTree], part: &Range<usize>) -> Range<usize> {
    bytes(&tokens[part.start]).start..bytes(&tokens[part.end - 1]).end
}

fn step(tokens: &[TokenTree], angles: &[bool], at: usize) -> Step {
    if angles[at] {
        return Step::Inside;
    }
    let is_joined = |p: &Punct, sign: char| p.as_char() == sign && p.spacing() == Spacing::Joint;
    let joined =
        |at: usize, sign: char| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if is_joined(p, sign));
    let pair =
        |at: usize, first: char, second: char| joined(at, first) && is_punct(tokens.get(at + 1), second);
    let before = |other: char| at > 0 && joined(at - 1, other);
    match &tokens[at] {
        TokenTree::Group(group) => match group.delimiter() {
            Delimiter::Brace => Step::Border,
            // A repetition of a macro.
            Delimiter::Parenthesis if at > 0 && is_punct(tokens.get(at - 1), '$') => Step::Unclear,
            _ => Step::Inside,
        },
        TokenTree::Ident(word) if WORDS.contains(&word.to_string().as_str()) => Step::Border,
        TokenTree::Ident(_) | TokenTree::Literal(_) => Step::Inside,
        TokenTree::Punct(sign) => match sign.as_char() {
            ',' | ';' => Step::Border,
            '#' | '@' => Step::Unclear,
            ':' if is_path(tokens, at) || at > 0 && is_path(tokens, at - 1) => Step::Inside,
            ':' => Step::Border,
            sign @ ('&' | '|' | '.') if pair(at, sign, sign) || before(sign) => Step::Border,
            '=' if pair(at, '=', '=') || "=!<>".contains(before) => Step::Unclear,
            '!' if pair(at, '!', '=') => Step::Unclear,
            '=' => Step::Border,
            // The head of an arm, a shift, or another comparison.
            '>' if before('=') => Step::Border,
            sign @ ('<' | '>') if pair(at, sign, sign) || before(sign) => Step::Inside,
            '<' | '>' => Step::Unclear,
            _ => Step::Inside,
        },
    }
}

/// Which tokens are lists of generic arguments. A comparison has spaces around it, they have none before.
fn in_angles(source: &str, tokens: &[TokenTree]) -> Vec<bool> {
    let mut inside = vec![false; tokens.len()];
    let mut open = Vec::new();
    for at in 0..tokens.len() {
        let place = bytes(&tokens[at]);
        if is_punct(tokens.get(at), '<') {
            let spaced = source[..place.start].ends_with([' ', '\n']);
            let behind = source[place.end..].starts_with([' ', '\n', '<', '=']);
            if !(spaced && behind || source[..place.start].ends_with('<')) {
                open.push(at);
            }
        } else if is_punct(tokens.get(at), '>')
            && !source[..place.start].ends_with(['-', '='])
            && let Some(start) = open.pop()
        {
            inside[start..=at].fill(true);
        }
    }
    inside
}

/// Where the expression begins that a method is called on: `at` is the dot. Nothing where it is a part of another.
pub(super) fn statement_start(tokens: &[TokenTree], at: usize, group: Delimiter) -> Option<usize> {
    let mut start = at;
    while start > 0 {
        let of_it = match &tokens[start - 1] {
            TokenTree::Ident(_) => true,
            TokenTree::Group(group) => group.delimiter() != Delimiter::Brace,
            TokenTree::Punct(sign) => ".:$?".contains(sign.as_char()),
            TokenTree::Literal(_) => false,
        };
        if !of_it {
            break;
        }
        start -= 1;
    }
    let word = ident(tokens.get(start)).unwrap_or_default();
    let stands_alone = match start.checked_sub(1) {
        None => group == Delimiter::Brace,
        Some(before) => {
            let token = tokens.get(before);
            let is_arm = is_punct(token, '>') && before > 0 && is_punct(tokens.get(before - 1), '=');
            is_punct(token, ';') || is_group(token, Delimiter::Brace) || is_arm
        }
    };
    (start < at && stands_alone && word != "let" && !WORDS.contains(&word.as_str())).then_some(start)
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;

    use super::*;

    /// What is left and right of the first comparison or range of a source.
    fn split(source: &str) -> Option<(&str, &str)> {
        let tokens: Vec<TokenTree> = source.parse::<TokenStream>().expect("tokens").into_iter().collect();
        let at = tokens.iter().position(|token| {
            let place = bytes(token);
            let is_sign = is_punct(Some(token), '<') || is_punct(Some(token), '>');
            let spaced = source[..place.start].ends_with(' ') && source[place.end..].starts_with([' ', '=']);
            is_sign && spaced || source[place.start..].starts_with("..")
        })?;
        let behind = &source[bytes(&tokens[at]).end..];
        let sign = 1 + usize::from(behind.starts_with(['=', '.'])) + usize::from(behind.starts_with(".="));
        let (left, right) = operands(source, &tokens, at, sign)?;
        Some((&source[bytes_of(&tokens, &left)], &source[bytes_of(&tokens, &right)]))
    }

    #[test]
    fn operands_end_where_something_binds_less() {
        assert_eq!(split("a < b"), Some(("a", "b")));
        assert_eq!(split("if x.y(1) + 2 <= -z as u32 {}"), Some(("x.y(1) + 2", "-z as u32")));
        assert_eq!(split("c && !a[0] >= *b || d"), Some(("!a[0]", "*b")));
        assert_eq!(split("let ok = a << 2 > b | 1;"), Some(("a << 2", "b | 1")));
        assert_eq!(split("f(x, |i| g::<A, B>(i) < <T as U<V>>::N, y)"), None);
        assert_eq!(split("x, |i| g::<A, B>(i) < T::N, y"), Some(("g::<A, B>(i)", "T::N")));
        assert_eq!(split("x => y > z, w => 1"), Some(("y", "z")));
        assert_eq!(split("k if $a < $b => 1"), Some(("$a", "$b")));
        assert_eq!(split("for i in n - 1..m * 2 {}"), Some(("n - 1", "m * 2")));
        assert_eq!(split("0..=9"), Some(("0", "9")));
        assert_eq!(split("S { n: 1 } a < b"), Some(("a", "b")));
    }

    #[test]
    fn what_cannot_be_told_is_not_answered() {
        for source in ["a == b < c", "unsafe { a } < b", "a < { b }", "$(a)* < b", "#[x] a < b"] {
            assert_eq!(split(source), None, "{source}");
        }
    }
}
