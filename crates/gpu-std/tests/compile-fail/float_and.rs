use gpu_std::prelude::*;

#[kernel]
fn mask(x: GlobalMut<f32>) {
    x.atomic(0).fetch_and(1.0, Ordering::Relaxed, Scope::Device);
}

fn main() {}
