//! What a kernel computes beside what the simulator counts, estimated from its PTX.
//!
//! The simulator runs kernels on the host, so it sees their accesses, barriers and shuffles, but not what they compute in
//! registers. Their PTX has both. Of each straight run of instructions i, between labels and branches, with aᵢ that
//! compute and cᵢ of the kinds that the simulator counts (loads, stores, atomics, barriers, fences, shuffles, votes):
//!
//! ```text
//! arithmetic = counted · Σ aᵢ · cᵢ / Σ cᵢ · cᵢ
//! ```
//!
//! That takes a run to be executed in proportion to the accesses in it: what is executed often is unrolled, what is rarely
//! reached has an access or none. It is an approximation: a loop that is not unrolled, or computes without accessing
//! anything, has more, and what stands behind branches that are not taken has less.

use super::Instructions;

/// Instructions of a kernel's text, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// What the simulator counts: accesses, barriers and fences, shuffles and votes.
    pub counted: u64,
    /// Branches, returns.
    pub control: u64,
    /// Everything that computes. Moves between registers and loads of parameters are not instructions of the device.
    pub arithmetic: u64,
    /// Σ aᵢ · cᵢ over straight runs of instructions.
    products: u64,
    /// Σ cᵢ · cᵢ.
    squares: u64,
}

impl Text {
    /// Those of PTX, line by line.
    ///
    /// ```
    /// use gpu_model::waves::Instructions;
    /// use gpu_model::waves::ptx::Text;
    /// let text = Text::of("ld.param.b64 r0,[p];\nld.global.b32 r1,[r0];\nmov.b32 r2,0;\n@p0 bra $1;\n\
    ///     fma.rn.f32 r2,r1,r1,r2;\n$1:\nadd.s32 r1,r1,1;\nmul.f32 r2,r2,r2;\nst.global.b32 [r0],r2;\nret;");
    /// assert_eq!((text.counted, text.control, text.arithmetic), (2, 2, 3));
    /// // Three runs: 0 beside a load; 1 beside nothing; 2 beside a store. (0 · 1 + 1 · 0 + 2 · 1) / (1 + 0 + 1) = 1.
    /// let counted = Instructions { memory: 100.0, communication: 20.0, ..Instructions::default() };
    /// assert_eq!(text.arithmetic(&counted), 120.0);
    /// ```
    #[must_use]
    pub fn of(ptx: &str) -> Self {
        let mut text = Self::default();
        // What computes and what is counted, of the run at hand.
        let mut run = [0, 0];
        for line in ptx.lines().map(str::trim) {
            if line.ends_with(':') {
                text.end(&mut run);
            }
            if !line.ends_with(';') {
                continue;
            }
            // A guard stands before the instruction.
            let line = match line.strip_prefix('@') {
                Some(rest) => rest.split_once(' ').map_or("", |(_, rest)| rest.trim_start()),
                None => line,
            };
            let operation = line.split([' ', ';', '\t']).next().unwrap_or("");
            let mut parts = operation.split('.');
            match (parts.next().unwrap_or(""), parts.next().unwrap_or("")) {
                // Declarations and directives.
                ("" | "mov" | "cvta" | "griddepcontrol", _) | ("ld", "param") => {}
                ("ld" | "ldu" | "st" | "atom" | "red" | "cp", _)
                | ("bar" | "barrier" | "membar" | "fence", _)
                | ("shfl" | "vote" | "redux" | "match" | "activemask", _) => run[1] += 1,
                ("bra" | "brx" | "ret" | "exit" | "call", _) => {
                    text.control += 1;
                    text.end(&mut run);
                }
                _ => run[0] += 1,
            }
        }
        text.end(&mut run);
        text
    }

    /// Adds a run of instructions, and begins another.
    fn end(&mut self, run: &mut [u64; 2]) {
        let [arithmetic, counted] = core::mem::take(run);
        self.arithmetic += arithmetic;
        self.counted += counted;
        self.products += arithmetic * counted;
        self.squares += counted * counted;
    }

    /// The arithmetic that comes with what was counted; 0 where the text has nothing that is counted.
    #[must_use]
    pub fn arithmetic(&self, counted: &Instructions) -> f64 {
        if self.squares == 0 {
            return 0.0;
        }
        let executed = counted.memory + counted.synchronisation + counted.communication;
        executed * self.products as f64 / self.squares as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_counted_is_nothing_computed() {
        let counted = Instructions { memory: 1.0, ..Instructions::default() };
        assert_eq!(Text::of("").arithmetic(&counted), 0.0);
        assert_eq!(Text::of("add.s32 r0,r0,1;\nret;").arithmetic(&counted), 0.0);
        assert_eq!(Text::of("@!p1 st.global.b32 [r0],r1;\nadd.s32 r0,r0,1;").arithmetic(&counted), 1.0);
    }
}
