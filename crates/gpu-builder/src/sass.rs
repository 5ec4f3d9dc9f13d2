//! Sorts the machine instructions that nvdisasm prints into classes.

use std::collections::BTreeMap;

use serde::Serialize;

/// What an instruction keeps busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// f32 arithmetic.
    F32,
    /// f64 arithmetic.
    F64,
    /// f16 and bf16 arithmetic.
    F16,
    /// Reciprocals, roots, exponentials: the special function unit.
    Special,
    /// Products of tiles on the tensor cores.
    Tensor,
    /// Integer and bit arithmetic, addresses included.
    Integer,
    /// Conversions between types.
    Convert,
    /// Moves, selections and predicates.
    Move,
    /// Loads and stores of global memory.
    Global,
    /// Loads and stores of shared memory.
    Shared,
    /// Loads and stores of local memory: the stack.
    Local,
    /// Loads and stores through generic addresses.
    Generic,
    /// Loads of constants and parameters.
    Constant,
    /// Read-modify-writes.
    Atomic,
    /// Asynchronous copies and what waits for them.
    Async,
    /// Shuffles, votes, reductions in a warp.
    Warp,
    /// Barriers and fences.
    Sync,
    /// Branches, calls and ends.
    Control,
    /// Anything else.
    Other,
}

impl Class {
    /// Its name in a table.
    pub fn label(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::F16 => "f16",
            Self::Special => "special",
            Self::Tensor => "tensor",
            Self::Integer => "integer",
            Self::Convert => "convert",
            Self::Move => "move",
            Self::Global => "global",
            Self::Shared => "shared",
            Self::Local => "local",
            Self::Generic => "generic",
            Self::Constant => "const",
            Self::Atomic => "atomic",
            Self::Async => "async",
            Self::Warp => "warp",
            Self::Sync => "sync",
            Self::Control => "control",
            Self::Other => "other",
        }
    }

    /// The class of an operation, named without its modifiers: `LDG`, `FFMA`.
    pub fn of(operation: &str) -> Self {
        // The uniform datapath has the same operations behind a U.
        let scalar = operation.strip_prefix('U').filter(|rest| {
            matches!(
                *rest,
                "MOV"
                    | "SEL"
                    | "LDC"
                    | "IADD3"
                    | "IMAD"
                    | "ISETP"
                    | "LEA"
                    | "LOP3"
                    | "SHF"
                    | "PRMT"
                    | "PLOP3"
                    | "POPC"
                    | "FLO"
                    | "BREV"
                    | "BMSK"
                    | "SGXT"
                    | "P2UR"
                    | "R2UP"
                    | "IABS"
                    | "F2F"
                    | "FADD"
                    | "FMUL"
                    | "FFMA"
                    | "VIADD"
                    | "IADD"
                    | "SHL"
                    | "SHR"
                    | "FSETP"
                    | "FSEL"
                    | "IMNMX"
                    | "VIMNMX"
            )
        });
        match scalar.unwrap_or(operation) {
            "FADD" | "FMUL" | "FFMA" | "FMNMX" | "FMNMX3" | "FSETP" | "FSET" | "FSEL" | "FCHK"
            | "FSWZADD" | "FADD2" | "FMUL2" | "FFMA2" | "FADD32I" | "FMUL32I" | "FFMA32I" => Self::F32,
            "DADD" | "DMUL" | "DFMA" | "DSETP" | "DMNMX" => Self::F64,
            "HADD2" | "HMUL2" | "HFMA2" | "HSETP2" | "HSET2" | "HMNMX2" | "HADD2_32I" | "HMUL2_32I"
            | "HFMA2_32I" => Self::F16,
            "MUFU" => Self::Special,
            "HMMA" | "IMMA" | "DMMA" | "BMMA" | "QMMA" | "OMMA" | "HGMMA" | "IGMMA" | "BGMMA" | "QGMMA"
            | "WARPGROUP" | "UTCHMMA" | "UTCIMMA" | "UTCQMMA" | "UTCOMMA" | "UTCBAR" | "UTCCP" => {
                Self::Tensor
            }
            "IADD" | "IADD3" | "IADD32I" | "IMAD" | "IMAD32I" | "IMUL" | "IMNMX" | "IABS" | "ISETP"
            | "ISCADD" | "IDP" | "IDP4A" | "LEA" | "LOP" | "LOP3" | "LOP32I" | "SHF" | "SHL" | "SHR"
            | "POPC" | "FLO" | "BREV" | "BMSK" | "PRMT" | "SGXT" | "VABSDIFF" | "VABSDIFF4" | "VIADD"
            | "VIADDMNMX" | "VIMNMX" | "VIMNMX3" | "VHMNMX" => Self::Integer,
            "F2F" | "F2I" | "F2IP" | "F2FP" | "I2F" | "I2FP" | "I2I" | "I2IP" | "FRND" => Self::Convert,
            "MOV" | "MOV32I" | "MOVM" | "SEL" | "S2R" | "S2UR" | "CS2R" | "R2UR" | "R2P" | "P2R"
            | "PLOP3" | "PSETP" | "B2R" | "R2B" | "P2UR" | "R2UP" | "LEPC" => Self::Move,
            "LDG" | "STG" | "CCTL" | "CCTLL" => Self::Global,
            "LDS" | "STS" | "LDSM" | "STSM" | "STAS" => Self::Shared,
            "LDL" | "STL" => Self::Local,
            "LD" | "ST" | "QSPC" => Self::Generic,
            "LDC" | "LDCU" => Self::Constant,
            "ATOM" | "ATOMG" | "ATOMS" | "RED" | "REDG" | "REDAS" => Self::Atomic,
            "LDGSTS" | "LDGDEPBAR" | "DEPBAR" | "ARRIVES" | "SYNCS" | "UTMALDG" | "UTMASTG" | "UTMAREDG"
            | "UTMAPF" | "UTMACCTL" | "UTMACMDFLUSH" | "UBLKCP" | "UBLKRED" | "UBLKPF" | "CPASYNC" => {
                Self::Async
            }
            "SHFL" | "VOTE" | "VOTEU" | "MATCH" | "REDUX" | "CREDUX" | "WARPSYNC" | "ELECT" => Self::Warp,
            "BAR" | "MEMBAR" | "ERRBAR" | "FENCE" | "UCGABAR_ARV" | "UCGABAR_WAIT" | "CGAERRBAR" => {
                Self::Sync
            }
            "BRA" | "BRX" | "BRXU" | "JMP" | "JMX" | "JMXU" | "CALL" | "RET" | "EXIT" | "BSSY" | "BSYNC"
            | "BREAK" | "BPT" | "KILL" | "YIELD" | "NANOSLEEP" | "RPCMOV" | "BMOV" | "ACQBULK"
            | "PREEXIT" | "ENDCOLLECTIVE" | "WARPSYNC_ALL" => Self::Control,
            _ => Self::Other,
        }
    }
}

/// The instructions of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Mix {
    /// All of them, padding left out.
    pub total: u32,
    /// How many there are of each class.
    pub classes: BTreeMap<Class, u32>,
    /// Loads and stores of global memory that move 16 bytes a thread.
    pub global_128: u32,
}

/// Reads the output of `nvdisasm -c`: the instructions of every kernel, by its name.
pub fn parse(listing: &str) -> BTreeMap<String, Mix> {
    let mut kernels: BTreeMap<String, Mix> = BTreeMap::new();
    let mut kernel = String::new();
    for line in listing.lines() {
        if let Some((_, rest)) = line.split_once(".section\t").or_else(|| line.split_once(".section ")) {
            let name = rest.trim().strip_prefix(".text.").and_then(|rest| rest.split(',').next());
            kernel = name.unwrap_or("").to_string();
        }
        let Some(instruction) = instruction(line).filter(|_| !kernel.is_empty()) else { continue };
        let opcode = instruction.split([' ', ';']).next().unwrap_or("");
        let operation = opcode.split('.').next().unwrap_or("");
        if operation == "NOP" {
            continue;
        }
        let mix = kernels.entry(kernel.clone()).or_default();
        let class = Class::of(operation);
        mix.total += 1;
        *mix.classes.entry(class).or_default() += 1;
        mix.global_128 += u32::from(class == Class::Global && opcode.split('.').any(|part| part == "128"));
    }
    kernels
}

/// The instruction of a line, without address and predicate.
fn instruction(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix("/*")?;
    let (address, rest) = rest.split_once("*/")?;
    if !address.chars().all(|c| c.is_ascii_hexdigit()) {
        return None;
    }
    let rest = rest.trim().trim_start_matches('{').trim();
    let rest = match rest.strip_prefix('@') {
        Some(rest) => rest.split_once(char::is_whitespace)?.1.trim(),
        None => rest,
    };
    rest.starts_with(|c: char| c.is_ascii_uppercase()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDED: &str = include_str!("../tests/recorded/sm_90.sass");

    #[test]
    fn counts_what_was_recorded() {
        let kernels = parse(RECORDED);
        assert_eq!(kernels.keys().collect::<Vec<_>>(), ["copy", "k"]);
        let k = &kernels["k"];
        let count = |class| k.classes.get(&class).copied().unwrap_or(0);
        assert_eq!((count(Class::Global), count(Class::Generic), count(Class::Local)), (2, 1, 2));
        assert_eq!((count(Class::Shared), count(Class::Sync), count(Class::Constant)), (2, 1, 3));
        assert_eq!((count(Class::Move), count(Class::Integer), count(Class::Control)), (2, 5, 2));
        assert_eq!(k.total, k.classes.values().sum::<u32>());
        assert_eq!((k.total, k.global_128, count(Class::Other)), (20, 0, 0));
        assert_eq!((kernels["copy"].total, kernels["copy"].global_128), (5, 2));
    }

    #[test]
    fn predicates_and_addresses_are_no_part_of_an_instruction() {
        assert_eq!(instruction("        /*0070*/               @P0 EXIT ;"), Some("EXIT ;"));
        assert_eq!(
            instruction("        /*02a0*/              @!UP1 BRA `(.L_x_2) ;"),
            Some("BRA `(.L_x_2) ;")
        );
        assert_eq!(instruction("        /* 0x000fe200 */"), None);
        assert_eq!(instruction(".L_x_1:"), None);
    }

    #[test]
    fn uniform_operations_are_classed_as_their_scalar_ones() {
        assert_eq!(Class::of("UIADD3"), Class::Integer);
        assert_eq!(Class::of("ULDC"), Class::Constant);
        assert_eq!(Class::of("UMOV"), Class::Move);
        assert_eq!(Class::of("UTMALDG"), Class::Async);
        assert_eq!(Class::of("HMMA"), Class::Tensor);
        assert_eq!(Class::of("UNHEARDOF"), Class::Other);
    }
}
