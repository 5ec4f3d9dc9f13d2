//! The PTX of a kernel for one architecture, as edits to that for another.
//!
//! The images of a kernel for 7.5 and for 9.0 often differ in three lines of a thousand, so gpu-builder keeps the second
//! one as what has to be changed in the first. Below the comments that every image begins with, and the line
//! `// Edits of sm_75:`, it has the commands of `diff --rcs`: `d3 2` deletes two lines, from the third on, and `a4 2` adds the two
//! lines that follow behind the fourth. Lines are counted from 1, in the text that is edited.
//!
//! ```
//! use gpu_std::edits::{apply, edited};
//! let edits = "// By gpu-builder\n// Edits of sm_75:\nd1 1\na1 1\n.target sm_90\na3 1\nwait;\n";
//! assert_eq!(edited(edits), Some(75));
//! assert_eq!(apply(".target sm_75\n{\n}\n", edits).as_deref(), Some(".target sm_90\n{\n}\nwait;\n"));
//! ```

/// What the line before the commands begins with; the architecture of the image that they edit follows.
pub const HEAD: &str = "// Edits of sm_";

/// The architecture, times ten, of the image that this one edits; `None` where it is a whole text.
pub fn edited(image: &str) -> Option<u32> {
    let mut comments = image.lines().take_while(|line| line.starts_with("//"));
    comments.find_map(|line| line.strip_prefix(HEAD)?.strip_suffix(':')?.parse().ok())
}

/// The text that `edits` make of `base`; `None` where they do not fit it.
pub fn apply(base: &str, edits: &str) -> Option<String> {
    let mut commands = edits.lines();
    commands.find(|line| line.starts_with(HEAD))?;
    let base: Vec<&str> = base.lines().collect();
    let mut lines = Vec::with_capacity(base.len());
    // Lines of the base that have been kept or deleted.
    let mut done = 0;
    while let Some(command) = commands.next() {
        let (line, count) = command.get(1..)?.split_once(' ')?;
        let (line, count) = (line.parse::<usize>().ok()?, count.parse::<usize>().ok()?);
        let keep = if command.starts_with('d') { line.checked_sub(1)? } else { line };
        lines.extend_from_slice(base.get(done..keep)?);
        done = keep;
        match command.as_bytes()[0] {
            b'd' => done = done.checked_add(count)?,
            b'a' => {
                for _ in 0..count {
                    lines.push(commands.next()?);
                }
            }
            _ => return None,
        }
    }
    lines.extend_from_slice(base.get(done..)?);
    lines.push("");
    Some(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "a\nb\nc\nd\n";

    fn applied(commands: &str) -> Option<String> {
        apply(BASE, &format!("// x\n{HEAD}75:\n{commands}"))
    }

    #[test]
    fn lines_are_deleted_and_added() {
        assert_eq!(applied("").as_deref(), Some(BASE));
        assert_eq!(applied("a0 1\nd9\nd1 2\na4 2\nx\ny\n").as_deref(), Some("d9\nc\nd\nx\ny\n"));
        assert_eq!(applied("d2 1\na2 1\nB\nd4 1\n").as_deref(), Some("a\nB\nc\n"));
    }

    #[test]
    fn edits_that_do_not_fit_are_refused() {
        for commands in [
            "d1 5\n",
            "d0 1\n",
            "a5 1\nx\n",
            "a4 2\nx\n",
            "x1 1\n",
            "d1\n",
            "d3 1\na1 1\nx\n",
            "\n",
            "ä1 1\n",
        ] {
            assert_eq!(applied(commands), None, "{commands}");
        }
        assert_eq!(apply(BASE, "d1 1\n"), None, "without the head");
    }

    #[test]
    fn only_the_comments_at_the_head_say_that_an_image_is_edits() {
        assert_eq!(edited("// Written\n// -O1\n// Edits of sm_75:\nd1 1\n"), Some(75));
        assert_eq!(edited("// Written\n\n.version 7.4\n// Edits of sm_75:\n"), None);
    }
}
