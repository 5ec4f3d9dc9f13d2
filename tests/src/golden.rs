//! Files of golden data: lines that begin with what they hold, in blocks that begin with a line of the same name.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::str::FromStr;

/// The lines of a block: their words by the first one.
pub struct Block<'a>(BTreeMap<&'a str, Vec<&'a str>>);

/// The blocks of a file, each of which begins with a line `first`. Lines with `#` are comments.
pub fn blocks<'a>(text: &'a str, first: &str) -> Vec<Block<'a>> {
    let mut blocks: Vec<Block<'a>> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ').filter(|word| !word.is_empty());
        let what = words.next().expect("no line is empty");
        if what == first {
            blocks.push(Block(BTreeMap::new()));
        }
        blocks.last_mut().expect("a block has begun").0.insert(what, words.collect());
    }
    blocks
}

impl Block<'_> {
    /// Whether there is such a line.
    pub fn has(&self, what: &str) -> bool {
        self.0.contains_key(what)
    }

    /// The words of a line that is there.
    #[track_caller]
    pub fn words(&self, what: &str) -> &[&str] {
        self.0.get(what).unwrap_or_else(|| panic!("the block has no {what}"))
    }

    /// The numbers of a line that is there.
    #[track_caller]
    pub fn numbers<N: FromStr<Err: Debug>>(&self, what: &str) -> Vec<N> {
        self.words(what).iter().map(|word| word.parse().expect("a number")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::blocks;

    #[test]
    fn blocks_are_told_apart() {
        let blocks = blocks("# no\nsize 2\nx 1 -2.5e3\nsize 0\nx \n", "size");
        assert_eq!(blocks.len(), 2);
        assert_eq!(blocks[0].numbers::<f64>("x"), [1.0, -2500.0]);
        assert_eq!(blocks[0].numbers::<usize>("size"), [2]);
        assert!(blocks[1].words("x").is_empty() && !blocks[1].has("y"));
    }
}
