//! Satisfies `-lcuda`: the linker is handed an empty library, since this crate defines every symbol.

use std::path::PathBuf;
use std::{env, fs};

/// The magic of a Unix archive; an archive of nothing is nothing but it.
const EMPTY_ARCHIVE: &[u8] = b"!<arch>\n";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts"));
    for name in ["libcuda.a", "cuda.lib"] {
        let path = out.join(name);
        if let Err(error) = fs::write(&path, EMPTY_ARCHIVE) {
            panic!("writing the empty {}: {error}", path.display());
        }
    }
    println!("cargo::rustc-link-search=native={}", out.display());
}
