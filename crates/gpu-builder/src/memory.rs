//! Finds memory accesses that are not what they seem.
//!
//! An access that names no state space makes the GPU look at the address to tell global, shared and local memory
//! apart: it is slower, cannot bypass L1, and shows that the compiler lost track of a pointer. Kernels are meant to
//! have none.
//!
//! A store of 32 bits of a 64-bit register stores its lower half. But where a floating-point instruction wrote the
//! register, ptxas (13.0) can take the store for a conversion of its value to an integer (sm_90: `F2I.U32.F64.TRUNC`).
//! rustc's NVPTX backend writes such stores for `value.to_bits() as u32`.

use std::collections::HashMap;

use crate::ptx::{Item, Kind, Ptx};

/// One access through a generic address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The function it stands in: the entry or one that it calls.
    pub function: String,
    /// The instruction.
    pub instruction: String,
}

/// The generic accesses of a kernel and of everything it calls.
pub fn generic_accesses(ptx: &Ptx, entry: &Item) -> Vec<Access> {
    let functions = ptx.reached(entry, &ptx.index()).into_iter().map(|index| &ptx.items[index]);
    let bodies = functions.filter(|item| matches!(item.kind, Kind::Entry | Kind::Function));
    bodies
        .flat_map(|item| {
            let generic = instructions(item.body()).filter(|instruction| is_generic(instruction));
            generic.map(|instruction| Access {
                function: item.name.clone(),
                instruction: instruction.to_string(),
            })
        })
        .collect()
}

/// The instructions of a body, without predicates and labels, spaces as in the text.
pub fn instructions(body: &str) -> impl Iterator<Item = &str> {
    // A brace opens a scope when a statement begins with it, and a vector of registers when it does not.
    let statements = body
        .split([';', '\n'])
        .map(|text| text.trim_start_matches(|c: char| "{}".contains(c) || c.is_whitespace()));
    statements.filter_map(|statement| {
        let mut rest = statement.trim();
        if let Some((label, after)) = rest.split_once(':')
            && !label.contains(char::is_whitespace)
            && !after.starts_with(':')
            && !label.contains('.')
        {
            rest = after.trim();
        }
        if rest.starts_with('@') {
            rest = rest.split_once(char::is_whitespace)?.1.trim();
        }
        rest.starts_with(|c: char| c.is_ascii_lowercase()).then_some(rest)
    })
}

/// The stores of a function or kernel that store a part of a register that a floating-point instruction wrote.
pub fn cut_floats(item: &Item) -> Vec<String> {
    // By register, whether a float of so many bits is in it. A register is written where it stands first.
    let mut floats: HashMap<&str, u32> = HashMap::new();
    let mut found = Vec::new();
    for instruction in instructions(item.body()) {
        let (opcode, operands) = instruction.split_once(char::is_whitespace).unwrap_or((instruction, ""));
        let mut types = opcode.split('.').skip(1);
        if opcode.starts_with("st.") {
            let stored = types.find_map(|part| part.strip_prefix(['b', 'u', 's'])?.parse::<u32>().ok());
            let values = operands.split_once(']').map_or("", |(_, values)| values);
            let cut = registers(values).any(|register| floats.get(register) > stored.as_ref());
            if stored.is_some() && cut {
                found.push(instruction.to_string());
            }
        } else if !opcode.starts_with("setp")
            && let Some(result) = registers(operands).next()
        {
            // The first type is the result's.
            match types.find_map(|part| part.strip_prefix('f')?.parse::<u32>().ok().filter(|_| part != "ftz"))
            {
                Some(bits) => floats.insert(result, bits),
                None => floats.remove(result),
            };
        }
    }
    found
}

/// The registers among operands: as the compiler calls them (`%rd1`), or as they are kept (`d1`).
fn registers(operands: &str) -> impl Iterator<Item = &str> {
    let is_kept = |name: &str| {
        let number = name.strip_prefix(|letter: char| letter.is_ascii_alphabetic());
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    };
    operands.split([',', ' ', '{', '}', '\t']).filter(move |name| name.starts_with('%') || is_kept(name))
}

fn is_generic(instruction: &str) -> bool {
    let opcode = instruction.split_whitespace().next().unwrap_or("");
    let mut parts = opcode.split('.');
    let accesses = matches!(parts.next(), Some("ld" | "ldu" | "st" | "atom" | "red" | "multimem"));
    let space = |part: &str| {
        let part = part.split("::").next().unwrap_or("");
        matches!(part, "global" | "shared" | "local" | "param" | "const")
    };
    accesses && !parts.any(space)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_known_by_both_names() {
        let names = |operands| registers(operands).collect::<Vec<_>>();
        assert_eq!(names("%rd1, {%r2, %p3}, 0f3F800000, [%rd4+8]"), ["%rd1", "%r2", "%p3"]);
        assert_eq!(names("d1,{r2,p3},0f3F800000,$1,-1,depth"), ["d1", "r2", "p3"]);
        // Those beyond ten of a kind.
        assert_eq!(names("e55,r0,X10"), ["e55", "r0", "X10"]);
    }

    #[test]
    fn an_access_without_a_state_space_is_generic() {
        for generic in [
            "ld.f32 %f1, [%rd1]",
            "st.v4.b32 [%rd1], {%r1, %r2, %r3, %r4}",
            "atom.add.u32 %r1, [%rd1], 1",
            "ld.volatile.u32 %r1, [%rd1]",
            "red.relaxed.gpu.add.u32 [%rd1], 1",
            "ld.b8 %rs1, [%rd1+4]",
        ] {
            assert!(is_generic(generic), "{generic}");
        }
        for named in [
            "ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]",
            "st.shared::cta.b32 [%r1], %r2",
            "ld.param.b64 %rd1, [k_param_0]",
            "ld.relaxed.gpu.global.u32 %r1, [%rd1]",
            "st.local.b64 [%rd1], %rd2",
            "ld.const.f32 %f1, [table]",
            "atom.global.add.u32 %r1, [%rd1], 1",
            "mul.rn.f32 %f1, %f2, %f3",
            "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2}",
            "st.param.b32 [func_retval0], %r1",
        ] {
            assert!(!is_generic(named), "{named}");
        }
    }

    #[test]
    fn instructions_come_without_labels_predicates_and_scopes() {
        let body = "{\n\t.reg .pred %p<2>;\n$L__BB0_1:\n\t@%p1 bra $L__BB0_1;\n\t@!%p2 ld.b32 %r1, [%rd1]; add.s32 %r1, %r1, 1;\n\
                    \t{\n\tst.v2.b32 [%rd1], {%r1, %r2};\n\t}\n\tred.async.shared::cluster.u32 [%r1], %r2;\n\tret;\n}";
        let seen: Vec<_> = instructions(body).collect();
        assert_eq!(
            seen,
            [
                "bra $L__BB0_1",
                "ld.b32 %r1, [%rd1]",
                "add.s32 %r1, %r1, 1",
                "st.v2.b32 [%rd1], {%r1, %r2}",
                "red.async.shared::cluster.u32 [%r1], %r2",
                "ret"
            ]
        );
    }

    #[test]
    fn a_part_of_a_float_is_not_stored() {
        let cut = |body: &str| {
            let text = format!(".visible .entry k()\n{{\n{body}\nret;\n}}");
            let ptx = Ptx::parse("t", &text).expect("a kernel");
            cut_floats(ptx.entries().next().expect("it")).len()
        };
        assert_eq!(cut("add.rn.f64 %rd3, %rd1, %rd2;\n@%p1 st.shared.b32 [%rd6+32], %rd3;"), 1);
        assert_eq!(cut("add.rn.f64 %rd3, %rd1, %rd2;\nst.shared.v2.b32 [%rd6], {%r1, %rd3};"), 1);
        assert_eq!(cut("selp.f64 %rd3, %rd1, %rd2, %p1;\nst.global.b32 [%rd6], %rd3;"), 1);
        // Whole, a half that an integer instruction took, and an integer.
        assert_eq!(cut("add.rn.f64 %rd3, %rd1, %rd2;\nst.shared.b64 [%rd6], %rd3;"), 0);
        assert_eq!(
            cut("add.rn.f64 %rd3, %rd1, %rd2;\nshr.u64 %rd3, %rd3, 32;\nst.shared.b32 [%rd6], %rd3;"),
            0
        );
        assert_eq!(cut("cvt.rn.f16.f32 %rs1, %r1;\nst.global.b16 [%rd6], %rs1;"), 0);
        assert_eq!(cut("add.s64 %rd3, %rd1, %rd2;\nst.shared.b32 [%rd6], %rd3;"), 0);
        assert_eq!(cut("setp.lt.f64 %p1, %rd1, %rd2;\nst.shared.b32 [%rd6], %rd1;"), 0);
    }

    #[test]
    fn accesses_of_called_functions_count() {
        let text = ".func f(.param .b64 a)\n{\nst.b32 [%rd1], 1;\nret;\n}\n.func g(.param .b64 a)\n{\nld.b32 %r1, [%rd1];\n}\n\
                    .visible .entry k()\n{\ncall.uni f, (%rd1);\nld.global.b32 %r1, [%rd1];\n}\n.visible .entry clean()\n{\nret;\n}";
        let ptx = Ptx::parse("t", text).expect("four functions");
        let of = |name: &str| {
            generic_accesses(&ptx, ptx.entries().find(|entry| entry.name == name).expect("the entry"))
        };
        assert_eq!(of("k"), [Access { function: "f".into(), instruction: "st.b32 [%rd1], 1".into() }]);
        assert_eq!(of("clean"), []);
    }
}
