//! What is freed once the work that may still use it has ended, without a wait for that.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::context::Context;
use super::event::Event;
use crate::backend::Mark;

/// Objects of the driver that were given up, each with the ends of all work that may still use it.
pub(super) struct Retired<T>(Mutex<Vec<(T, Vec<Arc<Event>>)>>);

impl<T> Default for Retired<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Retired<T> {
    fn all(&self) -> MutexGuard<'_, Vec<(T, Vec<Arc<Event>>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, object: T, ends: Vec<Arc<Event>>) {
        self.all().push((object, ends));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all().is_empty()
    }

    /// Waits for all that may use any of them.
    pub(super) fn wait(&self) {
        let ends: Vec<_> = self.all().iter().flat_map(|(_, ends)| ends.iter().cloned()).collect();
        // Of those whose wait fails the context is unusable.
        ends.iter().for_each(|end| drop(end.synchronize()));
    }

    /// Frees those that nothing uses any longer. The context is theirs; it is current, and is so again.
    pub(super) fn sweep(&self, context: &Context, free: impl Fn(&T)) {
        self.all().retain(|(object, ends)| {
            let ended = ends.iter().all(|end| end.is_done().unwrap_or(false));
            // The last event may be one of another device, whose context it left current.
            if ended && context.enter_to_release() {
                free(object);
            }
            !ended
        });
        let _ = context.enter_to_release();
    }
}
