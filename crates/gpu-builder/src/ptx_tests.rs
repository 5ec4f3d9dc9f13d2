use super::*;

/// What the compiler wrote for a kernel with launch bounds, a helper, a prototype and a table.
pub(crate) const RAW: &str = include_str!("../tests/recorded/raw.ptx");

fn raw() -> Ptx {
    Ptx::parse("raw", RAW).expect("recorded PTX")
}

#[test]
fn finds_every_item_with_its_kind_and_name() {
    let ptx = raw();
    let seen: Vec<_> = ptx.items.iter().map(|item| (item.kind, item.name.as_str())).collect();
    assert_eq!(
        seen,
        [
            (Kind::Directive, ".version"),
            (Kind::Directive, ".target"),
            (Kind::Directive, ".address_size"),
            (Kind::Prototype, "bounds_check"),
            (Kind::Variable, "__launch_bounds_scale"),
            (Kind::Variable, "table"),
            (Kind::Variable, "tile"),
            (Kind::Variable, "unused"),
            (Kind::Function, "helper"),
            (Kind::Entry, "scale"),
            (Kind::Entry, "empty"),
            (Kind::Function, "bounds_check"),
            (Kind::Function, "memcpy"),
        ]
    );
    assert_eq!((ptx.isa(), ptx.target()), (Some(74), Some("sm_75")));
}

#[test]
fn lines_are_those_of_the_original_text() {
    for item in raw().items {
        let line = RAW.lines().nth(item.line - 1).expect("the line is there");
        assert!(line.starts_with(item.text.lines().next().expect("text").trim_end()), "{item:?}");
    }
}

#[test]
fn comments_go_and_strings_stay() {
    let text = ".pragma \"nounroll // not a comment\"; // one\n/* two\n{ */ .global .b8 x;";
    let ptx = Ptx::parse("t", text).expect("two items");
    assert_eq!(ptx.items[0].text, ".pragma \"nounroll // not a comment\";");
    assert_eq!((ptx.items[1].text.as_str(), ptx.items[1].line), (".global .b8 x;", 3));
    assert!(raw().items.iter().all(|item| !item.text.contains("//")));
}

#[test]
fn params_have_names_and_sizes() {
    let ptx = raw();
    let params: Vec<_> = ptx.entries().map(|entry| entry.params()).collect();
    let param = |name: &str, bytes| Param { name: name.into(), bytes };
    assert_eq!(
        params[0],
        [
            param("scale_param_0", 8),
            param("scale_param_1", 4),
            param("scale_param_2", 4),
            param("scale_param_3", 48),
        ]
    );
    assert!(params[1].is_empty());
}

#[test]
fn reaches_what_is_called_and_addressed() {
    let ptx = raw();
    let reached = |name: &str| -> Vec<&str> {
        let root = ptx.entries().find(|entry| entry.name == name).expect("the entry");
        ptx.reached(root, &ptx.index()).into_iter().map(|index| ptx.items[index].name.as_str()).collect()
    };
    assert_eq!(reached("scale"), ["bounds_check", "table", "tile", "helper", "scale", "bounds_check"]);
    assert_eq!(reached("empty"), ["empty"]);
}

#[test]
fn bodies_and_bounds() {
    let text = ".visible .entry k(\n.param .u32 a\n)\n.maxntid 256, 1, 1\n.minnctapersm 4\n{\nret;\n}";
    let ptx = Ptx::parse("t", text).expect("an entry");
    assert_eq!(ptx.items[0].bounds(), Bounds { max_threads: 256, min_blocks: 4 });
    assert_eq!(ptx.items[0].body(), "{\nret;\n}");
    assert_eq!(raw().entries().next().expect("scale").bounds(), Bounds::default());
}

#[test]
fn an_item_that_does_not_end_is_an_error_with_its_line() {
    let error = Ptx::parse("cut", ".version 7.4\n\n.visible .entry k()\n{\n ret;\n").expect_err("no end");
    assert!(matches!(&error, Error::Ptx { what, line: 3, .. } if what == "cut"), "{error}");
}
