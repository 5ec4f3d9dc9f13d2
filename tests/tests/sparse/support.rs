//! Matrices of many structures, and their oracles.

use gpu_core::Device;
use gpu_sparse::{Csr, Diagonal, Element, Side};

/// A matrix on the host: its shape, offsets, columns and values.
#[derive(Clone, Debug)]
pub struct Host<T> {
    pub rows: usize,
    pub columns: usize,
    pub offsets: Vec<u32>,
    pub indices: Vec<u32>,
    pub values: Vec<T>,
}

impl<T: Element> Host<T> {
    pub fn on(&self, device: &Device) -> Csr<T> {
        Csr::upload(device, self.rows, self.columns, &self.offsets, &self.indices, &self.values).unwrap()
    }

    /// The columns of a row.
    pub fn row(&self, row: usize) -> std::ops::Range<usize> {
        self.offsets[row] as usize..self.offsets[row + 1] as usize
    }
}

/// A generator of numbers: xorshift, from a printed seed.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    /// From -1 to 1, of 23 bits, so that `f32` has it too.
    pub fn number(&mut self) -> f64 {
        (self.next() >> 40) as f64 / (1u64 << 23) as f64 - 1.0
    }
}

/// The types that values have.
pub trait Value: Element + gpu_tests::compare::Bits {
    fn of(number: f64) -> Self;
    const UNIT: f64;
}

impl Value for f32 {
    fn of(number: f64) -> Self {
        number as f32
    }
    const UNIT: f64 = f32::EPSILON as f64 / 2.0;
}

impl Value for f64 {
    fn of(number: f64) -> Self {
        number
    }
    const UNIT: f64 = f64::EPSILON / 2.0;
}

/// A matrix whose row `r` has the columns `columns(r)`, in any order and several times.
pub fn matrix<T: Value>(
    rows: usize,
    columns: usize,
    seed: u64,
    mut of_row: impl FnMut(usize, &mut Random) -> Vec<usize>,
) -> Host<T> {
    let mut random = Random(seed);
    let mut host = Host { rows, columns, offsets: vec![0], indices: Vec::new(), values: Vec::new() };
    for row in 0..rows {
        let mut places = of_row(row, &mut random);
        places.sort_unstable();
        places.dedup();
        for place in places {
            host.indices.push(place as u32);
            // Away from zero, for diagonals.
            let number = random.number();
            host.values.push(T::of(number + number.signum()));
        }
        host.offsets.push(host.indices.len() as u32);
    }
    host
}

/// The columns of a row.
type Columns = Box<dyn FnMut(usize, &mut Random) -> Vec<usize>>;

/// Triangles of all kinds, lower: their names and the columns of their rows beside the diagonal.
pub fn triangles<T: Value>(with_diagonal: bool) -> Vec<(&'static str, Host<T>)> {
    let of = |rows: usize, seed, mut columns: Columns| {
        matrix(rows, rows, seed, move |row, random| {
            let mut columns = columns(row, random);
            columns.extend(with_diagonal.then_some(row));
            columns
        })
    };
    vec![
        ("no rows", of(0, 1, Box::new(|_, _| vec![]))),
        ("one row", of(1, 2, Box::new(|_, _| vec![]))),
        ("diagonal", of(700, 3, Box::new(|_, _| vec![]))),
        ("chain", of(600, 4, Box::new(|row, _| if row > 0 { vec![row - 1] } else { vec![] }))),
        ("dense", of(90, 5, Box::new(|row, _| (0..row).collect()))),
        ("band", of(520, 6, Box::new(|row, _| (row.saturating_sub(16)..row).collect()))),
        (
            "plane",
            of(
                900,
                7,
                Box::new(|row, _| {
                    let left = (row % 30 > 0).then(|| row - 1);
                    left.into_iter().chain((row >= 30).then(|| row - 30)).collect()
                }),
            ),
        ),
        (
            "random",
            of(
                1000,
                8,
                Box::new(|row, random| {
                    if row == 0 { vec![] } else { (0..random.below(6)).map(|_| random.below(row)).collect() }
                }),
            ),
        ),
        (
            "power law",
            of(
                800,
                9,
                Box::new(|row, random| {
                    let most = if random.below(50) == 0 { row } else { row.min(3) };
                    (0..most).map(|_| random.below(row)).collect()
                }),
            ),
        ),
        ("arrow", of(400, 10, Box::new(|row, _| if row == 399 { (0..399).collect() } else { vec![] }))),
    ]
}

/// The upper triangle that the mirrored rows and columns of a lower one are.
pub fn reversed<T: Value>(lower: &Host<T>) -> Host<T> {
    let last = lower.rows.wrapping_sub(1);
    let mut upper =
        Host { rows: lower.rows, columns: lower.columns, offsets: vec![0], indices: vec![], values: vec![] };
    for row in (0..lower.rows).rev() {
        for entry in lower.row(row).rev() {
            upper.indices.push((last - lower.indices[entry] as usize) as u32);
            upper.values.push(lower.values[entry]);
        }
        upper.offsets.push(upper.indices.len() as u32);
    }
    upper
}

/// A vector of so many numbers.
pub fn vector<T: Value>(len: usize, seed: u64) -> Vec<T> {
    let mut random = Random(seed);
    (0..len).map(|_| T::of(random.number())).collect()
}

/// The oracle of systems: the chain of each row, rows in order.
pub fn naive_solution<T: Value>(a: &Host<T>, side: Side, diagonal: Diagonal, alpha: T, b: &[T]) -> Vec<T> {
    let mut x = vec![T::ZERO; a.rows];
    let rows: Vec<usize> =
        if side == Side::Lower { (0..a.rows).collect() } else { (0..a.rows).rev().collect() };
    for row in rows {
        let mut entries: Vec<usize> = a.row(row).collect();
        if side == Side::Upper {
            entries.reverse();
        }
        let (mut sum, mut inverse) = (T::ZERO, T::ONE);
        for entry in entries {
            let column = a.indices[entry] as usize;
            if column != row {
                sum = a.values[entry].mul_add(x[column], sum);
            } else if diagonal == Diagonal::Stored {
                inverse = T::ONE / a.values[entry];
            }
        }
        x[row] = (alpha * b[row] - sum) * inverse;
    }
    x
}

/// The oracle: every product is added to the chain that the documented order gives it to.
pub fn naive_product<T: Value>(alpha: T, a: &Host<T>, x: &[T], beta: T, y: &mut [T]) {
    let halves = |mut sums: Vec<T>| {
        while sums.len() > 1 {
            let (low, high) = sums.split_at(sums.len() / 2);
            sums = low.iter().zip(high).map(|(&low, &high)| low + high).collect();
        }
        sums[0]
    };
    for (row, y) in y.iter_mut().enumerate() {
        let mut pieces = vec![T::ZERO; 32];
        for (number, piece) in a.row(row).collect::<Vec<_>>().chunks(1024).enumerate() {
            let mut chains = vec![T::ZERO; 32];
            for (k, &entry) in piece.iter().enumerate() {
                chains[k % 32] = a.values[entry].mul_add(x[a.indices[entry] as usize], chains[k % 32]);
            }
            pieces[number % 32] = pieces[number % 32] + halves(chains);
        }
        let sum = halves(pieces) + T::ZERO;
        *y = if beta == T::ZERO { alpha * sum } else { alpha.mul_add(sum, beta * *y) };
    }
}

/// Up to `most` columns, drawn.
pub fn columns_of(random: &mut Random, most: usize, columns: usize) -> Vec<usize> {
    (0..random.below(most)).map(|_| random.below(columns)).collect()
}
