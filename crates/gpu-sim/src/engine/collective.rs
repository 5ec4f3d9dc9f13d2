//! Warp collectives: lanes that name each other in a mask meet, exchange, and go on.

use std::rc::Rc;

use super::block::Status;
use super::sync::same_place;
use super::{Caller, Engine};
use crate::device::{Redux, Shuffle, Vote};
use crate::fault::FaultKind;
use crate::geometry::WARP;
use crate::report::Operation;

/// What lanes meet for. Lanes meet only for the same thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Sync,
    Shuffle(Shuffle),
    Vote(Vote),
    Redux(Redux),
    Match,
    /// A matrix operation: every lane gets what all lanes brought.
    Matrix,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sync => "sync_warp",
            Self::Shuffle(_) => "shuffle",
            Self::Vote(_) => "vote",
            Self::Redux(_) => "redux",
            Self::Match => "match_any",
            Self::Matrix => "mma",
        }
    }

    fn operation(self) -> Operation {
        match self {
            Self::Sync => Operation::WarpSync,
            Self::Shuffle(_) => Operation::Shuffle,
            Self::Vote(_) => Operation::Vote,
            Self::Redux(_) => Operation::Redux,
            Self::Match => Operation::Match,
            Self::Matrix => Operation::Matrix,
        }
    }
}

/// The most numbers that a lane brings to a matrix operation.
pub(crate) const OPERANDS: usize = 12;
/// What a lane brings to a matrix operation.
pub(crate) type Operands = [f64; OPERANDS];

/// Lanes that have met, and what each brought.
pub(crate) struct Collective {
    kind: Kind,
    /// As called, and without lanes that do not exist.
    mask: u32,
    needed: u32,
    arrived: u32,
    values: [u64; WARP as usize],
    /// Shuffles: the operand, and the width of the segments.
    operands: [(u32, u32); WARP as usize],
}

impl Collective {
    /// What each lane gets: 32 bits of value, and above them whether a shuffle's source was in its segment. Else the
    /// lane that asked for what it cannot have.
    fn results(&self) -> Result<[u64; WARP as usize], (u32, FaultKind)> {
        let lanes = || (0..WARP).filter(|lane| self.needed >> lane & 1 == 1);
        let values = || lanes().map(|lane| self.values[lane as usize] as u32);
        let which = |matches: &dyn Fn(u64) -> bool| {
            let all = self.values.iter().enumerate();
            all.fold(0, |mask, (lane, &value)| mask | u32::from(matches(value)) << lane) & self.needed
        };
        let of_all = match self.kind {
            Kind::Sync | Kind::Matrix => 0,
            Kind::Vote(vote) => {
                let ballot = which(&|value| value != 0);
                match vote {
                    Vote::All => (ballot == self.needed).into(),
                    Vote::Any => (ballot != 0).into(),
                    Vote::Ballot => ballot,
                }
            }
            Kind::Redux(redux) => match redux {
                Redux::Add => values().fold(0, u32::wrapping_add),
                Redux::MinU => values().fold(u32::MAX, u32::min),
                Redux::MaxU => values().fold(0, u32::max),
                Redux::MinS => values().fold(i32::MAX, |a, v| a.min(v as i32)) as u32,
                Redux::MaxS => values().fold(i32::MIN, |a, v| a.max(v as i32)) as u32,
                Redux::And => values().fold(u32::MAX, |a, v| a & v),
                Redux::Or => values().fold(0, |a, v| a | v),
                Redux::Xor => values().fold(0, |a, v| a ^ v),
            },
            Kind::Match => {
                let (mut results, mut left) = ([0; WARP as usize], self.needed);
                while left != 0 {
                    let value = self.values[left.trailing_zeros() as usize];
                    let alike = which(&|other| other == value);
                    for (lane, result) in results.iter_mut().enumerate() {
                        if alike >> lane & 1 == 1 {
                            *result = alike.into();
                        }
                    }
                    left &= !alike;
                }
                return Ok(results);
            }
            Kind::Shuffle(mode) => {
                let mut results = [0; WARP as usize];
                for lane in lanes() {
                    results[lane as usize] = self.shuffled(mode, lane).map_err(|fault| (lane, fault))?;
                }
                return Ok(results);
            }
        };
        Ok([of_all.into(); WARP as usize])
    }

    /// What a lane gets from a shuffle.
    fn shuffled(&self, mode: Shuffle, lane: u32) -> Result<u64, FaultKind> {
        let (operand, width) = self.operands[lane as usize];
        // PTX's segment mask and clamp, for a segment of `width` lanes.
        let base = lane & !(width - 1);
        let last = base + width - 1;
        let operand = operand % WARP;
        let (source, inside) = match mode {
            Shuffle::Up => (lane.wrapping_sub(operand), operand <= lane - base),
            Shuffle::Down => (lane + operand, lane + operand <= last),
            Shuffle::Xor => (lane ^ operand, lane ^ operand <= last),
            Shuffle::Index => (base + (operand & (width - 1)), true),
        };
        let source = if inside { source } else { lane };
        if self.needed >> source & 1 == 0 {
            return Err(FaultKind::ShuffleSource { mask: self.mask, source_lane: source });
        }
        Ok(u64::from(self.values[source as usize] as u32) | u64::from(inside) << 32)
    }
}

impl Engine {
    /// Arrives at a collective; true when that completed it, false when the lane must wait. The result is then, or
    /// later, in the thread.
    pub(crate) fn arrive_collective(
        &mut self,
        kind: Kind,
        mask: u32,
        value: u64,
        operand: (u32, u32),
        caller: Caller,
    ) -> bool {
        let site = self.site(caller);
        self.log_if_full(kind.operation(), site, 0, 0, caller);
        self.progress_check(caller);
        let (number, lane, tid) = (self.warp(), self.lane(), self.current.tid);
        if mask >> lane & 1 == 0 {
            self.raise(FaultKind::NotInMask { operation: kind.name(), mask, lane }, caller);
        }
        let slot = self.current.slot;
        let warp = &mut self.blocks[slot].warps[number];
        // A warp at the end of a block can have fewer lanes; a full mask means those that exist.
        let needed = mask & warp.lanes;
        let gone = needed & (warp.exited | warp.at_barrier);
        if gone != 0 {
            let detail =
                if gone & warp.exited != 0 { "they have exited" } else { "they wait at a block barrier" };
            self.missing(kind, mask, gone, detail, caller);
        }
        let open = match warp.collectives.iter().position(|c| c.kind == kind && c.needed == needed) {
            Some(open) => open,
            None => {
                // Another meeting whose lanes wait for this one, while this one waits for them, never happens.
                let clash = warp
                    .collectives
                    .iter()
                    .find(|c| c.needed >> lane & 1 == 1 && c.arrived & needed != 0)
                    .map(|c| (c.kind, c.mask, c.arrived & needed));
                if let Some((other, other_mask, waiting)) = clash {
                    let detail = format!("they wait in {} with mask {other_mask:#010x}", other.name());
                    self.missing(kind, mask, waiting, &detail, caller);
                }
                let fresh =
                    Collective { kind, mask, needed, arrived: 0, values: [0; 32], operands: [(0, 0); 32] };
                let warp = &mut self.blocks[slot].warps[number];
                warp.collectives.push(fresh);
                warp.collectives.len() - 1
            }
        };
        let block = &mut self.blocks[slot];
        let collective = &mut block.warps[number].collectives[open];
        collective.arrived |= 1 << lane;
        collective.values[lane as usize] = value;
        collective.operands[lane as usize] = operand;
        if collective.arrived != needed {
            let thread = &mut block.threads[tid as usize];
            thread.status = Status::Collective;
            thread.site = Some(caller);
            return false;
        }
        self.complete_collective(number, open, caller);
        true
    }

    /// Takes what the lane brings to a matrix operation.
    pub(crate) fn bring(&mut self, operands: Operands, caller: Caller) {
        let (number, lane) = (self.warp(), self.lane());
        let slot = self.current.slot;
        let warp = &mut self.blocks[slot].warps[number];
        if warp.lanes != u32::MAX {
            let value = warp.lanes.count_ones().into();
            let kind = FaultKind::InvalidOperand {
                operation: "mma",
                what: "lanes of the warp",
                value,
                allowed: "32",
            };
            self.raise(kind, caller);
        }
        Rc::make_mut(warp.bringing.get_or_insert_default())[lane as usize] = operands;
    }

    /// What all lanes brought to the matrix operation that this one has come back from.
    pub(crate) fn brought(&mut self) -> Rc<[Operands; WARP as usize]> {
        let (number, slot) = (self.warp(), self.current.slot);
        self.blocks[slot].warps[number].brought.clone().expect("the operation has completed")
    }

    fn complete_collective(&mut self, number: usize, open: usize, caller: Caller) {
        let (slot, running) = (self.current.slot, self.lane());
        let warp = &mut self.blocks[slot].warps[number];
        let collective = warp.collectives.swap_remove(open);
        if collective.kind == Kind::Matrix {
            // Lanes may bring the next operands before others have looked at these: so those go elsewhere.
            std::mem::swap(&mut warp.bringing, &mut warp.brought);
        }
        let first = number * WARP as usize;
        let results = match collective.results() {
            Ok(results) => results,
            Err((lane, kind)) => {
                // The lane at fault is the one that reads, which need not be the one that came last.
                let tid = first + lane as usize;
                let site = if lane == running {
                    caller
                } else {
                    self.blocks[slot].threads[tid].site.unwrap_or(caller)
                };
                self.current.gid = self.current.gid - self.current.tid + tid as u32;
                self.raise(kind, site);
            }
        };
        let threads = &mut self.blocks[slot].threads[first..];
        for (lane, (thread, result)) in threads.iter_mut().zip(results).enumerate() {
            if collective.needed >> lane & 1 == 1 {
                (thread.result, thread.status) = (result, Status::Runnable);
            }
        }
        self.blocks[slot].warps[number].runnable |= collective.needed & !(1 << running);
        self.enqueue(slot, number);
        if collective.kind == Kind::Sync {
            self.join_lanes(collective.needed);
        }
    }

    /// A lane exits, or goes to wait elsewhere: nobody may be waiting for it in a collective.
    pub(crate) fn check_collectives_of(
        &mut self,
        number: usize,
        lane: u32,
        caller: Option<Caller>,
        doing: &'static str,
    ) {
        let warp = &self.blocks[self.current.slot].warps[number];
        let waiting =
            warp.collectives.iter().find(|c| c.needed >> lane & 1 == 1 && c.arrived >> lane & 1 == 0);
        if let Some(collective) = waiting {
            let (kind, mask, arrived) = (collective.kind, collective.mask, collective.arrived);
            let first = number as u32 * WARP + arrived.trailing_zeros();
            let site = self.blocks[self.current.slot].threads[first as usize].site;
            let Some(site) = site.or(caller) else { return };
            // Reported at the collective, for the lane that waits there in vain.
            self.current.gid = self.current.gid - self.current.tid + first;
            let place =
                caller.map(|caller| format!(" ({}:{})", caller.file(), caller.line())).unwrap_or_default();
            let detail = format!("lane {lane} {doing}{place}");
            let missing = 1 << lane;
            self.missing(kind, mask, missing, &detail, site);
        }
    }

    #[cold]
    fn missing(&mut self, kind: Kind, mask: u32, missing: u32, detail: &str, caller: Caller) -> ! {
        let operation = kind.name();
        let kind = FaultKind::WarpDivergence { operation, mask, missing, detail: detail.into() };
        let mut details = self.details(kind, Some(caller), self.current.gid);
        details.waiters = self.waiters(8, |status| matches!(status, Status::Collective | Status::Barrier));
        self.raise_details(details)
    }

    /// When nobody can run, says which collective waits for lanes that cannot come.
    pub(crate) fn stuck_collective(&self) -> Option<(usize, u32, FaultKind)> {
        for (slot, block) in self.blocks.iter().enumerate().filter(|(_, block)| block.live) {
            for (number, warp) in block.warps.iter().enumerate() {
                if let Some(collective) = warp.collectives.first() {
                    let first = number as u32 * WARP + collective.arrived.trailing_zeros();
                    let kind = FaultKind::WarpDivergence {
                        operation: collective.kind.name(),
                        mask: collective.mask,
                        missing: collective.needed & !collective.arrived,
                        detail: "they wait elsewhere".into(),
                    };
                    return Some((slot, first, kind));
                }
            }
        }
        None
    }

    /// Arrives at `active_mask`, to learn who else is there.
    pub(crate) fn gather(&mut self, caller: Caller) {
        self.progress_check(caller);
        let (number, lane, tid) = (self.warp(), self.lane(), self.current.tid);
        let block = self.block();
        block.threads[tid as usize].status = Status::Gather;
        block.threads[tid as usize].site = Some(caller);
        block.warps[number].gathering |= 1 << lane;
    }

    /// No other lane of the warp can come: those waiting at one call site are active together. Nearly always the seed
    /// splits them, because hardware may, and a kernel that takes the mask for the lanes of a branch is then found.
    pub(crate) fn resolve_gather(&mut self, slot: usize, number: usize) {
        let first = number * WARP as usize;
        let mut left = std::mem::take(&mut self.blocks[slot].warps[number].gathering);
        let all = left;
        while left != 0 {
            let leader = first + left.trailing_zeros() as usize;
            let site = self.blocks[slot].threads[leader].site;
            let mut together = 0;
            for lane in (0..WARP).filter(|lane| left >> lane & 1 == 1) {
                let other = self.blocks[slot].threads[first + lane as usize].site;
                if let (Some(a), Some(b)) = (site, other)
                    && same_place(a, b)
                {
                    together |= 1 << lane;
                }
            }
            if !self.rng.one_in(32) {
                let split = together & self.rng.next() as u32;
                together = if split == 0 { together } else { split };
            }
            for lane in (0..WARP).filter(|lane| together >> lane & 1 == 1) {
                let thread = &mut self.blocks[slot].threads[first + lane as usize];
                thread.result = together.into();
                thread.status = Status::Runnable;
            }
            left &= !together;
        }
        self.blocks[slot].warps[number].runnable |= all;
        self.enqueue(slot, number);
    }
}
