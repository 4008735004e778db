//! Captures of streams: where work given to a stream goes, and what the graph of a capture keeps.
//!
//! The driver is asked where work goes, each time: a stream joins the capture of another by waiting for an event of it, and other libraries
//! capture streams, their own and ours. What is given to a capture that another library began goes into a graph that nobody here hears of
//! again; so kernels that leave something for the host, or count in device memory, are refused there, and others stay loaded for good.

use std::any::Any;
use std::sync::{Arc, Mutex};

use weft_runtime::{RunError, lock};

use crate::driver::Failure;
use crate::driver::table::StreamHandle;
use crate::gpu::{Gpu, Job};
use crate::mailbox::Mailbox;
use crate::words::Word;

/// What a graph keeps alive.
pub trait Kept: Any + Send + Sync + std::fmt::Debug {}

/// Where work given to a stream goes.
#[derive(Clone, Debug)]
pub enum Goes {
    /// It is done as soon as what came before is.
    Now,
    /// Into the graph of a capture that was begun here.
    Here(Arc<Capture>),
    /// Into the graph of another library.
    Elsewhere,
}

/// A capture that was begun here, and then what its graph keeps.
#[derive(Debug)]
pub struct Capture {
    /// The driver's number of it.
    pub id: u64,
    kept: Mutex<Vec<Arc<dyn Kept>>>,
    mailboxes: Mutex<Vec<Arc<Mailbox>>>,
    /// What barriers of the grid count in, by our number of the stream: work on one stream does not run at the same time.
    words: Mutex<Vec<(u64, Arc<Word>)>>,
    memory: Mutex<Vec<GraphMemory>>,
}

impl Capture {
    pub fn new(id: u64) -> Capture {
        Capture {
            id,
            kept: Mutex::default(),
            mailboxes: Mutex::default(),
            words: Mutex::default(),
            memory: Mutex::default(),
        }
    }

    /// The graph uses this.
    pub fn keep(&self, what: Arc<dyn Kept>) {
        lock(&self.kept).push(what);
    }

    /// Gives the capture something that writes to mailboxes: they are read after launches of the graph.
    pub fn launch<'a>(
        &self,
        mailboxes: impl IntoIterator<Item = &'a Arc<Mailbox>>,
        launch: impl FnOnce() -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let mut list = lock(&self.mailboxes);
        launch()?;
        for mailbox in mailboxes {
            if !list.iter().any(|known| Arc::ptr_eq(known, mailbox)) {
                list.push(mailbox.clone());
            }
        }
        Ok(())
    }

    pub fn mailboxes(&self) -> Vec<Arc<Mailbox>> {
        lock(&self.mailboxes).clone()
    }

    /// What barriers of the grid on a stream count in. The context is current.
    pub fn word(&self, gpu: &Arc<Gpu>, stream: u64) -> Result<u64, RunError> {
        let mut words = lock(&self.words);
        if let Some((_, word)) = words.iter().find(|(known, _)| *known == stream) {
            return Ok(word.address());
        }
        let word = Arc::new(Word::new(gpu)?);
        words.push((stream, word.clone()));
        Ok(word.address())
    }

    /// Memory between kernels of the graph.
    pub fn memory(&self, gpu: &Arc<Gpu>, bytes: usize) -> Result<u64, RunError> {
        let memory = GraphMemory::new(gpu, bytes)?;
        let address = memory.address;
        lock(&self.memory).push(memory);
        Ok(address)
    }

    /// Why no other graph may have what is in this one: what its kernels count in, or leave for one another, must not be that of a graph that
    /// may run at the same time.
    pub fn is_alone(&self) -> Option<&'static str> {
        match () {
            () if !lock(&self.words).is_empty() => Some("wait for their grid"),
            () if !lock(&self.memory).is_empty() => Some("reduce in two stages"),
            () => None,
        }
    }
}

/// Memory of a graph, which no pool has: the stream that captures cannot be asked for it.
#[derive(Debug)]
struct GraphMemory {
    gpu: Arc<Gpu>,
    address: u64,
}

impl GraphMemory {
    fn new(gpu: &Arc<Gpu>, bytes: usize) -> Result<GraphMemory, RunError> {
        let context = &gpu.context;
        let _current = context.enter()?;
        let _relaxed = context.relaxed();
        Ok(GraphMemory {
            gpu: gpu.clone(),
            address: context.check(context.allocate(bytes))?,
        })
    }
}

impl Drop for GraphMemory {
    fn drop(&mut self) {
        self.gpu.give_back(Job::Memory(self.address));
    }
}

impl Gpu {
    /// Where work given to a stream goes. The context is current.
    pub fn goes(&self, stream: StreamHandle) -> Result<Goes, RunError> {
        match self.context.capture_of(stream) {
            Ok(None) => Ok(Goes::Now),
            Ok(Some(id)) => Ok(self.known_capture(id).map_or(Goes::Elsewhere, Goes::Here)),
            Err(failure) if failure.is_of_capture() => Err(self.capture_error(failure)),
            Err(failure) => Err(self.context.error(failure)),
        }
    }

    /// May something be done with the stream that a capture would not survive, or would take for its own? A stream that does not answer
    /// captures nothing. The context is current.
    pub fn is_free(&self, stream: StreamHandle) -> bool {
        match self.context.capture_of(stream) {
            Ok(capture) => capture.is_none(),
            Err(failure) => !failure.is_of_capture(),
        }
    }

    /// What the driver's refusal means where a capture is at hand.
    pub fn capture_error(&self, failure: Failure) -> RunError {
        match failure {
            failure if failure.is_implicit_capture() => RunError::Invalid(format!(
                "work on the default stream of {} waits for all blocking streams, one of which captures: give it a stream, or make the one \
                 that captures with nonblocking=True",
                self.id()
            )),
            failure if failure.is_invalidated_capture() => self.context.first_cause(failure),
            failure => self.context.error(failure),
        }
    }
}
