//! Transpositions and permutations of other elements than `f32`, and in place.

use gpu_core::{Buffer, Element, Pinned, Stream, View};
use gpu_transpose::{Layout, MatrixMut, Scratch};
use rayon::prelude::*;

use super::Typed;
use crate::data;
use crate::error::Error;
use crate::protocol::Work;
use crate::session::Session;

/// Bytes that are taken to the host at a time to be checked.
const STAGING_BYTES: usize = 64 << 20;
/// What outputs are filled with.
const POISON: u8 = 0xff;

/// Permutations of arrays, each input in turn.
pub struct Permute<T: Element> {
    typed: Typed,
    /// How often each input was launched since the last poisoning.
    launches: Vec<usize>,
    input: Buffer<T>,
    output: Buffer<T>,
    scratch: Scratch,
    /// What the inputs were; empty unless they are what is written.
    pristine: Buffer<T>,
    /// Page-locked: four times as fast to copy to as other memory.
    staging: Pinned<T>,
}

/// The work of a case.
///
/// # Errors
/// Those of the device.
pub fn work(session: &Session, typed: Typed) -> Result<Box<dyn Work>, Error> {
    Ok(match typed.bytes {
        1 => Box::new(Permute::<u8>::new(session, typed)?),
        2 => Box::new(Permute::<u16>::new(session, typed)?),
        4 => Box::new(Permute::<u32>::new(session, typed)?),
        8 => Box::new(Permute::<u64>::new(session, typed)?),
        _ => Box::new(Permute::<u128>::new(session, typed)?),
    })
}

impl<T: Element> Permute<T> {
    fn new(session: &Session, typed: Typed) -> Result<Self, Error> {
        let elements = typed.elements();
        let inputs = session.layout::<T>(elements).count;
        // Whole rows of the array, whichever axis becomes the fastest.
        let longest = typed.extents.into_iter().max().unwrap_or(1);
        let mut staging =
            session.device.pinned((STAGING_BYTES / size_of::<T>()).min(inputs * elements).max(longest))?;
        let mut input = session.device.alloc(inputs * elements)?;
        let chunk = staging.len();
        for start in (0..input.len()).step_by(chunk) {
            let part = &mut staging[..chunk.min(inputs * elements - start)];
            part.par_iter_mut().enumerate().for_each(|(index, value)| *value = element(start + index));
            input.slice_mut(start..start + part.len()).copy_from(part)?;
        }
        let output = session.device.alloc(if typed.in_place { 0 } else { inputs * elements })?;
        let scratch = Scratch::new(&session.stream);
        let mut pristine = session.device.alloc(if typed.in_place { inputs * elements } else { 0 })?;
        if typed.in_place {
            session.stream.copy(&mut pristine, &input)?;
            session.stream.synchronize()?;
        }
        let launches = vec![0; inputs];
        Ok(Self { typed, launches, input, output, scratch, pristine, staging })
    }

    /// Checks every element of what belongs to `input`, of which `times` launches were made.
    fn check_one(&mut self, input: usize, times: usize) -> Result<(), Error> {
        let Typed { extents, axes, in_place, .. } = self.typed;
        let elements = self.typed.elements();
        let first = input * elements;
        let buffer = if in_place { &self.input } else { &self.output };
        let view = buffer.slice(first..first + elements);
        if times == 0 && !in_place {
            let row = extents[3];
            let stray = find(view, &mut self.staging, row, |_, actual| {
                actual.iter().position(|actual| !data::filled(actual, POISON))
            })?;
            return stray
                .map_or(Ok(()), |(index, actual)| Err(data::strayed(input * elements + index, &actual)));
        }
        // Each launch in place turns a square into its transposed form or back.
        let axes = if times.is_multiple_of(2) && in_place { [0, 1, 2, 3] } else { axes.map(usize::from) };
        let stride = |axis: usize| extents[axis + 1..].iter().product::<usize>();
        let (row, step) = (extents[axes[3]], stride(axes[3]));
        let source = |number: usize| {
            let (mut rest, mut from) = (number, first);
            for axis in [axes[2], axes[1], axes[0]] {
                from += rest % extents[axis] * stride(axis);
                rest /= extents[axis];
            }
            from
        };
        let wrong = find(view, &mut self.staging, row, |number, actual| {
            let from = source(number);
            (0..row).find(|&index| !data::same(&actual[index], &element::<T>(from + index * step)))
        })?;
        wrong.map_or(Ok(()), |(index, actual)| {
            let expected: T = element(source(index / row) + index % row * step);
            Err(data::wrong(input, index, &expected, &actual, POISON))
        })
    }
}

/// The input's element at `index`.
fn element<T: Element>(index: usize) -> T {
    let word = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let words = [word ^ word >> 29, word.rotate_left(17)];
    bytemuck::pod_read_unaligned(&bytemuck::bytes_of(&words)[..size_of::<T>()])
}

/// The first element that `in_row` finds in the rows of `view`, by their number and content: its place and what it
/// is. On all cores, a part after the other through `staging`.
fn find<T: Element>(
    view: View<'_, T>,
    staging: &mut Pinned<T>,
    row: usize,
    in_row: impl Fn(usize, &[T]) -> Option<usize> + Sync,
) -> Result<Option<(usize, T)>, Error> {
    let rows = (staging.len() / row).max(1);
    for start in (0..view.len()).step_by(rows * row) {
        let part = &mut staging[..(rows * row).min(view.len() - start)];
        view.slice(start..start + part.len()).copy_to(part)?;
        // A task takes many rows where they are short.
        let found = part.par_chunks(row).with_min_len(4096 / row.min(4096)).enumerate().find_map_first(
            |(number, actual)| {
                in_row(start / row + number, actual)
                    .map(|index| (start + number * row + index, actual[index]))
            },
        );
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

impl<T: Element> Work for Permute<T> {
    fn inputs(&self) -> usize {
        self.launches.len()
    }

    fn bytes(&self) -> u64 {
        2 * (self.typed.elements() * size_of::<T>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.launches.fill(0);
        if self.typed.in_place {
            stream.copy(&mut self.input, &self.pristine)?;
        } else {
            stream.memset(&mut self.output, POISON)?;
        }
        Ok(())
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        self.launches[input] += 1;
        let elements = self.typed.elements();
        let range = input * elements..(input + 1) * elements;
        if self.typed.in_place {
            let [.., rows, columns] = self.typed.extents;
            let data = MatrixMut::new(self.input.slice_mut(range), Layout::row_major(rows, columns)?)?;
            return Ok(gpu_transpose::transpose_in_place(stream, data, &mut self.scratch)?);
        }
        let (source, target) = (self.input.slice(range.clone()), self.output.slice_mut(range));
        let axes = self.typed.axes.map(usize::from);
        let Typed { extents, .. } = self.typed;
        Ok(gpu_transpose::permute_into(stream, source, &extents, &axes, target)?)
    }

    fn check(&mut self, _: &[bool]) -> Result<(), Error> {
        for input in 0..self.launches.len() {
            self.check_one(input, self.launches[input])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::Args;

    /// A work on the CPU.
    fn permute<T: Element>(typed: Typed) -> (Session, Permute<T>) {
        let args = Args::try_parse_from(["bench-gpu", "--device", "cpu"]).expect("valid");
        let session = Session::new(&args).expect("the CPU is there");
        let work = Permute::new(&session, typed).expect("it is small");
        (session, work)
    }

    fn array(axes: [u8; 4]) -> Typed {
        Typed { bytes: 2, extents: [3, 4, 5, 6], axes, in_place: false }
    }

    #[test]
    fn every_element_of_every_output_is_checked() {
        for axes in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]] {
            let (session, mut work) = permute::<u16>(array(axes));
            for place in [0, 100, 359] {
                work.poison(&session.stream).expect("it works");
                work.launch(&session.stream, 1).expect("it works");
                work.check(&[]).expect("all is right");
                let mut value = [0];
                work.output.slice(360 + place..361 + place).copy_to(&mut value).expect("in range");
                value[0] ^= 1;
                work.output.slice_mut(360 + place..361 + place).copy_from(&value).expect("in range");
                let error = work.check(&[]).expect_err("one bit is wrong");
                assert!(matches!(error, Error::Wrong { input: 1, index, .. } if index == place), "{error}");
            }
        }
    }

    #[test]
    fn unwritten_and_stray_elements_are_found() {
        let (session, mut work) = permute::<u64>(Typed { bytes: 8, ..array([0, 3, 2, 1]) });
        work.poison(&session.stream).expect("it works");
        work.launches[0] = 1;
        let error = work.check(&[]).expect_err("nothing was written");
        assert!(matches!(error, Error::Wrong { input: 0, index: 0, unwritten: true, .. }), "{error}");
        work.launches[0] = 0;
        work.output.slice_mut(400..401).copy_from(&[7]).expect("in range");
        let error = work.check(&[]).expect_err("a write where none belongs");
        assert!(matches!(error, Error::Strayed { index: 400, .. }), "{error}");
    }

    #[test]
    fn in_place_the_number_of_launches_tells_which_form_is_right() {
        let (session, mut work) = permute::<u8>(Typed::matrix(1, 40, 40, true));
        for launches in 0..4 {
            work.poison(&session.stream).expect("it works");
            (0..launches).try_for_each(|_| work.launch(&session.stream, 0)).expect("it works");
            work.check(&[]).expect("all is right");
            work.launches[0] += 1;
            work.check(&[]).expect_err("the other form");
        }
    }
}
