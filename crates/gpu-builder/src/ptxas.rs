//! Reads what `ptxas --verbose` says of registers, stack and shared memory.

use std::collections::BTreeMap;

use serde::Serialize;

/// What one kernel or function takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Resources {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of stack of a thread, those of called functions included where ptxas says so.
    pub stack: u32,
    /// Bytes of registers that are stored to the stack for want of registers.
    pub spill_stores: u32,
    /// Bytes of registers that are loaded back.
    pub spill_loads: u32,
    /// Bytes of static shared memory of a block.
    pub shared: u32,
    /// Named barriers.
    pub barriers: u32,
    /// Bytes of constant memory with the parameters; 0 where ptxas does not say.
    pub constant: u32,
}

/// What the kernels and functions of a module take, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The kernels.
    pub kernels: BTreeMap<String, Resources>,
    /// Functions that were not inlined; ptxas tells only stack and spills of them.
    pub functions: BTreeMap<String, Resources>,
}

/// Reads the messages.
pub fn parse(messages: &str) -> Usage {
    let mut usage = Usage::default();
    let mut kernel = String::new();
    let mut properties_of = String::new();
    for line in messages.lines() {
        let line = line
            .strip_prefix("ptxas info")
            .map_or(line, |rest| rest.trim_start().trim_start_matches(':'))
            .trim();
        if let Some(rest) = line.strip_prefix("Compiling entry function '") {
            kernel = rest.split('\'').next().unwrap_or("").to_string();
            usage.kernels.entry(kernel.clone()).or_default();
        } else if let Some(name) = line.strip_prefix("Function properties for ") {
            properties_of = name.trim().to_string();
        } else if line.contains("bytes stack frame") {
            let known = usage.kernels.contains_key(&properties_of);
            let all = if known { &mut usage.kernels } else { &mut usage.functions };
            read(line, all.entry(properties_of.clone()).or_default());
        } else if line.starts_with("Used ") {
            read(line, usage.kernels.entry(kernel.clone()).or_default());
        }
    }
    usage
}

/// Reads a list such as `Used 10 registers, used 1 barriers, 128 bytes smem`.
fn read(line: &str, resources: &mut Resources) {
    for part in line.split(',') {
        let part = part.trim().trim_start_matches("Used ").trim_start_matches("used ");
        let Some((number, what)) = part.split_once(' ') else { continue };
        let Ok(number) = number.parse::<u32>() else { continue };
        match what {
            "registers" => resources.registers = number,
            "barriers" => resources.barriers = number,
            "bytes stack frame" | "bytes cumulative stack size" => {
                resources.stack = resources.stack.max(number)
            }
            "bytes spill stores" => resources.spill_stores = number,
            "bytes spill loads" => resources.spill_loads = number,
            "bytes smem" => resources.shared = number,
            "bytes cmem[0]" => resources.constant = number,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDED: &str = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k' for 'sm_90'
ptxas info    : Function properties for k
    64 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads
ptxas info    : Used 10 registers, used 1 barriers, 96 bytes cumulative stack size, 128 bytes smem
ptxas info    : Compile time = 3.898 ms
ptxas info    : Compiling entry function 'scale' for 'sm_90'
ptxas info    : Function properties for scale
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 9 registers, used 0 barriers, 368 bytes cmem[0]
ptxas info    : Compile time = 21.692 ms
ptxas info    : Function properties for _RNvCs8dz3UkMJXzX_2kt6helper
    16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
";

    #[test]
    fn reads_kernels_and_functions() {
        let usage = parse(RECORDED);
        let k = Resources {
            registers: 10,
            stack: 96,
            spill_stores: 24,
            spill_loads: 32,
            shared: 128,
            barriers: 1,
            constant: 0,
        };
        assert_eq!(usage.kernels["k"], k);
        assert_eq!(usage.kernels["scale"], Resources { registers: 9, constant: 368, ..Resources::default() });
        let helper = Resources { stack: 16, spill_stores: 4, spill_loads: 8, ..Resources::default() };
        assert_eq!(usage.functions["_RNvCs8dz3UkMJXzX_2kt6helper"], helper);
        assert_eq!((usage.kernels.len(), usage.functions.len()), (2, 1));
    }

    #[test]
    fn reads_the_form_of_older_releases() {
        let text = "ptxas info    : Compiling entry function 'a' for 'sm_75'\n\
                    ptxas info    : Function properties for a\n    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
                    ptxas info    : Used 32 registers, 4096 bytes smem, 400 bytes cmem[0], 8 bytes cmem[2]\n";
        let expected =
            Resources { registers: 32, stack: 8, shared: 4096, constant: 400, ..Resources::default() };
        assert_eq!(parse(text).kernels["a"], expected);
    }

    #[test]
    fn other_messages_say_nothing() {
        assert_eq!(parse("ptxas warning : something\n\n"), Usage::default());
    }
}
