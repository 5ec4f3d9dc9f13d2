//! All mutations of a crate in one program, each behind a switch that the environment sets: then one build is enough.
//!
//! `a < b` becomes `lt(17, a, b)`, `+ 1` becomes `+ pick(17, 1, 0)`, a barrier the right side of `off(17) && …`.
//! Functions take the place of branches, which the simulator would count.

use std::ops::Range;

use super::Mutation;

/// What a program reads to know which mutation it has: its number.
pub(super) const CHOSEN: &str = "GPU_MUTANT";
/// A file to which an unbroken program adds the numbers of what it reaches.
pub(super) const REACHED: &str = "GPU_MUTANT_REACHED";

/// How a mutation and what it replaces stand side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Switch {
    /// A call as a statement.
    Call,
    /// A constant, with its path.
    Constant(Range<usize>),
    /// A comparison, with both operands.
    Compare(Range<usize>),
    /// The literal.
    One(Range<usize>),
    /// A range, with both ends.
    Range(Range<usize>),
}

/// A source with switches.
pub(super) struct Switched {
    pub(super) text: String,
    /// Where each switch stands in `text`.
    places: Vec<(usize, Range<usize>)>,
}

impl Switched {
    /// The switches that a compiler's error is about, whose bytes are given: the innermost around it, or else those
    /// within.
    pub(super) fn blamed(&self, error: &Range<usize>) -> Vec<usize> {
        let around = |place: &Range<usize>| place.start <= error.start && error.end <= place.end;
        let within = |place: &Range<usize>| error.start <= place.start && place.end <= error.end;
        let innermost = self.places.iter().filter(|(_, place)| around(place)).min_by_key(|(_, p)| p.len());
        match innermost {
            Some((number, _)) => vec![*number],
            None => self.places.iter().filter(|(_, place)| within(place)).map(|(n, _)| *n).collect(),
        }
    }

    /// Those in the lines that an error touches.
    pub(super) fn in_lines(&self, error: &Range<usize>) -> Vec<usize> {
        let start = self.text[..error.start.min(self.text.len())].rfind('\n').map_or(0, |at| at + 1);
        let end = self.text.get(error.end..).and_then(|rest| rest.find('\n'));
        let end = end.map_or(self.text.len(), |at| error.end + at);
        let touched = |place: &Range<usize>| place.start < end && start < place.end;
        self.places.iter().filter(|(_, place)| touched(place)).map(|(n, _)| *n).collect()
    }

    /// All of them.
    pub(super) fn all(&self) -> Vec<usize> {
        self.places.iter().map(|(number, _)| *number).collect()
    }
}

/// What goes into a source; `at` the same place first what closes, the inner before the outer, then what opens, the
/// outer before the inner.
struct Piece {
    at: usize,
    /// Bytes of the source that it replaces.
    instead_of: usize,
    order: (bool, isize),
    text: String,
    number: usize,
}

/// Puts mutations behind switches, by their numbers.
pub(super) fn switched(source: &str, mutations: &[(usize, &Mutation)]) -> Switched {
    let mut pieces: Vec<Piece> = Vec::new();
    for (number, mutation) in mutations {
        let Some(switch) = &mutation.switch else { continue };
        let module = if mutation.in_macro { "$crate::gpu_mutant" } else { "crate::gpu_mutant" };
        let (all, open, close) = match switch {
            Switch::Call => (
                &mutation.range,
                format!("{{ let _ = {module}::off({number}) && {{ "),
                "; true }; }".to_string(),
            ),
            Switch::Constant(all) => {
                let path = &source[all.start..mutation.range.start];
                (all, format!("{module}::pick({number}, "), format!(", {path}{})", mutation.replacement))
            }
            Switch::One(all) => (all, format!("{module}::pick({number}, "), ", 0)".to_string()),
            Switch::Compare(all) | Switch::Range(all) => {
                let function = match mutation.original.as_str() {
                    "<" => "lt",
                    "<=" => "le",
                    ">" => "gt",
                    ">=" => "ge",
                    ".." => "open",
                    _ => "closed",
                };
                pieces.push(Piece {
                    at: mutation.range.start,
                    instead_of: mutation.range.len(),
                    order: (true, 0),
                    text: ", ".into(),
                    number: usize::MAX,
                });
                (all, format!("{module}::{function}({number}, "), ")".to_string())
            }
        };
        let (length, nth) = (all.len().cast_signed(), number.cast_signed());
        let piece = |at, order, text| Piece { at, instead_of: 0, order, text, number: *number };
        // Of several around the same bytes a later one is within.
        pieces.push(piece(all.start, (true, -length * (1 << 20) + nth), open));
        pieces.push(piece(all.end, (false, length * (1 << 20) - nth), close));
    }
    pieces.sort_by_key(|piece| (piece.at, piece.order));
    let mut text = String::new();
    let mut places: Vec<(usize, Range<usize>)> = Vec::new();
    let mut copied = 0;
    for piece in pieces {
        text.push_str(&source[copied..piece.at]);
        copied = piece.at + piece.instead_of;
        let begin = text.len();
        text.push_str(&piece.text);
        match places.iter_mut().find(|(number, _)| *number == piece.number) {
            Some((_, place)) => place.end = text.len(),
            None if piece.number != usize::MAX => places.push((piece.number, begin..text.len())),
            None => {}
        }
    }
    text.push_str(&source[copied..]);
    Switched { text, places }
}

/// The module that the switches call, at the end of the crate's `lib.rs`; for so many.
pub(super) fn module(switches: usize) -> String {
    let text = include_str!("gpu_mutant.txt");
    text.replace("SWITCHES", &switches.to_string()).replace("CHOSEN", CHOSEN).replace("REACHED", REACHED)
}

#[cfg(test)]
mod tests {
    use super::super::mutations;
    use super::*;

    fn text(source: &str) -> String {
        let found = mutations(source).expect("tokens");
        switched(source, &found.iter().enumerate().collect::<Vec<_>>()).text
    }

    #[test]
    fn mutations_stand_behind_their_numbers() {
        let of = |source: &str| text(source).replace("crate::gpu_mutant::", "");
        assert_eq!(of("if a < b {}"), "if lt(0, a ,  b) {}");
        assert_eq!(of("a >= b && c + 1 > d"), "ge(0, a ,  b) && gt(2, c + pick(1, 1, 0) ,  d)");
        assert_eq!(of("x = y[n - 1];"), "x = y[n - pick(0, 1, 0)];");
        assert_eq!(of("for i in 0..n - 1 {}"), "for i in open(0, 0, n - pick(1, 1, 0)) {}");
        assert_eq!(of("a[1..=n]"), "a[closed(0, 1, n)]");
        assert_eq!(
            of("fn f() { thread::sync_threads(); }"),
            "fn f() { { let _ = off(0) && { thread::sync_threads(); true }; }; }"
        );
        assert_eq!(
            of("x.load(atomic::Ordering::AcqRel, S)"),
            "x.load(pick(0, pick(1, pick(2, atomic::Ordering::AcqRel, atomic::Ordering::Relaxed), \
             atomic::Ordering::Release), atomic::Ordering::Acquire), S)"
        );
        assert!(
            text("macro_rules! m { ($a:expr) => { $a < 2 }; }").contains("$crate::gpu_mutant::lt(0, $a ,")
        );
    }

    #[test]
    fn an_error_is_of_the_innermost_switch_around_it() {
        let source = "if a + 1 < b {}\nif c > d {}";
        let found = mutations(source).expect("tokens");
        let switched = switched(source, &found.iter().enumerate().collect::<Vec<_>>());
        let of = |text: &str| {
            let start = switched.text.find(text).expect("there");
            start..start + text.len()
        };
        assert_eq!(switched.blamed(&of("pick(0, 1, 0)")), [0]);
        assert_eq!(switched.blamed(&of("a + ")), [1]);
        assert_eq!(switched.blamed(&of("if")), [0; 0]);
        assert_eq!(switched.blamed(&(0..switched.text.len())).len(), 3);
        assert_eq!(switched.in_lines(&of("if")).len(), 2);
        assert_eq!(switched.in_lines(&(switched.text.len() - 2..switched.text.len())), [2]);
        assert_eq!(switched.all().len(), 3);
    }

    #[test]
    fn the_module_knows_how_many_and_where() {
        let text = module(7);
        assert!(text.contains("[const { AtomicBool::new(false) }; 7]"));
        assert!(text.contains("\"GPU_MUTANT\"") && text.contains("\"GPU_MUTANT_REACHED\""));
    }
}
