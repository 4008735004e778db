//! Streams and events. Each stream has a thread of its own that does its work in order; what must wait for other streams waits for the
//! completion of their work.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use super::activity::{self, Call};
use super::capture::{Capture, Tips};
use super::context::Context;
use super::handles::{self, Handle};
use super::operation::Operation;
use super::{Outcome, lock, report};
use crate::codes;

/// A piece of work that will be done at some time.
#[derive(Debug, Default)]
pub struct Completion {
    done: Mutex<Option<Instant>>,
    changed: Condvar,
}

impl Completion {
    pub fn finished() -> Arc<Completion> {
        let completion = Completion::default();
        completion.complete();
        Arc::new(completion)
    }

    fn complete(&self) {
        *lock(&self.done) = Some(Instant::now());
        self.changed.notify_all();
    }

    pub fn when(&self) -> Option<Instant> {
        *lock(&self.done)
    }

    pub fn wait(&self) {
        let mut done = lock(&self.done);
        while done.is_none() {
            done = self.changed.wait(done).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[derive(Debug)]
struct Item {
    operation: Arc<Operation>,
    /// The number of the call that asked for it.
    call: u32,
    after: Vec<Arc<Completion>>,
    completion: Arc<Completion>,
}

#[derive(Debug, Default)]
struct Queue {
    items: VecDeque<Item>,
    last: Option<Arc<Completion>>,
    running: bool,
    closed: bool,
}

#[derive(Debug)]
pub struct Stream {
    pub handle: Handle,
    pub context: Handle,
    pub device: i32,
    /// Ordered with the legacy default stream.
    pub blocking: bool,
    pub flags: u32,
    pub priority: i32,
    queue: Mutex<Queue>,
    filled: Condvar,
    /// The capture it takes part in.
    pub capture: Mutex<Option<(Arc<Capture>, Tips)>>,
}

impl Stream {
    pub fn new(context: Handle, device: i32, blocking: bool, flags: u32, priority: i32) -> Arc<Stream> {
        Arc::new(Stream {
            handle: handles::reserve(),
            context,
            device,
            blocking,
            flags,
            priority,
            queue: Mutex::default(),
            filled: Condvar::new(),
            capture: Mutex::default(),
        })
    }

    fn is_default(&self, context: &Context) -> bool {
        std::ptr::eq(self, &raw const *context.default)
    }

    /// What has been put in last.
    pub fn last(&self) -> Option<Arc<Completion>> {
        lock(&self.queue).last.clone()
    }

    pub fn capturing(&self) -> Option<Arc<Capture>> {
        lock(&self.capture).as_ref().map(|(capture, _)| capture.clone())
    }

    /// Puts work at the end, or into the graph that is being captured.
    pub fn enqueue(self: &Arc<Self>, context: &Context, operation: Operation) -> Outcome<Arc<Completion>> {
        self.enqueue_after(context, operation, Vec::new())
    }

    pub fn enqueue_after(
        self: &Arc<Self>,
        context: &Context,
        operation: Operation,
        mut after: Vec<Arc<Completion>>,
    ) -> Outcome<Arc<Completion>> {
        context.check()?;
        if let Some((capture, tips)) = &mut *lock(&self.capture) {
            capture.add(operation, tips)?;
            return Ok(Completion::finished());
        }
        let _order = lock(&context.order);
        if self.is_default(context) {
            let blocking = context.all_streams().into_iter().filter(|s| s.blocking && !s.is_default(context));
            for stream in blocking {
                // Waiting for a stream that is being captured would make the capture wait for work outside of it.
                if let Some(capture) = stream.capturing() {
                    capture.invalidate();
                    return Err(codes::STREAM_CAPTURE_IMPLICIT);
                }
                after.extend(stream.last());
            }
        } else if self.blocking {
            after.extend(context.default.last());
        }
        after.retain(|completion| completion.when().is_none());
        let completion = Arc::new(Completion::default());
        let mut queue = lock(&self.queue);
        if queue.closed {
            return Err(codes::CONTEXT_IS_DESTROYED);
        }
        queue.items.push_back(Item {
            operation: Arc::new(operation),
            call: Call::number(),
            after,
            completion: completion.clone(),
        });
        queue.last = Some(completion.clone());
        if !queue.running {
            queue.running = true;
            let (stream, context) = (self.clone(), handles::context(context.handle)?);
            std::thread::Builder::new()
                .name("weft-cuda-double stream".to_owned())
                .stack_size(8 << 20)
                .spawn(move || stream.work(&context))
                .map_err(|_| codes::OUT_OF_MEMORY)?;
        }
        drop(queue);
        self.filled.notify_one();
        Ok(completion)
    }

    fn work(&self, context: &Context) {
        loop {
            let mut queue = lock(&self.queue);
            while queue.items.is_empty() && !queue.closed {
                queue = self.filled.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
            let Some(item) = queue.items.pop_front() else { return };
            drop(queue);
            item.after.iter().for_each(|completion| completion.wait());
            // After an error nothing runs any more, but nobody waits for ever.
            if context.check().is_ok() {
                let start = activity::now();
                if self.perform(context, &item.operation) {
                    activity::record(self, &item.operation, item.call, (start, activity::now()));
                }
            }
            item.completion.complete();
        }
    }

    /// Whether it went well.
    fn perform(&self, context: &Context, operation: &Operation) -> bool {
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| operation.run(context)));
        match result {
            Ok(Ok(())) => return true,
            Ok(Err(fault)) => {
                report(&fault.message);
                context.fail(fault.code);
            }
            Err(_) => {
                report("the double itself failed: see the standard error");
                context.fail(codes::UNKNOWN);
            }
        }
        false
    }

    pub fn wait(&self) {
        if let Some(last) = self.last() {
            last.wait();
        }
    }

    pub fn idle(&self) -> bool {
        self.last().is_none_or(|last| last.when().is_some())
    }

    /// Takes no more work; the thread ends when what is there is done.
    pub fn close(&self) {
        lock(&self.queue).closed = true;
        self.filled.notify_all();
    }
}

/// What an event stands for.
#[derive(Clone, Debug, Default)]
pub enum Recorded {
    #[default]
    Nothing,
    Work(Arc<Completion>),
    /// Recorded in a stream that is being captured.
    Captured(Arc<Capture>, Tips),
}

#[derive(Debug)]
pub struct Event {
    pub context: Handle,
    pub timing: bool,
    pub recorded: Mutex<Recorded>,
}

impl Event {
    pub fn new(context: Handle, timing: bool) -> Arc<Event> {
        Arc::new(Event {
            context,
            timing,
            recorded: Mutex::default(),
        })
    }

    pub fn recorded(&self) -> Recorded {
        lock(&self.recorded).clone()
    }
}
