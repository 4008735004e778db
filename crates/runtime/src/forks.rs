//! Forks of this process, which drivers of GPUs do not survive: the child must not touch them.

use std::sync::atomic::{AtomicU32, Ordering};

/// Forks between the process that began to watch and this one.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// Watches for forks from now on. A later [`count`] is the result, unless the process was forked.
#[allow(unsafe_code)]
pub fn watch() -> u32 {
    #[cfg(unix)]
    {
        extern "C" fn in_child() {
            FORKS.fetch_add(1, Ordering::Relaxed);
        }
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            // SAFETY: the handler only changes a number.
            unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        });
    }
    count()
}

#[inline]
pub fn count() -> u32 {
    FORKS.load(Ordering::Relaxed)
}
