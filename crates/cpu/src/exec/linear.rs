//! The pool's threads for linear algebra, which shares its work by itself.

use std::ops::Range;

use weft_linalg::Threads;

use super::{pool, spread};

/// As many threads as launches may use; one for a thread that does a share of something already.
#[derive(Clone, Copy, Debug)]
pub struct Crew;

impl Threads for Crew {
    fn count(&self) -> usize {
        if spread::is_sharing() { 1 } else { pool::num_threads() }
    }

    fn share(&self, units: u64, work: &(dyn Fn(Range<u64>) -> bool + Sync)) {
        spread::share(units, work);
    }

    fn inside(&self, work: &mut (dyn FnMut() + Send)) {
        // What its threads make and lock must be whole in a forked child.
        let _held = weft_forks::hold();
        pool::current().inside(work);
    }
}
