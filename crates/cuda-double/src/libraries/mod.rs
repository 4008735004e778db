//! Stand-ins for NVIDIA's libraries of linear algebra and transforms: what cuBLAS, cuSOLVER and cuFFT are documented to do, computed plainly
//! in double precision when the stream's turn comes, on the double's own memory and with its checks. `api::{cublas,cusolver,jacobi,cufft}`
//! have their calls.

pub mod dense;
pub mod fourier;
pub mod memory;
pub mod number;
pub mod spectral;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use crate::api::stream::stream_of;
use crate::driver::context::{self, Context};
use crate::driver::handles::{self, Handle};
use crate::driver::lock;
use crate::driver::operation::Operation;
use crate::exec::fault::Fault;

type Run = dyn Fn(&Context) -> Result<(), Fault> + Send + Sync;

/// Work of a library that a stream is to do.
pub struct Work {
    name: &'static str,
    run: Box<Run>,
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Work {
    /// Does it; a fault says which call asked for it.
    pub fn run(&self, context: &Context) -> Result<(), Fault> {
        (self.run)(context).map_err(|fault| Fault::new(fault.code, format!("{}: {}", self.name, fault.message)))
    }
}

/// What a handle or a plan of a library stands for: the context that was current when it was made, and the stream it was given.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    pub kind: Kind,
    pub context: Handle,
    pub stream: Handle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Blas,
    Solver,
    SolverParams,
    JacobiParams,
    Transform,
}

static HELD: Mutex<Option<HashMap<Handle, Held>>> = Mutex::new(None);

/// A new handle in the thread's context, if it has one in good health.
pub fn create(kind: Kind) -> Option<Handle> {
    let context = context::healthy().ok()?;
    let handle = handles::reserve();
    create_as(kind, context.handle, handle);
    Some(handle)
}

/// The same under a number that the caller chose.
pub fn create_as(kind: Kind, context: Handle, handle: Handle) {
    let held = Held { kind, context, stream: 0 };
    lock(&HELD).get_or_insert_default().insert(handle, held);
}

pub fn held(kind: Kind, handle: Handle) -> Option<Held> {
    lock(&HELD).as_ref()?.get(&handle).copied().filter(|held| held.kind == kind)
}

pub fn set_stream(kind: Kind, handle: Handle, stream: Handle) -> bool {
    match lock(&HELD).get_or_insert_default().get_mut(&handle) {
        Some(held) if held.kind == kind => {
            held.stream = stream;
            true
        }
        _ => false,
    }
}

pub fn destroy(kind: Kind, handle: Handle) -> bool {
    let mut all = lock(&HELD);
    let all = all.get_or_insert_default();
    all.get(&handle).is_some_and(|held| held.kind == kind) && all.remove(&handle).is_some()
}

/// Gives work to the stream of a handle. The thread must be in the context that the handle was made in.
pub fn enqueue(held: Held, name: &'static str, run: impl Fn(&Context) -> Result<(), Fault> + Send + Sync + 'static) -> Option<()> {
    let context: Arc<Context> = context::healthy().ok()?;
    if context.handle != held.context {
        crate::driver::report(&format!("{name}: the handle belongs to another context than the thread's"));
        return None;
    }
    let stream = stream_of(&context, held.stream).ok()?;
    let work = Work { name, run: Box::new(run) };
    stream.enqueue(&context, Operation::Library(work)).ok().map(|_| ())
}
