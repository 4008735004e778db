//! Per-thread default streams of CUDA's.
//!
//! The driver has one handle for all of them: on every thread it stands for another stream, that thread's own. So there is a `CudaStream` for each
//! thread that uses it, and what is given to a [`PerThread`] goes to the calling thread's, whoever asked for it.

use std::cell::RefCell;
use std::sync::Arc;

use weft_runtime::{DeviceId, Event, Graph, Place, RunError, Stream};

use crate::driver::table::StreamHandle;
use crate::gpu::Gpu;
use crate::stream::CudaStream;

thread_local! {
    /// The default streams of this thread, of each GPU it used.
    static OWN: RefCell<Vec<Own>> = const { RefCell::new(Vec::new()) };
}

/// A stream of the thread, as long as there is the thread.
struct Own(Arc<CudaStream>);

impl Drop for Own {
    fn drop(&mut self) {
        self.0.ends();
    }
}

#[derive(Debug)]
pub struct PerThread(Arc<Gpu>);

impl PerThread {
    pub fn new(gpu: &Arc<Gpu>) -> PerThread {
        PerThread(gpu.clone())
    }

    /// The calling thread's stream.
    pub fn own(&self) -> Result<Arc<CudaStream>, RunError> {
        let found = OWN.try_with(|own| {
            let mut own = own.borrow_mut();
            if let Some(stream) = own.iter().find(|Own(stream)| Arc::ptr_eq(stream.gpu(), &self.0)) {
                return stream.0.clone();
            }
            let stream = CudaStream::of_this_thread(&self.0);
            own.push(Own(stream.clone()));
            stream
        });
        found.map_err(|_| RunError::Invalid("the thread ends, and its default stream with it".into()))
    }
}

impl Stream for PerThread {
    fn device(&self) -> DeviceId {
        self.0.id()
    }

    fn raw_handle(&self) -> u64 {
        StreamHandle::PER_THREAD.raw()
    }

    fn synchronize(&self) -> Result<(), RunError> {
        self.own()?.synchronize()
    }

    fn is_done(&self) -> Result<bool, RunError> {
        self.own()?.is_done()
    }

    fn wait(&self, event: &dyn Event) -> Result<(), RunError> {
        self.own()?.wait(event)
    }

    fn record(&self, event: &dyn Event) -> Result<(), RunError> {
        self.own()?.record(event)
    }

    fn copy(&self, to: Place, from: Place, bytes: usize) -> Result<(), RunError> {
        self.own()?.copy(to, from, bytes)
    }

    fn fill(&self, address: u64, value: u8, bytes: usize) -> Result<(), RunError> {
        self.own()?.fill(address, value, bytes)
    }

    fn add_callback(&self, callback: Box<dyn FnOnce() + Send>) -> Result<(), RunError> {
        self.own()?.add_callback(callback)
    }

    fn begin_capture(&self) -> Result<(), RunError> {
        self.own()?.begin_capture()
    }

    fn end_capture(&self) -> Result<Arc<dyn Graph>, RunError> {
        self.own()?.end_capture()
    }

    fn is_capturing(&self) -> Result<bool, RunError> {
        self.own()?.is_capturing()
    }
}
