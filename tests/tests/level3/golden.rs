//! What SciPy's BLAS makes of the same triangles and symmetric matrices, plain, graded and ill-conditioned ones.
//!
//! *Products:* every element is a sum of k products, in parts, times alpha, plus beta times C: within `γ_{k + 64}` of the sum of absolute
//! values, whatever the order (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., equation 3.13; 64 as in `multiply`), and
//! SciPy's sums of f64 are, too. Graded matrices cancel in most sums, which that bound knows.
//!
//! *Solutions,* T being the triangle: of 16 rows they are products with an inverse E by substitution. `|T E - I| ≤ γ |T| |E|` (section
//! 14.2 there), so `|E - T⁻¹| ≤ γ |T⁻¹| |T| |E|`, and the product is within `γ |E| |b|`: together, to first order, `γ (|T⁻¹| |T| + I) |T⁻¹| |b|`,
//! with γ of n and the roundings of a reciprocal and of alpha. Substitution without an inverse, and squares of which each is solved
//! after those before it, keep to it. It is doubled, since the inverse that the test has is one by substitution, too, and for what is not of first
//! order. Of more rows the residual of [`residual_bound`] goes through `|T⁻¹|`. SciPy's solutions were refined and are wrong by a rounding.

use gpu_core::Device;
use gpu_linalg::{
    BatchLayout, Diagonal, Matrix, MatrixMut, Order, Side, Triangle, symm, symm_scratch, syr2k,
    syr2k_scratch, syrk, syrk_scratch, trmm, trmm_scratch, trsm, trsm_scratch, trsv, trsv_scratch,
};
use gpu_tests::backends::for_each;
use gpu_tests::golden::{Block, blocks};
use gpu_tests::scratch::exactly;

use crate::common::*;
use crate::solve::{inverse, residual_bound};

/// A call of the file, and how its matrices lie here.
struct Call<'a> {
    function: &'a str,
    side: Side,
    /// The one that is stored.
    triangle: Triangle,
    transposed: bool,
    diagonal: Diagonal,
    alpha: f32,
    beta: f32,
    order: Order,
    block: &'a Block<'a>,
}

impl<'a> Call<'a> {
    fn new(block: &'a Block<'a>, order: Order) -> Self {
        let [function, side, triangle, transposed, diagonal] = *block.words("call") else {
            panic!("a function and four flags")
        };
        let is = |word: &str, one: &str, other: &str| {
            assert!(word == one || word == other, "{word}");
            word == one
        };
        let factors = block.numbers::<f32>("factors");
        Self {
            function,
            side: if is(side, "left", "right") { Side::Left } else { Side::Right },
            triangle: if is(triangle, "lower", "upper") { Triangle::Lower } else { Triangle::Upper },
            transposed: is(transposed, "transposed", "plain"),
            diagonal: if is(diagonal, "unit", "stored") { Diagonal::Unit } else { Diagonal::Stored },
            alpha: factors[0],
            beta: factors[1],
            order,
            block,
        }
    }

    /// Rows and columns of what is written.
    fn shape(&self) -> (usize, usize) {
        let shape = self.block.numbers("shape");
        (shape[0], shape[1])
    }

    /// A matrix of the file, of which all or a triangle is there; the rest is NaN.
    fn matrix(&self, what: &str, (rows, columns): (usize, usize)) -> Dense {
        let numbers: Vec<f64> = self.block.numbers(what);
        if numbers.len() == rows * columns {
            return Dense { rows, columns, elements: numbers };
        }
        let mut dense = Dense::new(rows, columns, |_, _| f64::NAN);
        let places = (0..rows * columns).filter(|at| self.triangle.holds(at / columns, at % columns));
        let places: Vec<usize> = places.collect();
        assert_eq!(places.len(), numbers.len());
        places.into_iter().zip(numbers).for_each(|(at, number)| dense.elements[at] = number);
        dense
    }
}

fn other(triangle: Triangle) -> Triangle {
    if triangle == Triangle::Lower { Triangle::Upper } else { Triangle::Lower }
}

/// A matrix in memory, and how it lies there.
fn laid<T: Real>(dense: &Dense, order: Order) -> (Vec<T>, BatchLayout) {
    let layout: BatchLayout = layout(dense.rows, dense.columns, order, 3).into();
    // All elements of the file are f32.
    let of = |_, row, column| {
        let value = dense.at(row, column);
        assert!(value.is_nan() || f64::from(value as f32) == value);
        T::from(value as f32)
    };
    (filled(layout, of), layout)
}

/// What the function makes of it, and whether all else is as it was.
fn run<T: Real>(device: &Device, call: &Call<'_>, a: &Dense, b: Option<&Dense>, c: &Dense) -> Dense {
    let Call { side, triangle, transposed, diagonal, order, .. } = *call;
    let (host_a, layout_a) = laid::<T>(a, order);
    let (old, layout_c) = laid::<T>(c, ORDERS[usize::from(order == Order::RowMajor)]);
    let (of_a, stream) = (device.upload(&host_a).unwrap(), device.default_stream());
    let of_b = b.map(|b| laid::<T>(b, order)).map(|(b, layout)| (device.upload(&b).unwrap(), layout));
    let mut of_c = device.upload(&old).unwrap();
    let (alpha, beta) = (T::from(call.alpha), T::from(call.beta));
    let a = Matrix::new(&of_a, layout_a.matrix).unwrap();
    // A transposed triangle is a view of the other one.
    let (a, of_view) = if transposed { (a.transposed(), other(triangle)) } else { (a, triangle) };
    let b = of_b.as_ref().map(|(b, layout)| Matrix::new(b, layout.matrix).unwrap());
    let b = if transposed { b.map(Matrix::transposed) } else { b };
    let mut info = device.alloc(1).unwrap();
    let c = MatrixMut::new(&mut of_c, layout_c.matrix).unwrap();
    match call.function {
        "trsm" => {
            let mut scratch = exactly(&device.default_stream(), trsm_scratch::<T>(side, layout_c).unwrap());
            trsm(&stream, side, of_view, diagonal, alpha, a, c, &mut info, &mut scratch).unwrap();
        }
        "trmm" => {
            let mut scratch = exactly(&device.default_stream(), trmm_scratch::<T>(side, layout_c).unwrap());
            trmm(&stream, side, of_view, diagonal, alpha, a, c, &mut scratch).unwrap();
        }
        "symm" => {
            let mut scratch = exactly(&device.default_stream(), symm_scratch::<T>(side, layout_c).unwrap());
            symm(&stream, side, triangle, alpha, a, b.unwrap(), beta, c, &mut scratch).unwrap();
        }
        "syrk" => {
            let k = a.layout().columns();
            let mut scratch = exactly(&device.default_stream(), syrk_scratch::<T>(k, layout_c));
            syrk(&stream, triangle, alpha, a, beta, c, &mut scratch).unwrap();
        }
        "syr2k" => {
            let k = a.layout().columns();
            let mut scratch = exactly(&device.default_stream(), syr2k_scratch::<T>(k, layout_c));
            syr2k(&stream, triangle, alpha, a, b.unwrap(), beta, c, &mut scratch).unwrap();
        }
        other => panic!("{other} is no function"),
    }
    let new = of_c.to_vec().unwrap();
    let is_update = call.function.starts_with("syr");
    let may = |row, column| !is_update || triangle.holds(row, column);
    assert_untouched(&old, &new, layout_c, may, call.function);
    Dense::of(&new, layout_c, 0)
}

/// [`run`] of `trsv`, whose vector is contiguous.
fn run_vector<T: Real>(device: &Device, call: &Call<'_>, a: &Dense, b: &Dense) -> Dense {
    let (host_a, layout_a) = laid::<T>(a, call.order);
    let a = device.upload(&host_a).unwrap();
    let a = Matrix::new(&a, layout_a.matrix).unwrap();
    let (a, triangle) =
        if call.transposed { (a.transposed(), other(call.triangle)) } else { (a, call.triangle) };
    let vector: Vec<T> = b.elements.iter().map(|&value| T::from(value as f32)).collect();
    let mut x = device.upload(&vector).unwrap();
    let mut info = device.alloc(1).unwrap();
    let mut scratch = exactly(&device.default_stream(), trsv_scratch::<T>(b.rows).unwrap());
    let stream = device.default_stream();
    trsv(&stream, triangle, call.diagonal, a, &mut x, &mut info, &mut scratch).unwrap();
    let x = x.to_vec().unwrap();
    Dense { elements: x.into_iter().map(Into::into).collect(), ..b.clone() }
}

/// Checks a solution against SciPy's.
fn check_solution<T: Real>(device: &Device, call: &Call<'_>, context: &str) {
    let (rows, columns) = call.shape();
    let n = if call.side == Side::Left { rows } else { columns };
    let a = call.matrix("a", (n, n));
    let (b, x) = (call.matrix("b", (rows, columns)), call.matrix("result", (rows, columns)));
    let actual = if call.function == "trsv" {
        run_vector::<T>(device, call, &a, &b)
    } else {
        run::<T>(device, call, &a, None, &b)
    };
    let triangle = a.triangle(call.triangle, call.diagonal);
    let triangle = if call.transposed { triangle.transposed() } else { triangle };
    // X · A = B is Aᵀ · Xᵀ = Bᵀ.
    let on_left = |of: Dense| if call.side == Side::Left { of } else { of.transposed() };
    let (triangle, b, x, actual) = (on_left(triangle), on_left(b), on_left(x), on_left(actual));
    let b = b.map(|value| value * f64::from(call.alpha));
    let inverse = inverse(&triangle).abs();
    let bound = if n <= 64 {
        let product = inverse.times(&b.abs());
        let spread = inverse.times(&triangle.abs().times(&product));
        spread.plus(&product).map(|size| 2.0 * gamma::<T>(n + 5) * size)
    } else {
        inverse.times(&residual_bound::<T>(&triangle, &b, &actual))
    };
    let bound = bound.plus(&x.abs().map(|x| 2.0 * f64::EPSILON * x));
    assert_close(&actual, &x, &bound, context);
}

/// Checks a product against SciPy's.
fn check_product<T: Real>(device: &Device, call: &Call<'_>, context: &str) {
    let (rows, columns) = call.shape();
    let n = if call.side == Side::Left { rows } else { columns };
    let is_update = call.function.starts_with("syr");
    let counts = |of: Dense| {
        if is_update { of.triangle(call.triangle, Diagonal::Stored) } else { of }
    };
    let k = call.block.words("a").len() / n;
    let of_factors = match (is_update, call.transposed) {
        (false, _) => (n, n),
        (true, false) => (n, k),
        (true, true) => (k, n),
    };
    let a = call.matrix("a", of_factors);
    let of_b = if is_update { of_factors } else { (rows, columns) };
    let b = call.block.has("b").then(|| call.matrix("b", of_b));
    // Triangular products are in place.
    let c = if call.function == "trmm" { b.clone().unwrap() } else { call.matrix("c", (rows, columns)) };
    let actual = counts(run::<T>(device, call, &a, b.as_ref(), &c));
    let expected = counts(call.matrix("result", (rows, columns)));

    let full = |a: &Dense| match call.function {
        "trmm" => a.triangle(call.triangle, call.diagonal),
        "symm" => Dense::new(n, n, |i, j| if call.triangle.holds(i, j) { a.at(i, j) } else { a.at(j, i) }),
        _ => a.clone(),
    };
    let turned = |of: Dense| if call.transposed { of.transposed() } else { of };
    let a = turned(full(&a).abs());
    let sizes = match call.function {
        "syrk" => a.times(&a.transposed()),
        "syr2k" => {
            let product = a.times(&turned(b.unwrap().abs()).transposed());
            product.plus(&product.transposed())
        }
        _ if call.side == Side::Left => a.times(&b.unwrap().abs()),
        _ => b.unwrap().abs().times(&a),
    };
    let before = counts(c).map(|c| (c * f64::from(call.beta)).abs());
    let sizes = counts(sizes).map(|size| size * f64::from(call.alpha.abs())).plus(&before);
    let length = if is_update { 2 * a.columns } else { n };
    let bound = sizes.map(|size| size * (gamma::<T>(length + 64) + gamma::<f64>(length + 64)));
    assert_close(&actual, &expected, &bound, context);
}

#[test]
fn solutions_and_products_are_scipys() {
    let blocks = blocks(include_str!("../data/scipy_level3.txt"), "call");
    assert_eq!(blocks.len(), 112);
    for_each("golden triangles", |device| {
        for (number, block) in blocks.iter().enumerate() {
            for order in ORDERS {
                let call = Call::new(block, order);
                let context = format!(
                    "{} {:?} {:?}, block {number}, {order:?} on {}",
                    block.words("call").join(" "),
                    block.words("kind"),
                    block.words("shape"),
                    device.name()
                );
                if call.function.starts_with("trs") {
                    check_solution::<f32>(device, &call, &context);
                    check_solution::<f64>(device, &call, &context);
                } else {
                    check_product::<f32>(device, &call, &context);
                    check_product::<f64>(device, &call, &context);
                }
            }
        }
    });
}
