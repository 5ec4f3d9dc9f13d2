//! x
fn main() {
    let mut b = gpu_builder::Builder::only_one().progress(true);
    let args: Vec<String> = std::env::args().collect();
    if let Some(i) = args.iter().position(|a| a == "--crate") {
        b = gpu_builder::Builder::new(&args[i + 1]).progress(true);
    }
    match b.build() {
        Ok(b) => println!("{} changed: {:?} outdated {:?}", b.out_dir.display(), b.changed, b.outdated),
        Err(e) => {
            eprintln!("error: {e}");
            std::process::exit(if e.is_missing_tool() { 3 } else { 1 })
        }
    }
}
