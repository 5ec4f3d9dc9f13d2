use gpu_std::prelude::*;

#[kernel]
fn sum<T: Element>(x: Global<T>, y: GlobalMut<T>) {
    y.write(0, x.read(0));
}

fn main() {}
