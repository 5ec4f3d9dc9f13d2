//! Ordered rows of which the columns are kept a second time, in the order in which warps need them.

use gpu_core::{Buffer, Resources, Stream, View, ViewMut, Visitor};
use gpu_sparse_kernels::levels::Rows;
use gpu_sparse_kernels::packed::{LONGEST, UNITS};
use gpu_sparse_kernels::waiting::{ASKED, Strides};

use super::launch;
use crate::error::Error;
use crate::launch::Element;
use crate::matrix::CsrView;
use crate::plan::solve::is_packed;

/// The columns, and what else warps need of their rows.
#[derive(Debug)]
pub(crate) struct Packed<T: Element> {
    /// Of each unit the row whose first it is.
    rows: Buffer<u32>,
    /// Of each entry the unit of what it waits for.
    positions: Buffer<u32>,
    /// Of each row's first unit its solution, while a system is solved.
    known: Buffer<T::Word>,
}

impl<T: Element> Packed<T> {
    /// Packs the rows of a triangle that was found to be one, none longer than `longest`, in this order and with these
    /// tasks; none where rows are too long or the units would take too much memory.
    pub(crate) fn new(
        stream: &Stream,
        matrix: &CsrView<'_, T>,
        shape: Rows,
        (order, tasks): (View<'_, u32>, View<'_, u32>),
        (longest, widest): (u32, u32),
    ) -> Result<Option<Self>, Error> {
        let count = tasks.len() / 2 * UNITS as usize;
        if longest > LONGEST || !is_packed(count, matrix.entries()) || matrix.rows == 0 {
            return Ok(None);
        }
        let device = stream.device();
        let mut units = device.alloc(matrix.rows)?;
        let mut packed = Self {
            rows: device.alloc(count)?,
            positions: device.alloc(count * ASKED)?,
            known: device.alloc(count)?,
        };
        launch::units(stream, (order, tasks), &mut units, (&mut packed.rows, &mut packed.positions))?;
        launch::pack(stream, matrix, shape, &units, &mut packed.positions, widest)?;
        Ok(Some(packed))
    }

    /// Enqueues the solution of one system with rows, by these tasks; `ticket` is a word.
    pub(crate) fn solve(
        &mut self,
        stream: &Stream,
        (a, shape, tasks): (&CsrView<'_, T>, Rows, &Buffer<u32>),
        alpha: T,
        (b, x): (View<'_, T>, ViewMut<'_, T>),
        strides: Strides,
        ticket: &mut Buffer<u32>,
    ) -> Result<(), Error> {
        stream.memset(ticket.slice_mut(..1), 0)?;
        stream.memset(&mut self.known, 0xff)?;
        let Self { rows, positions, known } = self;
        Ok(launch::solve_packed(
            stream,
            (a, shape, tasks),
            (rows, positions, known),
            alpha,
            (b, x),
            strides,
            ticket,
        )?)
    }
}

// SAFETY: it owns its memory.
unsafe impl<T: Element> Resources for Packed<T> {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        let Self { rows, positions, known } = self;
        [rows, positions].into_iter().for_each(|buffer| visitor.buffer(buffer));
        visitor.buffer(known);
    }
}
