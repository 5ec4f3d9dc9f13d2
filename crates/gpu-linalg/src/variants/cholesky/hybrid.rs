//! The host factors the blocks of the diagonal, the device does the rest (Tomov, Nath, Ltaief and Dongarra, *Dense linear
//! algebra solvers for multicore with GPU accelerators*, IPDPS 2010).

use gpu_core::{Buffer, Device, Pinned, Stream};

use super::device::{Part, Workspace, solve};
use super::host::{self, Lower};
use super::launch::CholeskyElement;
use super::structure::of_elements;
use super::{Calls, CholeskyVariant};
use crate::api::copy;
use crate::error::Error;
use crate::matrix::{Layout, MatrixMut};

/// Memory of a block on its way between the host and the device.
struct Slot<T: CholeskyElement> {
    /// Rows and columns.
    shape: (usize, usize),
    /// On the host and on the device; not there while a copy owns them.
    memory: Option<(Pinned<T>, Buffer<T>)>,
}

impl<T: CholeskyElement> Slot<T> {
    /// The memory for a block of such a shape.
    fn take(&mut self, device: &Device, shape: (usize, usize)) -> Result<(Pinned<T>, Buffer<T>), Error> {
        match self.memory.take() {
            Some(memory) if self.shape == shape => Ok(memory),
            _ => {
                self.shape = shape;
                Ok((device.pinned(shape.0 * shape.1)?, device.alloc(shape.0 * shape.1)?))
            }
        }
    }
}

/// A factorisation under way.
struct Hybrid<'a, T: CholeskyElement> {
    variant: CholeskyVariant,
    /// What computes.
    stream: Stream,
    /// What copies blocks to the host meanwhile.
    copies: Stream,
    matrix: Lower<'a, T>,
    side: usize,
    /// The first block of every block row that is looked at.
    first: Vec<usize>,
    /// The factor, row-major without gaps, but for its diagonal.
    factor: Buffer<T>,
    /// The column of blocks at hand, from the diagonal down, row-major without gaps.
    panel: Buffer<T>,
    slots: Vec<Slot<T>>,
    workspace: Workspace<T>,
    calls: Calls,
}

pub(super) fn factor<T: CholeskyElement>(
    variant: CholeskyVariant,
    device: &Device,
    matrix: Lower<'_, T>,
    side: usize,
) -> Result<Calls, Error> {
    let n = matrix.size();
    let side = side.min(n.max(1));
    let blocks = n.div_ceil(side);
    let is_structured = matches!(variant, CholeskyVariant::Structured | CholeskyVariant::Own);
    let first = if is_structured {
        of_elements(n, side, |row, column| matrix.get(row, column))
    } else {
        vec![0; blocks]
    };
    let [stream, copies, uploads] = [device.stream()?, device.stream()?, device.stream()?];
    let workspace = Workspace::new(&stream, (variant == CholeskyVariant::Own).then_some(side))?;
    let mut hybrid = Hybrid {
        variant,
        matrix,
        side,
        first,
        factor: device.zeroed(n * n)?,
        panel: device.alloc(n * side)?,
        slots: (0..blocks).map(|_| Slot { shape: (0, 0), memory: None }).collect(),
        workspace,
        calls: Calls::default(),
        stream,
        copies,
    };
    // The column of blocks that comes next is on its way to the device while the one before is worked on.
    let (mut next, mut staged) = (device.alloc(n * side)?, device.pinned(n * side)?);
    for column in 0..=blocks {
        let len = hybrid.stage(column, &mut staged);
        let mut done = Ok(());
        uploads.transfers(|transfers| {
            transfers.upload(&staged[..len], next.slice_mut(..len))?;
            done = if column == 0 { Ok(()) } else { hybrid.column(column - 1) };
            Ok(())
        })?;
        done?;
        core::mem::swap(&mut hybrid.panel, &mut next);
    }
    Ok(hybrid.calls)
}

impl<T: CholeskyElement> Hybrid<'_, T> {
    fn size(&self) -> usize {
        self.matrix.size()
    }

    /// The rows of a block row.
    fn rows(&self, block: usize) -> usize {
        (self.size() - block * self.side).min(self.side)
    }

    /// Rows `from..to` of blocks of the factor, columns `first..end` of them.
    fn part(&self, rows: core::ops::Range<usize>, columns: core::ops::Range<usize>) -> Part {
        let n = self.size();
        let edge = |block: usize| (block * self.side).min(n);
        Part {
            at: edge(rows.start) * n + edge(columns.start),
            rows: edge(rows.end) - edge(rows.start),
            columns: edge(columns.end) - edge(columns.start),
            leading: n,
        }
    }

    /// Where block row `row` lies in the panel of column `column`.
    fn in_panel(&self, column: usize, rows: core::ops::Range<usize>) -> core::ops::Range<usize> {
        let (n, width) = (self.size(), self.rows(column));
        let edge = |block: usize| (block * self.side).min(n) - column * self.side;
        edge(rows.start) * width..edge(rows.end) * width
    }

    /// Subtracts what is left of block rows `rows` of the panel, of columns `columns` of blocks.
    fn update(
        &mut self,
        column: usize,
        rows: core::ops::Range<usize>,
        columns: core::ops::Range<usize>,
    ) -> Result<(), Error> {
        let (left, above) =
            (self.part(rows.clone(), columns.clone()), self.part(column..column + 1, columns));
        let target = self.in_panel(column, rows);
        let target = self.panel.slice_mut(target);
        self.workspace.update(&self.stream, &self.factor, left, above, target)
    }

    /// Puts a column of blocks where it is uploaded from, and says how many elements it has: none where there is none.
    fn stage(&self, column: usize, staged: &mut [T]) -> usize {
        let (n, top) = (self.size(), column * self.side);
        if top >= n {
            return 0;
        }
        let width = self.rows(column);
        for row in top..n {
            for at in top..top + width {
                let element = if at <= row { self.matrix.get(row, at) } else { T::ZERO };
                staged[(row - top) * width + at - top] = element;
            }
        }
        (n - top) * width
    }

    /// Listing 8.3, 8.5 or 8.9: one round of the loop, but for the copy of the column to the device.
    fn column(&mut self, column: usize) -> Result<(), Error> {
        let blocks = self.first.len();
        let by_tiles = self.variant == CholeskyVariant::Tiles;
        let (top, width) = (column * self.side, self.rows(column));

        // ---- xSYRK
        let own = self.first[column];
        if by_tiles && column > 0 {
            self.update(column, column..column + 1, 0..column)?;
            self.calls.syrk += 1;
        } else if !by_tiles {
            for k in own..column {
                self.update(column, column..column + 1, k..k + 1)?;
                self.calls.syrk += 1;
            }
        }

        // ---- the row of blocks goes to the host, its factored ones and that of the diagonal
        let mut transfers = Vec::new();
        for k in own..=column {
            let shape = (width, self.rows(k));
            let (pinned, mut buffer) = self.slots[k].take(self.stream.device(), shape)?;
            let whole = Layout::row_major(shape.0, shape.1)?;
            if k == column {
                let diagonal = self.in_panel(column, column..column + 1);
                self.stream.copy(&mut buffer, self.panel.slice(diagonal))?;
            } else {
                let block = self.part(column..column + 1, k..k + 1);
                copy(&self.stream, block.of(&self.factor)?, MatrixMut::new(&mut buffer, whole)?)?;
            }
            transfers.push((k, self.copies.download(buffer, pinned).map_err(gpu_core::Error::from)?));
        }
        self.calls.row_copies += 1;

        // ---- xGEMM, meanwhile
        if by_tiles && column > 0 && column + 1 < blocks {
            self.update(column, column + 1..blocks, 0..column)?;
            self.calls.gemm += 1;
        } else if !by_tiles {
            for row in column + 1..blocks {
                // Both are there.
                for k in own.max(self.first[row])..column {
                    self.update(column, row..row + 1, k..k + 1)?;
                    self.calls.gemm += 1;
                }
            }
        }

        // ---- xPOTRF on the host
        for (k, transfer) in transfers {
            self.slots[k].memory = Some(transfer.wait()?);
        }
        let (mut pinned, buffer) = self.slots[column].take(self.stream.device(), (width, width))?;
        host::block(&mut pinned, width, top)?;
        self.calls.potrf += 1;
        let transfer = self.stream.upload(pinned, buffer).map_err(gpu_core::Error::from)?;
        self.calls.block_copies += 1;
        // While the copy is under way.
        for k in own..column {
            self.keep(column, k);
        }
        self.slots[column].memory = Some(transfer.wait()?);
        self.keep(column, column);

        // ---- xTRSM, and what is solved becomes part of the factor
        let solved = |hybrid: &mut Self, rows: core::ops::Range<usize>| -> Result<(), Error> {
            let range = hybrid.in_panel(column, rows.clone());
            let part = hybrid.part(rows, column..column + 1);
            let whole = Layout::row_major(part.rows, part.columns)?;
            let (_, factor) = hybrid.slots[column].memory.as_ref().expect("the copy gave it back");
            solve(&hybrid.stream, factor.view(), hybrid.panel.slice_mut(range.clone()), width)?;
            hybrid.calls.trsm += 1;
            let panel = crate::matrix::Matrix::new(hybrid.panel.slice(range), whole)?;
            copy(&hybrid.stream, panel, part.of_mut(&mut hybrid.factor)?)
        };
        if by_tiles && column + 1 < blocks {
            solved(self, column + 1..blocks)?;
        } else if !by_tiles {
            for row in column + 1..blocks {
                if column >= self.first[row] {
                    solved(self, row..row + 1)?;
                }
            }
        }
        Ok(())
    }

    /// Puts block `k` of a block row, which came from the device, into the matrix.
    fn keep(&mut self, row: usize, k: usize) {
        let (top, left) = (row * self.side, k * self.side);
        let (rows, columns) = (self.rows(row), self.rows(k));
        let (pinned, _) = self.slots[k].memory.as_ref().expect("the copy gave it back");
        for i in 0..rows {
            for j in 0..columns {
                if left + j <= top + i {
                    self.matrix.set(top + i, left + j, pinned[i * columns + j]);
                }
            }
        }
    }
}
