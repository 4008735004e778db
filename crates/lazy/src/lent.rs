//! Storages whose memory a call writes to at the moment. One call at a time does, and nobody else replaces their elements meanwhile: what a
//! call writes to memory that is no longer the array's would be lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};

use smallvec::SmallVec;

use crate::array::Storage;

/// A storage, the thread whose call writes to it, and how many forks lay behind the process then: a child has none of its parent's calls.
type Entry = (Arc<Storage>, ThreadId, u32);

static OUT: weft_forks::Mutex<Vec<Entry>> = weft_forks::Mutex::new(Vec::new());
/// How many there are.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// What a call writes to, until this is dropped.
#[derive(Debug, Default)]
pub struct Lent(SmallVec<[Arc<Storage>; 2]>);

/// Lends all of these to a call of this thread, or none where a call of another thread has one of them. All at once: calls that wait for
/// each other's arrays would wait for good.
pub fn lend(storages: SmallVec<[Arc<Storage>; 2]>) -> Option<Lent> {
    if storages.is_empty() {
        return Some(Lent::default());
    }
    let mut out = OUT.lock();
    if storages.iter().any(|storage| is_with_another(&out, storage)) {
        return None;
    }
    let (here, forks) = (thread::current().id(), weft_forks::count());
    out.extend(storages.iter().map(|storage| (storage.clone(), here, forks)));
    COUNT.store(out.len(), Ordering::Release);
    Some(Lent(storages))
}

/// Does a call write to anything?
pub fn is_any() -> bool {
    COUNT.load(Ordering::Acquire) > 0
}

/// Does a call of another thread write to it?
pub fn is_lent(storage: &Arc<Storage>) -> bool {
    COUNT.load(Ordering::Acquire) > 0 && is_with_another(&OUT.lock(), storage)
}

fn is_with_another(out: &[Entry], storage: &Arc<Storage>) -> bool {
    let (here, forks) = (thread::current().id(), weft_forks::count());
    out.iter()
        .any(|(known, thread, then)| Arc::ptr_eq(known, storage) && *thread != here && *then == forks)
}

impl Drop for Lent {
    fn drop(&mut self) {
        if self.0.is_empty() {
            return;
        }
        let here = thread::current().id();
        let mut out = OUT.lock();
        for storage in &self.0 {
            if let Some(at) = out
                .iter()
                .position(|(known, thread, _)| Arc::ptr_eq(known, storage) && *thread == here)
            {
                out.swap_remove(at);
            }
        }
        COUNT.store(out.len(), Ordering::Release);
    }
}
