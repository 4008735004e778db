//! The driver's functions that Weft calls, by name, and their types. Nothing here decides anything.
//!
//! Written by hand against CUDA's driver API, so that a missing library or function is an answer and not a panic, and so that the library
//! can be one we choose.

#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_uint, c_void};

use libloading::Library;

use super::Failure;

/// Every function returns one; 0 is success.
pub type Code = c_int;
pub type DeviceOrdinal = c_int;
pub type DevicePtr = u64;

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $name(pub *mut c_void);

        impl $name {
            pub const NULL: $name = $name(std::ptr::null_mut());

            pub fn raw(self) -> u64 {
                self.0 as u64
            }

            pub fn from_raw(raw: u64) -> $name {
                $name(raw as *mut c_void)
            }
        }

        // SAFETY: an opaque name that the driver looks up; its functions may be called from any thread.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}
    )*};
}

pub(super) use handles;

handles! {
    ContextHandle;
    ModuleHandle;
    FunctionHandle;
    /// Null is the legacy default stream.
    StreamHandle;
    EventHandle;
    GraphHandle;
    GraphExecHandle;
    GraphNodeHandle;
    PoolHandle;
}

impl StreamHandle {
    /// The default stream by another name.
    pub const LEGACY: StreamHandle = StreamHandle(std::ptr::without_provenance_mut(1));
    /// The default stream of whatever thread names it.
    pub const PER_THREAD: StreamHandle = StreamHandle(std::ptr::without_provenance_mut(2));
}

pub type HostCallback = unsafe extern "C" fn(*mut c_void);

/// `CUmemLocation`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct MemLocation {
    /// 1: a device.
    pub kind: c_int,
    pub id: c_int,
}

/// `CUmemPoolProps`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PoolProps {
    /// 1: pinned to where it was allocated.
    pub alloc_type: c_int,
    /// 0: not shared with other processes.
    pub handle_types: c_int,
    pub location: MemLocation,
    pub security_attributes: *mut c_void,
    /// Maximum size, usage and what is reserved; all 0.
    pub rest: [u64; 8],
}

/// `CUmemAccessDesc`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AccessDesc {
    pub location: MemLocation,
    /// 3: read and write.
    pub flags: c_int,
}

macro_rules! calls {
    (
        required { $($field:ident = $symbol:literal ($($arg:ident: $ty:ty),*);)* }
        optional { $($ofield:ident = $osymbol:literal ($($oarg:ident: $oty:ty),*);)* }
    ) => {
        /// The functions as the library has them.
        #[derive(Clone, Copy, Debug)]
        pub struct Table {
            $($field: unsafe extern "system" fn($($ty),*) -> Code,)*
            $($ofield: Option<unsafe extern "system" fn($($oty),*) -> Code>,)*
        }

        impl Table {
            /// The library must stay loaded as long as the table is used.
            pub fn of(library: &Library) -> Result<Table, String> {
                // SAFETY: the types are those of NVIDIA's documentation for these names.
                unsafe {
                    Ok(Table {
                        $($field: *library.get($symbol.as_bytes()).map_err(|_| format!("it has no {}", $symbol))?,)*
                        $($ofield: library.get($osymbol.as_bytes()).ok().map(|symbol| *symbol),)*
                    })
                }
            }

            $(
                /// # Safety
                /// As the driver's documentation asks of its arguments.
                #[inline]
                #[allow(clippy::too_many_arguments, reason = "the driver's")]
                pub unsafe fn $field(&self, $($arg: $ty),*) -> Result<(), Failure> {
                    // SAFETY: by contract.
                    Failure::check($symbol, unsafe { (self.$field)($($arg),*) })
                }
            )*
            $(
                /// # Safety
                /// As the driver's documentation asks of its arguments.
                #[inline]
                #[allow(clippy::too_many_arguments, reason = "the driver's")]
                pub unsafe fn $ofield(&self, $($oarg: $oty),*) -> Result<(), Failure> {
                    match self.$ofield {
                        // SAFETY: by contract.
                        Some(function) => Failure::check($osymbol, unsafe { function($($oarg),*) }),
                        None => Err(Failure::missing($osymbol)),
                    }
                }
            )*
        }
    };
}

pub(super) use calls;

calls! {
    required {
        init = "cuInit"(flags: c_uint);
        driver_get_version = "cuDriverGetVersion"(version: *mut c_int);
        get_error_name = "cuGetErrorName"(code: Code, name: *mut *const c_char);
        get_error_string = "cuGetErrorString"(code: Code, text: *mut *const c_char);

        device_get_count = "cuDeviceGetCount"(count: *mut c_int);
        device_get = "cuDeviceGet"(device: *mut DeviceOrdinal, ordinal: c_int);
        device_get_name = "cuDeviceGetName"(name: *mut c_char, length: c_int, device: DeviceOrdinal);
        device_get_uuid = "cuDeviceGetUuid"(uuid: *mut [u8; 16], device: DeviceOrdinal);
        device_total_mem = "cuDeviceTotalMem_v2"(bytes: *mut usize, device: DeviceOrdinal);
        device_get_attribute = "cuDeviceGetAttribute"(value: *mut c_int, attribute: c_int, device: DeviceOrdinal);
        device_can_access_peer = "cuDeviceCanAccessPeer"(can: *mut c_int, device: DeviceOrdinal, peer: DeviceOrdinal);

        primary_ctx_retain = "cuDevicePrimaryCtxRetain"(context: *mut ContextHandle, device: DeviceOrdinal);
        ctx_get_current = "cuCtxGetCurrent"(context: *mut ContextHandle);
        ctx_set_current = "cuCtxSetCurrent"(context: ContextHandle);
        ctx_synchronize = "cuCtxSynchronize"();
        ctx_enable_peer_access = "cuCtxEnablePeerAccess"(peer: ContextHandle, flags: c_uint);

        module_load_data = "cuModuleLoadDataEx"(
            module: *mut ModuleHandle, image: *const c_void, count: c_uint, options: *mut c_int, values: *mut *mut c_void
        );
        module_unload = "cuModuleUnload"(module: ModuleHandle);
        module_get_function = "cuModuleGetFunction"(function: *mut FunctionHandle, module: ModuleHandle, name: *const c_char);
        func_get_attribute = "cuFuncGetAttribute"(value: *mut c_int, attribute: c_int, function: FunctionHandle);
        func_set_attribute = "cuFuncSetAttribute"(function: FunctionHandle, attribute: c_int, value: c_int);
        max_active_blocks = "cuOccupancyMaxActiveBlocksPerMultiprocessor"(
            blocks: *mut c_int, function: FunctionHandle, threads: c_int, shared_bytes: usize
        );
        launch_kernel = "cuLaunchKernel"(
            function: FunctionHandle,
            grid_x: c_uint, grid_y: c_uint, grid_z: c_uint,
            block_x: c_uint, block_y: c_uint, block_z: c_uint,
            shared_bytes: c_uint, stream: StreamHandle, params: *mut *mut c_void, extra: *mut *mut c_void
        );
        launch_cooperative_kernel = "cuLaunchCooperativeKernel"(
            function: FunctionHandle,
            grid_x: c_uint, grid_y: c_uint, grid_z: c_uint,
            block_x: c_uint, block_y: c_uint, block_z: c_uint,
            shared_bytes: c_uint, stream: StreamHandle, params: *mut *mut c_void
        );
        launch_host_func = "cuLaunchHostFunc"(stream: StreamHandle, function: HostCallback, data: *mut c_void);

        stream_create = "cuStreamCreateWithPriority"(stream: *mut StreamHandle, flags: c_uint, priority: c_int);
        stream_destroy = "cuStreamDestroy_v2"(stream: StreamHandle);
        stream_synchronize = "cuStreamSynchronize"(stream: StreamHandle);
        stream_query = "cuStreamQuery"(stream: StreamHandle);
        stream_wait_event = "cuStreamWaitEvent"(stream: StreamHandle, event: EventHandle, flags: c_uint);
        stream_begin_capture = "cuStreamBeginCapture_v2"(stream: StreamHandle, mode: c_int);
        stream_end_capture = "cuStreamEndCapture"(stream: StreamHandle, graph: *mut GraphHandle);
        stream_is_capturing = "cuStreamIsCapturing"(stream: StreamHandle, status: *mut c_int);

        event_create = "cuEventCreate"(event: *mut EventHandle, flags: c_uint);
        event_destroy = "cuEventDestroy_v2"(event: EventHandle);
        event_record = "cuEventRecord"(event: EventHandle, stream: StreamHandle);
        event_synchronize = "cuEventSynchronize"(event: EventHandle);
        event_query = "cuEventQuery"(event: EventHandle);
        event_elapsed_time = "cuEventElapsedTime"(milliseconds: *mut f32, start: EventHandle, end: EventHandle);

        graph_get_nodes = "cuGraphGetNodes"(graph: GraphHandle, nodes: *mut GraphNodeHandle, count: *mut usize);
        graph_launch = "cuGraphLaunch"(graph: GraphExecHandle, stream: StreamHandle);
        graph_exec_destroy = "cuGraphExecDestroy"(graph: GraphExecHandle);
        graph_destroy = "cuGraphDestroy"(graph: GraphHandle);

        mem_get_info = "cuMemGetInfo_v2"(free: *mut usize, total: *mut usize);
        mem_alloc = "cuMemAlloc_v2"(address: *mut DevicePtr, bytes: usize);
        mem_free = "cuMemFree_v2"(address: DevicePtr);
        mem_alloc_managed = "cuMemAllocManaged"(address: *mut DevicePtr, bytes: usize, flags: c_uint);
        mem_host_alloc = "cuMemHostAlloc"(address: *mut *mut c_void, bytes: usize, flags: c_uint);
        mem_free_host = "cuMemFreeHost"(address: *mut c_void);
        mem_host_register = "cuMemHostRegister_v2"(address: *mut c_void, bytes: usize, flags: c_uint);
        mem_host_get_device_pointer = "cuMemHostGetDevicePointer_v2"(device: *mut DevicePtr, host: *mut c_void, flags: c_uint);
        mem_host_unregister = "cuMemHostUnregister"(address: *mut c_void);
        pointer_get_attribute = "cuPointerGetAttribute"(data: *mut c_void, attribute: c_int, address: DevicePtr);
        copy_to_device = "cuMemcpyHtoDAsync_v2"(to: DevicePtr, from: *const c_void, bytes: usize, stream: StreamHandle);
        copy_to_host = "cuMemcpyDtoHAsync_v2"(to: *mut c_void, from: DevicePtr, bytes: usize, stream: StreamHandle);
        copy_on_device = "cuMemcpyDtoDAsync_v2"(to: DevicePtr, from: DevicePtr, bytes: usize, stream: StreamHandle);
        copy_to_peer = "cuMemcpyPeerAsync"(
            to: DevicePtr, to_context: ContextHandle, from: DevicePtr, from_context: ContextHandle, bytes: usize, stream: StreamHandle
        );
        fill = "cuMemsetD8Async"(address: DevicePtr, value: u8, bytes: usize, stream: StreamHandle);
    }
    optional {
        device_get_uuid_of_instance = "cuDeviceGetUuid_v2"(uuid: *mut [u8; 16], device: DeviceOrdinal);
        ctx_get_limit = "cuCtxGetLimit"(value: *mut usize, limit: c_int);
        ctx_set_limit = "cuCtxSetLimit"(limit: c_int, value: usize);
        thread_exchange_capture_mode = "cuThreadExchangeStreamCaptureMode"(mode: *mut c_int);
        stream_capture = "cuStreamGetCaptureInfo"(stream: StreamHandle, status: *mut c_int, id: *mut u64);
        stream_capture_and_graph = "cuStreamGetCaptureInfo_v2"(
            stream: StreamHandle, status: *mut c_int, id: *mut u64,
            graph: *mut GraphHandle, nodes: *mut *const GraphNodeHandle, count: *mut usize
        );
        pool_create = "cuMemPoolCreate"(pool: *mut PoolHandle, props: *const PoolProps);
        pool_set_attribute = "cuMemPoolSetAttribute"(pool: PoolHandle, attribute: c_int, value: *mut c_void);
        pool_get_attribute = "cuMemPoolGetAttribute"(pool: PoolHandle, attribute: c_int, value: *mut c_void);
        pool_set_access = "cuMemPoolSetAccess"(pool: PoolHandle, access: *const AccessDesc, count: usize);
        pool_trim_to = "cuMemPoolTrimTo"(pool: PoolHandle, keep: usize);
        pool_alloc = "cuMemAllocFromPoolAsync"(address: *mut DevicePtr, bytes: usize, pool: PoolHandle, stream: StreamHandle);
        pool_free = "cuMemFreeAsync"(address: DevicePtr, stream: StreamHandle);
        graph_instantiate = "cuGraphInstantiateWithFlags"(exec: *mut GraphExecHandle, graph: GraphHandle, flags: u64);
    }
}
