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
        let examples: String = sources.iter().map(|text| examples(text)).collect();
        for Function { name, place, documentation, signature } in functions(&name) {
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
    assert!(count > 50, "found only {count} functions");
}

/// Functions on a stream that the tests of graphs do not name, and why not.
const NOT_IN_GRAPHS: [(&str, &str); 0] = [];

/// The functions `…_into` that macros write: words of the code that no `fn` has before it, and that are neither a
/// macro's parameter nor another name of a function.
fn written_by_macros(code: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for (at, _) in code.match_indices("_into") {
        let end = at + "_into".len();
        let start = code[..at].rfind(|c| !is_part(c)).map_or(0, |before| before + 1);
        let name = &code[start..end];
        let before = code[..start].trim_end();
        let is_other = before.ends_with('$') || before.ends_with('.') || before.ends_with(" as");
        if !code[end..].starts_with(is_part) && !is_other && !code.contains(&format!("fn {name}")) {
            found.push(name.to_string());
        }
    }
    found
}

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
        let sources = files_below(&root().join(format!("crates/{name}/src")));
        let texts: String = sources.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
        let code: Vec<_> = texts.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        names.extend(written_by_macros(&code.join("\n")).into_iter().map(|into| (into, name.clone())));
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
            let is_launch = path.ends_with("launch.rs");
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
    let (readme, manifest) = (read("README.md"), read("examples/Cargo.toml"));
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
