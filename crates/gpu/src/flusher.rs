//! A thread that submits what was recorded and then left alone, so that the device works while the host does something else.

use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;

use crate::gpu::lock;
use crate::live::Live;

/// How long a batch may lie open. Launches that come faster than this share one.
const PATIENCE: Duration = Duration::from_micros(300);

#[derive(Debug, Default)]
pub struct Flusher {
    orders: Mutex<Orders>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Orders {
    is_open: bool,
    stop: bool,
}

impl Flusher {
    pub fn start(me: &Arc<Flusher>, live: &Arc<Live>) {
        let (me, live) = (me.clone(), Arc::downgrade(live));
        let thread = std::thread::Builder::new().name("weft-gpu".into());
        // Without the thread, work starts when somebody waits for it.
        let _ = thread.spawn(move || me.serve(&live));
    }

    /// A batch is open.
    pub fn wake(&self) {
        lock(&self.orders).is_open = true;
        self.changed.notify_one();
    }

    pub fn stop(&self) {
        lock(&self.orders).stop = true;
        self.changed.notify_one();
    }

    fn serve(&self, live: &Weak<Live>) {
        loop {
            {
                let mut orders = lock(&self.orders);
                while !orders.is_open && !orders.stop {
                    orders = self.changed.wait(orders).unwrap_or_else(PoisonError::into_inner);
                }
                if orders.stop {
                    return;
                }
                orders.is_open = false;
            }
            let Some(seen) = live.upgrade().map(|live| live.state().batch.number()) else {
                return;
            };
            std::thread::sleep(PATIENCE);
            let Some(live) = live.upgrade() else { return };
            let mut state = live.state();
            if state.batch.number() == seen {
                state.batch.submit(&live);
            }
        }
    }
}
