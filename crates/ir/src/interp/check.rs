//! Checked mode's record of who touched which byte since the last barrier.

use std::collections::HashMap;

/// How an access touches memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Access {
    Read,
    Write,
    /// Reads and writes as one step: no race with others of its kind.
    Atomic,
}

/// Several threads, none of them remembered.
const MANY: u32 = u32::MAX;
/// Bytes a page of records covers.
const PAGE: u64 = 64;

/// The last write and the last reads (or atomic accesses) of one byte, each with the interval it fell in.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    write_interval: u64,
    write_by: u32,
    read_interval: u64,
    read_by: u32,
}

/// Another thread's conflicting access; its number, if only one thread made it.
#[derive(Debug, PartialEq)]
pub(super) struct Conflict(pub Option<u32>);

/// Intervals are counted from 1; a record of an older interval does not matter any more.
#[derive(Debug)]
pub(super) struct Races {
    interval: u64,
    /// The thread or point that runs; none outside kernels and parallel loops, where nothing can race.
    pub actor: Option<u32>,
    pages: HashMap<(u32, u64), Box<[Record; PAGE as usize]>>,
}

/// Pages kept from one interval to the next; beyond that they are dropped, to bound memory.
const MAX_PAGES: usize = 1 << 16;

impl Races {
    pub fn new() -> Races {
        Races {
            interval: 1,
            actor: None,
            pages: HashMap::new(),
        }
    }

    /// All threads have met: what they did before is ordered before what they do next.
    pub fn next_interval(&mut self) {
        self.interval += 1;
        if self.pages.len() > MAX_PAGES {
            self.pages.clear();
        }
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
                record.touch(self.interval, actor, access)?;
            }
            at = end;
        }
        Ok(())
    }
}

impl Record {
    fn touch(&mut self, interval: u64, actor: u32, access: Access) -> Result<(), Conflict> {
        if self.write_interval == interval && self.write_by != actor {
            return Err(Conflict(Some(self.write_by)));
        }
        let read_now = self.read_interval == interval;
        if access == Access::Write {
            if read_now && self.read_by != actor {
                return Err(Conflict((self.read_by != MANY).then_some(self.read_by)));
            }
            self.write_interval = interval;
            self.write_by = actor;
        } else {
            self.read_by = if read_now && self.read_by != actor { MANY } else { actor };
            self.read_interval = interval;
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
    fn readers_and_atomics_agree_but_not_with_a_write() {
        let mut races = Races::new();
        assert_eq!(touch(&mut races, 1, 0, Access::Atomic), Ok(()));
        assert_eq!(touch(&mut races, 2, 0, Access::Atomic), Ok(()));
        assert_eq!(touch(&mut races, 3, 0, Access::Read), Ok(()));
        assert_eq!(touch(&mut races, 3, 0, Access::Write), Err(Conflict(None)));
    }
}
