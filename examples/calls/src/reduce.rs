//! Reductions of arrays, of segments and of columns.

use gpu_core::{Device, Scratch};
use gpu_reduce::kernels;
use gpu_reduce::{
    AlongColumns, Element, Instance, Segmented, Segments, launched, reduce_axis_scratch, reduce_scratch,
    reduce_segments_scratch,
};
use gpu_std::half::{bf16, f16};

use super::{Call, Part, Prepared, Sample, samples, sides, snake};

/// Elements of each segment.
const SEGMENT: usize = 256;

/// Kernels that programs time.
const TIMED: &str = "argmax_f32 argmax_f64 argmax_u32 argmax_u8 dot_f32 max_f32 max_f64 max_u32 max_u8 norm_l2_f32 \
                     sum_f32 sum_f64 sum_u32 sum_u8 weighted_sum_f32 columns_sum_f32 segments_sum_f32";

/// One of a kernel that no program times.
fn call(
    all: &mut Vec<Call>,
    kernel: &str,
    function: &str,
    [operator, element]: [&str; 2],
    bytes: f64,
    part: Part,
    ready: fn(&Device, usize) -> Prepared,
) {
    if TIMED.split(' ').all(|timed| timed != kernel) {
        let [operator, element] = snake(operator, element);
        all.push(Call::new(format!("{function}/{operator}/{element}"), bytes, part, ready));
    }
}

/// All of them.
pub fn all() -> Vec<Call> {
    let mut all = Vec::new();
    macro_rules! group {
        ($whole:ident $segments:ident $columns:ident, $t:ty, $v:literal, $a:literal, $blocks:literal;
            $($name:ident: $reduction:ident<$of:ty> $(, $same:ident<$of_same:ty>)*;)*
            $((several) $several:ident: $computed:ty => $served:ident<$of_served:ty>
                $(, $more:ident<$of_more:ty>)*;)*
            $((two) $two:ident: $product:ident<$of_two:ty> $(, $same_two:ident<$of_same_two:ty>)?;)?) => {
            $( group!(@ $whole $segments $columns; $name, $reduction, $of); )*
            $( group!(@ $whole $segments $columns; $several, $served, $of_served); )*
            $( two::<kernels::$product<$of_two>, $of_two>(
                &mut all, stringify!($two), [stringify!($product), stringify!($of_two)]); )?
        };
        (@ $whole:ident $segments:ident $columns:ident; $name:ident, $reduction:ident, $of:ty) => {
            let (name, operator) = (stringify!($name), [stringify!($reduction), stringify!($of)]);
            group!(# $whole; whole::<kernels::$reduction<$of>, $of>(&mut all, name, operator));
            group!(# $segments; segments::<kernels::$reduction<$of>, $of>(&mut all, name, operator));
            group!(# $columns; columns::<kernels::$reduction<$of>, $of>(&mut all, name, operator));
        };
        (# none; $($none:tt)*) => {};
        (# $images:ident; $($call:tt)*) => {
            $($call)*;
        };
    }
    kernels::reduce_instances!(group);
    all
}

fn whole<R: Instance<Item = T>, T: Element + Sample>(all: &mut Vec<Call>, kernel: &str, operator: [&str; 2]) {
    call(all, kernel, "reduce", operator, size_of::<T>() as f64, Part::all(1 << 17), |device, len| {
        let (stream, input) = (device.default_stream(), device.upload(&samples::<T>(len))?);
        let mut output = device.alloc(R::OUTPUTS as usize)?;
        let mut scratch = Scratch::with_size(&stream, reduce_scratch(len))?;
        Ok(Box::new(move || {
            let (input, output) = (T::one(input.view()), output.view_mut());
            Ok(launched::reduce::<R>(&stream, &input, output, &mut scratch)?)
        }))
    });
}

fn two<R: Instance<Item = T::Pair, Output = T>, T: Element + Sample>(
    all: &mut Vec<Call>,
    kernel: &str,
    operator: [&str; 2],
) {
    call(all, kernel, "reduce", operator, 2.0 * size_of::<T>() as f64, Part::all(1 << 17), |device, len| {
        let (stream, input) = (device.default_stream(), device.upload(&samples::<T>(len))?);
        let (other, mut output) = (device.upload(&samples::<T>(len))?, device.alloc(1)?);
        let mut scratch = Scratch::with_size(&stream, reduce_scratch(len))?;
        Ok(Box::new(move || {
            let (inputs, output) = (T::two(input.view(), other.view()), output.view_mut());
            Ok(launched::reduce::<R>(&stream, &inputs, output, &mut scratch)?)
        }))
    });
}

fn segments<R: Segmented<Item = T>, T: Element + Sample>(
    all: &mut Vec<Call>,
    kernel: &str,
    operator: [&str; 2],
) {
    let bytes =
        size_of::<T>() as f64 + (R::OUTPUTS as usize * size_of::<R::Output>()) as f64 / SEGMENT as f64;
    let part = Part::sample(1 << 20, 8).cut();
    let kernel = format!("segments_{kernel}");
    call(all, &kernel, "reduce_segments", operator, bytes, part, |device, len| {
        let (stream, input) = (device.default_stream(), device.upload(&samples::<T>(len))?);
        let mut output = device.alloc(len / SEGMENT * R::OUTPUTS as usize)?;
        let mut scratch = Scratch::with_size(&stream, reduce_segments_scratch::<R>(len))?;
        Ok(Box::new(move || {
            let (input, output) = (T::one(input.view()), output.view_mut());
            let rows = Segments::of_length(SEGMENT)?;
            Ok(launched::reduce_segments::<R>(&stream, &input, rows, output, &mut scratch)?)
        }))
    });
}

fn columns<R: Segmented<Item = T> + AlongColumns, T: Element + Sample>(
    all: &mut Vec<Call>,
    kernel: &str,
    operator: [&str; 2],
) {
    let part = Part::sample(1 << 20, 4);
    let kernel = format!("columns_{kernel}");
    call(all, &kernel, "reduce_axis", operator, size_of::<T>() as f64, part, |device, len| {
        let (stream, input, shape) =
            (device.default_stream(), device.upload(&samples::<T>(len))?, sides(len));
        let mut output = device.alloc(shape[1] * R::OUTPUTS as usize)?;
        let mut scratch = Scratch::with_size(&stream, reduce_axis_scratch::<R>(&shape, 0)?)?;
        Ok(Box::new(move || {
            let (input, output) = (T::one(input.view()), output.view_mut());
            Ok(launched::reduce_columns::<R>(&stream, &input, shape, output, &mut scratch)?)
        }))
    });
}
