use gpu_std::prelude::*;

#[kernel]
fn sum(name: String, y: GlobalMut<f32>) {
    y.write(0, name.len() as f32);
}

fn main() {}
