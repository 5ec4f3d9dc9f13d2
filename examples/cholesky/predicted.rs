//! What the model says of the versions whose kernels the simulator runs.

use std::error::Error;

use gpu_examples::model::{Asked, Case as Predicted, Model};
use gpu_linalg::variants::cholesky::{CholeskyVariant, cholesky, generate};
use gpu_linalg::{BlockSkyline, Layout, MatrixMut, Scratch, Triangle, potrf, potrf_skyline};

use super::{Case, FAST, Line, Number, Options, PREDICTED_ROWS, Type, names};

/// Shows what the model says of the versions whose kernels the simulator runs, each of so many rows as it is: other
/// numbers of rows have other launches, so that nothing can be scaled. Of the fast versions beside their time alone.
pub fn show(
    model: &Model,
    options: &Options,
    cases: &[Case],
    lines: &[Line],
) -> Result<(), serde_json::Error> {
    let cases = cases.iter().flat_map(|case| match options.element {
        Type::F32 => predicted::<f32>(model, case, options, lines),
        Type::F64 => predicted::<f64>(model, case, options, lines),
    });
    model.show_all(options.json, cases)
}

/// The predicted times of all versions of one matrix.
fn predicted<T: Number>(
    model: &Model,
    case: &Case,
    options: &Options,
    lines: &[Line],
) -> Vec<Result<Predicted, Box<dyn Error>>> {
    let triangle = if options.upper { Triangle::Upper } else { Triangle::Lower };
    let &Case { structure, rows: n, side, ref first } = case;
    let is_wanted = |name: &&'static str| options.only.is_empty() || options.only.contains(name);
    let on_host = [CholeskyVariant::Sequential, CholeskyVariant::Blocked].map(CholeskyVariant::name);
    let all = names().filter(is_wanted).filter(|name| !on_host.contains(name));
    let of_version = |name: &'static str| {
        if n > PREDICTED_ROWS {
            return Err(
                format!("{name} of {n} rows: more than {PREDICTED_ROWS} take too long to simulate").into()
            );
        }
        let is_it = |line: &&Line| (line.variant, line.structure, line.rows) == (name, structure, n);
        let measured = lines.iter().find(is_it).and_then(|line| line.kernel_ms).map(|time| time * 1e3);
        let label = format!("{n}, {structure}");
        let asked = Asked {
            variant: name.to_owned(),
            label,
            size: n,
            simulated: n,
            blocks: None,
            dependent: false,
            measured,
        };
        model.case(asked, |device, n| {
            let a: Vec<T> = generate(n, side, first, n as u64);
            let layout = Layout::row_major(n, n)?;
            if let Some(variant) = CholeskyVariant::ALL.iter().find(|variant| variant.name() == name) {
                let mut factor = a;
                cholesky(*variant, device, triangle, &mut factor, layout, side)?;
                return Ok(());
            }
            let skyline = BlockSkyline::new(device, n, side, first)?;
            let (stream, mut buffer) = (device.default_stream(), device.upload(&a)?);
            let (mut info, mut scratch) = (device.alloc(1)?, Scratch::new(&stream));
            let matrix = MatrixMut::new(&mut buffer, layout)?;
            if name == FAST {
                potrf_skyline(&stream, triangle, &skyline, matrix, &mut info, &mut scratch)?;
            } else {
                potrf(&stream, triangle, matrix, &mut info, &mut scratch)?;
            }
            Ok(stream.synchronize()?)
        })
    };
    all.map(of_version).collect()
}
