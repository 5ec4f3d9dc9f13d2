//! Who called: what the simulator names as the place of a copy or a fill.

use core::cell::Cell;
use core::panic::Location;

thread_local! {
    static PLACE: Cell<Option<&'static Location<'static>>> = const { Cell::new(None) };
}

/// As long as this lives, calls of this thread are reported as made where it was made.
pub(crate) struct Called;

impl Called {
    #[track_caller]
    pub(crate) fn here() -> Self {
        PLACE.set(Some(Location::caller()));
        Self
    }
}

impl Drop for Called {
    fn drop(&mut self) {
        PLACE.set(None);
    }
}

/// Where the present call was made, if that is known.
pub(super) fn place() -> Option<&'static Location<'static>> {
    PLACE.get()
}
