use gpu_std::prelude::*;

#[kernel]
fn sum((x, y): (u32, u32)) {
    let _ = x + y;
}

fn main() {}
