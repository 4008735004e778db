//! Host callbacks: functions that are called when work is done, one after the other, on a thread of their own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use weft_runtime::{RunError, lock, patience};

use crate::batch::Ticket;
use crate::gpu::Gpu;
use crate::live::Live;

type Callback = Box<dyn FnOnce() + Send>;

#[derive(Debug, Default)]
pub struct Callbacks {
    queue: Mutex<Option<Sender<Job>>>,
    count: Arc<Count>,
}

struct Job {
    live: Arc<Live>,
    ticket: Ticket,
    callback: Callback,
}

/// Callbacks that were given and those that are over.
#[derive(Debug, Default)]
struct Count {
    numbers: Mutex<(u64, u64)>,
    changed: Condvar,
}

impl Callbacks {
    /// Calls a function when a batch is done.
    pub fn add(&self, live: Arc<Live>, ticket: Ticket, callback: Callback) -> Result<(), RunError> {
        let mut queue = lock(&self.queue);
        let sender = match &mut *queue {
            Some(sender) => sender,
            empty => empty.insert(self.start()?),
        };
        lock(&self.count.numbers).0 += 1;
        let job = Job { live, ticket, callback };
        sender
            .send(job)
            .map_err(|_| Gpu::driver_error("thread", "the thread for callbacks has ended"))
    }

    fn start(&self) -> Result<Sender<Job>, RunError> {
        let (sender, jobs) = mpsc::channel::<Job>();
        let count = self.count.clone();
        let thread = std::thread::Builder::new().name("weft-gpu-callbacks".into());
        let serve = move || {
            for Job { live, ticket, callback } in jobs {
                // An error shows at the next wait of whoever cares.
                let _ = live.wait(&ticket);
                drop(live);
                // One that panics has said so; those behind it are still called.
                let _ = catch_unwind(AssertUnwindSafe(callback));
                lock(&count.numbers).1 += 1;
                count.changed.notify_all();
            }
        };
        thread
            .spawn(serve)
            .map(|_| sender)
            .map_err(|error| Gpu::driver_error("thread", error))
    }

    /// Waits for the callbacks given so far.
    pub fn wait(&self) -> Result<(), RunError> {
        let given = lock(&self.count.numbers).0;
        if given == 0 {
            return Ok(());
        }
        patience::look_until(|| lock(&self.count.numbers).1 >= given)?;
        let mut numbers = lock(&self.count.numbers);
        while numbers.1 < given {
            numbers = self.count.changed.wait(numbers).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }
}
