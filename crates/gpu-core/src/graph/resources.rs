//! What a graph holds.

use std::sync::Arc;

use crate::buffer::Buffer;
use crate::device::Device;
use crate::element::Element;
use crate::scratch::Scratch;

/// Memory that a graph may hold: buffers, scratch memory, what primitives keep in such, and tuples, arrays, vectors and
/// options of them. Owned, or by `&mut`, the graph may read and write it; by `&` or in an [`Arc`] it may read it.
///
/// # Safety
/// `visit` names memory of which `self` keeps others out: what it names by [`Visitor::buffer`] nobody uses without
/// borrowing `self`, what it names by [`Visitor::shared`] nobody writes nor frees while `self` is there. It names the
/// same unless `self` was borrowed mutably in between. Naming less is always sound.
///
/// ```
/// use gpu_core::{Buffer, Device, Resources, Visitor};
///
/// struct Pair {
///     input: Buffer<f32>,
///     output: Buffer<f32>,
/// }
/// // SAFETY: it owns both buffers.
/// unsafe impl Resources for Pair {
///     fn visit(&self, visitor: &mut Visitor<'_>) {
///         visitor.buffer(&self.input);
///         visitor.buffer(&self.output);
///     }
/// }
///
/// let device = Device::simulator();
/// let pair = Pair { input: device.upload(&[1.0, 2.0])?, output: device.zeroed(2)? };
/// let mut graph = device.stream()?.capture(pair, |s, pair| s.copy(&mut pair.output, &pair.input))?;
/// graph.launch(&device.default_stream())?;
/// assert_eq!(graph.resources().output.to_vec()?, [1.0, 2.0]);
/// # Ok::<(), gpu_core::Error>(())
/// ```
pub unsafe trait Resources {
    /// Names all of it.
    fn visit(&self, visitor: &mut Visitor<'_>);
}

/// What [`Resources`] name their memory to.
pub struct Visitor<'a> {
    found: &'a mut dyn FnMut(Found<'_>),
    /// Whether what is named now is only read.
    is_shared: bool,
}

/// A buffer that was named.
pub(super) struct Found<'a> {
    pub(super) device: &'a Device,
    pub(super) number: u64,
    pub(super) start: u64,
    pub(super) is_shared: bool,
}

impl<'a> Visitor<'a> {
    pub(super) fn new(found: &'a mut dyn FnMut(Found<'_>)) -> Self {
        Self { found, is_shared: false }
    }

    /// A buffer.
    pub fn buffer<T: Element>(&mut self, buffer: &Buffer<T>) {
        if !buffer.is_empty() {
            let (device, number, start) = (buffer.device(), buffer.number(), buffer.address());
            (self.found)(Found { device, number, start, is_shared: self.is_shared });
        }
    }

    /// What is only read.
    pub fn shared(&mut self, resources: &(impl Resources + ?Sized)) {
        resources.visit(&mut Visitor { found: self.found, is_shared: true });
    }
}

// SAFETY: it owns its memory.
unsafe impl<T: Element> Resources for Buffer<T> {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        visitor.buffer(self);
    }
}

// SAFETY: it owns its memory.
unsafe impl Resources for Scratch {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        visitor.buffer(self.memory());
    }
}

// SAFETY: while they are borrowed nobody writes nor frees them.
unsafe impl<T: Resources + ?Sized> Resources for &T {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        visitor.shared(*self);
    }
}

// SAFETY: as above; only the last owner can write to them.
unsafe impl<T: Resources + ?Sized> Resources for Arc<T> {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        visitor.shared(&**self);
    }
}

// SAFETY: the borrow is exclusive.
unsafe impl<T: Resources + ?Sized> Resources for &mut T {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        (**self).visit(visitor);
    }
}

// SAFETY: it owns them.
unsafe impl<T: Resources + ?Sized> Resources for Box<T> {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        (**self).visit(visitor);
    }
}

// SAFETY: all of them are the graph's as each is.
unsafe impl<T: Resources> Resources for [T] {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        self.iter().for_each(|each| each.visit(visitor));
    }
}

// SAFETY: as above.
unsafe impl<T: Resources, const N: usize> Resources for [T; N] {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        self.as_slice().visit(visitor);
    }
}

// SAFETY: as above.
unsafe impl<T: Resources> Resources for Vec<T> {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        self.as_slice().visit(visitor);
    }
}

// SAFETY: as above.
unsafe impl<T: Resources> Resources for Option<T> {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        self.iter().for_each(|each| each.visit(visitor));
    }
}

macro_rules! tuples {
    ($($first:ident $($rest:ident)*)?) => {
        // SAFETY: all of them are the graph's as each is.
        unsafe impl<$($first: Resources, $($rest: Resources,)*)?> Resources for ($($first, $($rest,)*)?) {
            #[allow(non_snake_case, unused_variables)]
            fn visit(&self, visitor: &mut Visitor<'_>) {
                $(
                    let ($first, $($rest,)*) = self;
                    $first.visit(visitor);
                    $($rest.visit(visitor);)*
                )?
            }
        }
        $(tuples!($($rest)*);)?
    };
}
tuples!(A B C D E F G H I J K L);
