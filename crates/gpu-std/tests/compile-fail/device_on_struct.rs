use gpu_std::device;

#[device]
struct Tile;

fn main() {}
