//! Work that the CPU's threads share.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::{machine, parts, trace};

/// How many threads so many bytes of elements are worth, of those that there are. While kernels are noted down all is done here.
pub fn worth(bytes: u64) -> usize {
    match bytes >= parts::shared() && !trace::is_on() {
        true => machine::cpu().map_or(1, |cpu| cpu.threads()),
        false => 1,
    }
}

/// Does work for all of so many units, which read or make so many bytes together: on all threads, where that is worth it. Each thread does some
/// at a time.
pub fn share(units: u64, bytes: u64, work: &(dyn Fn(Range<u64>) -> Result<()> + Sync)) -> Result<()> {
    if units < 2 || worth(bytes) < 2 {
        return work(0..units);
    }
    let failed: Mutex<Option<Error>> = Mutex::new(None);
    machine::cpu()?.share(units, &|range| match work(range) {
        Ok(()) => true,
        Err(error) => {
            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            false
        }
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}
