//! Writes PTX with fewer bytes. It is kept as text, so that git, a reviewer and `inspect` can read it, and a tenth of what the compiler
//! writes is indentation, another tenth names: a parameter's holds that of its kernel, a register's its width.
//!
//! One instruction stays one line, and what the assembler makes of the text is the same.

use crate::ptx::Item;

/// What the compiler calls blocks (without the number of their function), registers of 64 and of 16 bits; and here.
const NAMES: [(&str, &str); 3] = [("$L__BB_", "$"), ("%rd", "%d"), ("%rs", "%h")];

/// The text of an item without indentation, with short names of parameters (`p0`), registers (`%d1`, `%h1`) and labels (`$1`).
pub(crate) fn compact(item: &Item) -> String {
    let mut text = spaces(&item.text).replace(&format!("{}_param_", item.name), "p");
    for (long, short) in NAMES {
        text = renamed(&text, long, short);
    }
    text
}

/// `long` as `short`, where a number or the list of registers follows.
fn renamed(text: &str, long: &str, short: &str) -> String {
    let mut parts = text.split(long);
    let mut out = parts.next().unwrap_or("").to_string();
    for part in parts {
        let is_numbered = part.starts_with(|c: char| c.is_ascii_digit() || c == '<');
        out.push_str(if is_numbered { short } else { long });
        out.push_str(part);
    }
    out
}

/// Lines without spaces around them, one space between words, none behind commas. Strings stay as they are.
fn spaces(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let mut is_quoted = false;
        for c in line.trim().chars() {
            is_quoted ^= c == '"';
            if is_quoted || !c.is_whitespace() {
                out.push(c);
            } else if !out.ends_with([' ', ',']) {
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
        let text = ".visible .entry k(\n\t.param .u64 k_param_0,\n\t.param .u32 k_param_1\n)\n{\n\t.reg .b16 \t%rs<3>;\n\t.reg .b64 \t%rd<12>;\n\
                    $L__BB_10:\n\t.pragma \"no  unroll\";\n\tld.param.b64 \t%rd11, [k_param_0];\n\tst.v2.b32 [%rd11+4], {%r1, %r2};\n\
                    \tmov.u32 \t%r3, %tid.x;\n\tcvt.u16.u32 \t%rs2, %r3;\n\t@%p1 bra \t$L__BB_10;\n\tmov.b64 %rdx, 0;\n}";
        assert_eq!(
            compacted(text),
            ".visible .entry k(\n.param .u64 p0,\n.param .u32 p1\n)\n{\n.reg .b16 %h<3>;\n.reg .b64 %d<12>;\n\
             $10:\n.pragma \"no  unroll\";\nld.param.b64 %d11,[p0];\nst.v2.b32 [%d11+4],{%r1,%r2};\n\
             mov.u32 %r3,%tid.x;\ncvt.u16.u32 %h2,%r3;\n@%p1 bra $10;\nmov.b64 %rdx,0;\n}"
        );
    }

    #[test]
    fn a_compact_text_stays_as_it_is() {
        let text = ".visible .entry k(\n.param .u64 p0\n)\n{\n.reg .b64 %d<3>;\n$1:\nld.param.b64 %d1,[p0];\nbra.uni $1;\n}";
        assert_eq!(compacted(text), text);
    }
}
