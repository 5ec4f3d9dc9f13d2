//! The PTX of both forms of a branch, listings 5.4 and 5.5, compared.

use gpu_calibrate_kernels as kernels;
use gpu_std::launch::KernelMeta;

/// A kernel's PTX, and what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The kernel.
    pub kernel: &'static str,
    /// The text from the entry on.
    pub text: String,
    /// Instructions in all, labels and declarations aside.
    pub instructions: usize,
    /// Those that branch.
    pub branches: usize,
    /// Those that access global memory.
    pub accesses: usize,
    /// Those that compute with floats.
    pub floats: usize,
}

impl Listing {
    /// Its ways as a graph in Mermaid's language: a node for each straight run of instructions, with how many it has, and
    /// an edge for each way on. As figure 5.19 draws a program.
    ///
    /// ```
    /// use gpu_model::calibrate::Listing;
    /// let text = "{\nsetp.eq.s32 p0,r0,0;\n@p0 bra $1;\nadd.s32 r0,r0,1;\n$1:\nret;\n}";
    /// let graph = Listing::of("kernel", text).graph();
    /// assert_eq!(graph, "flowchart TD\nA[2]\nB[1]\nC[1]\nA --> C\nA --> B\nB --> C\n");
    /// ```
    pub fn graph(&self) -> String {
        // Runs of instructions: their label, how many, where they jump to, and whether they go on to the next.
        let mut runs: Vec<(&str, usize, Option<&str>, bool)> = vec![("", 0, None, true)];
        let body = self.text.split_once('{').map_or("", |(_, body)| body);
        for line in body.lines().map(str::trim) {
            let ended = runs.last().is_some_and(|run| run.2.is_some() || !run.3);
            if let Some(label) = line.strip_suffix(':') {
                match runs.last_mut().filter(|run| run.1 == 0 && run.0.is_empty()) {
                    Some(run) => run.0 = label,
                    None => runs.push((label, 0, None, true)),
                }
            } else if let Some(operation) = operation(line) {
                if ended {
                    runs.push(("", 0, None, true));
                }
                let run = runs.last_mut().expect("there is one from the beginning");
                run.1 += 1;
                if operation.starts_with("bra") {
                    run.2 = operation.trim_end_matches(';').split_whitespace().next_back();
                    run.3 = line.starts_with('@');
                } else if operation.starts_with("ret") || operation.starts_with("exit") {
                    run.3 = line.starts_with('@');
                }
            }
        }
        let name = |at: usize| match u8::try_from(at) {
            Ok(at @ 0..26) => char::from(b'A' + at).to_string(),
            _ => format!("N{at}"),
        };
        let nodes = runs.iter().enumerate().map(|(at, run)| format!("{}[{}]\n", name(at), run.1));
        let edges = runs.iter().enumerate().flat_map(|(at, run)| {
            let target = run.2.and_then(|label| runs.iter().position(|other| other.0 == label));
            let next = (run.3 && at + 1 < runs.len()).then_some(at + 1);
            target.into_iter().chain(next).map(move |to| format!("{} --> {}\n", name(at), name(to)))
        });
        ["flowchart TD\n".to_owned()].into_iter().chain(nodes).chain(edges).collect()
    }

    /// The PTX of a kernel, from its entry on.
    pub fn of(kernel: &'static str, text: &str) -> Self {
        let body = text.split_once('{').map_or("", |(_, body)| body);
        let operations: Vec<&str> = body.lines().filter_map(|line| operation(line.trim())).collect();
        let count = |what: fn(&str) -> bool| operations.iter().filter(|line| what(line)).count();
        Self {
            kernel,
            instructions: operations.len(),
            branches: count(|line| line.starts_with("bra")),
            accesses: count(|line| line.contains(".global.b") || line.contains(".global.f")),
            floats: count(|line| line.contains(".f32")),
            text: text.to_owned(),
        }
    }
}

/// The instruction of a line without its guard; none in labels, declarations and comments.
fn operation(line: &str) -> Option<&str> {
    let instruction = line.ends_with(';') && !line.starts_with('.') && !line.starts_with("//");
    instruction
        .then(|| if line.starts_with('@') { line.split_once(' ').map_or("", |(_, rest)| rest) } else { line })
}

/// The divergent form and the merged one. Without text where the program has no PTX.
pub fn listings() -> [Listing; 2] {
    [&kernels::calibrate_divergent::META, &kernels::calibrate_merged::META].map(listing)
}

fn listing(kernel: &'static KernelMeta) -> Listing {
    let ptx = kernel.images.first().map_or("", |image| image.ptx);
    Listing::of(kernel.name, ptx.find(".visible").map_or("", |start| &ptx[start..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIVERGENT: &str =
        include_str!("../../../../gpu-kernels/calibrate/ptx/calibrate_divergent.sm_75.ptx");
    const MERGED: &str = include_str!("../../../../gpu-kernels/calibrate/ptx/calibrate_merged.sm_75.ptx");

    /// As in the thesis: what the divergent form has more of is branches; here it has fewer accesses, as its compiler
    /// joins the stores of both branches.
    #[test]
    fn the_divergent_form_branches_once_more() {
        let [divergent, merged] =
            [("divergent", DIVERGENT), ("merged", MERGED)].map(|(name, ptx)| Listing::of(name, ptx));
        assert_eq!((divergent.branches, merged.branches), (2, 1));
        assert_eq!((divergent.accesses, merged.accesses), (2, 4));
        assert!(divergent.graph().matches("-->").count() > merged.graph().matches("-->").count());
    }
}
