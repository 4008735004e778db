//! Grid barriers: the words of device memory that they count in.
//!
//! Every word is zero before and after a launch, and no two launches that may run at the same time have the same one. So there is one for each
//! stream. That of a stream that is gone, whose work may still run, passes to another when that work is done: an event is behind its last
//! launch. Words of graphs belong to the graph.
//!
//! Nothing here is done on a stream that somebody may capture, or on the default stream, which waits for such.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use weft_runtime::{RunError, lock};

use crate::driver::Context;
use crate::driver::table::EventHandle;
use crate::gpu::{Gpu, Job};
use crate::stream::CudaStream;

/// Bytes from one word to the next: blocks that wait read theirs all the time, and should not read a neighbour's with it.
const APART: u64 = 128;
/// Words that memory is made for at once.
const MADE: u64 = 64;

#[derive(Debug, Default)]
pub struct Words(Mutex<Shelf>);

#[derive(Debug, Default)]
struct Shelf {
    free: Vec<u64>,
    /// By our number of the stream.
    of_streams: HashMap<u64, Lent>,
}

#[derive(Clone, Copy, Debug)]
struct Lent {
    word: u64,
    /// Behind the last launch with it.
    used: EventHandle,
}

/// The word of a graph.
#[derive(Debug)]
pub struct Word {
    gpu: Arc<Gpu>,
    address: u64,
}

impl Words {
    /// Launches with the word of a stream. The context is current.
    pub fn launch(&self, gpu: &Gpu, stream: &CudaStream, launch: impl FnOnce(u64) -> Result<(), RunError>) -> Result<(), RunError> {
        let context = &gpu.context;
        let mut shelf = lock(&self.0);
        let lent = match shelf.of_streams.get(&stream.number()) {
            Some(lent) => *lent,
            None => shelf.lend(gpu, stream.number())?,
        };
        launch(lent.word)?;
        context.check(context.record(lent.used, stream.handle()))
    }

    /// A word that nothing counts in any more.
    pub fn give_back(&self, word: u64) {
        lock(&self.0).free.push(word);
    }
}

impl Shelf {
    /// A word for a stream that has none: of one that is gone and whose work is done, or a new one.
    fn lend(&mut self, gpu: &Gpu, number: u64) -> Result<Lent, RunError> {
        let context = &gpu.context;
        let left = |(of, lent): (&u64, &Lent)| {
            let _relaxed = context.relaxed();
            (!gpu.has_stream(*of) && context.is_event_done(lent.used).unwrap_or(false)).then_some(*of)
        };
        let left = self.of_streams.iter().find_map(left);
        let lent = match left.and_then(|of| self.of_streams.remove(&of)) {
            Some(lent) => lent,
            None => Lent {
                word: self.take(context)?,
                used: context.check(context.create_event(false))?,
            },
        };
        self.of_streams.insert(number, lent);
        Ok(lent)
    }

    fn take(&mut self, context: &Context) -> Result<u64, RunError> {
        if let Some(word) = self.free.pop() {
            return Ok(word);
        }
        let _relaxed = context.relaxed();
        let bytes = (APART * MADE) as usize;
        let first = context.check(context.allocate(bytes))?;
        let stream = context.check(context.create_stream(true, 0))?;
        let filled = context
            .fill(first, 0, bytes, stream)
            .and_then(|()| context.synchronize_stream(stream))
            .and(context.destroy_stream(stream));
        context.check(filled)?;
        self.free.extend((1..MADE).map(|i| first + i * APART));
        Ok(first)
    }
}

impl Word {
    pub fn new(gpu: &Arc<Gpu>) -> Result<Word, RunError> {
        Ok(Word {
            address: lock(&gpu.words.0).take(&gpu.context)?,
            gpu: gpu.clone(),
        })
    }

    pub fn address(&self) -> u64 {
        self.address
    }
}

impl Drop for Word {
    fn drop(&mut self) {
        self.gpu.give_back(Job::Word(self.address));
    }
}
