//! The flusher: a thread that submits what was recorded and then left alone, so that the device works while the host does something else.

use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use weft_runtime::lock;

use crate::live::Live;

/// How long a batch may lie open with nothing new coming to it, and how many times as long if something does: a driver for the CPU works
/// while it is given a batch, and whoever records waits for that.
const PATIENCE: Duration = Duration::from_micros(300);
const MOST_LOOKS: u32 = 16;

#[derive(Debug, Default)]
pub struct Flusher {
    orders: Mutex<Orders>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Orders {
    is_open: bool,
    /// The thread waits to be woken.
    idle: bool,
    stop: bool,
}

impl Flusher {
    pub fn start(me: &Arc<Flusher>, live: &Arc<Live>) {
        let (me, live) = (me.clone(), Arc::downgrade(live));
        let thread = thread::Builder::new().name("weft-gpu".into());
        // Without the thread, work starts when somebody waits for it.
        let _ = thread.spawn(move || me.serve(&live));
    }

    /// A batch is open.
    pub fn wake(&self) {
        let mut orders = lock(&self.orders);
        orders.is_open = true;
        // To wake nobody would be a call of the system all the same.
        if orders.idle {
            self.changed.notify_one();
        }
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
                    orders.idle = true;
                    orders = self.changed.wait(orders).unwrap_or_else(PoisonError::into_inner);
                }
                if orders.stop {
                    return;
                }
                (orders.idle, orders.is_open) = (false, false);
            }
            let mut seen = None;
            for look in 0..MOST_LOOKS {
                let Some(live) = live.upgrade() else { return };
                let mut state = live.state();
                let progress = state.batch.progress();
                match seen {
                    // Somebody was faster.
                    Some((number, _)) if number != progress.0 => break,
                    Some(last) if last == progress || look + 1 == MOST_LOOKS => {
                        state.batch.submit(&live);
                        break;
                    }
                    _ => seen = Some(progress),
                }
                drop(state);
                drop(live);
                thread::sleep(PATIENCE);
            }
        }
    }
}
