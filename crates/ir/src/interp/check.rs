//! Race detection: checked mode's record of who touched which byte since the last barrier.

use std::collections::HashMap;

use crate::op::WARP;

/// How an access touches memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Access {
    Read,
    Write,
    /// Reads and writes as one step: no race with others of its kind, but with any other access.
    Atomic,
}

/// Bytes a page of records covers.
const PAGE: u64 = 64;

/// When an access was: between which barriers of the block, and between which meetings of lanes of its warp.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct When {
    interval: u64,
    epoch: u64,
}

/// The threads that made accesses of one kind, which do not race with each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Actors {
    #[default]
    None,
    One(u32),
    /// Several lanes of one warp.
    Warp(u32),
    Many,
}

/// Reads of one byte, or atomic accesses of it: who made them, and when the last one was.
#[derive(Clone, Copy, Debug, Default)]
struct Shared {
    at: When,
    by: Actors,
}

/// The last write, the last reads and the last atomic accesses of one byte.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    written: When,
    write_by: u32,
    reads: Shared,
    atomics: Shared,
}

/// Another thread's conflicting access; its number, if only one thread made it.
#[derive(Debug, PartialEq)]
pub(super) struct Conflict(pub Option<u32>);

/// Intervals are counted from 1; a record of an older interval does not matter any more. Of one warp, which runs alone in its interval, nor
/// does a record of an older epoch.
#[derive(Debug)]
pub(super) struct Races {
    now: When,
    /// The thread or point that runs; none outside kernels and parallel loops, where nothing can race.
    pub actor: Option<u32>,
    pages: HashMap<(u32, u64), Box<[Record; PAGE as usize]>>,
}

/// Pages kept from one interval to the next; beyond that they are dropped, to bound memory.
const MAX_PAGES: usize = 1 << 16;

impl Races {
    pub fn new() -> Races {
        Races {
            now: When { interval: 1, epoch: 0 },
            actor: None,
            pages: HashMap::new(),
        }
    }

    /// All threads have met: what they did before is ordered before what they do next.
    pub fn next_interval(&mut self) {
        self.now.interval += 1;
        if self.pages.len() > MAX_PAGES {
            self.pages.clear();
        }
    }

    /// Lanes of the running warp have met. Which ones is not told apart: a race with others of the warp may be missed, none is made up.
    pub fn next_epoch(&mut self) {
        self.now.epoch += 1;
    }

    /// Notes an access to bytes of a buffer.
    pub fn touch(&mut self, buffer: u32, offset: u64, len: u64, access: Access) -> Result<(), Conflict> {
        let Some(actor) = self.actor else { return Ok(()) };
        let mut at = offset;
        while at < offset + len {
            let page = at / PAGE;
            let end = (offset + len).min((page + 1) * PAGE);
            let records = self
                .pages
                .entry((buffer, page))
                .or_insert_with(|| Box::new([Record::default(); PAGE as usize]));
            for record in &mut records[(at % PAGE) as usize..=((end - 1) % PAGE) as usize] {
                record.touch(self.now, actor, access)?;
            }
            at = end;
        }
        Ok(())
    }
}

/// Does an access then matter to one by `actor` now? One of its own warp before the lanes met is ordered before this one.
fn matters(now: When, actor: u32, at: When, by: u32) -> bool {
    at.interval == now.interval && (by / WARP != actor / WARP || at.epoch == now.epoch)
}

impl Shared {
    /// Those whose accesses matter to `actor` now.
    fn current(&self, now: When, actor: u32) -> Actors {
        match self.by {
            Actors::One(by) if matters(now, actor, self.at, by) => self.by,
            Actors::Warp(warp) if matters(now, actor, self.at, warp * WARP) => self.by,
            Actors::Many if self.at.interval == now.interval => self.by,
            _ => Actors::None,
        }
    }

    fn note(&mut self, now: When, actor: u32) {
        let warp = actor / WARP;
        self.by = match self.current(now, actor) {
            Actors::None => Actors::One(actor),
            Actors::One(by) if by == actor => Actors::One(actor),
            Actors::One(by) if by / WARP == warp => Actors::Warp(warp),
            Actors::Warp(by) if by == warp => Actors::Warp(warp),
            _ => Actors::Many,
        };
        self.at = now;
    }

    /// Refuses an access of another kind if anyone but `actor` made one of these.
    fn refuse(&self, now: When, actor: u32) -> Result<(), Conflict> {
        match self.current(now, actor) {
            Actors::None => Ok(()),
            Actors::One(by) if by == actor => Ok(()),
            Actors::One(by) => Err(Conflict(Some(by))),
            Actors::Warp(_) | Actors::Many => Err(Conflict(None)),
        }
    }
}

impl Record {
    fn touch(&mut self, now: When, actor: u32, access: Access) -> Result<(), Conflict> {
        if self.write_by != actor && matters(now, actor, self.written, self.write_by) {
            return Err(Conflict(Some(self.write_by)));
        }
        if access != Access::Read {
            self.reads.refuse(now, actor)?;
        }
        if access != Access::Atomic {
            self.atomics.refuse(now, actor)?;
        }
        match access {
            Access::Read => self.reads.note(now, actor),
            Access::Atomic => self.atomics.note(now, actor),
            Access::Write => (self.written, self.write_by) = (now, actor),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(races: &mut Races, actor: u32, offset: u64, access: Access) -> Result<(), Conflict> {
        races.actor = Some(actor);
        races.touch(0, offset, 4, access)
    }

    #[test]
    fn a_write_and_a_read_race_until_the_next_interval() {
        let mut races = Races::new();
        assert_eq!(touch(&mut races, 1, 62, Access::Write), Ok(()));
        assert_eq!(touch(&mut races, 1, 62, Access::Read), Ok(()));
        assert_eq!(touch(&mut races, 2, 65, Access::Read), Err(Conflict(Some(1))));
        assert_eq!(touch(&mut races, 2, 66, Access::Write), Ok(()));
        races.next_interval();
        assert_eq!(touch(&mut races, 2, 65, Access::Read), Ok(()));
    }

    #[test]
    fn accesses_of_one_kind_agree_and_of_two_do_not() {
        use Access::{Atomic, Read, Write};
        for (first, second) in [(Read, Atomic), (Atomic, Read), (Read, Write), (Atomic, Write)] {
            let mut races = Races::new();
            assert_eq!(touch(&mut races, 1, 0, first), Ok(()));
            assert_eq!(
                touch(&mut races, 1, 0, second),
                Ok(()),
                "one thread's own, {first:?} and {second:?}"
            );
            let mut races = Races::new();
            assert_eq!(touch(&mut races, 1, 0, first), Ok(()));
            assert_eq!(touch(&mut races, 2, 0, first), Ok(()));
            assert_eq!(touch(&mut races, 3, 0, second), Err(Conflict(None)), "{second:?} after {first:?}");
            races.next_interval();
            assert_eq!(touch(&mut races, 3, 0, second), Ok(()));
            assert_eq!(
                touch(&mut races, 40, 0, first),
                Err(Conflict(Some(3))),
                "{first:?} after {second:?}"
            );
        }
    }

    #[test]
    fn lanes_that_met_are_ordered_and_other_warps_are_not() {
        let mut races = Races::new();
        for lane in 0..4 {
            assert_eq!(touch(&mut races, lane, 0, Access::Read), Ok(()));
        }
        assert_eq!(touch(&mut races, 1, 0, Access::Write), Err(Conflict(None)));
        races.next_epoch();
        assert_eq!(touch(&mut races, 1, 0, Access::Write), Ok(()));
        assert_eq!(touch(&mut races, 2, 0, Access::Read), Err(Conflict(Some(1))));
        races.next_epoch();
        assert_eq!(touch(&mut races, 2, 0, Access::Read), Ok(()));
        assert_eq!(touch(&mut races, 40, 0, Access::Read), Err(Conflict(Some(1))));
    }
}
