//! Race detection: who touched which piece (byte or word) of shared memory, and what is ordered before what.
//!
//! Two accesses conflict if they are of two threads, one writes, not both are atomic (or volatile), and nothing orders them: no barrier
//! both have passed, no `bar.warp.sync` of their warp, no pair of fences between them (which may be a lock: the benefit of the doubt).

use super::lanes::WARP;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    Read,
    Write,
    /// Atomic or volatile.
    StrongRead,
    StrongWrite,
}

impl Touch {
    fn writes(self) -> bool {
        matches!(self, Touch::Write | Touch::StrongWrite)
    }

    fn strong(self) -> bool {
        matches!(self, Touch::StrongRead | Touch::StrongWrite)
    }
}

/// The last write and the last read of a piece. Time 0: never.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    write_time: u32,
    read_time: u32,
    writer: u16,
    reader: u16,
    strong_write: bool,
    strong_read: bool,
    /// More than one thread has read since the last write; `reader` is the last of them.
    many: bool,
}

#[derive(Debug, Default)]
pub struct Races {
    records: Vec<Record>,
    time: u32,
    /// All of the block has met here.
    barrier: u32,
    warps: usize,
    /// For each warp, up to when it knows what each other warp did.
    known: Vec<u32>,
    /// For each thread, up to when it knows what each lane of its warp did. Empty until a warp meets.
    known_lanes: Vec<u32>,
    /// When each thread last executed a fence.
    fences: Vec<u32>,
}

/// The other thread of a conflict, and whether it wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    pub thread: u32,
    pub wrote: bool,
}

impl Races {
    /// Begins a block. Records of blocks before are older than its first barrier, so they need not go.
    pub fn reset(&mut self, pieces: usize, warps: usize) {
        if self.records.len() != pieces || self.time > u32::MAX / 2 {
            self.records.clear();
            self.records.resize(pieces, Record::default());
            self.time = 0;
        }
        self.time += 1;
        self.barrier = self.time;
        self.warps = warps;
        self.known.clear();
        self.known_lanes.clear();
        self.fences.clear();
        self.fences.resize(warps * WARP, 0);
    }

    /// A new moment: what follows is not the same instruction.
    pub fn tick(&mut self) {
        self.time += 1;
    }

    pub fn fence(&mut self, thread: u32) {
        self.fences[thread as usize] = self.time;
    }

    /// All threads of the block have met.
    pub fn block_barrier(&mut self) {
        self.time += 1;
        self.barrier = self.time;
    }

    /// Warps that wait learn what those that arrived knew and did.
    pub fn warp_barrier(&mut self, arrived: &[usize], waiting: &[usize]) {
        let warps = self.warps;
        if self.known.is_empty() {
            self.known = vec![0; warps * warps];
        }
        self.time += 1;
        let mut all = vec![0; warps];
        for &warp in arrived.iter().chain(waiting) {
            for (other, known) in all.iter_mut().enumerate() {
                *known = self.known[warp * warps + other].max(*known);
            }
            all[warp] = self.time;
        }
        for &warp in waiting {
            self.known[warp * warps..(warp + 1) * warps].copy_from_slice(&all);
            self.lanes_meet(warp, u32::MAX);
        }
    }

    /// Lanes of a warp have met at a `bar.warp.sync`.
    pub fn lanes_meet(&mut self, warp: usize, members: u32) {
        if self.known_lanes.is_empty() {
            self.known_lanes = vec![0; self.warps * WARP * WARP];
        }
        self.time += 1;
        let mut all = [0; WARP];
        let row = |lane: usize| (warp * WARP + lane) * WARP;
        for lane in super::lanes::lanes(members) {
            for (other, known) in all.iter_mut().enumerate() {
                *known = self.known_lanes[row(lane) + other].max(*known);
            }
        }
        for lane in super::lanes::lanes(members) {
            all[lane] = self.time;
        }
        for lane in super::lanes::lanes(members) {
            self.known_lanes[row(lane)..row(lane) + WARP].copy_from_slice(&all);
        }
    }

    /// Whether what a thread did at a time comes before what another does now.
    fn ordered(&self, before: u32, time: u32, now: u32) -> bool {
        if before == now || time < self.barrier {
            return true;
        }
        let (a, b) = (before as usize / WARP, now as usize / WARP);
        let met = if a == b {
            self.known_lanes
                .get(now as usize * WARP + before as usize % WARP)
                .is_some_and(|k| time < *k)
        } else {
            self.known.get(b * self.warps + a).is_some_and(|k| time < *k)
        };
        let (released, acquired) = (self.fences[before as usize], self.fences[now as usize]);
        met || (released >= time && acquired > released)
    }

    /// Notes an access to a piece. `same`: it writes what is there already, which does no harm to another's write.
    #[inline]
    pub fn touch(&mut self, at: usize, thread: u32, touch: Touch, same: bool) -> Result<(), Conflict> {
        let Some(record) = self.records.get(at).copied() else {
            return Ok(());
        };
        let strong = touch.strong();
        if record.write_time >= self.barrier && !(strong && record.strong_write) && !(touch.writes() && same) {
            let thread_before = u32::from(record.writer);
            if !self.ordered(thread_before, record.write_time, thread) {
                return Err(Conflict {
                    thread: thread_before,
                    wrote: true,
                });
            }
        }
        if touch.writes() && record.read_time >= self.barrier && record.read_time > record.write_time && !(strong && record.strong_read) {
            let reader = u32::from(record.reader);
            let other = reader != thread || record.many;
            // With several readers, the writer being the last of them proves nothing about the others.
            let unordered = if reader == thread {
                record.read_time >= self.barrier
            } else {
                !self.ordered(reader, record.read_time, thread)
            };
            if other && unordered && !(reader == thread && self.known_to_all(record.read_time, thread)) {
                return Err(Conflict {
                    thread: reader,
                    wrote: false,
                });
            }
        }
        let time = self.time;
        // Reads that all come before this one need not be remembered beside it.
        let reader = u32::from(record.reader);
        let before = self.ordered(reader, record.read_time, thread) && (!record.many || self.known_to_all(record.read_time, thread));
        let record = &mut self.records[at];
        if touch.writes() {
            record.write_time = time;
            record.writer = thread as u16;
            record.strong_write = strong;
            // A read-modify-write is recorded by its write alone.
            record.many = false;
        } else {
            let fresh = before || record.read_time <= record.write_time || record.read_time < self.barrier;
            record.many = !fresh && (record.many || u32::from(record.reader) != thread);
            record.strong_read = strong && (fresh || record.strong_read);
            record.read_time = time;
            record.reader = thread as u16;
        }
        Ok(())
    }

    /// Whether a thread has met any others since a time: then several readers get the benefit of the doubt.
    fn known_to_all(&self, time: u32, thread: u32) -> bool {
        let row = thread as usize * WARP;
        let lanes = self.known_lanes.get(row..row + WARP).is_some_and(|k| k.iter().any(|k| *k > time));
        lanes || self.fences[thread as usize] > time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn races() -> Races {
        let mut races = Races::default();
        races.reset(16, 2);
        races
    }

    #[test]
    fn a_write_and_a_read_conflict_until_the_block_meets() {
        let mut r = races();
        r.touch(0, 0, Touch::Write, false).unwrap();
        r.tick();
        assert_eq!(r.touch(0, 40, Touch::Read, false), Err(Conflict { thread: 0, wrote: true }));
        r.block_barrier();
        r.touch(0, 40, Touch::Read, false).unwrap();
        r.tick();
        assert!(r.touch(0, 0, Touch::Write, false).is_err());
        r.touch(0, 3, Touch::Read, false).unwrap();
        r.tick();
        assert!(r.touch(0, 3, Touch::Write, false).is_err(), "two threads have read it");
    }

    #[test]
    fn own_accesses_atomics_and_equal_writes_do_not() {
        let mut r = races();
        r.touch(0, 0, Touch::Read, false).unwrap();
        r.touch(0, 0, Touch::Write, false).unwrap();
        r.touch(0, 1, Touch::Write, true).unwrap();
        r.touch(4, 0, Touch::StrongWrite, false).unwrap();
        r.touch(4, 1, Touch::StrongWrite, false).unwrap();
        r.touch(4, 2, Touch::StrongRead, false).unwrap();
        assert!(r.touch(4, 2, Touch::Read, false).is_err());
        assert!(r.touch(0, 2, Touch::Write, false).is_err());
    }

    #[test]
    fn lanes_and_warps_that_met_are_ordered() {
        let mut r = races();
        r.touch(0, 0, Touch::Write, false).unwrap();
        r.lanes_meet(0, 0b11);
        r.touch(0, 1, Touch::Read, false).unwrap();
        assert!(r.touch(0, 2, Touch::Read, false).is_err());
        r.warp_barrier(&[0], &[1]);
        r.touch(0, 40, Touch::Read, false).unwrap();
    }

    #[test]
    fn a_lane_may_change_what_others_read_before_they_met() {
        let mut r = races();
        for step in 0..3 {
            r.touch(0, 1, Touch::Read, false).unwrap();
            r.touch(0, 2, Touch::Read, false).unwrap();
            r.lanes_meet(0, u32::MAX);
            r.touch(0, 0, Touch::Read, false).unwrap();
            r.tick();
            assert_eq!(r.touch(0, 0, Touch::Write, false), Ok(()), "step {step}");
            r.lanes_meet(0, u32::MAX);
        }
        r.touch(0, 1, Touch::Read, false).unwrap();
        r.tick();
        r.touch(0, 0, Touch::Read, false).unwrap();
        assert!(r.touch(0, 0, Touch::Write, false).is_err(), "they have not met since");
    }

    #[test]
    fn fences_get_the_benefit_of_the_doubt() {
        let mut r = races();
        r.touch(0, 0, Touch::Write, false).unwrap();
        r.tick();
        r.fence(0);
        r.tick();
        assert!(r.touch(0, 40, Touch::Read, false).is_err());
        r.fence(40);
        r.touch(0, 40, Touch::Read, false).unwrap();
    }
}
