//! Barriers, votes and shuffles: where lanes and warps meet.

use super::block::Block;
use super::fault::{Fault, LAUNCH_FAILED};
use super::inst::*;
use super::lanes::{Row, Slot, WARP, lanes};
use super::launch::Launch;
use super::warp::{Blocked, Group, Wait, Warp};

impl Warp {
    /// Whether the lanes that execute are just those the member mask names.
    pub(super) fn all_here(&mut self, launch: &Launch, constants: &[Row], group: &Group, members: Slot, mask: u32) -> bool {
        let live = self.live;
        let (rows, _) = self.group_rows(launch, constants, group);
        let row = rows.row(members);
        lanes(mask).all(|lane| row[lane].get() as u32 & live == mask)
    }

    /// Lets lanes wait for the other members, unless all are waiting already.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn wait_together(
        &mut self,
        launch: &Launch,
        constants: &[Row],
        block: &mut Block,
        group: &Group,
        members: Slot,
        class: u32,
        mask: u32,
    ) -> Result<Blocked, Fault> {
        let line = launch.program.code[group.pc as usize].line;
        let (rows, _) = self.group_rows(launch, constants, group);
        let mut named = [0; WARP];
        for lane in lanes(mask) {
            named[lane] = rows.get(members, lane) as u32;
        }
        for lane in lanes(mask) {
            if named[lane] >> lane & 1 == 0 {
                let message = format!("lane {lane} is not in its member mask 0x{:08x}", named[lane]);
                return Err(self.fault(launch, block, line, 1 << lane, LAUNCH_FAILED, &message));
            }
            self.waits[lane] = Wait::Together {
                members: named[lane],
                class,
            };
        }
        self.block_at(group, mask);
        self.settle(launch, constants, block)?;
        Ok(Blocked)
    }

    /// Performs what all needed lanes wait for.
    pub(super) fn settle(&mut self, launch: &Launch, constants: &[Row], block: &mut Block) -> Result<(), Fault> {
        let mut open = self.live & self.blocked & !self.at_barrier;
        while open != 0 {
            let first = open.trailing_zeros() as usize;
            let wait = self.waits[first];
            let alike = lanes(open)
                .filter(|lane| self.waits[*lane] == wait)
                .fold(0, |mask, lane| mask | 1 << lane);
            open &= !alike;
            let Wait::Together { members, .. } = wait else { continue };
            if members & self.live & !alike != 0 {
                continue;
            }
            let here = members & self.live;
            if matches!(launch.program.code[self.pc[first] as usize].op, Op::Tensor { .. }) {
                self.settle_tensor(launch, constants, block, here, self.pc[first])?;
                self.release(here);
                continue;
            }
            // Lanes may stand at different instructions of the same kind: each has its own registers.
            if lanes(here).all(|lane| self.pc[lane] == self.pc[first]) && self.same_frame(here) {
                self.perform_at(launch, constants, block, here, here, first);
            } else {
                for lane in lanes(here) {
                    self.perform_at(launch, constants, block, here, 1 << lane, lane);
                }
            }
            self.release(here);
        }
        Ok(())
    }

    fn perform_at(&mut self, launch: &Launch, constants: &[Row], block: &mut Block, here: u32, write: u32, at: usize) {
        let pc = self.pc[at];
        if let Op::Together { what, .. } = launch.program.code[pc as usize].op {
            self.perform_for(launch, constants, block, &what, here, write);
        }
    }

    pub(super) fn perform(&mut self, launch: &Launch, constants: &[Row], block: &mut Block, what: &Together, here: u32, pc: u32) {
        // Lanes that run together stand at `pc`; their own record of it may be old.
        for lane in lanes(here) {
            self.pc[lane] = pc;
        }
        self.perform_for(launch, constants, block, what, here, here);
    }

    /// The value each lane brings, read with its own instruction.
    fn brought(&mut self, launch: &Launch, constants: &[Row], here: u32) -> ([u64; WARP], u32) {
        let (mut values, mut holds) = ([0; WARP], 0);
        for lane in lanes(here) {
            let op = launch.program.code[self.pc[lane] as usize].op;
            let Op::Together { what, .. } = op else { continue };
            let (rows, preds) = self.lane_rows(launch, constants, lane);
            match what {
                Together::Shuffle { value, .. }
                | Together::MatchAny { value, .. }
                | Together::MatchAll { value, .. }
                | Together::Redux { value, .. } => {
                    values[lane] = rows.get(value, lane);
                }
                Together::Vote { value, .. } => holds |= value.mask(preds) & 1 << lane,
                Together::Barrier => {}
            }
        }
        (values, holds)
    }

    /// Results go to the lanes of `write`, which share `what` and their frame.
    fn perform_for(&mut self, launch: &Launch, constants: &[Row], block: &mut Block, what: &Together, here: u32, write: u32) {
        let (values, holds) = self.brought(launch, constants, here);
        let number = self.number as usize;
        let leader = write.trailing_zeros() as usize;
        let (rows, preds) = self.lane_rows(launch, constants, leader);
        let mut set_pred = |register: u32, value: u32| {
            let old = &mut preds[register as usize];
            *old = *old & !write | value & write;
        };
        match *what {
            Together::Barrier => block.races.lanes_meet(number, here),
            Together::Shuffle {
                kind,
                to,
                found,
                by,
                clamp,
                ..
            } => {
                let mut valid = 0;
                let mut results = [0; WARP];
                for lane in lanes(write) {
                    let (source, ok) = shuffle_source(kind, lane as u32, rows.get(by, lane) as u32, rows.get(clamp, lane) as u32);
                    valid |= u32::from(ok) << lane;
                    // What a lane that takes no part brings is undefined; here it is the lane's own.
                    let from = if here >> source & 1 == 1 { source as usize } else { lane };
                    results[lane] = values[from];
                }
                for lane in lanes(write) {
                    rows.set(to, lane, results[lane]);
                }
                if let Some(found) = found {
                    set_pred(found, valid);
                }
            }
            Together::Vote { kind, to, to_pred, .. } => match kind {
                Vote::Ballot => lanes(write).for_each(|lane| rows.set(to, lane, u64::from(holds))),
                Vote::All => set_pred(to_pred, if holds == here { u32::MAX } else { 0 }),
                Vote::Any => set_pred(to_pred, if holds != 0 { u32::MAX } else { 0 }),
                Vote::Uni => set_pred(to_pred, if holds == here || holds == 0 { u32::MAX } else { 0 }),
            },
            Together::MatchAny { to, .. } => {
                for lane in lanes(write) {
                    let equal = lanes(here).filter(|l| values[*l] == values[lane]).fold(0u32, |m, l| m | 1 << l);
                    rows.set(to, lane, u64::from(equal));
                }
            }
            Together::MatchAll { to, found, .. } => {
                let first = values[here.trailing_zeros() as usize];
                let all = lanes(here).all(|lane| values[lane] == first);
                lanes(write).for_each(|lane| rows.set(to, lane, if all { u64::from(here) } else { 0 }));
                if let Some(found) = found {
                    set_pred(found, if all { u32::MAX } else { 0 });
                }
            }
            Together::Redux { kind, signed, to, .. } => {
                let all = lanes(here).map(|lane| values[lane] as u32);
                let result = match kind {
                    Redux::Add => all.fold(0, u32::wrapping_add),
                    Redux::And => all.fold(u32::MAX, |a, b| a & b),
                    Redux::Or => all.fold(0, |a, b| a | b),
                    Redux::Xor => all.fold(0, |a, b| a ^ b),
                    Redux::Min if signed => all.map(|v| v as i32).min().unwrap_or(0) as u32,
                    Redux::Max if signed => all.map(|v| v as i32).max().unwrap_or(0) as u32,
                    Redux::Min => all.min().unwrap_or(0),
                    Redux::Max => all.max().unwrap_or(0),
                };
                lanes(write).for_each(|lane| rows.set(to, lane, u64::from(result)));
            }
        }
    }

    /// Lanes come to a barrier of the block. Whether it opens is for the block to say.
    pub(super) fn at_block_barrier(
        &mut self,
        launch: &Launch,
        constants: &[Row],
        block: &mut Block,
        group: &Group,
        barrier: &Barrier,
        mask: u32,
    ) -> Result<Blocked, Fault> {
        let line = launch.program.code[group.pc as usize].line;
        let (rows, _) = self.group_rows(launch, constants, group);
        let first = mask.trailing_zeros() as usize;
        let id = rows.get(barrier.id, first);
        let count = barrier.count.map(|slot| rows.get(slot, first) as u32);
        let uniform = lanes(mask).all(|lane| {
            let same = barrier.count.is_none_or(|slot| rows.get(slot, lane) as u32 == count.unwrap_or(0));
            rows.get(barrier.id, lane) == id && same
        });
        let complaint = if !uniform {
            Some("the lanes of a warp name different barriers or counts".to_owned())
        } else if id > 15 {
            Some(format!("there is no barrier {id}: a block has 16"))
        } else {
            count
                .filter(|c| c % 32 != 0 || *c == 0)
                .map(|count| format!("barrier {id} for {count} threads: the number must be a multiple of 32"))
        };
        if let Some(message) = complaint {
            return Err(self.fault(launch, block, line, mask, LAUNCH_FAILED, &message));
        }
        if barrier.arrive {
            block
                .arrived(self.number, id as usize, count.unwrap_or(0), mask, self.live)
                .map_err(|message| self.fault(launch, block, line, mask, LAUNCH_FAILED, &message))?;
            self.skip(group);
            return Ok(Blocked);
        }
        for lane in lanes(mask) {
            self.waits[lane] = Wait::Barrier;
        }
        self.block_at(group, mask);
        self.at_barrier |= mask;
        Ok(Blocked)
    }
}

/// The lane a shuffle reads from, and whether it is in range.
fn shuffle_source(kind: Shuffle, lane: u32, by: u32, clamp: u32) -> (u32, bool) {
    let by = by & 31;
    let (clamp, segment) = (clamp & 31, clamp >> 8 & 31);
    let highest = (lane & segment) | (clamp & !segment);
    let lowest = lane & segment;
    let (source, ok) = match kind {
        Shuffle::Up => (lane.wrapping_sub(by), lane as i32 - by as i32 >= highest as i32),
        Shuffle::Down => (lane + by, lane + by <= highest),
        Shuffle::Bfly => (lane ^ by, lane ^ by <= highest),
        Shuffle::Idx => {
            let source = lowest | (by & !segment);
            (source, source <= highest)
        }
    };
    if ok { (source & 31, true) } else { (lane, false) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffles_clamp_at_their_segment() {
        // Whole warp: c = 31 (up: 0).
        assert_eq!(shuffle_source(Shuffle::Down, 30, 1, 31), (31, true));
        assert_eq!(shuffle_source(Shuffle::Down, 31, 1, 31), (31, false));
        assert_eq!(shuffle_source(Shuffle::Up, 0, 1, 0), (0, false));
        assert_eq!(shuffle_source(Shuffle::Up, 5, 2, 0), (3, true));
        assert_eq!(shuffle_source(Shuffle::Bfly, 5, 16, 31), (21, true));
        // Width 8: c = ((32 - 8) << 8) | 31.
        let c = 24 << 8 | 31;
        assert_eq!(shuffle_source(Shuffle::Idx, 13, 2, c), (10, true));
        assert_eq!(shuffle_source(Shuffle::Down, 13, 3, c), (13, false));
        assert_eq!(shuffle_source(Shuffle::Up, 9, 1, 24 << 8), (8, true));
        assert_eq!(shuffle_source(Shuffle::Up, 8, 1, 24 << 8), (8, false));
    }
}
