//! The driver's calls as safe functions: typed arguments, results by value. All need their context to be current.
//!
//! Addresses are numbers here as they are in argument blocks; that they are right is the caller's affair, as it is for kernels.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr;

use super::table::*;
use super::{Context, Driver, Failure, codes};

/// `CUfunction_attribute`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum FunctionAttribute {
    MaxThreads = 0,
    SharedBytes = 1,
    ConstantBytes = 2,
    LocalBytes = 3,
    Registers = 4,
    MaxDynamicShared = 8,
}

/// A module the driver refuses, and what it says of the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub failure: Failure,
    pub log: String,
}

/// A launch as the driver takes it.
#[derive(Clone, Copy, Debug)]
pub struct KernelLaunch {
    pub function: FunctionHandle,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared_bytes: u32,
    pub stream: StreamHandle,
    pub cooperative: bool,
}

const CREATE_STREAM_NONBLOCKING: u32 = 1;
const EVENT_NO_TIMING: u32 = 2;
/// Other calls of this and other threads are let be while a stream captures: modules load, memory is allocated.
const CAPTURE_RELAXED: c_int = 2;
/// Bytes of stack of each thread.
const LIMIT_STACK: c_int = 0;
const CAPTURE_ACTIVE: c_int = 1;
const CAPTURE_INVALIDATED: c_int = 2;
const JIT_LOG: c_int = 5;
const JIT_LOG_BYTES: c_int = 6;

impl Driver {
    pub fn device_count(&self) -> Result<i32, Failure> {
        let mut count = 0;
        // SAFETY: writes the count.
        unsafe { self.device_get_count(&mut count) }?;
        Ok(count)
    }

    pub fn device_at(&self, number: i32) -> Result<DeviceOrdinal, Failure> {
        let mut ordinal = 0;
        // SAFETY: writes the ordinal.
        unsafe { self.device_get(&mut ordinal, number) }?;
        Ok(ordinal)
    }
}

impl Context {
    /// Name, bytes of memory, number.
    pub fn describe(&self) -> Result<(String, u64, [u8; 16]), Failure> {
        let mut name = [0; 256];
        let mut bytes = 0;
        let mut uuid = [0; 16];
        // SAFETY: each writes into a place of the size it is told or expects.
        unsafe {
            self.driver.device_get_name(name.as_mut_ptr(), name.len() as c_int, self.ordinal)?;
            self.driver.device_total_mem(&mut bytes, self.ordinal)?;
            // Instances of a divided GPU have numbers of their own, which only the newer function tells.
            self.driver
                .device_get_uuid_of_instance(&mut uuid, self.ordinal)
                .or_else(|_| self.driver.device_get_uuid(&mut uuid, self.ordinal))?;
        }
        let bytes_of_name = name.map(|c| c as u8);
        let name = CStr::from_bytes_until_nul(&bytes_of_name).unwrap_or_default();
        Ok((name.to_string_lossy().into_owned(), bytes as u64, uuid))
    }

    pub fn synchronize(&self) -> Result<(), Failure> {
        // SAFETY: takes nothing.
        unsafe { self.driver.ctx_synchronize() }
    }

    pub fn can_access_peer(&self, peer: DeviceOrdinal) -> Result<bool, Failure> {
        let mut can = 0;
        // SAFETY: writes the answer.
        unsafe { self.driver.device_can_access_peer(&mut can, self.ordinal, peer) }?;
        Ok(can != 0)
    }

    pub fn enable_peer(&self, peer: ContextHandle) -> Result<(), Failure> {
        // SAFETY: a context that stays.
        match unsafe { self.driver.ctx_enable_peer_access(peer, 0) } {
            Err(failure) if failure.code == codes::PEER_ACCESS_ALREADY_ENABLED => Ok(()),
            result => result,
        }
    }

    /// Makes sure that each thread has so many bytes of stack. Never less than others asked for.
    pub fn make_stack(&self, bytes: u64) -> Result<(), Failure> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let mut has = 0;
        // SAFETY: writes the number.
        unsafe { self.driver.ctx_get_limit(&mut has, LIMIT_STACK) }?;
        if has >= bytes {
            return Ok(());
        }
        let _relaxed = self.relaxed();
        // SAFETY: changes nothing but how much memory launches take.
        unsafe { self.driver.ctx_set_limit(LIMIT_STACK, bytes) }
    }

    pub fn load_module(&self, ptx: &str) -> Result<ModuleHandle, Refused> {
        let mut log = vec![0u8; 16 << 10];
        let image = CString::new(ptx).map_err(|_| Refused {
            failure: Failure::missing("cuModuleLoadDataEx"),
            log: "the PTX has a zero byte in it".into(),
        })?;
        let mut options = [JIT_LOG, JIT_LOG_BYTES];
        let mut values = [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void];
        let mut module = ModuleHandle::NULL;
        // SAFETY: the image ends with a zero; the options are two, each with the value it takes.
        let loaded = unsafe {
            self.driver.module_load_data(
                &mut module,
                image.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        loaded.map(|()| module).map_err(|failure| Refused {
            failure,
            log: CStr::from_bytes_until_nul(&log)
                .unwrap_or_default()
                .to_string_lossy()
                .trim()
                .to_string(),
        })
    }

    pub fn unload_module(&self, module: ModuleHandle) -> Result<(), Failure> {
        // SAFETY: a module whose functions are not used again.
        unsafe { self.driver.module_unload(module) }
    }

    pub fn function(&self, module: ModuleHandle, name: &str) -> Result<FunctionHandle, Failure> {
        let name = CString::new(name).map_err(|_| Failure::missing("cuModuleGetFunction"))?;
        let mut function = FunctionHandle::NULL;
        // SAFETY: a loaded module and a text that ends with a zero.
        unsafe { self.driver.module_get_function(&mut function, module, name.as_ptr()) }?;
        Ok(function)
    }

    pub fn function_attribute(&self, function: FunctionHandle, attribute: FunctionAttribute) -> Result<u32, Failure> {
        let mut value = 0;
        // SAFETY: writes the value.
        unsafe { self.driver.func_get_attribute(&mut value, attribute as c_int, function) }?;
        Ok(u32::try_from(value).unwrap_or(0))
    }

    pub fn set_max_dynamic_shared(&self, function: FunctionHandle, bytes: u32) -> Result<(), Failure> {
        // SAFETY: a loaded function.
        unsafe {
            self.driver
                .func_set_attribute(function, FunctionAttribute::MaxDynamicShared as c_int, bytes as c_int)
        }
    }

    /// Blocks that one multiprocessor runs at the same time.
    pub fn max_active_blocks(&self, function: FunctionHandle, threads: u32, shared_bytes: u32) -> Result<u32, Failure> {
        let mut blocks = 0;
        // SAFETY: writes the count.
        unsafe {
            self.driver
                .max_active_blocks(&mut blocks, function, threads as c_int, shared_bytes as usize)
        }?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }

    /// Queues a kernel. `params` has the address of each of its parameters.
    #[inline]
    pub fn launch(&self, launch: &KernelLaunch, params: &mut [*mut c_void]) -> Result<(), Failure> {
        let KernelLaunch {
            function,
            grid: [gx, gy, gz],
            block: [bx, by, bz],
            shared_bytes,
            stream,
            cooperative,
        } = *launch;
        let params = params.as_mut_ptr();
        // SAFETY: the parameters are those of the function, whose layout the emitter gave; the driver copies them before it returns.
        unsafe {
            if cooperative {
                self.driver
                    .launch_cooperative_kernel(function, gx, gy, gz, bx, by, bz, shared_bytes, stream, params)
            } else {
                self.driver
                    .launch_kernel(function, gx, gy, gz, bx, by, bz, shared_bytes, stream, params, ptr::null_mut())
            }
        }
    }

    pub fn create_stream(&self, nonblocking: bool, priority: i32) -> Result<StreamHandle, Failure> {
        let flags = if nonblocking { CREATE_STREAM_NONBLOCKING } else { 0 };
        let mut stream = StreamHandle::NULL;
        // SAFETY: writes the handle.
        unsafe { self.driver.stream_create(&mut stream, flags, priority) }?;
        Ok(stream)
    }

    pub fn destroy_stream(&self, stream: StreamHandle) -> Result<(), Failure> {
        // SAFETY: not used again; its work goes on.
        unsafe { self.driver.stream_destroy(stream) }
    }

    pub fn synchronize_stream(&self, stream: StreamHandle) -> Result<(), Failure> {
        let _relaxed = self.relaxed();
        // SAFETY: a stream of this context.
        unsafe { self.driver.stream_synchronize(stream) }
    }

    pub fn is_stream_done(&self, stream: StreamHandle) -> Result<bool, Failure> {
        let _relaxed = self.relaxed();
        // SAFETY: a stream of this context.
        ready(unsafe { self.driver.stream_query(stream) })
    }

    pub fn stream_wait(&self, stream: StreamHandle, event: EventHandle) -> Result<(), Failure> {
        // SAFETY: both are alive.
        unsafe { self.driver.stream_wait_event(stream, event, 0) }
    }

    pub fn begin_capture(&self, stream: StreamHandle) -> Result<(), Failure> {
        // SAFETY: a stream of this context.
        unsafe { self.driver.stream_begin_capture(stream, CAPTURE_RELAXED) }
    }

    /// The graph, how it is run, and how many nodes it has.
    pub fn end_capture(&self, stream: StreamHandle) -> Result<(GraphHandle, GraphExecHandle, usize), Failure> {
        let mut graph = GraphHandle::NULL;
        // SAFETY: a stream of this context.
        unsafe { self.driver.stream_end_capture(stream, &mut graph) }?;
        let mut exec = GraphExecHandle::NULL;
        let mut nodes = 0;
        // SAFETY: the graph was just made; a null list asks for the count alone.
        let made = unsafe {
            self.driver
                .graph_get_nodes(graph, ptr::null_mut(), &mut nodes)
                .and_then(|()| self.driver.graph_instantiate(&mut exec, graph, 0))
        };
        match made {
            Ok(()) => Ok((graph, exec, nodes)),
            Err(failure) => {
                // SAFETY: not used again.
                let _ = unsafe { self.driver.graph_destroy(graph) };
                Err(failure)
            }
        }
    }

    pub fn is_capturing(&self, stream: StreamHandle) -> Result<bool, Failure> {
        let mut status = 0;
        // SAFETY: a stream of this context.
        unsafe { self.driver.stream_is_capturing(stream, &mut status) }?;
        Ok(status != 0)
    }

    /// The number of the capture that a stream takes part in.
    pub fn capture_of(&self, stream: StreamHandle) -> Result<Option<u64>, Failure> {
        let (mut status, mut id) = (0, 0);
        // SAFETY: a stream of this context; writes the status and the number.
        let asked = unsafe { self.driver.stream_capture(stream, &mut status, &mut id) };
        match asked {
            Err(failure) if failure.code == codes::MISSING => {
                let (graph, nodes, count) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
                // SAFETY: as above; what is not asked for has no place.
                unsafe {
                    self.driver
                        .stream_capture_and_graph(stream, &mut status, &mut id, graph, nodes, count)
                }?;
            }
            result => result?,
        }
        match status {
            CAPTURE_ACTIVE => Ok(Some(id)),
            CAPTURE_INVALIDATED => Err(Failure {
                call: "cuStreamGetCaptureInfo",
                code: codes::CAPTURE_INVALIDATED,
            }),
            _ => Ok(None),
        }
    }

    /// This thread's calls that are no work for a stream do not end captures of other libraries until the result is dropped.
    pub fn relaxed(&self) -> Relaxed<'_> {
        let mut mode = CAPTURE_RELAXED;
        // SAFETY: exchanges the thread's mode with the one given.
        let changed = unsafe { self.driver.thread_exchange_capture_mode(&mut mode) };
        Relaxed {
            driver: &self.driver,
            before: changed.is_ok().then_some(mode),
        }
    }

    pub fn launch_graph(&self, exec: GraphExecHandle, stream: StreamHandle) -> Result<(), Failure> {
        // SAFETY: both are alive.
        unsafe { self.driver.graph_launch(exec, stream) }
    }

    pub fn destroy_graph(&self, graph: GraphHandle, exec: GraphExecHandle) -> Result<(), Failure> {
        // SAFETY: not used again; runs that were started go on.
        unsafe { self.driver.graph_exec_destroy(exec).and(self.driver.graph_destroy(graph)) }
    }

    /// Calls a function on a thread of the driver's when the stream gets there.
    pub fn add_callback(&self, stream: StreamHandle, callback: Box<dyn FnOnce() + Send>) -> Result<(), Failure> {
        unsafe extern "C" fn call(data: *mut c_void) {
            // SAFETY: what was given below; the driver calls once.
            let callback = unsafe { Box::from_raw(data.cast::<Box<dyn FnOnce() + Send>>()) };
            // A panic must not reach the driver's frames; there is nobody to tell.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(callback));
        }
        let data = Box::into_raw(Box::new(callback));
        // SAFETY: the function takes what it is given.
        let queued = unsafe { self.driver.launch_host_func(stream, call, data.cast()) };
        if queued.is_err() {
            // SAFETY: the driver did not take it.
            drop(unsafe { Box::from_raw(data) });
        }
        queued
    }

    pub fn create_event(&self, timing: bool) -> Result<EventHandle, Failure> {
        let mut event = EventHandle::NULL;
        // SAFETY: writes the handle.
        unsafe { self.driver.event_create(&mut event, if timing { 0 } else { EVENT_NO_TIMING }) }?;
        Ok(event)
    }

    pub fn destroy_event(&self, event: EventHandle) -> Result<(), Failure> {
        // SAFETY: not used again.
        unsafe { self.driver.event_destroy(event) }
    }

    pub fn record(&self, event: EventHandle, stream: StreamHandle) -> Result<(), Failure> {
        // SAFETY: both are alive and of this context.
        unsafe { self.driver.event_record(event, stream) }
    }

    pub fn synchronize_event(&self, event: EventHandle) -> Result<(), Failure> {
        let _relaxed = self.relaxed();
        // SAFETY: alive.
        unsafe { self.driver.event_synchronize(event) }
    }

    pub fn is_event_done(&self, event: EventHandle) -> Result<bool, Failure> {
        let _relaxed = self.relaxed();
        // SAFETY: alive.
        ready(unsafe { self.driver.event_query(event) })
    }

    pub fn elapsed_ms(&self, start: EventHandle, end: EventHandle) -> Result<f32, Failure> {
        let mut milliseconds = 0.0;
        // SAFETY: both are alive.
        unsafe { self.driver.event_elapsed_time(&mut milliseconds, start, end) }?;
        Ok(milliseconds)
    }
}

/// What a thread does is its own affair while this lives.
#[derive(Debug)]
pub struct Relaxed<'a> {
    driver: &'a Driver,
    before: Option<c_int>,
}

impl Drop for Relaxed<'_> {
    fn drop(&mut self) {
        if let Some(mut mode) = self.before {
            // SAFETY: gives back what was there.
            let _ = unsafe { self.driver.thread_exchange_capture_mode(&mut mode) };
        }
    }
}

/// Splits "not yet" from failures.
fn ready(result: Result<(), Failure>) -> Result<bool, Failure> {
    match result {
        Ok(()) => Ok(true),
        Err(failure) if failure.code == codes::NOT_READY => Ok(false),
        Err(failure) => Err(failure),
    }
}
