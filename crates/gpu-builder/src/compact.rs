//! Writes PTX with fewer bytes. It is kept as text, so that git, a reviewer and `inspect` can read it, and of what the
//! compiler writes a seventh is indentation, and a third are names: a parameter's holds that of its kernel, a
//! register's its width, a percent sign and up to four digits.
//!
//! One instruction stays one line, and what the assembler makes of the text is the same.

use std::collections::HashMap;

use crate::ptx::Item;

/// What the compiler calls the dynamic shared memory. No other text ever sees the name.
const DYNAMIC: &str = "gpu_launch_sized_workgroup_mem";

/// What the compiler calls registers, and the letters that they have here: predicates, of 16, 32 and 64 bits. `a` is
/// that of parameters, and others those of types.
const REGISTERS: [(&str, &str); 4] =
    [("%p", "pcegijkl"), ("%rs", "hm"), ("%r", "rnoqtwxyzABCDEFGHI"), ("%rd", "dJKLMNOPQRSTUVWXYZ")];

/// A block of inline assembly that needs a predicate: all of a function have the same one, which is declared once.
const BLOCK: &str = "{.reg .pred p;";

/// Registers of a letter whose number has one digit.
const SHORT: usize = 10;

/// The digits of labels, in that order.
const DIGITS: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// The text of an item without indentation, with short names of parameters (`a0`), labels (`$1`), dynamic shared memory
/// (`sh`) and registers (`r1`, and with other letters where there are many), those of labels and registers that are
/// used most being the shortest.
pub(crate) fn compact(item: &Item) -> String {
    let text = spaces(&item.text)
        .replace(&format!("{}_param_", item.name), "a")
        .replace("$L__BB_", "$")
        // Of the two only what may diverge can differ, and a branch without a predicate does not.
        .replace("\nbra.uni $", "\nbra $")
        .replace(DYNAMIC, "sh")
        .replace(".ptr .align 1 ", "");
    let mut text = labels(&text);
    let has_blocks = text.contains(BLOCK) && text.contains("\n.reg .pred %p<");
    if has_blocks {
        text = text.replace(BLOCK, "{");
    }
    let Registers { names, counts } = registers(&text);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((at, word, what)) = next_register(rest) {
        out.push_str(&rest[..at]);
        match what {
            Found::One { .. } => out.push_str(&names[word]),
            Found::All { letters } => {
                out.push_str(&declared(letters, counts[letters]));
                if has_blocks && letters == REGISTERS[0].1 {
                    out.push_str(",p");
                }
            }
        }
        rest = &rest[at + word.len()..];
    }
    out.push_str(rest);
    out
}

/// The name of a register: of the letters one after the other those of one digit, then those of more. It does not
/// depend on how many there are, so that images of a kernel differ where their instructions do.
fn register(letters: &'static str, number: usize) -> String {
    let short = SHORT * letters.len();
    let (letter, digits) = match number.checked_sub(short) {
        None => (number / SHORT, number % SHORT),
        Some(rest) => (rest % letters.len(), SHORT + rest / letters.len()),
    };
    format!("{}{digits}", char::from(letters.as_bytes()[letter]))
}

/// The declarations of so many registers.
fn declared(letters: &'static str, count: usize) -> String {
    // At least one: the assembler refuses a list of none.
    let count = count.max(1);
    let long = count.saturating_sub(SHORT * letters.len());
    let lists = letters.chars().enumerate().map_while(|(place, letter)| {
        let short = count.checked_sub(SHORT * place).filter(|&left| left > 0)?.min(SHORT);
        Some(format!("{letter}<{}>", short + long.saturating_sub(place).div_ceil(letters.len())))
    });
    lists.collect::<Vec<_>>().join(",")
}

/// What [`next_register`] finds: a register, or the declaration of all of a kind (`%rd<12>`).
#[derive(Clone, Copy)]
enum Found {
    One { letters: &'static str },
    All { letters: &'static str },
}

/// Where the text's next register stands, and its name there.
fn next_register(text: &str) -> Option<(usize, &str, Found)> {
    text.match_indices('%').find_map(|(at, _)| {
        let rest = &text[at..];
        let letters = 1 + rest[1..].bytes().take_while(u8::is_ascii_lowercase).count();
        let (_, names) = REGISTERS.into_iter().find(|(long, _)| *long == &rest[..letters])?;
        if rest[letters..].starts_with('<') {
            let end = rest.find('>')? + 1;
            return Some((at, &rest[..end], Found::All { letters: names }));
        }
        let digits = rest[letters..].bytes().take_while(u8::is_ascii_digit).count();
        (digits > 0).then(|| (at, &rest[..letters + digits], Found::One { letters: names }))
    })
}

/// The names of a text's registers.
struct Registers {
    /// The new name of each.
    names: HashMap<String, String>,
    /// How many there are of each kind, by its letters.
    counts: HashMap<&'static str, usize>,
}

/// The names of a text, those first that stand there most often; as often used, they stay in the order of the text.
fn by_use<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut order: Vec<(&str, usize)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for name in names {
        let place = *places.entry(name).or_insert_with(|| {
            order.push((name, 0));
            order.len() - 1
        });
        order[place].1 += 1;
    }
    order.sort_by_key(|(_, uses)| std::cmp::Reverse(*uses));
    order.into_iter().map(|(name, _)| name).collect()
}

/// A short name for each register of a text: of each kind the lowest numbers for those that stand there most often.
fn registers(text: &str) -> Registers {
    let mut rest = text;
    let mut kinds = HashMap::new();
    let found = std::iter::from_fn(|| {
        let (at, word, what) = next_register(rest)?;
        rest = &rest[at + word.len()..];
        Some((word, what))
    });
    let found: Vec<&str> = found
        .filter_map(|(word, what)| {
            let Found::One { letters } = what else { return None };
            kinds.insert(word, letters);
            Some(word)
        })
        .collect();
    let mut counts: HashMap<&str, usize> = REGISTERS.map(|(_, letters)| (letters, 0)).into();
    let mut names = HashMap::new();
    for word in by_use(found.into_iter()) {
        let letters = kinds[word];
        let count = counts.entry(letters).or_default();
        names.insert(word.to_string(), register(letters, *count));
        *count += 1;
    }
    Registers { names, counts }
}

/// The text with short names of labels: those that stand there most often have one digit of [`DIGITS`].
fn labels(text: &str) -> String {
    let order = by_use(text.match_indices('$').filter_map(|(at, _)| label(&text[at + 1..])));
    let names: HashMap<&str, String> =
        order.into_iter().enumerate().map(|(number, label)| (label, digits(number))).collect();
    let mut parts = text.split('$');
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        out.push('$');
        match label(part) {
            Some(label) => out.extend([names[label].as_str(), &part[label.len()..]]),
            None => out.push_str(part),
        }
    }
    out
}

/// The label that a text behind a dollar sign begins with, but for the names of tables of them (`$L_brx_0`).
fn label(text: &str) -> Option<&str> {
    let name = &text[..text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len())];
    (!name.is_empty() && !name.contains('_')).then_some(name)
}

/// A number in [`DIGITS`].
fn digits(number: usize) -> String {
    let last = char::from(DIGITS[number % DIGITS.len()]);
    let before = number / DIGITS.len();
    if before == 0 { last.to_string() } else { format!("{}{last}", digits(before)) }
}

/// Lines without spaces around them, one space between words, none behind commas, semicolons and opening braces or
/// before closing ones. Strings stay as they are.
fn spaces(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let mut is_quoted = false;
        for c in line.trim().chars() {
            is_quoted ^= c == '"';
            if is_quoted || !c.is_whitespace() {
                if c == '}' && !is_quoted && out.ends_with(' ') {
                    out.pop();
                }
                out.push(c);
            } else if !out.ends_with([' ', ',', ';', '{']) {
                out.push(' ');
            }
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::Ptx;

    fn compacted(text: &str) -> String {
        let ptx = Ptx::parse("t", text).expect("items");
        ptx.items.iter().map(compact).collect()
    }

    #[test]
    fn spaces_and_names_become_short_and_nothing_else_changes() {
        let text = ".visible .entry k(\n\t.param .u64 .ptr .align 1 k_param_0,\n\t.param .u32 k_param_1\n)\n{\n\t.reg .pred \t%p<2>;\n\
                    \t.reg .b16 \t%rs<3>;\n\t.reg .b32 \t%r<4>;\n\t.reg .b64 \t%rd<12>;\n\t.reg .b64 \t%SPL;\n\
                    $L__BB_10:\n\t.pragma \"no  unroll\";\n\tld.param.b64 \t%rd11, [k_param_0];\n\tst.v2.b32 [%rd11+4], {%r1, %r2};\n\
                    \tmov.u32 \t%r3, %tid.x;\n\tcvt.u16.u32 \t%rs2, %r3;\n\tadd.s32 %r3,%r3,%r2;\n\
                    \t@%p1 bra \t$L__BB_10;\n\tmov.b64 %SPL, %rdx;\n\
                    { .reg .pred p; @p bra $L__BB_2; }\nbra.uni $L__BB_2;\n@%p1 bra.uni $L__BB_2;\n$L__BB_2:\n}";
        assert_eq!(
            compacted(text),
            ".visible .entry k(\n.param .u64 a0,\n.param .u32 a1\n)\n{\n.reg .pred p<1>,p;\n\
             .reg .b16 h<1>;\n.reg .b32 r<3>;\n.reg .b64 d<1>;\n.reg .b64 %SPL;\n\
             $1:\n.pragma \"no  unroll\";\nld.param.b64 d0,[a0];\nst.v2.b32 [d0+4],{r2,r1};\n\
             mov.u32 r0,%tid.x;\ncvt.u16.u32 h0,r0;\nadd.s32 r0,r0,r1;\n@p0 bra $1;\nmov.b64 %SPL,%rdx;\n\
             {@p bra $0;}\nbra $0;\n@p0 bra.uni $0;\n$0:\n}"
        );
    }

    #[test]
    fn many_registers_have_several_letters() {
        let uses: String =
            (0..250).map(|number| format!("mov.b32 %r{number}, %r{};\n", number / 2)).collect();
        let text =
            compacted(&format!(".visible .entry k()\n{{\n.reg .b32 \t%r<250>;\n.reg .b64 %rd<2>;\n{uses}}}"));
        // Those of one digit are 180; of the other 70 eighteen letters have three or four.
        let all: Vec<String> = REGISTERS[2]
            .1
            .chars()
            .enumerate()
            .map(|(place, letter)| format!("{letter}<{}>", 13 + usize::from(place < 16)))
            .collect();
        assert!(text.contains(&format!(".reg .b32 {};\n.reg .b64 d<1>;\n", all.join(","))), "{text}");
        // Two uses or three each, in the order of the text.
        assert!(text.contains("mov.b32 r0,r0;\nmov.b32 r1,r0;\nmov.b32 r2,r1;\nmov.b32 r3,r1;\n"), "{text}");
        let names: std::collections::HashSet<&str> =
            text.lines().filter_map(|line| line.strip_prefix("mov.b32 ")?.split(',').next()).collect();
        assert_eq!(names.len(), 250);
    }

    #[test]
    fn many_labels_have_letters_and_tables_of_them_keep_their_names() {
        let places: String = (0..70).map(|label| format!("$L__BB_{label}:\n")).collect();
        let text = compacted(&format!(
            ".visible .entry k()\n{{\n{places}$L_brx_0: .branchtargets $L__BB_3, $L__BB_69;\n\
             brx.idx %r1, $L_brx_0;\nbra.uni $L__BB_69;\n}}"
        ));
        assert!(text.contains("$L_brx_0: .branchtargets $1,$0;\nbrx.idx r0,$L_brx_0;\nbra $0;\n"), "{text}");
        // The two that stand there more often come first; sixty-two have one digit.
        assert!(text.contains("{\n$2:\n$3:\n$4:\n$1:\n$5:\n"), "{text}");
        assert!(text.contains("$Z:\n$10:\n$11:\n"), "{text}");
        let names: std::collections::HashSet<&str> =
            text.lines().filter_map(|line| line.strip_prefix('$')?.strip_suffix(':')).collect();
        assert_eq!(names.len(), 70);
    }

    #[test]
    fn dynamic_shared_memory_has_a_short_name() {
        let text = ".extern .shared .align 16 .b8 gpu_launch_sized_workgroup_mem[];\n";
        assert_eq!(compacted(text), ".extern .shared .align 16 .b8 sh[];");
    }

    #[test]
    fn a_compact_text_stays_as_it_is() {
        let text = ".visible .entry k(\n.param .u64 a0\n)\n{\n.reg .b64 d<1>;\n$0:\nld.param.b64 d0,[a0];\nbra $0;\n}";
        assert_eq!(compacted(text), text);
    }
}
