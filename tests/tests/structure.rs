//! Whoever adds a primitive adds all of it: kernel, PTX, crate, tests, benchmark, documentation.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace's root").to_path_buf()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The families of kernels: the folders of gpu-kernels.
fn families() -> Vec<String> {
    let entries = std::fs::read_dir(root().join("gpu-kernels")).expect("gpu-kernels");
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    assert!(names.len() >= 2, "found only {names:?}");
    names
}

/// The primitives are the families that have a crate of their own. What another crate offers, it depends on.
fn primitives() -> Vec<String> {
    let (own, others): (Vec<_>, Vec<_>) =
        families().into_iter().partition(|name| root().join(format!("crates/gpu-{name}")).is_dir());
    let crates = std::fs::read_dir(root().join("crates")).expect("crates");
    let manifests: Vec<PathBuf> = crates.map(|entry| entry.unwrap().path().join("Cargo.toml")).collect();
    for family in others {
        let uses = |path: &PathBuf| {
            std::fs::read_to_string(path).unwrap().contains(&format!("gpu-{family}-kernels"))
        };
        assert!(manifests.iter().any(uses), "no crate offers the kernels of gpu-kernels/{family}");
    }
    own
}

/// The files of a folder and of the folders in it.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn every_primitive_has_all_its_places() {
    let readme = read("README.md");
    let mut missing = Vec::new();
    for name in primitives() {
        for file in
            ["README.md", "src/lib.rs", "src/api.rs", "src/plan.rs", "src/launch.rs", "src/reference.rs"]
        {
            let path = format!("crates/gpu-{name}/{file}");
            let folder = path.replace(".rs", "/mod.rs");
            if !root().join(&path).exists() && !root().join(folder).exists() {
                missing.push(path);
            }
        }
        for path in [format!("tests/tests/{name}/main.rs"), format!("benches/src/suite/{name}.rs")] {
            if !root().join(&path).exists() {
                missing.push(path);
            }
        }
        if !readme.contains(&format!("| [gpu-{name}](crates/gpu-{name}) |")) {
            missing.push(format!("a row for gpu-{name} in README.md"));
        }
        if !root().join(format!("gpu-kernels/{name}/ptx/manifest.json")).exists() {
            missing.push(format!("the PTX of gpu-kernels/{name}"));
        }
    }
    assert!(missing.is_empty(), "missing:\n{}", missing.join("\n"));
}

/// A public function of a primitive's crate: its name, where it is written and its documentation.
struct Function {
    name: String,
    place: String,
    documentation: String,
    signature: String,
}

/// The name of the function that a line starts.
fn function_name(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub fn ").or_else(|| line.strip_prefix("pub const fn "))?;
    rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().filter(|name| !name.is_empty())
}

/// The primitives among the public functions of a crate: those of its own files, but for what is there to look at them
/// (references, plans, variants), for launches, and for what is hidden.
fn functions(crate_name: &str) -> Vec<Function> {
    let source = root().join(format!("crates/{crate_name}/src"));
    let mut functions = Vec::new();
    for path in files_below(&source) {
        let place = path.strip_prefix(root()).unwrap().display().to_string();
        let aside = ["/reference", "/plan", "/variants", "/cpu", "/launch.rs", "/tests"];
        if aside.iter().any(|part| place.contains(part)) {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        functions.extend(written_by_macros(&text, &place));
        let mut documentation = String::new();
        let mut is_hidden = false;
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some(comment) = line.strip_prefix("///") {
                documentation += comment;
                documentation.push('\n');
            } else if line.starts_with("#[") {
                is_hidden |= line.contains("doc(hidden)");
            } else {
                if let Some(name) = function_name(line).filter(|_| !is_hidden) {
                    let rest = lines.clone().take_while(|line| *line != "}");
                    let all: Vec<_> = std::iter::once(line).chain(rest).collect();
                    let signature = all.join(" ").split(" {").next().unwrap().to_string();
                    let (place, documentation) = (place.clone(), documentation.clone());
                    functions.push(Function { name: name.to_string(), place, documentation, signature });
                }
                documentation.clear();
                is_hidden = false;
            }
        }
    }
    functions
}

/// What stands between a line that `opens` and the next brace at the start of a line, as often as it does: with what
/// `opens` made of the line.
fn blocks<'a, T>(text: &'a str, opens: impl Fn(&'a str) -> Option<T>) -> Vec<(T, Vec<&'a str>)> {
    let mut lines = text.lines();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        if let Some(what) = opens(line) {
            found.push((what, lines.by_ref().take_while(|line| *line != "}").collect()));
        }
    }
    found
}

/// The words of a text, without punctuation.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// A function in a macro: its name, a parameter of the macro, and what is written of it.
struct Template {
    name: String,
    documentation: Vec<String>,
    signature: String,
}

/// Where the documentation goes that stands in front of what the macro is called with.
const OWN: &str = "$(#[$doc])*";

/// The functions that a macro writes for each of its entries.
fn templates(body: &[&str]) -> Vec<Template> {
    let (mut found, mut documentation) = (Vec::new(), Vec::new());
    for (at, line) in body.iter().map(|line| line.trim()).enumerate() {
        if let Some(comment) = line.strip_prefix("///") {
            documentation.push(comment.to_string());
        } else if let Some(comment) = line.strip_prefix("#[doc = concat!(") {
            // `"text", stringify!($name), "text"`: the text, with the parameters in it.
            let parts = comment.split('"').enumerate().map(|(number, part)| match part.split_once("!($") {
                _ if number % 2 == 1 => part.to_string(),
                Some((_, parameter)) => format!("${}", words(parameter).next().unwrap()),
                None => String::new(),
            });
            documentation.push(parts.collect());
        } else if line == OWN {
            documentation.push(OWN.to_string());
        } else if let Some(rest) = line.strip_prefix("pub fn $") {
            let name = words(rest).next().unwrap().to_string();
            let signature = body[at..].join(" ").split(" {").next().unwrap().to_string();
            found.push(Template { name, documentation: std::mem::take(&mut documentation), signature });
        } else if !line.starts_with("#[") {
            documentation.clear();
        }
    }
    found
}

/// What a macro is called with, each with its documentation.
fn entries<'a>(lines: &[&'a str]) -> Vec<(String, Vec<&'a str>)> {
    let (mut found, mut entry, mut documentation) = (Vec::new(), String::new(), Vec::new());
    for line in lines.iter().map(|line| line.trim()) {
        if let Some(comment) = line.strip_prefix("///") {
            documentation.push(comment);
            continue;
        }
        entry += line;
        entry.push(' ');
        if line.ends_with(';') {
            found.push((std::mem::take(&mut entry), std::mem::take(&mut documentation)));
        }
    }
    if !entry.is_empty() {
        found.push((entry, documentation));
    }
    found
}

/// The functions that the macros of a file write in that file, whose names they are called with.
fn written_by_macros(text: &str, place: &str) -> Vec<Function> {
    let mut functions = Vec::new();
    for (name, body) in blocks(text, |line| line.strip_prefix("macro_rules! ")?.strip_suffix(" {")) {
        let templates = templates(&body);
        // The identifiers that it is called with, in their order: names of functions are before what has other forms.
        let pattern = body.join(" ");
        let pattern = pattern.split("=>").next().unwrap().split('$').skip(1);
        let parameters: Vec<_> =
            pattern.filter_map(|rest| rest.split_once(":ident")).map(|(name, _)| name).collect();
        let calls = blocks(text, |line| (line.strip_suffix("! {") == Some(name)).then_some(()));
        for (entry, own) in calls.iter().flat_map(|(_, lines)| entries(lines)) {
            let names: Vec<_> = words(&entry).collect();
            let of = |parameter: &str| {
                let at = parameters.iter().position(|other| *other == parameter);
                names[at.unwrap_or_else(|| panic!("{place}: {name} has no identifier ${parameter}"))]
            };
            for Template { name, documentation, signature } in &templates {
                let mut documentation = documentation.join("\n").replace(OWN, &own.join("\n"));
                // The longest first: one may begin like another.
                let mut longest = parameters.clone();
                longest.sort_by_key(|parameter| std::cmp::Reverse(parameter.len()));
                for parameter in longest {
                    documentation = documentation.replace(&format!("${parameter}"), of(parameter));
                }
                functions.push(Function {
                    name: of(name).to_string(),
                    place: place.to_string(),
                    documentation,
                    signature: signature.clone(),
                });
            }
        }
    }
    functions
}

/// Whether a text has the word, alone.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part))
}

/// The code between the fences of the comments of a file, or of a file of Markdown.
fn examples(text: &str) -> String {
    let (mut code, mut is_inside) = (String::new(), false);
    for line in text.lines().map(str::trim_start) {
        let line = line.trim_start_matches("///").trim_start_matches("//!").trim_start();
        if line.starts_with("```") {
            is_inside = !is_inside;
        } else if is_inside {
            code += line;
            code.push('\n');
        }
    }
    code
}

/// Every primitive says what it does and how it fails, has an example that runs, and a test over all backends. What
/// writes into memory of the caller's, `…_into`, may have the example and the test of the function that calls it.
#[test]
fn every_public_function_has_documentation_an_example_and_a_test() {
    let texts = |path: &Path| -> Vec<String> {
        files_below(path).iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect()
    };
    let tests: String =
        texts(&root().join("tests/tests")).into_iter().filter(|text| text.contains("for_each(")).collect();
    let (mut missing, mut count) = (Vec::new(), 0);
    for primitive in primitives() {
        let name = format!("gpu-{primitive}");
        let mut sources = texts(&root().join(format!("crates/{name}/src")));
        sources.push(read(&format!("crates/{name}/README.md")));
        let functions = functions(&name);
        // Macros write examples too.
        sources.extend(functions.iter().map(|function| function.documentation.clone()));
        let examples: String = sources.iter().map(|text| examples(text)).collect();
        for Function { name, place, documentation, signature } in functions {
            count += 1;
            let form_of = name.strip_suffix("_into").unwrap_or(&name);
            let is_in = |text: &str| has_word(text, &name) || has_word(text, form_of);
            let mut lacks = |what: &str| missing.push(format!("{place}: {name} has no {what}"));
            if documentation.trim().is_empty() {
                lacks("documentation");
            }
            if signature.contains("-> Result<") && !documentation.contains("# Errors") {
                lacks("section on errors");
            }
            if !is_in(&examples) {
                lacks("example");
            }
            if !is_in(&tests) {
                lacks("test over all backends");
            }
        }
    }
    assert!(missing.is_empty(), "{} of {count} functions:\n{}", missing.len(), missing.join("\n"));
    assert!(count > 250, "found only {count} functions");
}

/// Functions on a stream that the tests of graphs do not name, and why not.
const NOT_IN_GRAPHS: [(&str, &str); 0] = [];

/// What writes to the caller's memory on a stream can be captured, and a test captures it or says that it is refused.
#[test]
fn every_function_on_a_stream_is_captured_by_a_test() {
    let graphs: String = files_below(&root().join("tests/tests/graphs"))
        .iter()
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    let (mut missing, mut names) = (Vec::new(), Vec::new());
    for primitive in primitives() {
        let name = format!("gpu-{primitive}");
        let on_streams =
            functions(&name).into_iter().filter(|function| function.signature.contains("stream: &Stream"));
        names.extend(on_streams.map(|Function { name, place, .. }| (name, place)));
    }
    names.sort();
    names.dedup_by(|one, other| one.0 == other.0);
    for (name, place) in &names {
        let is_excepted = NOT_IN_GRAPHS.iter().any(|(other, _)| other == name);
        assert!(!(is_excepted && has_word(&graphs, name)), "{name} is captured: it needs no exception");
        if !is_excepted && !has_word(&graphs, name) {
            missing.push(format!("{place}: {name}"));
        }
    }
    assert!(missing.is_empty(), "{} of {} functions:\n{}", missing.len(), names.len(), missing.join("\n"));
    assert!(names.len() > 100, "found only {} functions", names.len());
}

#[test]
fn only_launch_files_of_primitive_crates_hold_unsafe_code() {
    for name in primitives() {
        for path in files_below(&root().join(format!("crates/gpu-{name}/src"))) {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            let has_unsafe = code.clone().any(|line| line.contains("unsafe {") || line.contains("unsafe fn"));
            // And what registers of a set of instructions can do is unsafe functions of the core library.
            let is_launch = path.ends_with("launch.rs")
                || path.parent().is_some_and(|folder| folder.ends_with("gpu-linalg/src/cpu/lanes"));
            assert_eq!(has_unsafe, is_launch, "{}: unsafe code belongs into launch.rs", path.display());
        }
    }
    for name in families() {
        for path in files_below(&root().join(format!("gpu-kernels/{name}/src"))) {
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(!text.contains("unsafe"), "{}: kernels hold no unsafe code", path.display());
        }
    }
}

/// The functions of a file that work in registers of a set of instructions, and whether they say that they are inlined
/// or what instructions they take. Those of a file's tests are left out.
fn functions_in_registers(text: &str) -> Vec<(String, bool)> {
    const MARKS: [&str; 7] =
        ["Work for ", "ByRegisters<", "Tiles for ", "Arranged<", "Lanes<", "Cells<", "Registers for "];
    let (mut found, mut header, mut is_marked) = (Vec::new(), String::new(), false);
    let mut lines = text.lines().take_while(|line| !line.ends_with("mod tests {"));
    while let Some(line) = lines.next() {
        let start = line.trim_start();
        // An item's first line, and what follows of it until its body, or its end where it has none.
        let rest = |lines: &mut dyn Iterator<Item = &str>| {
            let mut item = start.to_string();
            while !item.ends_with(['{', ';', '}']) {
                item += lines.next().expect("an item has an end").trim();
            }
            item
        };
        if start.starts_with("impl") || start.starts_with("trait ") || start.starts_with("pub trait ") {
            header = rest(&mut lines);
        } else if start.contains("fn ") && !start.starts_with("//") {
            if start.len() == line.len() {
                header.clear();
            }
            let signature = rest(&mut lines);
            let has_body = !signature.ends_with(';');
            if has_body && MARKS.iter().any(|mark| header.contains(mark) || signature.contains(mark)) {
                found.push((start.to_string(), is_marked));
            }
        } else if start.starts_with("#[inline(always)]") || start.starts_with("#[target_feature(") {
            is_marked = true;
            continue;
        } else if start.starts_with("#[") || start.starts_with("//") {
            continue;
        }
        is_marked = false;
    }
    found
}

/// What is not inlined into a function with the machine's instructions is compiled for the oldest machines: a product
/// of a matrix and a vector took twenty times as long.
#[test]
fn what_works_in_registers_is_inlined() {
    let (mut seen, mut missing) = (0, Vec::new());
    for name in primitives() {
        for path in files_below(&root().join(format!("crates/gpu-{name}/src"))) {
            // These choose the instructions.
            if path.ends_with("launch.rs") {
                continue;
            }
            for (function, is_marked) in functions_in_registers(&std::fs::read_to_string(&path).unwrap()) {
                seen += 1;
                if !is_marked {
                    missing.push(format!("{}: {function}", path.strip_prefix(root()).unwrap().display()));
                }
            }
        }
    }
    println!("{seen} functions");
    assert!(seen > 100, "found only {seen} functions");
    assert!(missing.is_empty(), "without #[inline(always)]:\n{}", missing.join("\n"));
}

/// The code at the top of README.md is a project that CI runs.
#[test]
fn the_readme_shows_the_outside_project() {
    let (readme, program) = (read("README.md"), read("examples/outside/src/main.rs"));
    let (_, program) = program.split_once("\n\n").expect("documentation, then code");
    let shown = readme.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next());
    assert_eq!(shown, Some(program), "README.md and examples/outside/src/main.rs differ");
}

#[test]
fn every_example_is_in_the_readme() {
    let (readme, first) = (read("README.md"), read("examples/first/Cargo.toml"));
    let manifest = first + &read("examples/Cargo.toml");
    let examples =
        manifest.split("[[example]]\nname = \"").skip(1).map(|rest| rest.split('"').next().unwrap());
    let missing: Vec<_> = examples.filter(|name| !readme.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "README.md has no {}", missing.join(", "));
}

/// What README.md links to or shows is there.
#[test]
fn links_of_the_readmes_lead_somewhere() {
    for file in ["README.md", "benches/results/README.md", "CONTRIBUTING.md"] {
        let text = read(file);
        let folder = root().join(file).parent().unwrap().to_path_buf();
        for link in text.split("](").skip(1).map(|rest| rest.split([')', '#']).next().unwrap()) {
            assert!(link.contains("://") || link.is_empty() || folder.join(link).exists(), "{file}: {link}");
        }
    }
}
