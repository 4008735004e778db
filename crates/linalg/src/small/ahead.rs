//! Memory of the products of a stack that come next, fetched while one is computed.
//!
//! Small matrices are pages of their own: what the processor fetches by itself ends with each of them, and waits for the first lines of the next
//! one. Asked for between the multiplications of the matrix before, they come while there is something to do.

/// Bytes that come together.
const LINE: usize = 64;
/// Bytes of the matrices of one product up to which the nearest cache has those of three.
const MOST: usize = 16 << 10;

/// A part of memory that is fetched line by line. Nothing is read: an address may be any.
#[derive(Clone, Copy, Debug, Default)]
pub struct Run {
    at: usize,
    end: usize,
}

impl Run {
    /// So many bytes from an address on.
    pub fn new(start: *const u8, bytes: usize) -> Run {
        let at = start as usize;
        Run {
            at,
            end: at.saturating_add(bytes),
        }
    }

    fn bytes(self) -> usize {
        self.end - self.at
    }

    #[inline(always)]
    fn step(&mut self) {
        if self.at < self.end {
            fetch(self.at);
            self.at += LINE;
        }
    }
}

/// What is fetched meanwhile: two factors and the place of their product.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ahead {
    runs: [Run; 3],
    /// Steps take turns, so that memory has time to answer.
    turn: bool,
}

impl Ahead {
    /// Nothing if it were too much.
    pub fn new(runs: [Run; 3]) -> Ahead {
        let bytes = runs.iter().fold(0_usize, |bytes, run| bytes.saturating_add(run.bytes()));
        let runs = if bytes > MOST { Default::default() } else { runs };
        Ahead { runs, turn: false }
    }

    /// Asks for a line of the first factor, and the next time for one of each of the others.
    #[inline(always)]
    pub fn step(&mut self) {
        self.turn = !self.turn;
        let [first, others @ ..] = &mut self.runs;
        match self.turn {
            true => first.step(),
            false => others.iter_mut().for_each(Run::step),
        }
    }
}

#[inline(always)]
fn fetch(at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, which does nothing where there is no memory.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::without_provenance(at)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_asked_for_once() {
        let place = std::ptr::without_provenance(100);
        let mut ahead = Ahead::new([Run::new(place, 1), Run::new(place, 129), Run::default()]);
        let mut steps = 0;
        while ahead.runs.iter().any(|run| run.at < run.end) {
            ahead.step();
            steps += 1;
        }
        assert_eq!((steps, ahead.runs.map(|run| run.at)), (6, [164, 292, 0]));
    }

    #[test]
    fn too_much_is_nothing() {
        let run = Run::new(std::ptr::null(), MOST / 2);
        assert_eq!(Ahead::new([run, run, Run::default()]).runs[1].end, MOST / 2);
        assert_eq!(Ahead::new([run, run, Run::new(std::ptr::null(), 1)]).runs[1].end, 0);
        assert_eq!(Run::new(std::ptr::without_provenance(9), usize::MAX).end, usize::MAX);
    }
}
