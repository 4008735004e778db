//! The words of device memory that barriers of the grid count in.
//!
//! Every word is zero before and after a launch, and no two launches that may run at the same time have the same one. So there is one for each
//! stream. Streams are known by the driver's handles, which it gives again when a stream is gone whose work may still run: each word has
//! an event behind its last launch, which another stream of that handle waits for. Words of graphs belong to the graph.
//!
//! Nothing here is done on a stream that somebody may capture, or on the default stream, which waits for such.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use weft_runtime::RunError;

use crate::driver::Context;
use crate::driver::table::{EventHandle, StreamHandle};
use crate::gpu::{Gpu, Job, lock};

/// Bytes from one word to the next: blocks that wait read theirs all the time, and should not read a neighbour's with it.
const APART: u64 = 128;
/// Words that memory is made for at once.
const MADE: u64 = 64;

#[derive(Debug, Default)]
pub struct Words(Mutex<Shelf>);

#[derive(Debug, Default)]
struct Shelf {
    free: Vec<u64>,
    /// By the handle of the stream.
    of_streams: HashMap<u64, Lent>,
}

#[derive(Debug)]
struct Lent {
    word: u64,
    /// Behind the last launch with it, and which of our streams that was on.
    used: EventHandle,
    by: u64,
}

/// The word of a graph.
#[derive(Debug)]
pub struct Word {
    gpu: Arc<Gpu>,
    address: u64,
}

impl Words {
    /// Launches with the word of a stream: its handle and our number of it. The context is current.
    pub fn launch(
        &self,
        context: &Context,
        (stream, number): (StreamHandle, u64),
        launch: impl FnOnce(u64) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let mut shelf = lock(&self.0);
        if !shelf.of_streams.contains_key(&stream.raw()) {
            let lent = Lent {
                word: shelf.take(context)?,
                used: context.check(context.create_event(false))?,
                by: number,
            };
            shelf.of_streams.insert(stream.raw(), lent);
        }
        let Some(lent) = shelf.of_streams.get_mut(&stream.raw()) else {
            return Ok(());
        };
        if lent.by != number || stream == StreamHandle::PER_THREAD {
            context.check(context.stream_wait(stream, lent.used))?;
            lent.by = number;
        }
        launch(lent.word)?;
        context.check(context.record(lent.used, stream))
    }

    /// A word that nothing counts in any more.
    pub fn give_back(&self, word: u64) {
        lock(&self.0).free.push(word);
    }
}

impl Shelf {
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
